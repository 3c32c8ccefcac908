#include "kernels/host_code/segments.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/host_code/abreast_map.h"
#include "kernels/host_code/ahead.h"
#include "kernels/host_code/body_facts.h"
#include "kernels/host_code/factors.h"
#include "kernels/host_code/group.h"
#include "kernels/host_code/interleaved.h"
#include "kernels/host_code/launch.h"
#include "kernels/host_code/monoids.h"
#include "kernels/host_code/neighbours.h"
#include "kernels/host_code/operands.h"
#include "kernels/host_code/packs.h"
#include "kernels/host_code/plan_launch.h"
#include "kernels/host_code/rows.h"
#include "kernels/host_code/seg_element.h"
#include "kernels/host_code/small_rows.h"
#include "kernels/host_code/uneven.h"
#include "kernels/host_code/walks.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"
#include "kernels/op/operators.h"
#include "kernels/plan/team.h"
#include "kernels/plan/widen.h"
#include "kernels/primitives/hist/plans.h"
#include "kernels/primitives/reduce/plans.h"
#include "kernels/primitives/scan/plans.h"
#include "protocol/base/check.h"

namespace kenaz::host_code {

using body::KernelArray;
using body::Thread;
using ir::VarId;
using kir::Value;
using kir::Values;

namespace {

// Numbers of sizes: of all, of histograms, of reductions. explain/text.cc has words for them.
constexpr int kSegments = 0, kLength = 1, kBins = 2, kRows = 3, kColumns = 4;
constexpr int kFactorRows = 5, kFactorColumns = 6, kBetween = 7;

bool is_scalar(const ir::Program& p, const ir::SegMonoid& m) {
  return m.lifted.empty() &&
         std::all_of(m.op.neutral.begin(), m.op.neutral.end(),
                     [&](const ir::Atom& n) { return p.type_of(n).is_scalar(); });
}

// ---- operators

Monoids monoids_of(const ir::ESeg& e) {
  Monoids out;
  for (const auto& m : e.monoids) out.push_back(&m.op);
  for (const auto& w : e.writes) {
    if (w.combine) out.push_back(&w.combine->op);
  }
  return out;
}

// ---- facts

/// Whether neighbouring threads had better take neighbouring segments than neighbouring elements of
/// one: so that fewer of the body's reads are of memory far apart. An index that is the same for
/// neighbours is a read of one place. Where nothing is read along segments, a thread for each has
/// the least to combine; but what a scan stores lies along them.
bool reads_across(const ir::Program& p, const ir::ESeg& e) {
  const auto& dims = e.space.dims;
  if (dims.size() < 2) return false;
  const ir::Atom position = dims[dims.size() - 1].index, segment = dims[dims.size() - 2].index;
  int far_along = 0, far_across = 0;
  bool reads_along = false;
  ir::VarSet on_position{position.var()};  // what depends on it
  for (const auto& s : e.body.stms) {
    bool depends = false;
    ir::for_each_use(p, s, [&](VarId v) { depends = depends || on_position.contains(v); });
    if (depends) on_position.insert(s.pat.begin(), s.pat.end());
    const auto* index = std::get_if<ir::EIndex>(&s.exp);
    if (index == nullptr) continue;
    reads_along = reads_along || depends;
    for (size_t d = 0; d < index->dims.size(); d++) {
      const auto* fix = std::get_if<ir::DimFix>(&index->dims[d]);
      if (fix == nullptr || d + 1 == index->dims.size()) continue;
      if (fix->index == position) far_along++;
      if (fix->index == segment) far_across++;
    }
  }
  return far_across < far_along || (!reads_along && e.kind != ir::SegKind::kScan);
}

/// Which segments of a reduction had better be reduced by one thread, because what their elements
/// read does not depend on all indices.
plan::Grid grid_of(const ir::Program& p, const ir::ESeg& e, const ir::GridDims& of) {
  constexpr size_t kSmall = 12;  // statements: a kernel repeats them 16 times
  const auto& dims = e.space.dims;
  const bool has_rows = of.row < of.column;
  plan::Grid grid;
  grid.rows = has_rows ? plan::HostExpr::size(kRows) : plan::HostExpr(1);
  grid.columns = plan::HostExpr::size(kColumns);
  const plan::Grid nothing_shared = grid;
  if (e.body.stms.size() > kSmall || is_slow(e.body)) return nothing_shared;
  constexpr unsigned kPosition = 1, kColumn = 2, kRow = 4;
  std::map<VarId, unsigned> depends;  // on which of these a variable does
  depends[dims.back().index] = kPosition;
  for (size_t d = of.column; d < of.end; d++) depends[dims[d].index] = kColumn;
  for (size_t d = of.row; d < of.column; d++) depends[dims[d].index] = kRow;
  const unsigned all = kPosition | kColumn | (has_rows ? kRow : 0);
  for (const auto& s : e.body.stms) {
    unsigned on = 0;
    ir::for_each_use(p, s, [&](VarId v) {
      if (const auto it = depends.find(v); it != depends.end()) on |= it->second;
    });
    for (const VarId v : s.pat) depends[v] = on;
    if (!std::holds_alternative<ir::EIndex>(s.exp) || (on & kPosition) == 0) continue;
    if (on == all) return nothing_shared;
    grid.rows_share = grid.rows_share || (on & kRow) == 0;
    grid.columns_share = grid.columns_share || (on & kColumn) == 0;
  }
  grid.rows_share = grid.rows_share && has_rows;
  return grid;
}

class Segment {
 public:
  Segment(HostArrays& host, const ir::Stm& s, const ir::ESeg& e)
      : host_(host), ir_(host.ir()), s_(s), e_(e) {}

