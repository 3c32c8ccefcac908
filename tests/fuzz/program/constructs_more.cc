// What programs of some size have: local functions, higher-order functions, modules, assertions,
// arrays of several dimensions indexed and updated at once, ranges, irregular inner work.
#include "tests/fuzz/program/generator.h"

namespace kenaz::fuzz {

ExprPtr make_local_function(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 5) return nullptr;
  const Var x{g.fresh("v"), g.any_type(scope), {}};
  const std::string f = g.fresh("g");
  const bool lambda = g.chance(50);
  Make m("local_function", type);
  if (lambda) {
    m.t("(let " + f + " = \\(" + x.name + ": ").type(x.type).t(") -> ");
  } else {
    m.t("(let " + f + " (" + x.name + ": ").type(x.type).t(") = ");
  }
  m.child(g.gen(type, with(scope, {x}), fuel / 3), {x}).t("\n  in if ");
  m.child(g.gen(Type::boolean(), scope, fuel / 5)).t(" then " + f + " ");
  m.child(g.gen(x.type, scope, fuel / 4)).t(" else " + f + " ");
  return m.child(g.gen(x.type, scope, fuel / 4)).t(")").done();
}

ExprPtr make_apply_twice(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 4) return nullptr;
  const Var x{g.fresh("v"), type, {}};
  const size_t which = g.below(2);
  Make m("apply_twice", type);
  m.t(which == 0 ? "((\\f x -> f (f x)) (\\(" : "(iterate 3 (\\(");
  m.t(x.name + ": ").type(type).t(") -> ");
  m.child(g.gen(type, times(with(scope, {x}), "3"), fuel / 2), {x}).t(") ");
  return m.child(g.gen(type, scope, fuel / 3)).t(")").done();
}

ExprPtr make_assertion(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 3) return nullptr;
  Make m("assertion", type);
  m.t("(assert (");
  std::vector<const Var*> indices;
  for (const Var& v : scope.vars) {
    if (!v.below.empty()) indices.push_back(&v);
  }
  if (!indices.empty() && g.chance(70)) {
    const Var& i = *g.pick(indices);
    if (g.chance(50)) {
      m.name(i.name).t(" + 1 != 0");
    } else {
      m.name(i.name).t(" < ").name(i.below);
    }
  } else if (!scope.sizes.empty()) {
    m.name(g.pick(scope.sizes)).t(g.chance(90) ? " >= 0" : " > 3");
  } else {
    m.t("true || ").child(g.gen(Type::boolean(), scope, fuel / 3));
  }
  return m.t(") ").child(g.gen(type, scope, fuel - 1)).t(")").done();
}

ExprPtr make_index_2d(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (type.rank() > 1 || fuel < 3) return nullptr;
  const std::string a = g.any_size(scope);
  const std::string b = g.any_size(scope);
  bool guard_a = false;
  bool guard_b = false;
  const ExprPtr i = g.index(a, scope, fuel / 4, &guard_a);
  const ExprPtr k = g.index(b, scope, fuel / 4, &guard_b);
  if (guard_a || guard_b) return nullptr;
  return Make("index_2d", type)
      .t("(")
      .child(g.gen(Type::array(a, Type::array(b, type)), scope, fuel / 2))
      .t(")[")
      .child(i)
      .t(", ")
      .child(k)
      .t("]")
      .done();
}

ExprPtr make_update_2d(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (type.rank() < 2 || fuel < 4) return nullptr;
  const Var acc{g.fresh("a"), type, {}};
  const Var i{g.fresh("i"), Type::i64(), type.size};
  const Var k{g.fresh("i"), Type::i64(), type.element().size};
  const Var in{g.fresh("a"), type, {}};
  const std::string v = g.fresh("v");
  const Scope inner = times(times(with(scope, {acc, in, i, k}), i.below), k.below);
  Make m("update_2d", type);
  m.t("(loop (" + acc.name + ": *").type(type).t(") = copy ").child(g.gen(type, scope, fuel / 2));
  m.t(" for " + i.name + " < ").name(i.below).t(is_size_name(i.below) ? " do" : "i64 do");
  m.t(" loop (" + in.name + ": *").type(type).t(") = " + acc.name + " for " + k.name + " < ");
  m.name(k.below).t(is_size_name(k.below) ? " do" : "i64 do").t(" let " + v + " = copy (");
  // The outer one has been consumed.
  Scope body = inner;
  for (size_t n = 0; n < body.vars.size(); ++n) {
    if (body.vars[n].name == acc.name) {
      body.vars.erase(body.vars.begin() + static_cast<std::ptrdiff_t>(n));
      break;
    }
  }
  m.child(g.gen(type.element().element(), body, fuel / 2), {in, i, k});
  m.t(") in " + in.name + " with [" + i.name + ", ");
  if (g.chance(50)) return m.t(k.name + "] = " + v + ")").done();
  return m.name(k.below).t(" - 1 - " + k.name + "] = " + v + ")").done();
}

