#include "kernels/futhark/check/warn.h"

#include <algorithm>

#include "kernels/futhark/check/scope.h"
#include "kernels/futhark/syntax/bindings.h"

namespace kenaz::check {

namespace {

const syntax::Literal* literal(const syntax::Exp& e) {
  const auto* l = std::get_if<syntax::ELiteral>(&e.node);
  return l ? &l->value : nullptr;
}

const syntax::IntLit* int_literal(const syntax::Exp& e) {
  const syntax::Literal* l = literal(e);
  return l ? std::get_if<syntax::IntLit>(l) : nullptr;
}

bool same_typed_literal(const syntax::Exp& a, const syntax::Exp& b) {
  const syntax::Literal *x = literal(a), *y = literal(b);
  const auto* p = x ? std::get_if<syntax::PrimLit>(x) : nullptr;
  const auto* q = y ? std::get_if<syntax::PrimLit>(y) : nullptr;
  return p && q && p->value.type == q->value.type && p->value.bits == q->value.bits;
}

}  // namespace

// Sizes of slices are their ends, less their starts, where the stride is 1 or -1.
void warn_of_slices(Reports& reports, const std::vector<syntax::DimIndex>& slices) {
  auto one = [](const syntax::Exp* e) {
    if (const auto* n = std::get_if<syntax::ENegate>(&e->node)) e = n->operand.get();
    const syntax::IntLit* i = int_literal(*e);
    return i && i->value == 1;
  };
  for (const auto& d : slices) {
    if (!d.is_slice || (d.stride && !one(d.stride.get()))) continue;
    for (const auto* e : {&d.start, &d.end}) {
      if (*e && syntax::binds_names(**e)) reports.warn(Warning::kSizeBinding, (*e)->range);
    }
  }
}

void warn_of_range(Reports& reports, const syntax::ERange& r, bool is_i64,
                   const SourceRange& range) {
  const syntax::IntLit *first = int_literal(*r.start), *second = nullptr;
  if (r.second) {
    second = int_literal(*r.second);
    const auto* x = std::get_if<syntax::EVar>(&r.start->node);
    const auto* y = std::get_if<syntax::EVar>(&r.second->node);
    const bool same_name = x && y && x->name.quals == y->name.quals && x->name.name == y->name.name;
    if (same_name || same_typed_literal(*r.start, *r.second))
      reports.warn(Warning::kEmptyRange, range);
  }
  if (!is_i64 || r.kind == syntax::ERange::kDownExclusive) return;
  const uint64_t from = r.kind == syntax::ERange::kInclusive ? 1 : 0;
  const bool counts = first && second && first->value == from && second->value == from + 1;
  if (r.second && !counts) return;  // the size is unknown anyway
  for (const auto* e : {&r.start, &r.end}) {
    if (syntax::binds_names(**e)) reports.warn(Warning::kSizeBinding, (*e)->range);
  }
}

// Of abstract types that are included where there is a type of that name.
void warn_of_inclusion(Reports& reports, const Env& part, EnvRef before, const SourceRange& range) {
  std::vector<std::string> names;
  for (const auto& [name, versions] : part.types) {
    const TypeBinding* b = versions.entries.back().what;
    if (std::holds_alternative<core::TAbstract>(b->type->node) && b->source == nullptr) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (Scopes::find_scoped(&Env::types, before, name)) {
      reports.warn(Warning::kInclusionShadows, range, name);
    }
  }
}

}  // namespace kenaz::check
