// How plans make their kernels: a Maker collects the launches of one plan, and gives the code of
// each kernel a Team, its threads as the plan sees them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/plan/plan.h"

namespace kenaz::plan {

/// Whether subgroups of the target reduce, scan and shuffle.
inline bool has_subgroups(const program::Target& t) {
  return t.subgroup_size > 1 && t.subgroup_arithmetic;
}

/// One kernel while it is built.
class Team {
 public:
  Team(Builder& builder, Step& step, const Facts& f, const program::Target& t)
      : k(builder), facts(f), target(t), step_(step) {}
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  Builder& k;
  const Facts& facts;
  const program::Target& target;
  Problem problem;
  std::vector<Value> specs;  // i32, by number
  Asks asks = Asks::kBySegment;

  /// Threads of a workgroup; i32.
  Value group_size() const { return specs[0]; }
  Value group_size_i64() { return k.to_i64(group_size()); }
  /// Threads of a subgroup (i32): a constant where all have one size.
  Value subgroup_size() {
    return target.fixed_subgroups ? kir::i32(target.subgroup_size) : k.subgroup_size();
  }
  /// What the host computed, i64: an argument, unless it is constant.
  Value host(const HostExpr& e);
  /// The block's address.
  Value block(ScratchId id);
  /// A shared array of `per_thread` elements for each thread of the workgroup.
  kir::SharedId shared_per_thread(const std::string& name, PrimType type, int per_thread = 1) {
    return k.shared(name, type, {per_thread, 0});
  }
  /// A shared scalar.
  kir::SharedId shared_scalar(const std::string& name, PrimType type) {
    return k.shared(name, type, {1, -1});
  }
  /// Whether subgroups reduce, scan and shuffle.
  bool has_subgroups() const { return plan::has_subgroups(target); }

 private:
  Step& step_;
  std::vector<std::pair<HostExpr, Value>> hosts_;
  std::map<int, Value> blocks_;
};

class Maker {
 public:
  /// `group_size`: threads per workgroup unless the facts say otherwise or the target has fewer.
  Maker(const Facts& facts, const program::Target& target, const Bind& bind, int group_size = 256);

  static HostExpr group_size() { return HostExpr::spec(0); }
  /// Another specialisation constant; all before the first step.
  HostExpr spec(const std::string& name, int32_t fallback);
  ScratchId scratch(HostExpr bytes, bool zero = false);
  /// How the kernels of the following steps ask for elements.
  void asks(Asks how) { asks_ = how; }
  void step(const std::string& name, HostExpr groups, const std::function<void(Team&)>& build,
            bool needs_progress = false);
  Work take() { return std::move(work_); }

 private:
  const Facts& facts_;
  const program::Target& target_;
  const Bind& bind_;
  Asks asks_ = Asks::kBySegment;
  Work work_;
};

/// Declares the functions of a plan, in a namespace of its name: for the rows of a plans.def.
#define KENAZ_DECLARE_PLAN(name)                                                  \
  namespace name {                                                                \
  bool applies(const plan::Facts&, const program::Target&);                       \
  plan::HostExpr when(const plan::Facts&, const program::Target&);                \
  plan::Work make(const plan::Facts&, const program::Target&, const plan::Bind&); \
  }

/// Threads per workgroup that a Maker with this default takes.
int group_size_for(const Facts& facts, const program::Target& target, int wanted = 256);
/// Workgroups that it takes to fill the device.
HostExpr groups_to_fill(const program::Target& target);
/// The target's limit of iterations for one loop of a thread, some left for others; 2^40 without a
/// limit.
int64_t turn_budget(const program::Target& target);
int bytes_of(const std::vector<PrimType>& types);

}  // namespace kenaz::plan
