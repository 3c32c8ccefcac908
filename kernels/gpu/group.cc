#include "kernels/gpu/group.h"

#include <algorithm>
#include <memory>

#include "kernels/gpu/group_code.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/monoids.h"
#include "kernels/gpu/seg_element.h"
#include "kernels/ir/analysis/group.h"
#include "kernels/ir/visit.h"

namespace kenaz::gpu {

namespace {

/// Of shared memory more would leave room for one workgroup alone on many devices.
constexpr int kMostShared = 48 << 10;
constexpr int64_t kMostThreads = 256;

class GroupSegment {
 public:
  GroupSegment(HostGen& host, const ir::Stm& s, const ir::ESeg& e) : host_(host), s_(s), e_(e) {
    facts_.prov = s.prov;
    find_facts(e.body);
    facts_.op = joined_facts(host.ir(), monoids_);
  }

  void run() {
    // Threads that have stopped load nothing: the host passes what decides about barriers.
    for (const ir::VarId v : ir::group_body(host_.ir(), e_).control) {
      if (host_.is_bound(v) && std::holds_alternative<HostScalar>(host_.value(v))) host_.scalar(v);
    }
    std::vector<Operand> sizes;
    for (const ir::SegDim& d : e_.space.dims) sizes.push_back(host_.scalar(d.size));
    groups_ = host_.count(sizes).operand();
    for (const ir::VarId v : s_.pat) results_.push_back(host_.make(v));
    auto shared = build(GroupMemory::Where::kShared);
    if (host_.failed()) return;
    const Operand fits = shared->memory.settle(shared->step.kernel, shared_bytes());
    choose(
        host_, fits, [&] { launch(*shared); },
        [&] {
          auto device = build(GroupMemory::Where::kDevice);
          if (!host_.failed()) launch(*device);
        });
    for (size_t k = 0; k < s_.pat.size(); k++) host_.bind(s_.pat[k], results_[k]);
  }

 private:
  struct Built {
    Built(HostGen& host, GroupMemory::Where where)
        : k(step.kernel), t(host, k), memory(host, where) {}
    plan::Step step;
    kir::Builder k;
    body::Thread t;
    GroupMemory memory;
  };

  void find_facts(const ir::Body& b) {
    for (const ir::Stm& s : b.stms) {
      const auto* e = std::get_if<ir::ESeg>(&s.exp);
      if (e == nullptr) {
        ir::visit_bodies(s.exp, [&](const ir::Body& inner) { find_facts(inner); });
        continue;
      }
      for (const ir::SegMonoid& m : e->monoids) monoids_.push_back(&m.op);
      int64_t points = 1;
      for (const ir::SegDim& d : e->space.dims) {
        points =
            std::min(kMostThreads, points * std::clamp<int64_t>(known(d.size), 1, kMostThreads));
      }
      widest_ = std::max(widest_, points);
    }
  }
  /// A size of which nothing is known may be large.
  static int64_t known(const ir::Atom& size) {
    return size.is_const() ? size.constant().as_i64() : kMostThreads;
  }

  int group_size() const {
    const int64_t subgroup = host_.target().subgroup_size;
    const int64_t rounded = (widest_ + subgroup - 1) / subgroup * subgroup;
    return plan::group_size_for(facts_, host_.target(), static_cast<int>(rounded));
  }

  /// What operators leave of it.
  int shared_bytes() const {
    int taken = 0;
    for (const PrimType t : facts_.op.types) taken += std::max(4, prim_size(t)) * group_size();
    // One bool says whether the call has failed.
    return std::max(0, std::min(host_.target().shared_bytes, kMostShared) - taken - 64);
  }

  std::unique_ptr<Built> build(GroupMemory::Where where) {
    auto built = std::make_unique<Built>(host_, where);
    body::Thread& t = built->t;
    kir::Kernel& kernel = built->step.kernel;
    kernel.name = host_.kernel_name("group");
    kernel.prov = s_.prov;
    kernel.group_size = {1, 0};
    t.k.set_prov(s_.prov);
    plan::Team team(t.k, built->step, facts_, host_.target());
    team.specs = {t.k.spec("group_size", PrimValue::i32(group_size()))};
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
    launch_groups(host_, built.t, group_size(), groups_);
  }

  HostGen& host_;
  const ir::Stm& s_;
  const ir::ESeg& e_;
  plan::Facts facts_;
  Monoids monoids_;
  int64_t widest_ = 1;  // points of an ESeg in the body, at most kMostThreads
  Operand groups_ = PrimValue::i64(0);
  std::vector<HostArray> results_;
};

}  // namespace

void group_segment(HostGen& host, const ir::Stm& s, const ir::ESeg& e) {
  GroupSegment(host, s, e).run();
}

}  // namespace kenaz::gpu