ExprPtr make_range(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 4) return nullptr;
  const std::string k = g.fresh("k");
  const Type element = Type::of(g.any_int());
  const std::string p(prim_name(element.prim));
  const Var x{g.fresh("v"), Type::array(k, element), {}};
  const Var count{k, Type::i64(), {}};
  Make m("range", type);
  m.t("(let [" + k + "] (" + x.name + ": ").type(x.type).t(") = ");
  static const std::vector<std::string> forms = {"0..1..<9",  "9..7..>0", "1..3...11",
                                                 "3..2...-1", "0..<0",    "5...8"};
  const bool minus = prim_kind(element.prim) == PrimKind::kUnsigned;
  std::string form = g.pick(forms);
  if (minus && form == "3..2...-1") form = "3..2...1";
  m.t(form).t("\n  in ");
  const Scope inner = with_size(with(scope, {x, count}), k);
  m.child(g.gen(type, inner, fuel), {x, count});
  auto e = std::const_pointer_cast<Expr>(m.t(")").done());
  e->uses.erase(k);
  return e;
}

/// A sequential reduction whose length differs from one thread to the next.
ExprPtr make_fold(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 5) return nullptr;
  const Var acc{g.fresh("a"), type, {}};
  const Var x{g.fresh("v"), g.element_type(scope, 0), {}};
  const std::string size = g.any_size(scope);
  Make m("fold", type);
  m.t(g.chance(50) ? "(foldl (\\(" : "(foldr (\\(");
  const bool left = m.done()->text.back() == "(foldl (\\(";
  const Var& first = left ? acc : x;
  const Var& second = left ? x : acc;
  m.t(first.name + ": ").type(first.type).t(") (" + second.name + ": ").type(second.type);
  m.t(") -> ").child(g.gen(type, times(with(scope, {acc, x}), size), fuel / 2), {acc, x});
  m.t(") ").child(g.gen(type, scope, fuel / 4)).t(" ");
  return m.child(g.gen(Type::array(size, x.type), scope, fuel / 3)).t(")").done();
}

/// Work whose size differs from one element to the next: how many numbers below i divide it, ..
ExprPtr make_irregular(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is(PrimType::kI64) || fuel < 3) return nullptr;
  std::vector<const Var*> indices;
  for (const Var& v : scope.vars) {
    if (!v.below.empty()) indices.push_back(&v);
  }
  if (indices.empty()) return nullptr;
  const Var& i = *g.pick(indices);
  const Scope inner = times(scope, i.below);
  const Var d{g.fresh("y"), Type::i64(), {}};
  Make m("irregular", type);
  switch (g.below(4)) {
    case 0:
      m.t("(i64.sum (map (\\" + d.name + " -> ").child(g.gen(type, with(inner, {d}), fuel), {d});
      return m.t(") (iota ").name(i.name).t(")))").done();
    case 1:
      m.t("(length (filter (\\" + d.name + " -> ");
      m.child(g.gen(Type::boolean(), with(inner, {d}), fuel), {d});
      return m.t(") (map (+ 1) (iota ").name(i.name).t("))))").done();
    case 2: {
      const Var acc{g.fresh("a"), type, {}};
      m.t("(loop " + acc.name + " = 1 for " + d.name + " < ").name(i.name).t(" do ");
      return m.child(g.gen(type, with(inner, {acc, d}), fuel), {acc, d}).t(")").done();
    }
    default:
      m.t("(i64.maximum (scan (+) 0 (map (\\" + d.name + " -> ");
      m.child(g.gen(type, with(inner, {d}), fuel), {d});
      return m.t(") (0...").name(i.name).t("))))").done();
  }
}

