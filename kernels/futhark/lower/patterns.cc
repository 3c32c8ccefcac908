// Patterns: binding names and sizes, and testing refutable ones.
#include <map>

#include "kernels/futhark/lower/lowerer.h"
#include "protocol/base/overloaded.h"

namespace kenaz::lower {

using ir::Atom;

void Lowerer::bind_size(const core::Size& s, const Env& where, const Atom& dim, Env& env) {
  if (s.kind != core::Size::kVar) return;
  if (lookup(s.var, where) != nullptr || lookup(s.var, env) != nullptr) return;
  env = bind(env, s.var, leaf(dim));
}

void Lowerer::bind_sizes(const Ty& t, const V& v, Env& env, int rank) {
  if (failed() || t.type == nullptr) return;
  if (const auto* acc = std::get_if<VAcc>(&v->node)) {
    // The only argument of its type is the array's.
    const auto* type = std::get_if<core::TAbstract>(&t.type->node);
    const auto* array =
        type && !type->args.empty() ? std::get_if<core::TypePtr>(&type->args[0]) : nullptr;
    if (array != nullptr) bind_sizes(sub(t, *array), acc->shape, env);
    return;
  }
  std::visit(Overloaded{
                 [&](const core::TArray& a) {
                   const auto* arr = std::get_if<VArr>(&v->node);
                   if (arr == nullptr) return;
                   bind_size(a.dim, t.env, arr->dim, env);
                   bind_sizes(sub(t, a.elem), arr->elem, env, rank + 1);
                 },
                 [&](const core::TRecord& r) {
                   const auto* rec = std::get_if<VRec>(&v->node);
                   if (rec == nullptr || rec->fields.size() != r.fields.size()) return;
                   for (size_t i = 0; i < r.fields.size(); ++i) {
                     bind_sizes(sub(t, r.fields[i].second), rec->fields[i].second, env, rank);
                   }
                 },
                 [&](const core::TAbstract& a) {
                   // Its size arguments are found in the representation.
                   if (a.id.index >= checked_.abstract_types.size()) return;
                   const core::AbstractType& abs = checked_.abstract_types[a.id.index];
                   Ty repr = head(t);
                   if (failed()) return;
                   Env inner = repr.env;
                   bind_sizes(Ty{repr.type, inner}, v, inner, rank);
                   for (size_t i = 0; i < abs.params.size() && i < a.args.size(); ++i) {
                     const auto* id = std::get_if<core::VarId>(&abs.params[i]);
                     const auto* size = std::get_if<core::Size>(&a.args[i]);
                     if (id == nullptr || size == nullptr) continue;
                     V found = lookup(*id, inner);
                     if (found == nullptr) continue;
                     if (const auto* l = std::get_if<VLeaf>(&found->node)) {
                       bind_size(*size, t.env, l->atom, env);
                     }
                   }
                 },
                 [&](const core::TSum&) { bind_payload_sizes(t, v, env, rank); },
                 [](const auto&) {},
             },
             t.type->node);
}

void Lowerer::bind_payload_sizes(const Ty& t, const V& v, Env& env, int rank) {
  const auto& constructors = std::get<core::TSum>(t.type->node).constructors;
  if (const auto* c = std::get_if<VConstr>(&v->node)) {
    if (static_cast<size_t>(c->index) >= constructors.size()) return;
    const auto& types = constructors[c->index].second;
    for (size_t i = 0; i < types.size() && i < c->args.size(); ++i) {
      bind_sizes(sub(t, types[i]), c->args[i], env, rank);
    }
    return;
  }
  const auto* sum = std::get_if<VSum>(&v->node);
  if (sum == nullptr) return;
  // Constructors may state the same size; in a value that a client made the others' slots are
  // empty: the value's own constructor is the one that knows.
  std::map<core::VarId, Atom> sizes;
  for (size_t k = 0; k < constructors.size(); ++k) {
    const auto& types = constructors[k].second;
    Env bound = env;
    for (size_t i = 0; i < types.size(); ++i) {
      if (!has_sizes(types[i], 100)) continue;
      V arg = payload(*sum, static_cast<int>(k), static_cast<int>(i), rank);
      if (arg != nullptr) bind_sizes(sub(t, types[i]), arg, bound, rank);
    }
    for (const VarBind* b = bound.vars.get(); b != env.vars.get(); b = b->next.get()) {
      const Atom here = as_atom(b->value);
      auto [found, fresh] = sizes.emplace(b->id, here);
      if (fresh || rank > 0 || found->second == here) continue;
      Atom mine = is_constructor(*sum, static_cast<int>(k));
      found->second = b_.select(PrimType::kI64, mine, here, found->second);
    }
  }
  for (const auto& [id, size] : sizes) env = bind(env, id, leaf(size));
}

bool Lowerer::has_sizes(const core::TypePtr& t, int fuel) const {
  if (t == nullptr || fuel <= 0) return false;
  if (std::holds_alternative<core::TArray>(t->node)) return true;
  if (std::holds_alternative<core::TAbstract>(t->node)) return true;
  if (const auto* r = std::get_if<core::TRecord>(&t->node)) {
    for (const auto& f : r->fields) {
      if (has_sizes(f.second, fuel - 1)) return true;
    }
  }
  return std::holds_alternative<core::TSum>(t->node);
}

Env Lowerer::bind_pattern(const core::Pat& p, const V& v, Env env) {
  if (failed()) return env;
  bind_sizes(Ty{p.type, env}, v, env);
  const auto* b = std::get_if<core::PBind>(&p.node);
  if (b != nullptr) shaped_name_ = name_of(b->id);
  V shaped = conform(v, Ty{p.type, env});
  shaped_name_.clear();
  return bind_names(p, shaped, std::move(env));
}

Env Lowerer::bind_names(const core::Pat& p, const V& v, Env env) {
  if (failed()) return env;
  return std::visit(Overloaded{
                        [&](const core::PBind& b) { return bind(env, b.id, v); },
                        [&](const core::PRecord& r) {
                          if (std::get_if<VRec>(&v->node) == nullptr) {
                            broken("a record pattern meets something else");
                            return env;
                          }
                          for (const auto& f : r.fields) {
                            V x = project(v, f.first);
                            if (failed()) break;
                            bind_sizes(Ty{f.second->type, env}, x, env);
                            env = bind_names(*f.second, x, env);
                          }
                          return env;
                        },
                        [&](const core::PConstr& c) {
                          if (const auto* known = std::get_if<VConstr>(&v->node)) {
                            for (size_t i = 0; i < c.args.size() && i < known->args.size(); ++i) {
                              env = bind_pattern(*c.args[i], known->args[i], env);
                            }
                          } else if (const auto* sum = std::get_if<VSum>(&v->node)) {
                            int k = sum->layout->index_of(c.name);
                            if (k < 0) {
                              broken("unknown constructor in a pattern: " + c.name);
                              return env;
                            }
                            for (size_t i = 0; i < c.args.size(); ++i) {
                              env = bind_pattern(*c.args[i], payload(*sum, k, static_cast<int>(i)),
                                                 env);
                            }
                          } else {
                            broken("a constructor pattern meets something else");
                          }
                          return env;
                        },
                        [&](const auto&) { return env; },
                    },
                    p.node);
}

Atom Lowerer::test_pattern(const core::Pat& p, const V& v) {
  const Atom yes = PrimValue::of_bool(true);
  const Atom no = PrimValue::of_bool(false);
  if (failed()) return yes;
  return std::visit(
      Overloaded{
          [&](const core::PLit& l) {
            return b_.prim(ScalarOp::kEq, l.value.type, {as_atom(v), l.value});
          },
          [&](const core::PRecord& r) {
            Atom all = yes;
            for (const auto& f : r.fields) {
              V x = project(v, f.first);
              if (failed()) return no;
              all = b_.both(all, test_pattern(*f.second, x));
            }
            return all;
          },
          [&](const core::PConstr& c) {
            if (const auto* known = std::get_if<VConstr>(&v->node)) {
              if (known->layout->index_of(c.name) != known->index) return no;
              Atom all = yes;
              for (size_t i = 0; i < c.args.size() && i < known->args.size(); ++i) {
                all = b_.both(all, test_pattern(*c.args[i], known->args[i]));
              }
              return all;
            }
            const auto* sum = std::get_if<VSum>(&v->node);
            if (sum == nullptr) {
              broken("a constructor pattern meets something else");
              return no;
            }
            int k = sum->layout->index_of(c.name);
            Atom all = yes;
            if (k >= 0) all = is_constructor(*sum, k);
            for (size_t i = 0; i < c.args.size() && k >= 0; ++i) {
              if (!refutable(*c.args[i])) continue;
              all = b_.both(all, test_pattern(*c.args[i], payload(*sum, k, static_cast<int>(i))));
            }
            return all;
          },
          [&](const auto&) { return yes; },
      },
      p.node);
}

bool Lowerer::refutable(const core::Pat& p) const {
  if (std::holds_alternative<core::PBind>(p.node)) return false;
  if (std::holds_alternative<core::PWildcard>(p.node)) return false;
  if (const auto* r = std::get_if<core::PRecord>(&p.node)) {
    for (const auto& f : r->fields) {
      if (refutable(*f.second)) return true;
    }
    return false;
  }
  return true;
}

}  // namespace kenaz::lower