  void run() {
    if (e_.level == ir::SegLevel::kGroup) {
      group_segment(host_, s_, e_);
    } else if (is_single(e_)) {
      single();
    } else if (!is_supported(ir_, e_)) {
      host_.refuse(s_.prov, "a segmented operation of this form");
    } else if (e_.kind == ir::SegKind::kPack) {
      pack(host_, s_, e_);
    } else if (e_.kind == ir::SegKind::kSort) {
      sort(host_, s_, e_);
    } else if (e_.kind != ir::SegKind::kMap) {
      collective();
    } else if (!e_.writes.empty() && e_.writes[0].combine) {
      histogram();
    } else {
      map();
    }
  }

 private:
  std::vector<Operand> sizes(size_t from, size_t to) {
    std::vector<Operand> out;
    for (size_t d = from; d < to; d++) out.push_back(host_.scalar(e_.space.dims[d].size));
    return out;
  }
  static Operand konst(int64_t n) { return PrimValue::i64(n); }
  Operand count(size_t from, size_t to) { return host_.count(sizes(from, to)).operand(); }
  HostArray result(VarId v) {
    const HostArray a = host_.make(v);
    host_.bind(v, a);
    return a;
  }

  /// The arrays of the plain writes and of the plain results, bound.
  SegParts make_parts() {
    SegParts parts;
    if (!e_.writes.empty()) host_.settle_borrowed();
    size_t k = operands_of(e_);
    for (const auto& w : e_.writes) {
      for (const VarId d : w.dests) {
        if (!w.combine) {
          parts.dests.push_back(host_.in_memory(host_.array(d)));
          host_.bind(s_.pat[k], parts.dests.back());
        }
        k++;
      }
    }
    for (; k < s_.pat.size(); k++) parts.stored.push_back(result(s_.pat[k]));
    return parts;
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
          SliceRange<Operand>{konst(0), host_.scalar(e_.space.dims[k].size), konst(1)};
    }
    const HostArray source = host_.rearranged(host_.sliced(host_.array(index.array), ranges), perm);
    host_.copy(source, result(s_.pat[0]));
  }

