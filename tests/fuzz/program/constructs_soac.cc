// Second-order array combinators.
#include "tests/fuzz/program/generator.h"

namespace kenaz::fuzz {
namespace {

std::string lambda(const std::vector<Var>& params) {
  std::string text = "(\\";
  for (const Var& v : params) text += "(" + v.name + ": " + text_of(v.type) + ") ";
  return text + "-> ";
}

std::set<std::string> sizes_of(const std::vector<Var>& params) {
  std::set<std::string> sizes;
  for (const Var& v : params) collect_sizes(v.type, sizes);
  return sizes;
}

/// "NAME (\x y -> BODY) XS YS" with arrays of that size.
ExprPtr combinator(Generator& g, const char* rule, const Type& type, const std::string& head,
                   const std::string& size, const std::vector<Var>& params, const Type& result,
                   const Scope& scope, int fuel) {
  const int each = fuel / (static_cast<int>(params.size()) + 1);
  Make m(rule, type);
  m.t("(" + head + " " + lambda(params));
  m.child(g.gen(result, times(with(scope, params), size), each), params).t(")");
  for (const Var& v : params) m.t(" ").child(g.gen(Type::array(size, v.type), scope, each));
  auto e = std::const_pointer_cast<Expr>(m.t(")").done());
  for (const auto& name : sizes_of(params)) e->uses.insert(name);
  return e;
}

}  // namespace

namespace {

Operator int_operator(Generator& g, const std::string& p) {
  return g.pick<Operator>({{"(+)", "0", "", true},
                           {"(*)", "1", "", true},
                           {p + ".max", p + ".lowest", "", true},
                           {p + ".min", p + ".highest", "", true},
                           {"(&)", "(" + p + ".not 0)", "", true},
                           {"(|)", "0", "", true},
                           {"(^)", "0", "", true},
                           {"(\\a b -> if b == 0 then a else b)", "0", "", false},
                           {"(\\a b -> if a == 0 then b else a)", "0", "", false},
                           {"(\\a b -> a + b - 3)", "3", "", true}});
}

/// Sums of small integers and products of signs are exact in any order; min and max have a neutral
/// element where there are neither NaNs nor two zeros.
Operator float_operator(Generator& g, const std::string& p) {
  if (g.of_slopes()) {
    return g.pick<Operator>({{"(+)", "0", "", true},
                             {"(*)", "1", "", true},
                             {p + ".max", p + ".lowest", "", true},
                             {"(\\a b -> a + b + a * b)", "0", "", true}});
  }
  const std::string whole =
      "(\\x -> if x > -3 && x < 3 then " + p + ".i32 (i32." + p + " x) else 1)";
  const std::string sign = "(\\x -> if x < 0 then -1 else (1 : " + p + "))";
  const std::string plain = "(\\x -> if x < 0 || x > 0 then x else (0 : " + p + "))";
  return g.pick<Operator>({{"(+)", "0", whole, true},
                           {"(*)", "1", sign, true},
                           {p + ".max", p + ".lowest", plain, true},
                           {p + ".min", p + ".highest", plain, true}});
}

/// Composition of linear functions, segmented sums, the least with its position, or one operator
/// for each component.
std::optional<Operator> pair_operator(Generator& g, const Type& a, const Type& b) {
  if (a == b && a.is_int() && g.chance(50)) {
    return Operator{"(\\(a, b) (c, d) -> (a * c, b * c + d))", "(1, 0)", "", false};
  }
  if (a.is_int() && b.is(PrimType::kBool) && g.chance(60)) {
    return Operator{"(\\(a, f) (b, h) -> (if h then b else a + b, f || h))", "(0, false)", "",
                    false};
  }
  if (a.is_int() && b.is(PrimType::kI64) && g.chance(60)) {
    const std::string high = std::string(prim_name(a.prim)) + ".highest";
    return Operator{"(\\(a, i) (b, j) -> if a < b || (a == b && i <= j) then (a, i) else (b, j))",
                    "(" + high + ", i64.highest)", "", true};
  }
  const auto first = g.operator_for(a);
  const auto second = g.operator_for(b);
  if (!first || !second || !first->prepare.empty() || !second->prepare.empty()) return {};
  return Operator{"(\\(a, b) (c, d) -> (" + first->op + " a c, " + second->op + " b d))",
                  "(" + first->neutral + ", " + second->neutral + ")", "",
                  first->commutative && second->commutative};
}

}  // namespace

std::optional<Operator> Generator::operator_for(const Type& type) {
  if (type.is(PrimType::kBool)) {
    return pick<Operator>({{"(&&)", "true", "", true},
                           {"(||)", "false", "", true},
                           {"(!=)", "false", "", true},
                           {"(==)", "true", "", true}});
  }
  if (type.is_int()) return int_operator(*this, std::string(prim_name(type.prim)));
  if (type.is_float()) return float_operator(*this, std::string(prim_name(type.prim)));
  if (type.kind == Type::kTuple && type.parts.size() == 2) {
    return pair_operator(*this, type.parts[0], type.parts[1]);
  }
  if (type.rank() != 1) return {};
  const auto element = operator_for(type.element());
  if (!element || !element->prepare.empty()) return {};
  return Operator{"(map2 " + element->op + ")",
                  "(replicate " + type.size + " " + element->neutral + ")", "",
                  element->commutative};
}

ExprPtr make_map(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || fuel < 3) return nullptr;
  const Var x{g.fresh("y"), g.element_type(scope, static_cast<int>(g.below(3)) / 2), {}};
  return combinator(g, "map", type, "map", type.size, {x}, type.element(), scope, fuel);
}

