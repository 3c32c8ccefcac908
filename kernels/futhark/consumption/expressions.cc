// Expressions, in the order of their evaluation.
#include <fmt/format.h>

#include "kernels/futhark/consumption/pass.h"
#include "kernels/futhark/core/uniqueness.h"
#include "protocol/base/overloaded.h"

namespace kenaz::consumption {

/// The variable that `e` is, or a part of which it is; not valid for other expressions.
VarId Pass::written_variable(const ExpPtr& e) const {
  if (const auto* v = std::get_if<core::EVar>(&e->node)) return v->id;
  if (const auto* a = std::get_if<core::EAttr>(&e->node)) return written_variable(a->inner);
  if (const auto* c = std::get_if<core::ECoerce>(&e->node)) return written_variable(c->inner);
  if (const auto* p = std::get_if<core::EProject>(&e->node)) return written_variable(p->record);
  if (const auto* i = std::get_if<core::EIndex>(&e->node)) return written_variable(i->array);
  return {};
}

std::string Pass::written_name(const ExpPtr& e) const {
  const VarId v = written_variable(e);
  return v.valid() ? name(v) : "";
}

/// A variable gets a root of its own where it has no other. One of several parts gets a root for
/// each: they are apart, but whatever consumes one of them consumes the variable.
void Pass::bind_name(VarId v, const TypePtr& type, const Value& value, const Root& root) {
  const size_t leaves = count_leaves(type);
  if (leaves == 0) return;
  AliasPtr aliases = value.aliases;
  if (leaves > 1 || all_roots(aliases).empty()) {
    const RootId first = ledger_.mark().next;
    aliases = map_leaves(type, aliases, [&](const core::Type&, const Roots& r, bool) {
      return merge(r, {ledger_.add(root)});
    });
    ledger_.tie(first);
  }
  vars_[v] = {aliases, value.function};
}

void Pass::bind(const core::Pat& p, const Value& value) {
  std::visit(Overloaded{[&](const core::PBind& b) {
                          bind_name(b.id, p.type, value, {Root::kLocal, name(b.id), true});
                        },
                        [&](const core::PRecord& r) {
                          for (size_t i = 0; i < r.fields.size(); i++) {
                            bind(*r.fields[i].second, {part(value.aliases, i), nullptr});
                          }
                        },
                        [&](const core::PConstr& c) {
                          const size_t first = part_index(p.type, c.name);
                          for (size_t i = 0; i < c.args.size(); i++) {
                            bind(*c.args[i], {part(value.aliases, first + i), nullptr});
                          }
                        },
                        [](const auto&) {}},
             p.node);
}

/// Consumption that is put off by a function would be hard to follow, so there is none.
void Pass::contains_no_consumption(const ExpPtr& e, const Mark& before, const char* what) {
  if (!core::contains_function(e->type) || !ledger_.consumed_since(before)) return;
  ledger_.report(e->range,
                 fmt::format("{}\n  {}\ncontains consumption, which is not allowed.", what,
                             type_text(e->type)),
                 "contains-consumption");
}

Value Pass::walk(const ExpPtr& exp) {
  ExpPtr e = exp;
  for (;;) {  // a long row of bindings is no deep recursion
    if (ledger_.failed()) return {};
    if (const auto* l = std::get_if<core::ELet>(&e->node)) {
      const Mark before = ledger_.mark();
      const Value value = walk(l->value);
      contains_no_consumption(l->value, before, "Let-bound expression of higher-order type");
      bind(*l->pat, value);
      e = l->body;
    } else if (const auto* d = std::get_if<core::ELetDef>(&e->node)) {
      vars_[d->def->id] = local_definition(*d);
      e = d->body;
    } else {
      break;
    }
  }
  Value value = node(e);
  if (core::as_prim(e->type)) return {};
  return value;
}

Value Pass::node(const ExpPtr& e) {
  auto each = [&](std::initializer_list<ExpPtr> parts) -> Value {
    for (const ExpPtr& p : parts) {
      if (p) walk(p);
    }
    return {};
  };
  return std::visit(
      Overloaded{[&](const core::EVar& x) { return variable(x, e); },
                 [&](const core::ELambda& x) { return function(x, e); },
                 [&](const core::EApply& x) { return apply(x, e); },
                 [&](const core::EIf& x) { return branches(x); },
                 [&](const core::EMatch& x) { return match(x); },
                 [&](const core::ELoop& x) { return loop(x, e); },
                 [&](const core::ERecord& x) { return record(x, e); },
                 [&](const core::EProject& x) -> Value {
                   const Value r = walk(x.record);
                   return {part(r.aliases, part_index(x.record->type, x.field)), nullptr};
                 },
                 [&](const core::ERecordUpdate&) { return update(e); },
                 [&](const core::EArray& x) -> Value {
                   for (const ExpPtr& elem : x.elems) walk(elem);
                   return {};  // elements are copied
                 },
                 [&](const core::EIndex& x) { return index(x, e); },
                 [&](const core::EUpdate&) { return update(e); },
                 [&](const core::ERange& x) {
                   return each({x.start, x.second, x.end});
                 },
                 [&](const core::ECoerce& x) { return walk(x.inner); },
                 [&](const core::EConstr& x) { return constructor(x, e); },
                 [&](const core::EAssert& x) {
                   walk(x.cond);
                   return walk(x.body);
                 },
                 [&](const core::EAttr& x) { return walk(x.inner); },
                 [](const auto&) -> Value { return {}; }},
      e->node);
}

Value Pass::variable(const core::EVar& v, const ExpPtr& e) {
  if (core::as_prim(e->type)) return {};
  auto known = vars_.find(v.id);
  if (known == vars_.end()) {  // of another definition, or with nothing to share
    AliasPtr aliases;
    // With size parameters it is computed anew for each use. Through a module type it may be a
    // value of an abstract type, of which nobody knows that it is an array.
    if (v.sargs.empty() && !v.narrowed) {
      const RootId root = ledger_.add({Root::kConstant, name(v.id), false});
      aliases = map_leaves(e->type, nullptr, [&](const core::Type& leaf, const Roots&, bool) {
        return std::holds_alternative<core::TArray>(leaf.node) ? Roots{root} : Roots{};
      });
    }
    known = vars_.emplace(v.id, Value{aliases, nullptr}).first;
  }
  Value value = known->second;
  ledger_.use(name(v.id), e->range, value.aliases);
  if (value.function) value.function = core::copy_uniqueness(e->type, value.function);
  return value;
}

// ---- records and sums

Value Pass::constructor(const core::EConstr& c, const ExpPtr& e) {
  Aliases out;
  out.parts.resize(part_index(e->type, ""));
  const size_t first = part_index(e->type, c.name);
  for (size_t i = 0; i < c.args.size(); i++) {
    const Value v = walk(c.args[i]);
    if (first + i < out.parts.size()) out.parts[first + i] = v.aliases;
  }
  if (out.parts.empty()) return {};
  return {std::make_shared<const Aliases>(std::move(out)), nullptr};
}

Value Pass::record(const core::ERecord& r, const ExpPtr& e) {
  Aliases out;
  out.parts.resize(r.fields.size());
  for (const auto& [field, exp] : r.fields) {
    const Value v = walk(exp);
    const size_t at = part_index(e->type, field);
    if (at < out.parts.size()) out.parts[at] = v.aliases;
  }
  // A field's value may have been consumed by a later one.
  for (const auto& [field, exp] : r.fields) {
    const size_t at = part_index(e->type, field);
    if (at >= out.parts.size() || !out.parts[at]) continue;
    const VarId variable = written_variable(exp);
    if (variable.valid()) ledger_.use(name(variable), exp->range, out.parts[at]);
  }
  bool any = false;
  for (const AliasPtr& p : out.parts) any = any || p;
  if (!any) return {};
  return {std::make_shared<const Aliases>(std::move(out)), nullptr};
}

// ---- arrays

void Pass::indexes(const std::vector<core::DimIndex>& dims) {
  for (const auto& d : dims) {
    for (const ExpPtr& e : {d.index, d.start, d.end, d.stride}) {
      if (e) walk(e);
    }
  }
}

Value Pass::index(const core::EIndex& i, const ExpPtr& e) {
  indexes(i.dims);
  const Value array = walk(i.array);
  if (count_leaves(e->type) == 0) return {};
  return {array.aliases, nullptr};
}

/// `x with a.b[i].c = v`: `fields` are those before the first index, as indexes of parts.
struct Pass::UpdatePath {
  ExpPtr base, value;
  std::vector<size_t> fields;
  bool has_index = false;
};

/// Walks over the indexes, too.
Pass::UpdatePath Pass::update_path(const ExpPtr& e) {
  UpdatePath out;
  for (ExpPtr at = e;; at = out.value) {
    bool nested = false;
    if (const auto* u = std::get_if<core::EUpdate>(&at->node)) {
      if (!out.base) out.base = u->array;
      indexes(u->dims);
      out.has_index = true;
      out.value = u->value;
      nested = u->nested;
    } else if (const auto* r = std::get_if<core::ERecordUpdate>(&at->node)) {
      if (!out.base) out.base = r->record;
      if (!out.has_index) out.fields.push_back(part_index(at->type, r->field));
      out.value = r->value;
      nested = r->nested;
    }
    if (!nested) return out;
  }
}

/// `a` with the part at the end of `fields` replaced.
AliasPtr Pass::replace_part(const AliasPtr& a, const TypePtr& type,
                            const std::vector<size_t>& fields, size_t at, const AliasPtr& by) {
  if (at == fields.size()) return by;
  const auto& parts = std::get<core::TRecord>(type->node).fields;
  Aliases out;
  for (size_t i = 0; i < parts.size(); i++) {
    const AliasPtr old = part(a, i);
    out.parts.push_back(i == fields[at] ? replace_part(old, parts[i].second, fields, at + 1, by)
                                        : old);
  }
  return std::make_shared<const Aliases>(std::move(out));
}

Value Pass::update(const ExpPtr& e) {
  const UpdatePath path = update_path(e);
  const Mark before = ledger_.mark();
  Value base, value;
  if (path.has_index) {
    value = walk(path.value);
    base = walk(path.base);
  } else {
    base = walk(path.base);
    value = walk(path.value);
  }
  if (ledger_.failed()) return {};
  const std::string variable = written_name(path.base);
  if (path.has_index) {
    AliasPtr target = base.aliases;
    for (size_t f : path.fields) target = part(target, f);
    consume_target(all_roots(target), value, path, variable);
    value = {};
  }
  AliasPtr aliases = replace_part(base.aliases, e->type, path.fields, 0, value.aliases);
  if (!aliases || !ledger_.consumed_since(before)) return {aliases, nullptr};
  // The variable is gone, so that its other fields are the result's alone.
  aliases = map_leaves(e->type, aliases, [&](const core::Type&, const Roots& roots, bool) {
    Roots left;
    for (RootId r : roots) {
      if (!ledger_.is_consumed(r) || ledger_.root(r).name != variable) left.push_back(r);
    }
    return left;
  });
  return {aliases, nullptr};
}

void Pass::consume_target(const Roots& target, const Value& value, const UpdatePath& path,
                          const std::string& variable) {
  if (const RootId* shared = common(target, all_roots(value.aliases))) {
    ledger_.report(
        path.value->range,
        fmt::format("The source array of this in-place update, {}, might alias the "
                    "value that it is updated\nwith.\nHint: use \"copy\" to remove "
                    "aliases from the value.",
                    variable.empty() ? ledger_.describe(*shared) : "\"" + variable + "\""));
  }
  ledger_.consume(target, path.base->range, variable);
}

// ---- branches

/// What one of several branches consumes is consumed. A value that one branch consumed, and another
/// one returns, is not an alias of the result: nobody else can have it any more.
Value Pass::merge_branches(const std::vector<Value>& values, const Mark& before,
                           const std::vector<std::vector<Consumption>>& consumed) {
  AliasPtr aliases;
  for (const Value& v : values) aliases = join(aliases, v.aliases);
  for (const auto& c : consumed) ledger_.replay(c);
  if (!aliases || !ledger_.consumed_since(before)) return {aliases, nullptr};
  const std::function<AliasPtr(const AliasPtr&)> filter = [&](const AliasPtr& a) -> AliasPtr {
    if (!a) return a;
    Aliases out;
    for (RootId r : a->roots) {
      if (!ledger_.is_consumed(r)) out.roots.push_back(r);
    }
    for (const AliasPtr& p : a->parts) out.parts.push_back(filter(p));
    if (out.roots.empty() && out.parts.empty()) return nullptr;
    return std::make_shared<const Aliases>(std::move(out));
  };
  return {filter(aliases), nullptr};
}

Value Pass::branches(const core::EIf& i) {
  walk(i.cond);
  const Mark before = ledger_.mark();
  std::vector<Value> values;
  std::vector<std::vector<Consumption>> consumed;
  for (const ExpPtr& branch : {i.then_branch, i.else_branch}) {
    values.push_back(walk(branch));
    consumed.push_back(ledger_.rewind(before));
  }
  return merge_branches(values, before, consumed);
}

Value Pass::match(const core::EMatch& m) {
  const Value scrutinee = walk(m.scrutinee);
  const Mark before = ledger_.mark();
  std::vector<Value> values;
  std::vector<std::vector<Consumption>> consumed;
  for (const auto& [pat, body] : m.cases) {
    bind(*pat, {scrutinee.aliases, nullptr});
    values.push_back(walk(body));
    consumed.push_back(ledger_.rewind(before));
  }
  return merge_branches(values, before, consumed);
}

}  // namespace kenaz::consumption
