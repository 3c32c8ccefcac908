// Loops: what an iteration consumes, its initial value or the last iteration's result, must belong
// to the loop.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/futhark/consumption/pass.h"
#include "kernels/futhark/core/uniqueness.h"
#include "protocol/base/overloaded.h"

namespace kenaz::consumption {

/// Binds the loop's variables, each with a root of its own. An ascription says what may be
/// consumed; without one, anything may.
void Pass::loop_params(const core::Pat& p, const AliasPtr& init, LoopParams& out,
                       std::vector<VarId>& order) {
  std::visit(
      Overloaded{
          [&](const core::PBind& b) {
            if (count_leaves(p.type) == 0) return;
            const bool unique = core::has_unique(p.type);
            LoopParam param;
            param.name = name(b.id);
            param.init = init;
            param.unique = unique && b.ascribed;
            bind_name(b.id, p.type, {}, {Root::kLoopParameter, name(b.id), unique || !b.ascribed});
            param.roots = all_roots(vars_[b.id].aliases);
            out.emplace(b.id, std::move(param));
            order.push_back(b.id);
          },
          [&](const core::PRecord& r) {
            for (size_t i = 0; i < r.fields.size(); i++) {
              loop_params(*r.fields[i].second, part(init, i), out, order);
            }
          },
          [](const auto&) {}},
      p.node);
}

void Pass::loop_next(const core::Pat& p, const AliasPtr& next, LoopParams& out) {
  if (const auto* b = std::get_if<core::PBind>(&p.node)) {
    auto it = out.find(b->id);
    if (it != out.end()) it->second.next = next;
  } else if (const auto* r = std::get_if<core::PRecord>(&p.node)) {
    for (size_t i = 0; i < r->fields.size(); i++) {
      loop_next(*r->fields[i].second, part(next, i), out);
    }
  }
}

/// Consumed are the variables that the body consumes, those declared unique that it returns, and
/// those that become a consumed one in the next iteration. One that is declared unique and neither
/// consumed nor returned is no promise: the loop's result is as shared as its initial value.
void Pass::find_consumed(LoopParams& params, const std::vector<VarId>& order) {
  for (VarId v : order) {
    LoopParam& p = params[v];
    p.consumed = ledger_.is_consumed(p.roots[0]) ||
                 (p.unique && common(all_roots(p.next), p.roots) != nullptr);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (VarId v : order) {
      if (!params[v].consumed) continue;
      const Roots next = all_roots(params[v].next);
      for (VarId w : order) {
        LoopParam& other = params[w];
        if (other.consumed || !common(next, other.roots)) continue;
        if (!ledger_.is_consumable(other.roots[0])) continue;  // reported by check_next
        other.consumed = changed = true;
      }
    }
  }
}

/// `inside`: the first root of the loop itself.
void Pass::check_next(const LoopParams& params, const std::vector<VarId>& order, RootId inside,
                      const SourceRange& range) {
  Roots consumed, others;
  for (VarId v : order) {
    const LoopParam& p = params.at(v);
    const Roots next = all_roots(p.next);
    const std::string what =
        fmt::format("Return value for consuming loop parameter \"{}\" aliases ", p.name);
    if (p.consumed) {
      for (RootId r : next) {
        if (r >= inside && ledger_.root(r).consumable) continue;
        ledger_.report(range,
                       fmt::format("{}{}.\nHint: use \"copy\" to break the aliasing.", what,
                                   ledger_.describe(r)),
                       "consuming-loop-param-aliases");
      }
    }
    if (common(next, consumed)) {
      ledger_.report(range, what + "other consumed loop parameter.",
                     "loop-parameter-aliases-other");
    } else if (p.consumed && common(next, others)) {
      ledger_.report(range, what + "previously returned value.", "loop-parameter-aliases-other");
    }
    Roots& seen = p.consumed ? consumed : others;
    seen = merge(seen, next);
  }
}

AliasPtr Pass::loop_result(const core::Pat& p, const AliasPtr& init, const AliasPtr& next,
                           const LoopParams& params) {
  if (const auto* r = std::get_if<core::PRecord>(&p.node)) {
    Aliases out;
    for (size_t i = 0; i < r->fields.size(); i++) {
      out.parts.push_back(loop_result(*r->fields[i].second, part(init, i), part(next, i), params));
    }
    return std::make_shared<const Aliases>(std::move(out));
  }
  AliasPtr all = next;
  const auto* b = std::get_if<core::PBind>(&p.node);
  const auto own = b ? params.find(b->id) : params.end();
  if (own == params.end() || !own->second.consumed) all = join(all, init);
  return map_leaves(p.type, all, [&](const core::Type&, const Roots& roots, bool) {
    Roots out = roots;
    for (const auto& [v, other] : params) {
      if (!common(roots, other.roots)) continue;
      if (other.consumed) {
        std::erase_if(out, [&own = other.roots](RootId r) { return contains(own, r); });
      } else {
        out = merge(out, all_roots(other.init));
      }
    }
    return out;
  });
}

Value Pass::loop(const core::ELoop& l, const ExpPtr& e) {
  const bool is_while = l.form == core::ELoop::kWhile;
  const Value bound = is_while ? Value{} : walk(l.bound);
  const Value init = walk(l.init);
  if (ledger_.failed()) return {};
  const Mark before = ledger_.mark();
  const RootId outside = ledger_.enter();
  LoopParams params;
  std::vector<VarId> order;
  loop_params(*l.pat, init.aliases, params, order);
  if (l.elem_pat) bind(*l.elem_pat, bound);
  if (is_while) walk(l.bound);
  const Value body = walk(l.body);
  if (ledger_.failed()) return {};
  loop_next(*l.pat, body.aliases, params);
  find_consumed(params, order);
  check_next(params, order, before.next, e->range);
  ledger_.rewind(before);
  ledger_.leave(outside);
  const bool consumes =
      std::any_of(order.begin(), order.end(), [&](VarId v) { return params.at(v).consumed; });
  if (consumes) distinct_parts(l.init, init.aliases);
  for (VarId v : order) {
    const LoopParam& p = params[v];
    if (p.consumed) ledger_.consume(all_roots(p.init), l.init->range, written_name(l.init), true);
  }
  ledger_.recheck_uses(before);
  return {loop_result(*l.pat, init.aliases, body.aliases, params), nullptr};
}

}  // namespace kenaz::consumption
