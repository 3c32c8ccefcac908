// Tuples, records, sums: made, taken apart, bound; branches, loops and calls.
#include <map>

#include "tests/fuzz/program/generator.h"

namespace kenaz::fuzz {
namespace {

ExprPtr components(Generator& g, const Type& type, const Scope& scope, int fuel, const char* rule) {
  const bool record = type.kind == Type::kRecord;
  const int each = fuel / static_cast<int>(type.parts.size());
  Make m(rule, type);
  m.t(record ? "{" : "(");
  for (size_t i = 0; i < type.parts.size(); ++i) {
    m.t(i > 0 ? ", " : "").t(record ? type.names[i] + " = " : "");
    m.child(g.gen(type.parts[i], scope, each));
  }
  return m.t(record ? "}" : ")").done();
}

/// Makes sizes of a function's parameter types those of its caller; false if the types differ.
bool unify(const Type& from, const Type& to, std::map<std::string, std::string>& sizes) {
  if (from.kind != to.kind || from.prim != to.prim || from.parts.size() != to.parts.size() ||
      from.names != to.names || from.alias != to.alias) {
    return false;
  }
  if (from.is_array() && is_size_name(from.size)) {
    const auto [it, inserted] = sizes.emplace(from.size, to.size);
    if (it->second != to.size) return false;
  } else if (from.size != to.size) {
    return false;
  }
  for (size_t i = 0; i < from.parts.size(); ++i) {
    if (!unify(from.parts[i], to.parts[i], sizes)) return false;
  }
  return true;
}

Type substitute(Type type, const std::map<std::string, std::string>& sizes) {
  if (const auto it = sizes.find(type.size); it != sizes.end()) type.size = it->second;
  for (Type& part : type.parts) part = substitute(part, sizes);
  return type;
}

}  // namespace

ExprPtr make_tuple(Generator& g, const Type& type, const Scope& scope, int fuel) {
  return type.kind == Type::kTuple ? components(g, type, scope, fuel, "tuple") : nullptr;
}

ExprPtr make_record(Generator& g, const Type& type, const Scope& scope, int fuel) {
  return type.kind == Type::kRecord ? components(g, type, scope, fuel, "record") : nullptr;
}

ExprPtr make_constructor(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (type.kind != Type::kSum) return nullptr;
  const size_t which = g.below(type.names.size());
  Make m("constructor", type);
  m.t("(#" + type.names[which]);
  for (const Type& part : type.parts[which].parts) m.t(" ").child(g.gen(part, scope, fuel / 2));
  return m.t(" : " + type.alias + ")").done();
}

ExprPtr make_project(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 3) return nullptr;
  std::vector<Type> parts = {type, g.any_type(scope)};
  const bool first = g.chance(50);
  if (!first) std::swap(parts[0], parts[1]);
  Type whole = Type::tuple(std::move(parts));
  const bool record = g.chance(40);
  if (record) {
    whole.kind = Type::kRecord;
    whole.names = {"a", "b"};
  }
  const std::string field = record ? (first ? "a" : "b") : (first ? "0" : "1");
  return Make("project", type).t("(").child(g.gen(whole, scope, fuel)).t(")." + field).done();
}

ExprPtr make_let_tuple(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 4) return nullptr;
  const Var a{g.fresh("v"), g.any_type(scope), {}};
  const Var b{g.fresh("v"), g.any_type(scope), {}};
  return Make("let_tuple", type)
      .t("(let (" + a.name + ", " + b.name + ") = ")
      .child(g.gen(Type::tuple({a.type, b.type}), scope, fuel / 2))
      .t("\n  in ")
      .child(g.gen(type, with(scope, {a, b}), fuel / 2), {a, b})
      .t(")")
      .done();
}

ExprPtr make_match_sum(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 4 || g.sums().empty()) return nullptr;
  const Type& sum = g.pick(g.sums());
  Make m("match_sum", type);
  m.t("(match ").child(g.gen(sum, scope, fuel / 3));
  for (size_t i = 0; i < sum.names.size(); ++i) {
    m.t(" case #" + sum.names[i]);
    std::vector<Var> binds;
    for (const Type& part : sum.parts[i].parts) {
      binds.push_back({g.fresh("v"), part, {}});
      m.t(" " + binds.back().name);
    }
    m.t(" -> ").child(g.gen(type, with(scope, binds), fuel / 3), binds);
  }
  return m.t(")").done();
}

