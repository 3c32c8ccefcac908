#include "kernels/host_code/group.h"

#include <algorithm>
#include <memory>

#include "kernels/host_code/group_code.h"
#include "kernels/host_code/launch.h"
#include "kernels/host_code/monoids.h"
#include "kernels/host_code/seg_element.h"
#include "kernels/ir/analysis/group.h"
#include "kernels/ir/visit.h"

namespace kenaz::host_code {

namespace {

/// Of shared memory more would leave room for one workgroup alone on many devices.
constexpr int kMostShared = 48 << 10;
constexpr int64_t kMostThreads = 256;
/// What a multiprocessor has for each of its threads, or more: with as much as this per thread,
/// workgroups that fill it fit.
constexpr int kSharedPerThread = 112;

class GroupSegment {
 public:
  GroupSegment(HostArrays& host, const ir::Stm& s, const ir::ESeg& e) : host_(host), s_(s), e_(e) {
    facts_.prov = s.prov;
    find_facts(e.body);
    facts_.op = joined_facts(host.ir(), monoids_);
  }

  void run() {
    // Threads that have stopped load nothing: the host passes what decides about barriers.
    for (const ir::VarId v : ir::group_body(host_.ir(), e_).control) {
      if (host_.is_bound(v) && std::holds_alternative<HostScalar>(host_.value(v))) host_.scalar(v);
    }
    groups_ = host_.count(host_.dims_of(ir::sizes_of(e_.space.dims))).operand();
    for (const ir::VarId v : s_.pat) results_.push_back(host_.make(v));
    const std::vector<Variant> all = variants();
    launch_first(all.begin(), all.end());
    if (host_.failed()) return;
    for (size_t k = 0; k < s_.pat.size(); k++) host_.bind(s_.pat[k], results_[k]);
  }

 private:
  /// A kernel for points of at most so many threads' work, with at most so much shared memory: how
  /// much there is of both decides how many workgroups run at the same time, and sizes are known
  /// when a program runs.
  struct Variant {
    int threads = 0, bytes = 0;
    Operand when = PrimValue::of_bool(true);  // if its memory is enough as well
  };
  using Variants = std::vector<Variant>::const_iterator;
  struct Built {
    Built(HostArrays& host, GroupMemory::Where where, int threads)
        : k(step.kernel), t(host, k), memory(host, where), threads(threads) {}
    plan::Step step;
    kir::Builder k;
    body::Thread t;
    GroupMemory memory;
    int threads;
  };

  void find_facts(const ir::Body& b) {
    for (const ir::Stm& s : b.stms) {
      const auto* e = std::get_if<ir::ESeg>(&s.exp);
      if (e == nullptr) {
        ir::visit_bodies(s.exp, [&](const ir::Body& inner) { find_facts(inner); });
        continue;
      }
      for (const ir::SegMonoid& m : e->monoids) monoids_.push_back(&m.op);
      spaces_.push_back(&e->space);
    }
  }

  /// The points of the largest ESeg in the body; null: only the threads will know.
  std::optional<Operand> widest() {
    std::optional<Operand> most;
    for (const ir::SegSpace* space : spaces_) {
      std::vector<Operand> sizes;
      for (const ir::SegDim& d : space->dims) {
        const bool here =
            d.size.is_const() || (host_.is_bound(d.size.var()) &&
                                  std::holds_alternative<HostScalar>(host_.value(d.size.var())));
        if (!here) return std::nullopt;
        sizes.push_back(host_.scalar(d.size));
      }
      const Operand points = host_.count(sizes).operand();
      most = most ? host_.max(*most, points) : points;
    }
    return most;
  }

