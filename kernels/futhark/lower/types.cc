// Types under an environment: heads, sizes, the layout of sums.
#include <fmt/format.h>

#include "kernels/futhark/core/children.h"
#include "kernels/futhark/lower/lowerer.h"
#include "protocol/base/overloaded.h"

namespace kenaz::lower {

using core::Size;
using ir::Atom;

int SumLayout::index_of(const std::string& name) const {
  for (size_t i = 0; i < constructors.size(); ++i) {
    if (constructors[i] == name) return static_cast<int>(i);
  }
  return -1;
}

Ty Lowerer::head(Ty t) {
  for (int fuel = 10000; t.type != nullptr && fuel > 0; --fuel) {
    if (const auto* p = std::get_if<core::TParam>(&t.type->node)) {
      const TyBind* b = t.env.types.get();
      while (b != nullptr && b->id != p->id) b = b->next.get();
      if (b == nullptr) {
        broken("unbound type parameter");
        return Ty{};
      }
      Ty next = b->type;  // t owns *b: copy before it goes
      t = std::move(next);
      continue;
    }
    if (const auto* a = std::get_if<core::TAbstract>(&t.type->node)) {
      if (a->id.index >= checked_.abstract_types.size()) {
        broken("unknown abstract type");
        return Ty{};
      }
      const core::AbstractType& abs = checked_.abstract_types[a->id.index];
      if (abs.repr == nullptr || abs.params.size() != a->args.size()) {
        broken("abstract type " + abs.name + " without a representation");
        return Ty{};
      }
      Env env;
      env.frame = global_frame_;
      for (size_t i = 0; i < abs.params.size(); ++i) {
        if (const auto* ty = std::get_if<core::TyVarId>(&abs.params[i])) {
          const auto* arg = std::get_if<core::TypePtr>(&a->args[i]);
          if (arg == nullptr) {
            broken("abstract type's arguments");
            return Ty{};
          }
          env = bind_type(env, *ty, Ty{*arg, t.env});
        } else if (const auto* size = std::get_if<Size>(&a->args[i])) {
          if (auto atom = size_atom(*size, t.env, false)) {
            env = bind(env, std::get<core::VarId>(abs.params[i]), leaf(*atom));
          }
        }
      }
      core::TypePtr repr = abs.repr;
      t = Ty{std::move(repr), std::move(env)};
      continue;
    }
    return t;
  }
  broken("a type that has no head");
  return Ty{};
}

PrimType Lowerer::prim_of(const Ty& t) {
  Ty h = head(t);
  if (h.type != nullptr) {
    if (const auto* p = std::get_if<core::TPrim>(&h.type->node)) return p->prim;
  }
  broken("a primitive type was expected");
  return PrimType::kI32;
}

V Lowerer::lookup(core::VarId id, const Env& env) {
  for (const VarBind* b = env.vars.get(); b != nullptr; b = b->next.get()) {
    if (b->id == id) return b->value;
  }
  for (const Frame* f = env.frame.get(); f != nullptr; f = f->parent.get()) {
    auto found = f->ext.find(id);
    if (found != f->ext.end() && b_.in_scope(found->second)) return leaf(found->second);
  }
  auto g = globals_.find(id);
  if (g != globals_.end() && g->second.constant) return constant(g->second);
  return nullptr;
}

bool Lowerer::closed(const core::ExpPtr& e, const Env& env, int fuel) {
  if (e == nullptr || fuel <= 0) return false;
  if (const auto* v = std::get_if<core::EVar>(&e->node)) {
    if (globals_.count(v->id) != 0) return true;
    const V found = lookup(v->id, env);
    if (found == nullptr) {
      const auto computed = checked_.computed_sizes.find(v->id);
      return computed != checked_.computed_sizes.end() && closed(computed->second, env, fuel - 1);
    }
    const auto* l = std::get_if<VLeaf>(&found->node);
    return l == nullptr || b_.in_scope(l->atom);
  }
  if (core::binds_names(*e)) return false;
  bool out = true;
  core::for_each_child(*e,
                       [&](const core::ExpPtr& part) { out = out && closed(part, env, fuel - 1); });
  return out;
}

/// Of a name for an expression: what that says, whether or not a value has this size.
std::optional<Atom> Lowerer::computed_size(const Size& s, const Env& env) {
  if (s.kind != Size::kVar) return std::nullopt;
  const auto found = checked_.computed_sizes.find(s.var);
  if (found == checked_.computed_sizes.end()) return std::nullopt;
  return size_atom(Size::of_exp(found->second), env, true);
}

std::optional<Atom> Lowerer::size_atom(const Size& s, const Env& env, bool compute) {
  switch (s.kind) {
    case Size::kConst: return ir::i64(s.constant);
    case Size::kVar: {
      V v = lookup(s.var, env);
      if (v == nullptr) return compute ? computed_size(s, env) : std::nullopt;
      const auto* l = std::get_if<VLeaf>(&v->node);
      if (l == nullptr || !b_.in_scope(l->atom)) return std::nullopt;
      return l->atom;
    }
    case Size::kExp: {
      if (!compute || !closed(s.exp, env, 100)) return std::nullopt;
      V v = eval(s.exp, env);
      if (failed()) return std::nullopt;
      const auto* l = std::get_if<VLeaf>(&v->node);
      if (l == nullptr) return std::nullopt;
      return l->atom;
    }
    default: return std::nullopt;
  }
}

void Lowerer::type_leaves(const Ty& t, int rank, std::vector<LeafType>& out) {
  if (failed()) return;
  Ty h = head(t);
  if (h.type == nullptr) return;
  std::visit(Overloaded{
                 [&](const core::TPrim& p) {
                   out.push_back({p.prim, rank});
                 },
                 [&](const core::TArray& a) { type_leaves(sub(h, a.elem), rank + 1, out); },
                 [&](const core::TRecord& r) {
                   if (r.fields.empty()) core::add_sizes(rank, out);
                   for (const auto& f : r.fields) type_leaves(sub(h, f.second), rank, out);
                 },
                 [&](const core::TSum&) { core::add_leaves(layout_of(h)->leaves, rank, out); },
                 [&](const core::TArrow&) { saw_function_ = true; },
                 [&](const auto&) { broken("a type without leaves"); },
             },
             h.type->node);
}

std::shared_ptr<const SumLayout> Lowerer::layout_of(const Ty& sum) {
  auto layout = std::make_shared<SumLayout>();
  Ty h = head(sum);
  const auto* s = h.type != nullptr ? std::get_if<core::TSum>(&h.type->node) : nullptr;
  if (s == nullptr) {
    broken("a sum type was expected");
    return layout;
  }
  const bool saw_function = saw_function_;
  saw_function_ = false;
  core::PayloadLeaves payloads;
  for (const auto& [name, args] : s->constructors) {
    layout->constructors.push_back(name);
    payloads.emplace_back();
    for (const auto& arg : args) {
      payloads.back().emplace_back();
      type_leaves(sub(h, arg), 0, payloads.back().back());
    }
  }
  layout->leaves = core::sum_layout(payloads);
  layout->functions = saw_function_;
  saw_function_ = saw_function_ || saw_function;
  return layout;
}

bool Lowerer::has_functions(const core::TypePtr& t, int fuel) const {
  if (t == nullptr || fuel <= 0) return false;
  return std::visit(Overloaded{
                        [](const core::TArrow&) { return true; },
                        [&](const core::TRecord& r) {
                          return std::any_of(r.fields.begin(), r.fields.end(), [&](const auto& f) {
                            return has_functions(f.second, fuel - 1);
                          });
                        },
                        [&](const core::TArray& a) { return has_functions(a.elem, fuel - 1); },
                        [&](const core::TSum& s) {
                          for (const auto& c : s.constructors) {
                            for (const auto& x : c.second) {
                              if (has_functions(x, fuel - 1)) return true;
                            }
                          }
                          return false;
                        },
                        [&](const core::TAbstract& a) {
                          for (const auto& arg : a.args) {
                            const auto* ty = std::get_if<core::TypePtr>(&arg);
                            if (ty != nullptr && has_functions(*ty, fuel - 1)) return true;
                          }
                          return a.id.index < checked_.abstract_types.size() &&
                                 has_functions(checked_.abstract_types[a.id.index].repr, fuel - 1);
                        },
                        [](const auto&) { return false; },
                    },
                    t->node);
}

std::string Lowerer::show(const Ty& t) {
  Ty h = head(t);
  if (h.type == nullptr) return "?";
  return std::visit(
      Overloaded{
          [](const core::TPrim& p) { return std::string(prim_name(p.prim)); },
          [&](const core::TArray& a) { return "[]" + show(sub(h, a.elem)); },
          [&](const core::TRecord& r) {
            bool tuple = r.fields.size() != 1;
            for (size_t i = 0; i < r.fields.size(); ++i) {
              tuple = tuple && r.fields[i].first == std::to_string(i);
            }
            std::string s;
            for (const auto& [name, type] : r.fields) {
              if (!s.empty()) s += ", ";
              s += (tuple ? "" : name + ": ") + show(sub(h, type));
            }
            return (tuple ? "(" : "{") + s + (tuple ? ")" : "}");
          },
          [&](const core::TSum& s) {
            std::string text;
            for (const auto& [name, args] : s.constructors) {
              if (!text.empty()) text += " | ";
              text += "#" + name;
              for (const auto& a : args) text += " " + show(sub(h, a));
            }
            return text;
          },
          [&](const core::TArrow& f) { return show(sub(h, f.from)) + " -> " + show(sub(h, f.to)); },
          [](const auto&) { return std::string("?"); },
      },
      h.type->node);
}

}  // namespace kenaz::lower