ExprPtr make_attribute(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 2) return nullptr;
  static const std::vector<std::string> names = {"inline", "noinline", "sequential", "unroll"};
  return Make("attribute", type)
      .t("(#[" + g.pick(names) + "] ")
      .child(g.gen(type, scope, fuel))
      .t(")")
      .done();
}

/// Both of a pair of arrays made by one map, so that a combinator has several results.
ExprPtr make_unzip_let(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 5) return nullptr;
  const std::string size = g.any_size(scope);
  const Type a = g.element_type(scope, 1);
  const Type b = g.element_type(scope, 0);
  const Var x{g.fresh("v"), Type::array(size, a), {}};
  const Var y{g.fresh("v"), Type::array(size, b), {}};
  const Var i{g.fresh("i"), Type::i64(), size};
  Make m("unzip_let", type);
  m.t("(let (" + x.name + ", " + y.name + ") = unzip (map (\\" + i.name + " -> (");
  const Scope inner = times(with(scope, {i}), size);
  m.child(g.gen(a, inner, fuel / 4), {i}).t(", ").child(g.gen(b, inner, fuel / 4), {i});
  m.t(")) (iota ").name(size).t("))\n  in ");
  return m.child(g.gen(type, with(scope, {x, y}), fuel / 2), {x, y}).t(")").done();
}

ExprPtr make_scatter_2d(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (type.rank() < 2 || fuel < 3) return nullptr;
  const std::string size = g.any_size(scope);
  const Var i{g.fresh("i"), Type::i64(), size};
  Make m("scatter_2d", type);
  m.t("(scatter_2d (copy ").child(g.gen(type, scope, fuel / 2)).t(") ");
  m.t("(map (\\" + i.name + " -> ");
  if (g.chance(50)) {
    m.t("(" + i.name + ", " + i.name + " - 1)");
  } else {
    m.t("(" + i.name + " / 2, " + i.name + " % 2)");
  }
  m.t(") (iota ").name(size).t(")) ");
  return m.child(g.gen(Type::array(size, type.element().element()), scope, fuel / 2)).t(")").done();
}

/// A parametric module of the library kind, applied to a type of number.
ExprPtr make_module_call(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_int() || fuel < 3) return nullptr;
  const std::string p(prim_name(type.prim));
  g.declare(
      "module mk_folds (P: {type t val zero: t val (+): t -> t -> t val step: t -> t}) = {\n"
      "  type t = P.t\n"
      "  def next (x: t): t = P.step (x P.+ x)\n"
      "  def total [n] (xs: [n]t): t = reduce (P.+) P.zero (map next xs)\n"
      "}\n");
  g.declare("module folds_" + p + " = mk_folds {type t = " + p + " def zero = 0" + p +
            " def (+) (x: t) (y: t) = x " + p + ".+ y def step (x: t) = x " + p + ".* 3 }\n");
  const std::string module = "folds_" + p + ".";
  Make m("module_call", type);
  if (g.chance(50))
    return m.t("(" + module + "next ").child(g.gen(type, scope, fuel)).t(")").done();
  m.t("(" + module + "total ");
  return m.child(g.gen(Type::array(g.any_size(scope), type), scope, fuel)).t(")").done();
}

ExprPtr make_hist_2d(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (type.rank() != 2 || fuel < 3) return nullptr;
  const Type& element = type.element().element();
  const auto o = g.operator_for(element);
  if (!o || !o->commutative || !o->prepare.empty()) return nullptr;
  const std::string size = g.any_size(scope);
  const Var x{g.fresh("h"), Type::i64(), {}};
  Make m("hist_2d", type);
  m.t("(reduce_by_index_2d (copy ").child(g.gen(type, scope, fuel / 3)).t(") ");
  m.t(o->op + " " + o->neutral + " (map (\\" + x.name + " -> (" + x.name + " % 3, ");
  m.t(x.name + " / 2 % 4 - 1)) ");
  m.child(g.gen(Type::array(size, Type::i64()), scope, fuel / 3)).t(") ");
  return m.child(g.gen(Type::array(size, element), scope, fuel / 3)).t(")").done();
}

}  // namespace kenaz::fuzz