  std::vector<Variant> variants() {
    std::vector<Variant> all;
    const auto add = [&](int64_t threads, int bytes, const Operand& when) {
      const int size = plan::group_size_for(facts_, host_.target(), static_cast<int>(threads));
      bytes = std::min(host_.target().shared_bytes, bytes);
      // The last of equal kernels is taken for all that those before it are.
      const bool again = !all.empty() && all.back().threads == size && all.back().bytes == bytes;
      if (again) all.pop_back();
      all.push_back({size, bytes, when});
    };
    const std::optional<Operand> most = widest();
    const std::optional<int64_t> known = most ? host_.as_const(*most) : std::nullopt;
    int64_t threads = kMostThreads;
    if (known) {
      const int64_t subgroup = host_.target().subgroup_size;
      threads = std::clamp<int64_t>(*known, 1, kMostThreads);
      threads = (threads + subgroup - 1) / subgroup * subgroup;
      add(threads, static_cast<int>(threads) * kSharedPerThread, PrimValue::of_bool(true));
    } else if (most) {
      for (const int64_t few : {kMostThreads / 4, kMostThreads / 2}) {
        add(few, static_cast<int>(few) * kSharedPerThread,
            host_.emit_op(ScalarOp::kLe, PrimType::kI64, PrimType::kBool,
                          {*most, PrimValue::i64(few)}));
      }
    }
    add(threads, kMostShared, PrimValue::of_bool(true));
    return all;
  }

  void launch_first(Variants next, Variants end) {
    if (host_.failed()) return;
    if (next == end) {
      auto device = build(GroupMemory::Where::kDevice, std::prev(end)->threads);
      if (!host_.failed()) launch(*device);
      return;
    }
    auto shared = build(GroupMemory::Where::kShared, next->threads);
    if (host_.failed()) return;
    const Operand enough = shared->memory.settle(shared->step.kernel, shared_bytes(*next));
    const Operand fits =
        host_.emit_op(ScalarOp::kAnd, PrimType::kBool, PrimType::kBool, {next->when, enough});
    choose(
        host_, fits, [&] { launch(*shared); }, [&] { launch_first(next + 1, end); });
  }

  /// What operators leave of it.
  int shared_bytes(const Variant& v) const {
    int taken = 0;
    for (const PrimType t : facts_.op.types) taken += std::max(4, prim_size(t)) * v.threads;
    // One bool says whether the call has failed.
    return std::max(0, v.bytes - taken - 64);
  }

  std::unique_ptr<Built> build(GroupMemory::Where where, int threads) {
    auto built = std::make_unique<Built>(host_, where, threads);
    body::Thread& t = built->t;
    kir::Kernel& kernel = built->step.kernel;
    kernel.name = host_.kernel_name("group");
    kernel.prov = s_.prov;
    kernel.group_size = {1, 0};
    t.k.set_prov(s_.prov);
    plan::Team team(t.k, built->step, facts_, host_.target());
    team.specs = {t.k.spec("group_size", PrimValue::i32(threads))};
    GroupCode code(host_, t, team, built->memory, e_.body);
    bind_indices(host_, t, e_.space.dims, t.k.group());
    std::vector<body::KernelArray> rows;
    for (const HostArray& result : results_) {
      body::KernelArray row = t.args.array(result);
      for (const ir::SegDim& d : e_.space.dims) {
        row = body::row_place(t, row, t.env.scalar(ir::Atom(d.index)));
      }
      rows.push_back(std::move(row));
    }
    code.run(e_.body, rows);
    return built;
  }

  void launch(Built& built) {
    built.memory.provide(groups_);
    launch_groups(host_, built.t, built.threads, groups_);
  }

  HostArrays& host_;
  const ir::Stm& s_;
  const ir::ESeg& e_;
  plan::Facts facts_;
  Monoids monoids_;
  std::vector<const ir::SegSpace*> spaces_;  // of the ESegs in the body
  Operand groups_ = PrimValue::i64(0);
  std::vector<HostArray> results_;
};

}  // namespace

void group_segment(HostArrays& host, const ir::Stm& s, const ir::ESeg& e) {
  GroupSegment(host, s, e).run();
}

}  // namespace kenaz::host_code
