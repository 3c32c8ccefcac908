#include "kernels/host_code/maps.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/host_code/abreast_map.h"
#include "kernels/host_code/body_facts.h"
#include "kernels/host_code/interleaved.h"
#include "kernels/host_code/launch.h"
#include "kernels/host_code/neighbours.h"
#include "kernels/host_code/rows.h"
#include "kernels/host_code/seg_element.h"
#include "kernels/host_code/small_rows.h"
#include "kernels/host_code/uneven.h"
#include "kernels/host_code/walks.h"

namespace kenaz::host_code {

using body::Thread;
using ir::VarId;
using kir::Value;
using kir::Values;

namespace {

class Map {
 public:
  Map(HostArrays& host, const ir::Stm& s, const ir::ESeg& e)
      : host_(host), ir_(host.ir()), s_(s), e_(e) {}

  void run() {
    if (const auto perm = permutation()) {
      copy(*perm);
      return;
    }
    const SegParts parts = make_parts(host_, s_, e_);
    if (const UnevenMap uneven(host_, s_, e_, parts); uneven.any()) {
      choose(
          host_, is_short(uneven), [&] { points(parts); }, [&] { uneven.launch(); });
      return;
    }
    if (!lie_by_points(parts)) {
      points(parts);
      return;
    }
    const Walks walks(host_, s_, e_);
    if (walks.any()) {
      either(walks, parts, [&] { points(parts); });
      return;
    }
    const AbreastMap abreast(host_, s_, e_);
    abreast.any() ? either(abreast, parts, [&] { points(parts); }) : points(parts);
  }

 private:
  /// Whether the results' elements are in the order of the points; else they are turned
  /// (host_code/turned.h), and each thread stores those of a point.
  static bool lie_by_points(const SegParts& parts) {
    return std::all_of(parts.stored.begin(), parts.stored.end(),
                       [](const HostArray& a) { return a.layout.dense; });
  }

  /// The map with scalars as its results, if it is so small that a thread may take several
  /// elements.
  std::optional<ScalarResults> small_map() const {
    constexpr size_t kMedium = 24;  // statements
    if (!e_.writes.empty() || e_.body.stms.size() > kMedium || is_slow(e_.body)) return {};
    return scalar_results(ir_, e_);
  }

  /// How many elements of it a thread takes.
  int items_of_map(const ScalarResults& scalars) const {
    constexpr size_t kSmall = 8;  // statements
    int bytes = 0;
    for (const ir::Atom& a : scalars.seg.body.results) bytes += prim_size(ir_.type_of(a).prim);
    return std::min(items_per_thread(host_, bytes), e_.body.stms.size() > kSmall ? 4 : 8);
  }

  /// .. and how many by vectors of `n`.
  int items_of_vectors(int n) const {
    constexpr int kBytes = 32, kMost = 16, kMostOfLarge = 4;
    int bytes = 1;
    for (const VarId v : s_.pat) bytes = std::max(bytes, prim_size(ir_.type_of(v).prim));
    const int most = e_.body.stms.size() > 8 ? kMostOfLarge : kMost;
    return std::max(1, std::min(kBytes / bytes, most) / n) * n;
  }

  /// Of a map that only reads an array at its indices: which of the array's dims each of the
  /// space's is. Copies of such arrays have plans.
  std::optional<std::vector<int>> permutation() const {
    const auto& dims = e_.space.dims;
    if (!e_.writes.empty() || e_.body.stms.size() != 1 || s_.pat.size() != 1) return {};
    const ir::Stm& read = e_.body.stms[0];
    const auto* index = std::get_if<ir::EIndex>(&read.exp);
    if (index == nullptr || !read.certs.empty() || index->dims.size() != dims.size() ||
        e_.body.results[0] != ir::Atom(read.pat[0])) {
      return {};
    }
    std::vector<int> perm(dims.size(), -1);
    for (size_t d = 0; d < dims.size(); d++) {
      const auto* fix = std::get_if<ir::DimFix>(&index->dims[d]);
      if (fix == nullptr) return {};
      for (size_t k = 0; k < dims.size(); k++) {
        if (fix->index == ir::Atom(dims[k].index)) perm[k] = static_cast<int>(d);
      }
    }
    if (std::find(perm.begin(), perm.end(), -1) != perm.end()) return {};
    return perm;
  }

  /// The part of the array that the map reads, as it reads it.
  void copy(const std::vector<int>& perm) {
    const auto& index = std::get<ir::EIndex>(e_.body.stms[0].exp);
    SliceDims<Operand> ranges(perm.size());
    for (size_t k = 0; k < perm.size(); k++) {
      ranges[static_cast<size_t>(perm[k])] =
          SliceRange<Operand>{host_.konst(0), host_.scalar(e_.space.dims[k].size), host_.konst(1)};
    }
    const HostArray source = host_.rearranged(host_.sliced(host_.array(index.array), ranges), perm);
    host_.copy(source, host_.make_and_bind(s_.pat[0]));
  }

  /// Whether a thread reduces a segment in less time than it takes to share it.
  Operand is_short(const UnevenMap& uneven) const {
    constexpr int64_t kFew = 8;
    const auto longest = uneven.longest();
    if (!longest) return PrimValue::of_bool(false);
    return host_.emit_op(ScalarOp::kLe, PrimType::kI64, PrimType::kBool,
                         {*longest, host_.konst(kFew)});
  }

