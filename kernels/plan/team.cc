#include "kernels/plan/team.h"

#include <algorithm>

#include "protocol/base/check.h"

namespace kenaz::plan {

Value Team::host(const HostExpr& e) {
  if (e.is_const()) return k.to_i64(Value(e.constant()));
  if (e.leaf() == HostExpr::Leaf::kSpec) return k.to_i64(specs[static_cast<size_t>(e.number())]);
  for (const auto& [known, value] : hosts_) {
    if (known == e) return value;
  }
  const Value v = k.arg("size", PrimType::kI64);
  step_.args.push_back({k.kernel().args.size() - 1, e});
  hosts_.emplace_back(e, v);
  return v;
}

Value Team::block(ScratchId id) {
  const auto it = blocks_.find(id.number);
  if (it != blocks_.end()) return it->second;
  const Value v = k.block_arg("scratch");
  step_.args.push_back({k.kernel().args.size() - 1, id});
  blocks_.emplace(id.number, v);
  return v;
}

Maker::Maker(const Facts& facts, const program::Target& target, const Bind& bind, int group_size)
    : facts_(facts), target_(target), bind_(bind) {
  work_.specs.push_back({"group_size", group_size_for(facts, target, group_size)});
}

HostExpr Maker::spec(const std::string& name, int32_t fallback) {
  CHECK(work_.steps.empty());
  work_.specs.push_back({name, fallback});
  return HostExpr::spec(static_cast<int>(work_.specs.size()) - 1);
}

ScratchId Maker::scratch(HostExpr bytes, bool zero) {
  work_.scratch.push_back({std::move(bytes), zero});
  return {static_cast<int>(work_.scratch.size()) - 1};
}

void Maker::step(const std::string& name, HostExpr groups, const std::function<void(Team&)>& build,
                 bool needs_progress) {
  Step s;
  s.groups = std::move(groups);
  s.kernel.name = facts_.name + name;
  s.kernel.prov = facts_.prov;
  s.kernel.group_size = {1, 0};
  s.kernel.needs_progress = needs_progress;
  {
    Builder k(s.kernel);
    k.set_prov(facts_.prov);
    Team team(k, s, facts_, target_);
    for (const PlanSpec& spec : work_.specs) {
      team.specs.push_back(k.spec(spec.name, PrimValue::i32(spec.fallback)));
    }
    team.asks = asks_;
    team.problem = bind_(team);
    build(team);
  }
  work_.steps.push_back(std::move(s));
}

int group_size_for(const Facts& facts, const program::Target& target, int wanted) {
  if (facts.group_size > 0) wanted = facts.group_size;
  int size = std::min(wanted, target.max_group_size);
  // Three values of each thread in shared memory are the least that a plan takes.
  const int bytes = 3 * (bytes_of(facts.op.types) + bytes_of(facts.carried));
  while (size > target.subgroup_size && size * bytes > target.shared_bytes) size /= 2;
  return std::max(size - size % target.subgroup_size, target.subgroup_size);
}

HostExpr groups_to_fill(const program::Target& target) {
  return max(HostExpr::op(ScalarOp::kQuot, {target.threads, Maker::group_size()}), 1);
}

int64_t turn_budget(const program::Target& target) {
  return target.max_turns > 0 ? std::max<int64_t>(target.max_turns / 4, 1) : int64_t{1} << 40;
}

int bytes_of(const std::vector<PrimType>& types) {
  int n = 0;
  for (const PrimType t : types) n += prim_size(t);
  return n;
}

}  // namespace kenaz::plan