ExprPtr make_match_literal(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 4) return nullptr;
  const Type of = Type::of(g.any_int());
  return Make("match_literal", type)
      .t("(match ")
      .child(g.gen(of, scope, fuel / 3))
      .t(" case 0 -> ")
      .child(g.gen(type, scope, fuel / 3))
      .t(" case 3 -> ")
      .child(g.gen(type, scope, fuel / 3))
      .t(" case _ -> ")
      .child(g.gen(type, scope, fuel / 3))
      .t(")")
      .done();
}

ExprPtr make_let_in(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 3) return nullptr;
  const Var v{g.fresh("v"), g.any_type(scope), {}};
  return Make("let_in", type)
      .t("(let " + v.name + ": ")
      .type(v.type)
      .t(" = ")
      .child(g.gen(v.type, scope, fuel / 2))
      .t("\n  in ")
      .child(g.gen(type, with(scope, {v}), fuel / 2), {v})
      .t(")")
      .done();
}

ExprPtr make_if_then(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 3) return nullptr;
  return Make("if_then", type)
      .t("(if ")
      .child(g.gen(Type::of(PrimType::kBool), scope, fuel / 3))
      .t(" then ")
      .child(g.gen(type, scope, fuel / 3))
      .t(" else ")
      .child(g.gen(type, scope, fuel / 3))
      .t(")")
      .done();
}

// Loops state their variables' types: else a size counts as one that changes where the body returns
// a variable of a loop around, whose size is not known to stay yet.
ExprPtr make_for_loop(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 4) return nullptr;
  const Var acc{g.fresh("a"), type, {}};
  Var i{g.fresh("i"), Type::of(PrimType::kI64), {}};
  const std::string size = g.any_size(scope);
  i.below = size;
  Make m("for_loop", type);
  m.t("(loop (" + acc.name + ": ").type(type).t(") = ").child(g.gen(type, scope, fuel / 3));
  m.t(" for " + i.name + " < ").name(size);
  if (!is_size_name(size)) m.t("i64");
  const Scope inner = times(with(scope, {acc, i}), size);
  return m.t(" do ").child(g.gen(type, inner, fuel / 2), {acc, i}).t(")").done();
}

ExprPtr make_for_in(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 4) return nullptr;
  const Var acc{g.fresh("a"), type, {}};
  const std::string size = g.any_size(scope);
  const Var x{g.fresh("v"), g.element_type(scope, 0), {}};
  Make m("for_in", type);
  m.t("(loop (" + acc.name + ": ").type(type).t(") = ").child(g.gen(type, scope, fuel / 3));
  m.t(" for " + x.name + " in ").child(g.gen(Type::array(size, x.type), scope, fuel / 3));
  const Scope inner = times(with(scope, {acc, x}), size);
  return m.t(" do ").child(g.gen(type, inner, fuel / 3), {acc, x}).t(")").done();
}

ExprPtr make_while_loop(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 4) return nullptr;
  const Var acc{g.fresh("a"), type, {}};
  const Var i{g.fresh("i"), Type::of(PrimType::kI64), {}};
  const std::string most = std::to_string(1 + g.below(12));
  const Scope inner = times(with(scope, {acc, i}), most);
  return Make("while_loop", type)
      .t("(loop (" + acc.name + ": ")
      .type(type)
      .t(", " + i.name + ") = (")
      .child(g.gen(type, scope, fuel / 3))
      .t(", 0i64) while " + i.name + " < " + most + " && ")
      .child(g.gen(Type::of(PrimType::kBool), inner, fuel / 4), {acc, i})
      .t(" do (")
      .child(g.gen(type, inner, fuel / 3), {acc, i})
      .t(", " + i.name + " + 1)).0")
      .done();
}

ExprPtr make_call(Generator& g, const Type& type, const Scope& scope, int fuel) {
  std::vector<const Function*> fitting;
  for (const Function& f : g.functions()) {
    std::map<std::string, std::string> sizes;
    if (unify(f.result, type, sizes)) fitting.push_back(&f);
  }
  if (fitting.empty()) return nullptr;
  const Function& f = *g.pick(fitting);
  std::map<std::string, std::string> sizes;
  unify(f.result, type, sizes);
  for (const auto& size : f.sizes) sizes.emplace(size, g.any_size(scope));
  Make m("call", type);
  m.t("(").name(f.name);
  if (f.params.empty()) m.t(" ()");
  for (const Var& p : f.params) {
    const int each = fuel / static_cast<int>(f.params.size());
    m.t(" ").child(g.gen(substitute(p.type, sizes), scope, each));
  }
  return m.t(")").done();
}

}  // namespace kenaz::fuzz