ExprPtr make_map2(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || fuel < 4) return nullptr;
  const bool three = g.chance(25);
  std::vector<Var> params;
  for (int i = three ? 3 : 2; i > 0; --i) {
    params.push_back({g.fresh("y"), g.element_type(scope, 0), {}});
  }
  const std::string head = three ? "map3" : "map2";
  return combinator(g, "map2", type, head, type.size, params, type.element(), scope, fuel);
}

ExprPtr make_tabulate(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || fuel < 2) return nullptr;
  const Var i{g.fresh("i"), Type::i64(), type.size};
  Make m("tabulate", type);
  const bool plain = g.chance(50);
  m.t(plain ? "(tabulate " : "(map ");
  if (plain) m.name(type.size).t(" ");
  m.t("(\\" + i.name + " -> ");
  m.child(g.gen(type.element(), times(with(scope, {i}), type.size), fuel), {i}).t(")");
  if (!plain) m.t(" (iota ").name(type.size).t(")");
  return m.t(")").done();
}

ExprPtr make_tabulate_2d(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (type.rank() < 2 || fuel < 2) return nullptr;
  const Var i{g.fresh("i"), Type::i64(), type.size};
  const Var k{g.fresh("i"), Type::i64(), type.element().size};
  const Scope inner = times(times(with(scope, {i, k}), i.below), k.below);
  return Make("tabulate_2d", type)
      .t("(tabulate_2d ")
      .name(i.below)
      .t(" ")
      .name(k.below)
      .t(" (\\" + i.name + " " + k.name + " -> ")
      .child(g.gen(type.element().element(), inner, fuel), {i, k})
      .t("))")
      .done();
}

ExprPtr make_map_zip(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || fuel < 4) return nullptr;
  const Var x{g.fresh("y"), g.element_type(scope, 0), {}};
  const Var i{g.fresh("i"), Type::i64(), type.size};
  return Make("map_zip", type)
      .t("(map (\\(")
      .param(x)
      .t(", " + i.name + ") -> ")
      .child(g.gen(type.element(), times(with(scope, {x, i}), type.size), fuel / 2), {x, i})
      .t(") (zip ")
      .child(g.gen(Type::array(type.size, x.type), scope, fuel / 2))
      .t(" (iota ")
      .name(type.size)
      .t(")))")
      .done();
}

