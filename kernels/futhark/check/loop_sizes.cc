#include "kernels/futhark/check/loop_sizes.h"

#include <algorithm>
#include <unordered_set>

#include "kernels/futhark/core/type_util.h"

namespace kenaz::check {

// The type of the loop's variables: that of the initial values with every size replaced by one that
// the pattern, the form and the body may say more of. `sizes` gets these and what they are at the
// start.
TypePtr LoopSizes::type(const TypePtr& type, std::vector<std::pair<VarId, Size>>& sizes) {
  return vars_.map_dims(type, [&](const Size& s) {
    VarId v = vars_.new_flex("d");
    vars_[v].loop = true;
    sizes.emplace_back(v, vars_.resolve(s));
    return Size::of_var(v);
  });
}

// Is `now`, a size of what the loop's body returns, either `name` or `start`? A size that is yet to
// be found may become one of them, but is another one; so is that of branches which return both.
bool LoopSizes::keeps(const Size& now, VarId name, const Size& start) {
  const Size s = vars_.resolve(now);
  return core::same_size(vars_.meaning(s), vars_.meaning(start)) ||
         (s.kind == Size::kVar && s.var == name);
}

// The body's type has been compared with that of the loop's variables without sizes. What was
// `unknown` of it before, as the type of a hole, has them from nowhere.
void LoopSizes::open(const std::vector<core::MetaId>& unknown, const SourceRange& range) {
  for (const core::MetaId id : unknown) {
    if (!vars_[id].solution) continue;
    const TypePtr known = vars_.map_dims(vars_[id].solution, [&](const Size& s) {
      const Size dim = vars_.resolve(s);
      if (dim.kind != Size::kAny) return dim;
      const VarId v = vars_.new_flex("d");
      vars_[v].level = vars_[id].level;
      vars_.determine(v, OpenSize::kLoop, range);
      return Size::of_var(v);
    });
    vars_[id].solution = known;
  }
}

// After the body: which of `sizes` may change from one iteration to the next. The others are what
// they are at the start.
std::vector<VarId> LoopSizes::varying(const TypePtr& pattern, const TypePtr& body,
                                      const std::vector<std::pair<VarId, Size>>& sizes,
                                      const SourceRange& range, uint32_t outside) {
  std::vector<Size> before, after;
  auto collect = [](std::vector<Size>& out) {
    return [&out](const Size& s) {
      out.push_back(s);
      return s;
    };
  };
  vars_.map_dims(pattern, collect(before));
  vars_.map_dims(body, collect(after));
  std::vector<VarId> varying;
  for (size_t i = 0; i < before.size() && i < after.size(); i++) {
    const Size s = vars_.resolve(before[i]);
    auto it = std::find_if(sizes.begin(), sizes.end(),
                           [&](const auto& x) { return s.kind == Size::kVar && x.first == s.var; });
    if (it == sizes.end() || vars_[s.var].solved) continue;
    if (!keeps(after[i], it->first, it->second)) varying.push_back(it->first);
  }
  for (VarId v : varying) {
    Var& var = vars_[v];
    var.flex = false;
    var.origin = "size of a variable of a loop that changes from one iteration to the next";
    std::unordered_set<VarId> inside;
    for (uint32_t older = outside; older < v.index; older++) {
      const Var& other = vars_[VarId{older}];
      if (!other.solved || other.loop || other.of_function) continue;
      inside.clear();
      core::free_sizes(vars_.resolve(Size::of_var(VarId{older})), inside);
      if (!inside.count(v)) continue;
      reports_.error(range, "Loop-variant size " + sizes_.size_text(Size::of_var(v)) +
                                " would be part of the type of a value bound outside of the loop.");
      return varying;
    }
  }
  for (const auto& [v, start] : sizes) {
    if (vars_[v].flex && !vars_[v].solved) sizes_.unify_size(Size::of_var(v), start);
  }
  return varying;
}

}  // namespace kenaz::check