  void map() {
    if (const auto perm = permutation()) {
      copy(*perm);
      return;
    }
    const SegParts parts = make_parts();
    if (const UnevenMap uneven(host_, s_, e_, parts); uneven.any()) {
      choose(
          host_, is_short(uneven), [&] { points(parts); }, [&] { uneven.launch(); });
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

  /// Whether a thread reduces a segment in less time than it takes to share it.
  Operand is_short(const UnevenMap& uneven) const {
    constexpr int64_t kFew = 8;
    const auto longest = uneven.longest();
    if (!longest) return PrimValue::of_bool(false);
    return host_.emit_op(ScalarOp::kLe, PrimType::kI64, PrimType::kBool, {*longest, konst(kFew)});
  }

  /// A map in a way that is only for some spaces, or in another one.
  template <class Way>
  void either(const Way& way, const SegParts& parts, const std::function<void()>& other) {
    choose(
        host_, way.worthwhile(), [&] { way.launch(parts); }, other);
  }

  /// A map whose threads make each point by itself.
  void points(const SegParts& parts) {
    const Operand width = count(0, e_.space.dims.size());
    const Neighbours neighbours(host_, e_);
    const Rows rows(host_, e_, neighbours);
    if (rows.tile() == 0) {
      map_points(parts, width, neighbours);
      return;
    }
    const Operand large =
        host_.emit_op(ScalarOp::kLe, PrimType::kI64, PrimType::kBool, {konst(rows.tile()), width});
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

  plan::Facts facts(const char* what, size_t leading) {
    plan::Facts f;
    f.name = host_.kernel_name(what);
    f.prov = s_.prov;
    f.op = joined_facts(ir_, monoids_of(e_));
    f.segments = leading == 0 ? plan::HostExpr(1) : plan::HostExpr::size(kSegments);
    f.length = plan::HostExpr::size(kLength);
    f.across = reads_across(ir_, e_);
    f.slow = is_slow(e_.body);
    f.fails = may_stop(e_.body);
    for (const ir::Monoid* m : monoids_of(e_)) {
      // Drivers make a copy of the operator for each element that a thread takes at a time.
      constexpr int kFewItems = 4;
      constexpr size_t kManyScalars = 4;
      const bool is_scan = e_.kind == ir::SegKind::kScan;
      const bool slow = is_slow(m->op.body);
      if (is_scan && f.op.types.size() > kManyScalars && slow) f.items = kFewItems;
      f.slow = f.slow || slow;
      f.fails = f.fails || may_stop(m->op.body);
    }
    return f;
  }

  /// Elements made by the body or, where plans have no memory for that or threads should help each
  /// other, by a map before them.
  using MakeElements = std::function<plan::Elements(Thread&, plan::Asks)>;
  MakeElements elements(PlanRequest& request, size_t leading, const SegParts& parts,
                        bool& from_body, const Neighbours* neighbours = nullptr) {
    const auto by_body = [this, leading, parts, neighbours](Thread& t, plan::Asks asks) {
      const size_t rest = e_.space.dims.size() - leading;
      plan::Elements elements;
      if (asks == plan::Asks::kForFactors) {
        elements.factors = factor_functions(host_, t, e_, *factors_);
        return elements;
      }
      if (asks == plan::Asks::kByGrid) {
        const std::vector<size_t> groups = {grid_.row, grid_.column - grid_.row,
                                            grid_.end - grid_.column, rest};
        const auto f = point_function(host_, t, e_, groups, parts);
        elements.at = [f](kir::Builder& k, const plan::Place& at) {
          return k.call(f, {at.segment, at.row, at.column, at.position});
        };
        return elements;
      }
      const auto f = point_function(host_, t, e_, {leading, rest}, parts);
      elements.at = [f](kir::Builder& k, const plan::Place& at) {
        return k.call(f, {at.segment, at.position});
      };
      if (neighbours != nullptr)
        elements.many = neighbours->many(t, parts, Neighbours::Plain::kStored);
      return elements;
    };
    PlanRequest trial = request;
    trial.bind = [&](Thread& t, plan::Asks asks) {
      plan::Problem problem;
      problem.elements = by_body(t, asks);
      return problem;
    };
    from_body = !UnevenMap(host_, s_, e_, parts).any() && !needs_thread_memory(host_, trial);
    if (from_body) return by_body;
    request.facts.grid = {};
    request.facts.factors = {};
    return from_memory(map_operands(host_, s_, e_, parts));
  }

  /// The elements without what making them stores besides; none if they store nothing, or arrays.
  plan::Elements dry_elements(Thread& t, size_t leading, const SegParts& parts,
                              const Neighbours* neighbours) {
    const bool scalars = std::all_of(parts.stored.begin(), parts.stored.end(), [&](const auto& a) {
      return a.layout.dims.size() == e_.space.dims.size();
    });
    if (parts.stored.empty() || !scalars) return {};
    SegParts all = parts;
    all.hands_all = true;
    all.stored.clear();
    plan::Elements elements;
    const auto f = point_function(host_, t, e_, {leading, e_.space.dims.size() - leading}, all);
    elements.at = [f, count = operands_of(e_)](kir::Builder& k, const plan::Place& at) {
      Values x = k.call(f, {at.segment, at.position});
      x.resize(count);
      return x;
    };
    if (neighbours != nullptr)
      elements.many = neighbours->many(t, parts, Neighbours::Plain::kDropped);
    return elements;
  }

  MakeElements from_memory(std::vector<HostArray> operands) {
    const Operand length = lengths_;
    return [operands = std::move(operands), length](Thread& t, plan::Asks) {
      return elements_from(t, operands, length);
    };
  }

  void collective() {
    const bool scans = e_.kind == ir::SegKind::kScan;
    const size_t leading = e_.space.dims.size() - 1;
    lengths_ = count(leading, leading + 1);
    PlanRequest request;
    request.facts = facts(scans ? "scan" : "reduce", leading);
    request.sizes = {count(0, leading), lengths_};
    if (!scans && leading > 0) {
      factors_ = ir::factors_of(ir_, e_);
      grid_ = ir::last_dims(e_);
      if (factors_ && factors_->dims.row_end == factors_->dims.column) grid_ = factors_->dims;
      request.facts.grid = grid_of(ir_, e_, grid_);
      request.sizes.push_back(konst(0));  // no bins
      request.sizes.push_back(count(grid_.row, grid_.column));
      request.sizes.push_back(count(grid_.column, grid_.end));
      if (factors_) add_factors(request);
    }
    const SegParts parts = make_parts();
    const std::vector<Target> targets = make_targets(leading);
    const Neighbours neighbours(host_, e_, Neighbours::Dims::kAny);
    bool from_body = true;
    const auto make_elements = elements(request, leading, parts, from_body, &neighbours);
    if (host_.failed()) return;
    const Reads reads = reads_of(ir_, e_.body);
    // Measured for rows of one array: on an H200 the product of a matrix of 16,384^2 and a vector
    // took 696 us by vectors, 248 us without, which is not explained.
    const bool several = !scans && leading > 0 && request.facts.op.commutative &&
                         reads.bytes > plan::bytes_of(request.facts.op.types);
    const bool along = from_body && !request.facts.slow && !request.facts.across && !several;
    const bool vectors = along && neighbours.count(scans) > 1;
    if (vectors) request.facts.widest = neighbours.count(scans);
    if (from_body) {
      request.facts.read_bytes = reads.bytes;
      request.facts.gathers = reads.gathers;
      if (leading == 0) request.facts.ahead = ahead_facts(host_, e_, neighbours);
    }
    const bool widens = !scans && plan::is_narrow_ring(request.facts.op);
    if (widens) plan::widen(request.facts.op);
    request.bind = [&](Thread& t, plan::Asks asks) {
      plan::Problem problem;
      problem.op = joined_operator(t, monoids_of(e_));
      problem.elements = make_elements(t, asks);
      if (request.facts.ahead) problem.elements.ahead = ahead_elements(t, neighbours);
      if (scans && from_body) {
        problem.dry_elements = dry_elements(t, leading, parts, vectors ? &neighbours : nullptr);
      }
      problem.sink = sink(t, targets, scans);
      if (widens) plan::widen(t.k, problem);
      return problem;
    };
    launch_plans(host_, scans ? primitives::scan_plans() : primitives::reduce_plans(), request);
  }

  void add_factors(PlanRequest& request) {
    plan::Factors facts = factor_facts(ir_, *factors_);
    const ir::GridDims& dims = factors_->dims;
    facts.rows = plan::HostExpr::size(kFactorRows);
    facts.columns = plan::HostExpr::size(kFactorColumns);
    if (dims.row_end != dims.column) facts.between = plan::HostExpr::size(kBetween);
    request.facts.factors = std::move(facts);
    request.sizes.push_back(count(dims.row, dims.row_end));
    request.sizes.push_back(count(dims.column, dims.end));
    request.sizes.push_back(count(dims.row_end, dims.column));
  }

  /// Where a monoid's values go: dense, from `first` (counted in elements) on.
  struct Target {
    BlockReg block;
    int64_t first = 0;
  };
  std::vector<Target> make_targets(size_t leading) {
    std::vector<Target> out;
    const size_t n = operands_of(e_);
    if (e_.kind == ir::SegKind::kScan || leading > 0) {
      for (size_t k = 0; k < n; k++) out.push_back({result(s_.pat[k]).block, 0});
      return out;
    }
    const BlockReg block = host_.allocate_cells(n);
    for (size_t k = 0; k < n; k++) {
      const PrimType type = ir_.type_of(s_.pat[k]).prim;
      const auto offset = static_cast<int64_t>(8 * k);
      out.push_back({block, offset / prim_size(type)});
      host_.bind(s_.pat[k], HostScalar{type, DeviceScalar{block, PrimValue::i64(offset), false}});
    }
    return out;
  }

  plan::Sink sink(Thread& t, const std::vector<Target>& targets, bool scans) {
    Values bases;
    for (const Target& target : targets) bases.push_back(t.args.block(target.block));
    const Value length = scans ? t.args.operand(lengths_) : kir::i64(1);
    plan::Sink sink;
    sink.put = [targets, bases, length, scans](kir::Builder& k, const plan::Place& at,
                                               const Values& values) {
      Value index = at.segment;
      if (scans) index = k.add(k.mul(at.segment, length), at.position);
      for (size_t n = 0; n < bases.size(); n++) {
        k.store(bases[n], k.add(index, targets[n].first), values[n]);
      }
    };
    if (scans) sink.bases = bases;
    sink.put_many = [bases, length, scans](kir::Builder& k, const plan::Place& first,
                                           const std::vector<Values>& all) {
      const Value index =
          scans ? k.add(k.mul(first.segment, length), first.position) : first.segment;
      for (size_t n = 0; n < bases.size(); n++) {
        Values values;
        for (const Values& x : all) values.push_back(x[n]);
        store_neighbours(k, bases[n], index, values);
      }
    };
    return sink;
  }

  // ---- histograms

  void histogram() {
    const ir::SegWrite& w = e_.writes[0];
    const auto leading = static_cast<size_t>(w.segment_rank);
    host_.settle_borrowed();
    std::vector<HostArray> dests;
    for (size_t k = 0; k < w.dests.size(); k++) {
      dests.push_back(host_.normalised(host_.array(w.dests[k])));
      host_.bind(s_.pat[k], dests.back());
    }
    const std::vector<Operand> dims = dests[0].layout.dims;
    const std::vector<Operand> bins(dims.begin() + static_cast<std::ptrdiff_t>(leading),
                                    dims.end());
    lengths_ = count(leading, e_.space.dims.size());
    PlanRequest request;
    request.facts = facts("histogram", leading);
    request.facts.across = false;
    request.facts.op.commutative = true;  // the language requires it of histograms
    const Operand all_bins = host_.count(bins).operand();
    const std::optional<int64_t> known_bins = host_.as_const(all_bins);
    request.facts.bins = known_bins ? plan::HostExpr(*known_bins) : plan::HostExpr::size(kBins);
    request.sizes = {count(0, leading), lengths_, all_bins};
    const SegParts parts = make_parts();
    bool from_body = true;
    const auto make_elements = elements(request, leading, parts, from_body);
    if (host_.failed()) return;
    request.facts.items = primitives::hist_items(request.facts);
    request.bind = [&](Thread& t, plan::Asks) {
      plan::Problem problem;
      problem.op = joined_operator(t, monoids_of(e_));
      problem.op.facts.commutative = true;
      const plan::Elements inner = make_elements(t, plan::Asks::kBySegment);
      Values sizes;
      for (const Operand& n : bins) sizes.push_back(t.args.operand(n));
      problem.elements.at = [inner, sizes](kir::Builder& k, const plan::Place& at) {
        return in_bin(k, sizes, inner.at(k, at));
      };
      for (const auto& d : dests) problem.bins.push_back(t.args.block(d.block));
      return problem;
    };
    launch_plans(host_, primitives::hist_plans(), request);
  }

  /// The leading indices as the number of a bin; -1 if one is out of bounds.
  static Values in_bin(kir::Builder& k, const Values& sizes, const Values& element) {
    Value bin = kir::i64(0), inside = kir::boolean(true);
    for (size_t d = 0; d < sizes.size(); d++) {
      const Value& i = element[d];
      inside = k.and_(inside, k.and_(k.le(kir::i64(0), i), k.lt(i, sizes[d])));
      bin = k.add(k.mul(bin, sizes[d]), i);
    }
    Values out = {k.select(inside, bin, kir::i64(-1))};
    out.insert(out.end(), element.begin() + static_cast<std::ptrdiff_t>(sizes.size()),
               element.end());
    return out;
  }

  // ---- one thread

  void single();

  HostArrays& host_;
  const ir::Program& ir_;
  const ir::Stm& s_;
  const ir::ESeg& e_;
  Operand lengths_ = PrimValue::i64(0);  // elements of a segment
  std::optional<ir::Factors> factors_;   // of a reduction
  ir::GridDims grid_;
};

/// Whether a result of the body is an array that a combinator in it makes.
bool is_made_by_soac(const ir::Body& b, size_t result) {
  const ir::Atom& r = b.results[result];
  return std::any_of(b.stms.begin(), b.stms.end(), [&](const ir::Stm& s) {
    return std::holds_alternative<ir::ESoac>(s.exp) &&
           std::any_of(s.pat.begin(), s.pat.end(), [&](VarId v) { return r == ir::Atom(v); });
  });
}

void Segment::single() {
  const bool in_place = updates_in_place(ir_, e_.body);
  if (in_place) host_.settle_borrowed();
  for (const VarId v : consumed_in(ir_, e_.body)) {
    if (!host_.is_bound(v)) continue;
    const auto* a = std::get_if<HostArray>(&host_.value(v));
    if (a != nullptr && a->kind != ArrayKind::kMemory) host_.bind(v, host_.in_memory(*a));
  }
  Thread t(host_, host_.kernel_name("sequential"), s_.prov, true);
  std::vector<std::optional<HostArray>> made(s_.pat.size());
  const auto make = [&](size_t n) {
    const ir::Type& type = ir_.type_of(s_.pat[n]);
    made[n] = host_.allocate(type.prim, host_.dims_of(type.dims));
    return t.args.array(*made[n]);
  };
  // What a combinator makes is made in its place; others may be what they update.
  std::vector<std::optional<KernelArray>> places(s_.pat.size());
  for (size_t n = 0; n < s_.pat.size(); n++) {
    if (!ir_.type_of(s_.pat[n]).is_scalar() && is_made_by_soac(e_.body, n)) places[n] = make(n);
  }
  const BlockReg scalars = host_.allocate_cells(s_.pat.size());
  std::vector<HostValue> results;
  const auto elem = body::function(t, "elem", {{PrimType::kI64}}, [&](const Values&) {
    const auto values = body::translate(t, e_.body, places);
    for (size_t n = 0; n < s_.pat.size() && !host_.failed(); n++) {
      const auto offset = static_cast<int64_t>(8 * n);
      if (const auto* x = std::get_if<Value>(&values[n])) {
        const int64_t index = offset / prim_size(x->type.prim);
        t.k.store(t.args.block(scalars), kir::i64(index), *x);
        results.emplace_back(
            HostScalar{x->type.prim, DeviceScalar{scalars, PrimValue::i64(offset), false}});
        continue;
      }
      const auto& a = std::get<KernelArray>(values[n]);
      if (const auto host = t.args.as_import(a)) {
        results.emplace_back(*host);
        continue;
      }
      body::copy(t, a, made[n] ? *places[n] : make(n));
      results.emplace_back(*made[n]);
    }
    return Values{};
  });
  if (host_.failed()) return;
  if (t.heap.used() && in_place) {
    host_.refuse(s_.prov, "arrays of varying size beside in-place updates");
    return;
  }
  launch_single(host_, t, elem);
  for (size_t n = 0; n < s_.pat.size(); n++) host_.bind(s_.pat[n], std::move(results[n]));
}

}  // namespace

bool is_supported(const ir::Program& p, const ir::ESeg& e) {
  const bool scalars = std::all_of(e.monoids.begin(), e.monoids.end(),
                                   [&](const ir::SegMonoid& m) { return is_scalar(p, m); });
  if (e.level != ir::SegLevel::kDevice || !scalars) return false;
  const bool combines = std::any_of(e.writes.begin(), e.writes.end(),
                                    [](const ir::SegWrite& w) { return w.combine.has_value(); });
  if (!combines) return e.kind == ir::SegKind::kMap || e.writes.empty();
  return e.kind == ir::SegKind::kMap && e.writes.size() == 1 && is_scalar(p, *e.writes[0].combine);
}

void segment(HostArrays& host, const ir::Stm& s, const ir::ESeg& e) { Segment(host, s, e).run(); }

}  // namespace kenaz::host_code