namespace {

/// The operator, its neutral element and an array of that size, prepared.
void operands(Make& m, Generator& g, const Operator& o, const std::string& size, const Type& type,
              const Scope& scope, int fuel) {
  std::set<std::string> sizes;
  collect_sizes(type, sizes);
  m.t(o.op + " " + o.neutral + " ");
  for (const auto& s : sizes) m.uses(s);
  if (!o.prepare.empty()) m.t("(map " + o.prepare + " ");
  m.child(g.gen(Type::array(size, type), scope, fuel));
  if (!o.prepare.empty()) m.t(")");
}

}  // namespace

ExprPtr make_reduce(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 3) return nullptr;
  const auto o = g.operator_for(type);
  if (!o) return nullptr;
  Make m("reduce", type);
  m.t(o->commutative && g.chance(30) ? "(reduce_comm " : "(reduce ");
  operands(m, g, *o, g.any_size(scope), type, scope, fuel);
  return m.t(")").done();
}

ExprPtr make_map_reduce(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_int() || fuel < 3) return nullptr;
  static const std::vector<std::string> names = {"sum", "product", "maximum", "minimum"};
  const std::string size = g.any_size(scope);
  return Make("map_reduce", type)
      .t("(" + std::string(prim_name(type.prim)) + "." + g.pick(names) + " ")
      .child(make_tabulate(g, Type::array(size, type), scope, fuel))
      .t(")")
      .done();
}

ExprPtr make_scan(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || fuel < 3) return nullptr;
  const auto o = g.operator_for(type.element());
  if (!o) return nullptr;
  Make m("scan", type);
  m.t(g.chance(85) ? "(scan " : "(exscan ");
  operands(m, g, *o, type.size, type.element(), scope, fuel);
  return m.t(")").done();
}

ExprPtr make_scatter(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || fuel < 3) return nullptr;
  // No position is written twice, so the order does not matter.
  const std::string size = g.any_size(scope);
  Make m("scatter", type);
  m.t("(scatter (copy ").child(g.gen(type, scope, fuel / 2)).t(") ");
  const Var i{g.fresh("i"), Type::i64(), size};
  m.t("(map (\\" + i.name + " -> ");
  switch (g.below(4)) {
    case 0: m.t(i.name + " + " + std::to_string(g.below(3))); break;
    case 1: m.name(size).t(" - 1 - " + i.name); break;
    case 2: m.t(i.name + " * 2 - 1"); break;
    default:
      m.t("if ").child(g.gen(Type::boolean(), times(with(scope, {i}), size), fuel / 4), {i});
      m.t(" then " + i.name + " else -1");
  }
  m.t(") (iota ").name(size).t(")) ");
  return m.child(g.gen(Type::array(size, type.element()), scope, fuel / 2)).t(")").done();
}

ExprPtr make_hist(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || fuel < 3) return nullptr;
  const auto o = g.operator_for(type.element());
  if (!o || !o->commutative || !o->prepare.empty()) return nullptr;
  const std::string size = g.any_size(scope);
  Make m("hist", type);
  std::set<std::string> sizes;
  collect_sizes(type.element(), sizes);
  if (!sizes.empty()) return nullptr;
  const std::string x = g.fresh("h");
  if (g.chance(50)) {
    m.t("(hist " + o->op + " " + o->neutral + " ").name(type.size);
  } else {
    m.t("(reduce_by_index (copy ").child(g.gen(type, scope, fuel / 3));
    m.t(") " + o->op + " " + o->neutral);
  }
  m.t(" (map (\\" + x + " -> " + x + " % i64.max 1 ").name(type.size).t(") ");
  m.child(g.gen(Type::array(size, Type::i64()), scope, fuel / 3)).t(") ");
  return m.child(g.gen(Type::array(size, type.element()), scope, fuel / 3)).t(")").done();
}

