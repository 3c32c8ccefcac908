#include "kernels/futhark/core/type_util.h"

#include <algorithm>

#include "kernels/futhark/core/children.h"
#include "kernels/futhark/core/parts.h"
#include "protocol/base/check.h"
#include "protocol/base/overloaded.h"

namespace kenaz::core {

TypePtr prim_type(PrimType p) { return make_type(TPrim{p}); }

TypePtr array_type(Size dim, TypePtr elem) {
  return make_type(TArray{std::move(dim), std::move(elem)});
}

TypePtr tuple_type(std::vector<TypePtr> elems) {
  TRecord r;
  for (size_t i = 0; i < elems.size(); i++) r.fields.emplace_back(std::to_string(i), elems[i]);
  return make_type(std::move(r));
}

static bool is_number(const std::string& s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool field_less(const std::string& a, const std::string& b) {
  const bool na = is_number(a), nb = is_number(b);
  if (na != nb) return na;
  if (na && a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

TypePtr record_type(std::vector<std::pair<std::string, TypePtr>> fields) {
  std::stable_sort(fields.begin(), fields.end(),
                   [](const auto& a, const auto& b) { return field_less(a.first, b.first); });
  return make_type(TRecord{std::move(fields)});
}

bool is_tuple(const TRecord& r) {
  for (size_t i = 0; i < r.fields.size(); i++) {
    if (r.fields[i].first != std::to_string(i)) return false;
  }
  return r.fields.size() != 1;
}

TypePtr with_unique(const TypePtr& t, bool unique) {
  if (t->unique == unique) return t;
  auto copy = std::make_shared<Type>(*t);
  copy->unique = unique;
  return copy;
}

const TPrim* as_prim(const TypePtr& t) { return std::get_if<TPrim>(&t->node); }

bool is_prim(const TypePtr& t, PrimType p) {
  const TPrim* q = as_prim(t);
  return q && q->prim == p;
}

TypePtr row_type(TypePtr t, int* rank) {
  if (rank) *rank = 0;
  while (const auto* a = std::get_if<TArray>(&t->node)) {
    if (rank) ++*rank;
    t = a->elem;
  }
  return t;
}

// ---- substitution

namespace {

ExpPtr i64_literal(int64_t v) {
  auto e = std::make_shared<Exp>();
  e->type = prim_type(PrimType::kI64);
  e->node = ELit{PrimValue::i64(v)};
  return e;
}

ExpPtr i64_var(VarId v) {
  auto e = std::make_shared<Exp>();
  e->type = prim_type(PrimType::kI64);
  e->node = EVar{v, {}, {}};
  return e;
}

// A use of a definition, whose instance may be in terms of what is substituted.
ExpPtr substitute_instance(const ExpPtr& e, const EVar& v, const Subst& s) {
  EVar out{v.id, {}, {}, v.narrowed};
  for (const TypePtr& t : v.targs) out.targs.push_back(substitute(t, s));
  bool changed = out.targs != v.targs;
  for (const Size& size : v.sargs) {
    out.sargs.push_back(substitute(size, s));
    changed |= !same_repr(out.sargs.back(), size);
  }
  const TypePtr type = substitute(e->type, s);
  if (!changed && type == e->type) return e;
  auto copy = std::make_shared<Exp>(*e);
  copy->type = type;
  copy->node = std::move(out);
  return copy;
}

// Null if a part has no value (kAny).
ExpPtr substitute_exp(const ExpPtr& e, const Subst& s) {
  const auto* v = std::get_if<EVar>(&e->node);
  if (!v) {
    return map_children(e, [&](const ExpPtr& part) { return substitute_exp(part, s); });
  }
  const auto it = s.sizes.find(v->id);
  if (it == s.sizes.end()) return substitute_instance(e, *v, s);
  return it->second.kind == Size::kAny ? nullptr : exp_of_size(it->second);
}

}  // namespace

Size substitute(const Size& size, const Subst& s) {
  switch (size.kind) {
    case Size::kVar: {
      auto it = s.sizes.find(size.var);
      return it == s.sizes.end() ? size : it->second;
    }
    case Size::kExp: {
      if (s.sizes.empty()) return size;
      auto e = substitute_exp(size.exp, s);
      if (!e) return Size::any();
      return e == size.exp ? size : size_of_exp(e);
    }
    default: return size;
  }
}

TypePtr substitute(const TypePtr& t, const Subst& s) {
  if (s.empty()) return t;
  if (const auto* p = std::get_if<TParam>(&t->node)) {
    const auto it = s.types.find(p->id);
    if (it == s.types.end()) return t;
    return t->unique ? with_unique(it->second, true) : it->second;
  }
  return map_parts(
      t, [&](const TypePtr& x) { return substitute(x, s); },
      [&](const Size& x) { return substitute(x, s); });
}

TypePtr expand_abstract(const TAbstract& a, const std::vector<AbstractType>& table) {
  CHECK(a.id.index < table.size());
  const AbstractType& def = table[a.id.index];
  CHECK(def.params.size() == a.args.size());
  Subst s;
  for (size_t i = 0; i < a.args.size(); i++) {
    if (const auto* type = std::get_if<TypePtr>(&a.args[i])) {
      s.types[std::get<TyVarId>(def.params[i])] = *type;
    } else {
      s.sizes[std::get<VarId>(def.params[i])] = std::get<Size>(a.args[i]);
    }
  }
  return substitute(def.repr, s);
}

// ---- free variables

namespace {

void free_in_exp(const Exp& e, std::unordered_set<VarId>& out) {
  if (const auto* v = std::get_if<EVar>(&e.node)) out.insert(v->id);
  if (binds_names(e)) return;
  for_each_child(e, [&](const ExpPtr& part) { free_in_exp(*part, out); });
}

}  // namespace

void free_sizes(const Size& s, std::unordered_set<VarId>& out) {
  if (s.kind == Size::kVar) out.insert(s.var);
  if (s.kind == Size::kExp) free_in_exp(*s.exp, out);
}

TypePtr look_through(const TypePtr& t, const std::vector<AbstractType>& table) {
  if (const auto* a = std::get_if<TAbstract>(&t->node)) {
    const TypePtr type = look_through(expand_abstract(*a, table), table);
    return t->unique ? with_unique(type, true) : type;
  }
  return map_parts(
      t, [&](const TypePtr& x) { return look_through(x, table); }, [](const Size& s) { return s; });
}

void free_sizes(const TypePtr& t, std::unordered_set<VarId>& out) {
  std::visit(Overloaded{[&](const TArray& a) {
                          free_sizes(a.dim, out);
                          free_sizes(a.elem, out);
                        },
                        [&](const TRecord& r) {
                          for (const auto& f : r.fields) free_sizes(f.second, out);
                        },
                        [&](const TSum& s) {
                          for (const auto& c : s.constructors) {
                            for (const auto& p : c.second) free_sizes(p, out);
                          }
                        },
                        [&](const TArrow& a) {
                          free_sizes(a.from, out);
                          std::unordered_set<VarId> inner;
                          free_sizes(a.to, inner);
                          inner.erase(a.param);
                          for (VarId v : a.ext) inner.erase(v);
                          out.insert(inner.begin(), inner.end());
                        },
                        [&](const TAbstract& a) {
                          for (const auto& arg : a.args) {
                            std::visit([&](const auto& x) { free_sizes(x, out); }, arg);
                          }
                        },
                        [](const auto&) {}},
             t->node);
}

void whole_sizes(const TypePtr& t, std::unordered_set<VarId>& out, Abstract abstract) {
  if (const auto* a = std::get_if<TArray>(&t->node)) {
    if (a->dim.kind == Size::kVar) out.insert(a->dim.var);
    whole_sizes(a->elem, out, abstract);
  } else if (const auto* r = std::get_if<TRecord>(&t->node)) {
    for (const auto& f : r->fields) whole_sizes(f.second, out, abstract);
  } else if (const auto* sum = std::get_if<TSum>(&t->node)) {
    for (const auto& c : sum->constructors) {
      for (const auto& p : c.second) whole_sizes(p, out, abstract);
    }
  } else if (const auto* x = std::get_if<TAbstract>(&t->node)) {
    for (const auto& arg : x->args) {
      if (const auto* s = std::get_if<Size>(&arg)) {
        if (s->kind == Size::kVar) out.insert(s->var);
      } else if (abstract == Abstract::kTransparent) {
        whole_sizes(std::get<TypePtr>(arg), out, abstract);
      }
    }
  }
}

bool mentions_size(const TypePtr& t, VarId v) {
  std::unordered_set<VarId> vars;
  free_sizes(t, vars);
  return vars.count(v) > 0;
}

// ---- sizes

namespace {

/// Whether the same parts of a slice are there.
bool same_form(const std::vector<DimIndex>& a, const std::vector<DimIndex>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return !x.index == !y.index && !x.start == !y.start && !x.end == !y.end &&
           !x.stride == !y.stride;
  });
}

/// Their types may not be known yet, or not both.
bool same_literal(const PrimValue& a, const PrimValue& b) {
  if (is_integer(a.type) && is_integer(b.type)) return a.as_i64() == b.as_i64();
  if (a.type == PrimType::kBool || b.type == PrimType::kBool) return a == b;
  return a.as_double() == b.as_double();
}

/// Whether two expressions of one kind are the same but for the expressions directly below them.
/// False for expressions that bind names: another one binds other names.
bool same_head(const Exp& a, const Exp& b) {
  return std::visit(
      Overloaded{
          [&](const ELit& x) { return same_literal(x.value, std::get<ELit>(b.node).value); },
          [&](const EString& x) { return x.bytes == std::get<EString>(b.node).bytes; },
          [&](const EVar& x) { return x.id == std::get<EVar>(b.node).id; },
          [&](const EIntrinsic& x) { return x.op == std::get<EIntrinsic>(b.node).op; },
          [&](const EProject& x) { return x.field == std::get<EProject>(b.node).field; },
          [&](const ERecord& x) {
            const auto& y = std::get<ERecord>(b.node);
            return std::equal(x.fields.begin(), x.fields.end(), y.fields.begin(), y.fields.end(),
                              [](const auto& f, const auto& g) { return f.first == g.first; });
          },
          [&](const ERecordUpdate& x) { return x.field == std::get<ERecordUpdate>(b.node).field; },
          [&](const EConstr& x) { return x.name == std::get<EConstr>(b.node).name; },
          [&](const EIndex& x) { return same_form(x.dims, std::get<EIndex>(b.node).dims); },
          [&](const EUpdate& x) { return same_form(x.dims, std::get<EUpdate>(b.node).dims); },
          [&](const ERange& x) {
            const auto& y = std::get<ERange>(b.node);
            return x.kind == y.kind && !x.second == !y.second;
          },
          [](const EApply&) { return true; }, [](const EIf&) { return true; },
          [](const EArray&) { return true; }, [](const auto&) { return false; }},
      a.node);
}

}  // namespace

static bool same_exp(const Exp& a, const Exp& b) {
  if (&a == &b) return true;
  if (a.node.index() != b.node.index() || !same_head(a, b)) return false;
  std::vector<const Exp*> parts;
  for_each_child(a, [&](const ExpPtr& part) { parts.push_back(part.get()); });
  size_t at = 0;
  bool same = true;
  for_each_child(b, [&](const ExpPtr& part) {
    same = same && at < parts.size() && same_exp(*parts[at], *part);
    at++;
  });
  return same && at == parts.size();
}

bool same_size_exp(const ExpPtr& a, const ExpPtr& b) { return same_exp(*a, *b); }

bool same_size(const Size& a, const Size& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Size::kAny: return true;
    case Size::kConst: return a.constant == b.constant;
    case Size::kVar: return a.var == b.var;
    case Size::kExp: return same_size_exp(a.exp, b.exp);
    case Size::kMeta: return a.meta == b.meta;
  }
  return false;
}

Size size_of_exp(const ExpPtr& e) {
  if (const auto* l = std::get_if<ELit>(&e->node)) {
    if (is_integer(l->value.type)) return Size::of_const(l->value.as_i64());
  }
  if (const auto* v = std::get_if<EVar>(&e->node)) {
    if (v->targs.empty() && v->sargs.empty()) return Size::of_var(v->id);
  }
  if (const auto* a = std::get_if<EAttr>(&e->node)) return size_of_exp(a->inner);
  return Size::of_exp(e);
}

ExpPtr exp_of_size(const Size& s) {
  switch (s.kind) {
    case Size::kConst: return i64_literal(s.constant);
    case Size::kVar: return i64_var(s.var);
    case Size::kExp: return s.exp;
    default: UNREACHABLE("a size without a value");
  }
}

bool contains_function(const TypePtr& t) {
  return std::visit(
      Overloaded{[](const TArray& a) { return contains_function(a.elem); },
                 [](const TRecord& r) {
                   return std::any_of(r.fields.begin(), r.fields.end(),
                                      [](const auto& f) { return contains_function(f.second); });
                 },
                 [](const TSum& s) {
                   for (const auto& c : s.constructors) {
                     for (const auto& p : c.second) {
                       if (contains_function(p)) return true;
                     }
                   }
                   return false;
                 },
                 [](const TArrow&) { return true; }, [](const auto&) { return false; }},
      t->node);
}

int size_nodes(const ExpPtr& e, int limit) {
  int count = 1;
  for_each_child(*e, [&](const ExpPtr& part) {
    if (count < limit) count += size_nodes(part, limit - count);
  });
  return count;
}

}  // namespace kenaz::core
