#include "kernels/futhark/core/type_util.h"

#include <algorithm>

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

// Null if a part has no value (kAny).
ExpPtr substitute_exp(const ExpPtr& e, const Subst& s) {
  return std::visit(Overloaded{[&](const EVar& v) -> ExpPtr {
                                 auto it = s.sizes.find(v.id);
                                 if (it == s.sizes.end()) return e;
                                 if (it->second.kind == Size::kAny) return nullptr;
                                 return exp_of_size(it->second);
                               },
                               [&](const EApply& a) -> ExpPtr {
                                 auto fun = substitute_exp(a.fun, s);
                                 if (!fun) return nullptr;
                                 bool changed = fun != a.fun;
                                 std::vector<ExpPtr> args;
                                 for (const auto& arg : a.args) {
                                   auto x = substitute_exp(arg, s);
                                   if (!x) return nullptr;
                                   changed |= x != arg;
                                   args.push_back(std::move(x));
                                 }
                                 if (!changed) return e;
                                 auto copy = std::make_shared<Exp>(*e);
                                 copy->node = EApply{std::move(fun), std::move(args)};
                                 return copy;
                               },
                               [&](const EProject& p) -> ExpPtr {
                                 auto record = substitute_exp(p.record, s);
                                 if (!record) return nullptr;
                                 if (record == p.record) return e;
                                 auto copy = std::make_shared<Exp>(*e);
                                 copy->node = EProject{std::move(record), p.field};
                                 return copy;
                               },
                               [&](const EIndex& i) -> ExpPtr {
                                 EIndex out{substitute_exp(i.array, s), i.dims};
                                 bool changed = out.array != i.array;
                                 for (auto& d : out.dims) {
                                   const ExpPtr index =
                                       d.index ? substitute_exp(d.index, s) : nullptr;
                                   if (!index) return nullptr;
                                   changed |= index != d.index;
                                   d.index = index;
                                 }
                                 if (!out.array || !changed) return out.array ? e : nullptr;
                                 auto copy = std::make_shared<Exp>(*e);
                                 copy->node = std::move(out);
                                 return copy;
                               },
                               [&](const auto&) -> ExpPtr { return e; }},
                    e->node);
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

void free_in_exp(const ExpPtr& e, std::unordered_set<VarId>& out) {
  if (const auto* v = std::get_if<EVar>(&e->node)) {
    out.insert(v->id);
  } else if (const auto* a = std::get_if<EApply>(&e->node)) {
    free_in_exp(a->fun, out);
    for (const auto& arg : a->args) free_in_exp(arg, out);
  } else if (const auto* p = std::get_if<EProject>(&e->node)) {
    free_in_exp(p->record, out);
  } else if (const auto* i = std::get_if<EIndex>(&e->node)) {
    free_in_exp(i->array, out);
    for (const auto& d : i->dims) {
      if (d.index) free_in_exp(d.index, out);
    }
  }
}

}  // namespace

void free_sizes(const Size& s, std::unordered_set<VarId>& out) {
  if (s.kind == Size::kVar) out.insert(s.var);
  if (s.kind == Size::kExp) free_in_exp(s.exp, out);
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

bool same_size_exp(const ExpPtr& a, const ExpPtr& b) {
  if (a == b) return true;
  if (a->node.index() != b->node.index()) return false;
  return std::visit(
      Overloaded{[&](const ELit& x) { return x.value == std::get<ELit>(b->node).value; },
                 [&](const EVar& x) { return x.id == std::get<EVar>(b->node).id; },
                 [&](const EIntrinsic& x) { return x.op == std::get<EIntrinsic>(b->node).op; },
                 [&](const EProject& x) {
                   const auto& y = std::get<EProject>(b->node);
                   return x.field == y.field && same_size_exp(x.record, y.record);
                 },
                 [&](const EApply& x) {
                   const auto& y = std::get<EApply>(b->node);
                   return x.args.size() == y.args.size() && same_size_exp(x.fun, y.fun) &&
                          std::equal(x.args.begin(), x.args.end(), y.args.begin(), same_size_exp);
                 },
                 [&](const EIndex& x) {
                   const auto& y = std::get<EIndex>(b->node);
                   return same_size_exp(x.array, y.array) &&
                          std::equal(x.dims.begin(), x.dims.end(), y.dims.begin(), y.dims.end(),
                                     [](const DimIndex& i, const DimIndex& j) {
                                       return i.index && j.index && same_size_exp(i.index, j.index);
                                     });
                 },
                 [](const auto&) { return false; }},
      a->node);
}

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
  if (const auto* a = std::get_if<EApply>(&e->node)) {
    for (const auto& x : a->args) {
      if (count < limit) count += size_nodes(x, limit - count);
    }
  } else if (const auto* p = std::get_if<EProject>(&e->node)) {
    count += size_nodes(p->record, limit - count);
  } else if (const auto* i = std::get_if<EIndex>(&e->node)) {
    count += size_nodes(i->array, limit - count);
    for (const auto& d : i->dims) {
      if (d.index && count < limit) count += size_nodes(d.index, limit - count);
    }
  }
  return count;
}

}  // namespace kenaz::core
