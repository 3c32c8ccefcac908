#include "kernels/flatten/parallelism.h"

#include <algorithm>

#include "kernels/flatten/attributes.h"
#include "kernels/ir/analysis/plain.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"
#include "kernels/scalar/quick.h"
#include "protocol/base/overloaded.h"

namespace kenaz::flatten {

using namespace ir;

namespace {

void collect_consumed(const Program& p, const Stm& s, std::vector<VarId>& out) {
  const auto here = consumed_in(p, s);
  out.insert(out.end(), here.begin(), here.end());
  visit_bodies(s.exp, [&](const Body& b) {
    for (const Stm& inner : b.stms) collect_consumed(p, inner, out);
  });
}

using Why = Stays::Why;

bool is_plain_map(const ESoac& e) { return e.scans.empty() && e.reduces.empty(); }

}  // namespace

Parallelism::Parallelism(const Program& p, const ProgramFacts& facts, const Stm& nest, Depth depth)
    : p_(p), depth_(depth), facts_(facts) {
  for_each_bound(nest, [&](VarId v) { varying_.insert(v); });
  for (const VarId v : nest.pat) varying_.erase(v);
  std::vector<VarId> consumed;
  collect_consumed(p, nest, consumed);
  for (const VarId v : consumed) consumed_.insert(facts_.aliases.of(v));
}

bool Parallelism::varies(const Type& t) const {
  return std::any_of(t.dims.begin(), t.dims.end(), [&](const Atom& d) { return varies(d); });
}

bool Parallelism::is_tiny(const Atom& width) const {
  return width.is_const() && width.constant().as_i64() <= passes::kFewElements;
}

bool Parallelism::is_tiny(const Type& t) const {
  return std::ranges::all_of(t.dims, [&](const Atom& d) { return is_tiny(d); });
}

bool Parallelism::works_on_elements(const Stm& s) const {
  return depth_ == Depth::kAll && !stays_ && !asks_for_one_thread(s);
}

bool Parallelism::is_spreadable(const Monoid& m) const {
  const auto lifted = lift(p_, facts_.replicates, m);
  if (!lifted) return false;
  const auto varying = [&](const Atom& a) { return varies(a); };
  if (std::any_of(lifted->scalar.neutral.begin(), lifted->scalar.neutral.end(), varying) ||
      std::any_of(lifted->dims.begin(), lifted->dims.end(), varying)) {
    return false;
  }
  const VarSet used = free_vars(p_, lifted->scalar.op);
  return std::none_of(used.begin(), used.end(), [&](VarId v) { return varies(v); });
}

bool Parallelism::is_spreadable(const std::vector<Monoid>& monoids) const {
  return std::all_of(monoids.begin(), monoids.end(),
                     [&](const Monoid& m) { return is_spreadable(m); });
}

Parallelism::Stay Parallelism::stay(const Atom& width, const std::vector<VarId>& inputs,
                                    const Lambda& map) const {
  const bool varies_inside =
      std::any_of(inputs.begin(), inputs.end(), [&](VarId v) { return varies(p_.type_of(v)); }) ||
      std::any_of(map.ret.begin(), map.ret.end(), [&](const Type& t) { return varies(t); });
  if (varies(width) || varies_inside) return Stays{Why::kSizes};
  if (is_tiny(width)) return Stays{Why::kFew};
  return std::nullopt;
}

Parallelism::Stay Parallelism::stay(const Stm& s) const {
  if (depth_ == Depth::kOutermost || stays_ || asks_for_one_thread(s)) {
    return Stays{Why::kAttribute};
  }
  for (const VarId v : s.pat) {
    if (varies(p_.type_of(v))) return Stays{Why::kSizes};
  }
  const auto with_operators = [&](const auto& e, bool spreadable) -> Stay {
    const Stay because = stay(e.width, e.inputs, e.map);
    return because || spreadable ? because : Stays{Why::kOperator};
  };
  if (const auto* e = std::get_if<ESoac>(&s.exp)) {
    if (depth_ == Depth::kMaps && !is_plain_map(*e)) return Stays{Why::kAttribute};
    const Stay because = with_operators(*e, is_spreadable(e->scans) && is_spreadable(e->reduces));
    const bool is_few = because && because->why == Why::kFew;
    // Of few elements each may have much to do for itself.
    if (is_few && is_plain_map(*e) && any_worth_spreading(e->map.body)) return std::nullopt;
    return because;
  }
  if (depth_ == Depth::kMaps) return Stays{Why::kAttribute};
  return std::visit(Overloaded{
                        [&](const EScatter& e) { return with_operators(e, true); },
                        [&](const ESort& e) { return with_operators(e, true); },
                        [&](const EHist& e) {
                          return with_operators(
                              e, std::all_of(e.ops.begin(), e.ops.end(), [&](const EHist::Op& op) {
                                return is_spreadable(op.monoid);
                              }));
                        },
                        [&](const ELoop& e) { return stay(e); },
                        [&](const EIf& e) -> Stay {
                          if (varies(e.cond)) return Stays{Why::kBranch};
                          if (any_worth_spreading(e.then_body) || any_worth_spreading(e.else_body))
                            return {};
                          return Stays{Why::kFew};
                        },
                        [](const auto&) -> Stay { return Stays{Why::kFew}; },
                    },
                    s.exp);
}

Parallelism::Stay Parallelism::stay(const ELoop& e) const {
  const auto* form = std::get_if<LoopFor>(&e.form);
  const bool is_uniform = form != nullptr
                              ? !varies(form->bound)
                              : uniform_params(e).contains(std::get<LoopWhile>(e.form).cond);
  if (!is_uniform) return Stays{Why::kLoop};
  if (std::any_of(e.params.begin(), e.params.end(),
                  [&](const auto& q) { return varies(p_.type_of(q.var)); })) {
    return Stays{Why::kSizes};
  }
  if (!any_worth_spreading(e.body)) return Stays{Why::kFew};
  return std::nullopt;
}

bool Parallelism::any_worth_spreading(const Body& b) const {
  return std::any_of(b.stms.begin(), b.stms.end(),
                     [&](const Stm& s) { return worth_spreading(s); });
}

bool Parallelism::makes_by_elements(const Stm& s) const {
  if (!works_on_elements(s)) return false;
  std::vector<Atom> parts;
  if (const auto* e = std::get_if<EConcat>(&s.exp)) {
    parts.assign(e->arrays.begin(), e->arrays.end());
  } else if (const auto* l = std::get_if<EArrayLit>(&s.exp)) {
    // Each element asks for its row, one after the other.
    if (l->elem_type.is_scalar() || l->elems.size() > passes::kFewElements) return false;
    parts = l->elems;
  } else if (const auto* r = std::get_if<EReplicate>(&s.exp)) {
    if (p_.type_of(r->value).is_scalar()) return false;
    parts = {r->value};
  } else {
    return false;
  }
  const Type& t = p_.type_of(s.pat[0]);
  return !is_tiny(t) && !varies(t) && std::none_of(parts.begin(), parts.end(), [&](const Atom& a) {
    return varies(p_.type_of(a));
  });
}

bool Parallelism::writes_by_elements(const Stm& s) const {
  const auto* e = std::get_if<EUpdate>(&s.exp);
  if (e == nullptr || !works_on_elements(s)) return false;
  const Type& t = p_.type_of(e->array);
  const std::vector<Atom> sizes = slice_dims(e->dims);
  return !is_tiny(t) && !varies(t) &&
         std::ranges::none_of(sizes, [&](const Atom& n) { return varies(n); });
}

VarSet Parallelism::uniform_params(const ELoop& e) const {
  VarSet uniform;
  for (const auto& param : e.params) {
    if (p_.type_of(param.var).is_scalar() && !varies(param.init)) uniform.insert(param.var);
  }
  for (bool changes = true; changes;) {
    VarSet known = uniform;
    if (const auto* form = std::get_if<LoopFor>(&e.form)) known.insert(form->index);
    const auto is_known = [&](VarId v) { return known.contains(v) || !varies(v); };
    for (const Stm& s : e.body.stms) {
      const VarSet used = free_vars(p_, s);
      if (is_quick_arithmetic(s) && std::ranges::all_of(used, is_known)) known.insert(s.pat[0]);
    }
    changes = false;
    for (size_t k = 0; k < e.params.size(); k++) {
      const Atom& next = e.body.results[k];
      if (!next.is_const() && !is_known(next.var())) {
        changes = uniform.erase(e.params[k].var) != 0 || changes;
      }
    }
  }
  return uniform;
}

bool Parallelism::can_move_out(const Stm& s) const {
  const VarSet used = free_vars(p_, s);
  return is_quick_arithmetic(s) &&
         std::none_of(used.begin(), used.end(), [&](VarId v) { return varies(v); });
}

bool Parallelism::can_make_again(const Stm& s) const {
  if (!s.attrs.empty()) return false;
  const auto unwritten = [&](VarId array) {
    return consumed_.count(facts_.aliases.of(array)) == 0;
  };
  return std::visit(
      Overloaded{
          [&](const EAtom& e) { return p_.type_of(e.atom).is_scalar() || unwritten(e.atom.var()); },
          [](const EPrim& e) { return scalar_op_is_quick(e.op); },
          [&](const EIndex& e) { return unwritten(e.array); },
          [&](const ERearrange& e) { return unwritten(e.array); },
          // Of rows that are not dense a thread would make a copy.
          [&](const EReshape&) { return false; },
          // Also where it is overwritten: each piece has one of its own then, or an array is made
          // by a thread for each element.
          [](const EIota&) { return true; },
          [&](const EReplicate& e) { return p_.type_of(e.value).is_scalar(); },
          [](const EArrayLit& e) {
            constexpr size_t kMost = 4;
            return e.elem_type.is_scalar() && e.elems.size() <= kMost;
          },
          [](const auto&) { return false; },
      },
      s.exp);
}

}  // namespace kenaz::flatten