/// Writes to an accumulator: in order to one place per element if there is no operator, since
/// nothing orders the elements; anywhere if there is one.
ExprPtr make_stream(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || fuel < 4) return nullptr;
  std::set<std::string> sizes;
  collect_sizes(type.element(), sizes);
  if (!sizes.empty()) return nullptr;
  const auto o = g.operator_for(type.element());
  const bool combines = o && o->commutative && o->prepare.empty() && g.chance(60);
  const std::string size = g.any_size(scope), acc = g.fresh("acc");
  const Var i{g.fresh("i"), Type::i64(), size}, j{g.fresh("j"), Type::i64(), {}};
  Make m("stream", type);
  m.t(combines ? "(intrinsics.hist_stream (copy " : "(intrinsics.scatter_stream (copy ");
  m.child(g.gen(type, scope, fuel / 3)).t(") ");
  if (combines) m.t(o->op + " " + o->neutral + " ");
  m.t("(\\(" + acc + ": *intrinsics.acc (").type(type).t(")) " + i.name + " -> ");
  const Scope inner = times(with(scope, {i}), size);
  const std::string place = combines ? "(" + i.name + " * 3 % 5 - 1) " : "(" + i.name + " - 1) ";
  const auto write = [&](const std::string& to) {
    m.t("intrinsics.acc_write " + to + " " + place + "(");
    m.child(g.gen(type.element(), inner, fuel / 6), {i}).t(")");
  };
  switch (g.below(4)) {
    case 0: write(acc); break;
    case 1:
      m.t("let " + acc + " = ");
      write(acc);
      m.t(" in ");
      write(acc);
      break;
    case 2:
      m.t("if ").child(g.gen(Type::boolean(), inner, fuel / 6), {i}).t(" then ");
      write(acc);
      m.t(" else " + acc);
      break;
    default:
      m.t("loop " + acc + " for " + j.name + " < " + i.name + " % 3 do intrinsics.acc_write " +
          acc + " " + place + "(");
      m.child(g.gen(type.element(), with(inner, {j}), fuel / 6), {i, j}).t(")");
  }
  return m.t(") (iota ").name(size).t("))").done();
}

ExprPtr make_filter_let(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 4) return nullptr;
  const std::string k = g.fresh("k");
  const Type from = Type::array(g.any_size(scope), g.element_type(scope, g.chance(20) ? 1 : 0));
  const Var p{g.fresh("y"), from.element(), {}};
  const Var x{g.fresh("v"), Type::array(k, from.element()), {}};
  const Var count{k, Type::i64(), {}};
  Make m("filter_let", type);
  m.t("(let [" + k + "] (" + x.name + ": ").type(x.type).t(") = filter (\\").param(p).t(" -> ");
  m.child(g.gen(Type::boolean(), times(with(scope, {p}), from.size), fuel / 4), {p}).t(") ");
  m.child(g.gen(from, scope, fuel / 3)).t("\n  in ");
  const Scope inner = with_size(with(scope, {x, count}), k);
  auto e = std::const_pointer_cast<Expr>(
      m.child(g.gen(type, inner, fuel / 2), {x, count}).t(")").done());
  e->uses.erase(k);
  return e;
}

ExprPtr make_partition_let(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 4) return nullptr;
  const Type from = Type::array(g.any_size(scope), g.element_type(scope, 0));
  const Var p{g.fresh("y"), from.element(), {}};
  const std::string both = g.fresh("w");
  const std::string k = g.fresh("k");
  const Var x{g.fresh("v"), Type::array(k, from.element()), {}};
  const Var count{k, Type::i64(), {}};
  Make m("partition_let", type);
  m.t("(let " + both + " = partition (\\").param(p).t(" -> ");
  m.child(g.gen(Type::boolean(), times(with(scope, {p}), from.size), fuel / 4), {p}).t(") ");
  m.child(g.gen(from, scope, fuel / 3)).t("\n  let [" + k + "] (" + x.name + ": ");
  m.type(x.type).t(") = " + both + (g.chance(50) ? ".0" : ".1") + "\n  in ");
  const Scope inner = with_size(with(scope, {x, count}), k);
  auto e = std::const_pointer_cast<Expr>(
      m.child(g.gen(type, inner, fuel / 2), {x, count}).t(")").done());
  e->uses.erase(k);
  return e;
}

ExprPtr make_all_any(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is(PrimType::kBool) || fuel < 3) return nullptr;
  const Var x{g.fresh("y"), g.element_type(scope, 0), {}};
  const std::string head = g.chance(50) ? "all" : "any";
  return combinator(g, "all_any", type, head, g.any_size(scope), {x}, type, scope, fuel);
}

}  // namespace kenaz::fuzz