  /// A map in a way that is only for some spaces, or in another one.
  template <class Way>
  void either(const Way& way, const SegParts& parts, const std::function<void()>& other) {
    choose(
        host_, way.worthwhile(), [&] { way.launch(parts); }, other);
  }

  /// A map whose threads make each point by itself.
  void points(const SegParts& parts) {
    const Operand width = host_.count(host_.dims_of(ir::sizes_of(e_.space.dims))).operand();
    const Neighbours neighbours(host_, e_);
    if (!lie_by_points(parts)) {
      map_points(parts, width, neighbours, {});
      return;
    }
    const Rows rows(host_, e_, neighbours);
    if (rows.tile() == 0) {
      map_points(parts, width, neighbours);
      return;
    }
    const Operand large = host_.emit_op(ScalarOp::kLe, PrimType::kI64, PrimType::kBool,
                                        {host_.konst(rows.tile()), width});
    choose(
        host_, large, [&] { rows.launch(s_.prov, parts, width); },
        [&] { map_points(parts, width, neighbours); });
  }

  /// How many points of a map that only writes scalars a thread takes: it has read what it writes
  /// for all before it writes any.
  int items_of_scatter(const SegParts& parts) const {
    constexpr size_t kSmall = 8, kMedium = 24;  // statements
    const bool plain = !e_.writes.empty() && parts.stored.empty() &&
                       hides_latency_by_threads(host_) &&
                       std::all_of(e_.writes.begin(), e_.writes.end(),
                                   [](const ir::SegWrite& w) { return w.segment_rank == 0; }) &&
                       std::all_of(e_.body.results.begin(), e_.body.results.end(),
                                   [&](const ir::Atom& r) { return ir_.type_of(r).is_scalar(); });
    if (!plain || e_.body.stms.size() > kMedium || is_slow(e_.body)) return 1;
    return e_.body.stms.size() > kSmall ? 2 : 4;
  }

  void scatter_points(SegParts parts, const Operand& width, int items) {
    parts.hands_all = true;
    Thread t(host_, host_.kernel_name("scatter"), s_.prov);
    const auto elem = point_function(host_, t, e_, {e_.space.dims.size()}, parts);
    const auto store = [&](const Value&, const Values& made) {
      write_values(t, e_, parts.dests, {made.begin(), made.end()});
    };
    launch_elements(host_, t, elem, store, width, items);
  }

  /// Each thread takes a point, or several.
  void map_points(SegParts parts, const Operand& width, const Neighbours& neighbours) {
    if (const int items = items_of_scatter(parts); items > 1) {
      scatter_points(std::move(parts), width, items);
      return;
    }
    const auto scalars = small_map();
    const Interleaved interleaved(host_, e_, parts);
    if (scalars || !interleaved.any()) {
      map_points(parts, width, neighbours, scalars);
      return;
    }
    const auto map = [&](const SegParts& to) { map_points(to, width, neighbours, {}); };
    choose(
        host_, interleaved.worthwhile(), [&] { interleaved.launch(map); }, [&] { map(parts); });
  }

  /// `scalars`: if each may take several elements.
  void map_points(SegParts parts, const Operand& width, const Neighbours& neighbours,
                  const std::optional<ScalarResults>& scalars) {
    const int items = scalars ? items_of_map(*scalars) : 1;
    std::vector<HostArray> results;
    if (items > 1) {
      results = std::exchange(parts.stored, {});
      parts.hands_all = true;
    }
    Thread t(host_, host_.kernel_name(e_.writes.empty() ? "map" : "scatter"), s_.prov);
    const ir::ESeg& seg = items > 1 ? scalars->seg : e_;
    const auto elem = point_function(host_, t, seg, {seg.space.dims.size()}, parts);
    Values bases;
    for (const HostArray& r : results) bases.push_back(t.args.block(r.block));
    const auto store = [&](const Value& i, const Values& made) {
      size_t next = 0;
      for (size_t n = 0; n < bases.size(); n++) {
        const int length = scalars->lengths[n];
        const Value first = t.k.mul(i, length);
        for (int j = 0; j < length; j++) t.k.store(bases[n], t.k.add(first, j), made[next++]);
      }
    };
    const int n = items > 1 && !t.has_own_arrays() ? neighbours.count(true) : 1;
    if (n == 1) {
      launch_elements(host_, t, elem, store, width, items);
      return;
    }
    const auto many = neighbours.function(t, n, parts, Neighbours::Plain::kHandedOn);
    const auto store_many = [&](const Value& first, const Values& made) {
      const size_t each = bases.size();
      for (size_t b = 0; b < each; b++) {
        Values values;
        for (size_t j = b; j < made.size(); j += each) values.push_back(made[j]);
        store_neighbours(t.k, bases[b], first, values);
      }
    };
    launch_neighbours(host_, t, {elem, store, many, store_many, n}, width, items_of_vectors(n));
  }

  HostArrays& host_;
  const ir::Program& ir_;
  const ir::Stm& s_;
  const ir::ESeg& e_;
};

}  // namespace

void map(HostArrays& host, const ir::Stm& s, const ir::ESeg& e) { Map(host, s, e).run(); }

}  // namespace kenaz::host_code
