// Nests that the compiler has plans of its own for: products of matrices, neighbourhoods, operators
// on rows, views of several dimensions, inner arrays whose sizes differ from one thread to the
// next.
#include "tests/fuzz/program/generator.h"

namespace kenaz::fuzz {
namespace {

Type matrix(const std::string& rows, const std::string& columns, const Type& element) {
  return Type::array(rows, Type::array(columns, element));
}

bool has_sizes(const Type& type) {
  std::set<std::string> sizes;
  collect_sizes(type, sizes);
  return !sizes.empty();
}

/// The names are bound by the node itself.
ExprPtr without(Make& m, const std::vector<std::string>& names) {
  auto e = std::const_pointer_cast<Expr>(m.t(")").done());
  for (const auto& name : names) e->uses.erase(name);
  return e;
}

}  // namespace

/// Every row of one array with every row (or column) of another.
ExprPtr make_product(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (type.rank() < 2 || fuel < 6) return nullptr;
  const Type& element = type.element().element();
  const auto o = g.operator_for(element);
  if (!o || has_sizes(element)) return nullptr;
  const std::string depth = g.any_size(scope), rows = type.size, columns = type.element().size;
  const Var a{g.fresh("v"), Type::array(depth, g.element_type(scope, 0)), {}};
  const Var b{g.fresh("v"), Type::array(depth, g.element_type(scope, 0)), {}};
  const Var x{g.fresh("y"), a.type.element(), {}}, y{g.fresh("y"), b.type.element(), {}};
  const Var s{g.fresh("v"), element, {}};
  const Scope around = times(times(scope, rows), columns);
  Make m("product", type);
  m.t("(map (\\").param(a).t(" -> map (\\").param(b).t(" -> let " + s.name + " = ");
  m.t(o->commutative && g.chance(30) ? "reduce_comm " : "reduce ");
  m.t(o->op + " " + o->neutral + " (map2 (\\").param(x).t(" ").param(y).t(" -> ");
  if (!o->prepare.empty()) m.t(o->prepare + " (");
  m.child(g.gen(element, times(with(around, {x, y}), depth), fuel / 4), {x, y});
  m.t(o->prepare.empty() ? ") " : ")) ").t(a.name + " " + b.name + ") in ");
  if (g.chance(60)) {
    m.t(s.name);
  } else {
    m.child(g.gen(element, with(around, {s, a, b}), fuel / 5), {s, a, b});
  }
  if (g.chance(60)) {
    m.t(") (transpose ").child(g.gen(matrix(depth, columns, b.type.element()), scope, fuel / 4));
    m.t(")) ");
  } else {
    m.t(") ").child(g.gen(matrix(columns, depth, b.type.element()), scope, fuel / 4)).t(") ");
  }
  return m.child(g.gen(matrix(rows, depth, a.type.element()), scope, fuel / 4)).t(")").done();
}

/// Each element of a neighbourhood of three (or five in two dimensions), once or again and again.
ExprPtr make_stencil(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || fuel < 5) return nullptr;
  const bool flat = type.rank() == 1;
  const Type element = flat ? type.element() : type.element().element();
  if (has_sizes(element)) return nullptr;
  const bool repeated = g.chance(40);
  const Type from = repeated ? element : g.element_type(scope, 0);
  if (has_sizes(from)) return nullptr;
  const std::string rows = type.size, columns = flat ? "1" : type.element().size;
  const Type whole = flat ? Type::array(rows, from) : matrix(rows, columns, from);
  const Var xs{g.fresh("a"), whole, {}};
  const Var i{g.fresh("i"), Type::i64(), rows}, k{g.fresh("i"), Type::i64(), columns};
  std::vector<Var> near;
  for (int n = 0; n < (flat ? 3 : 5); ++n) near.push_back({g.fresh("y"), from, {}});
  std::vector<Var> known = near;
  known.push_back(i);
  if (!flat) known.push_back(k);
  Make m("stencil", type);
  m.t(repeated ? "(loop (" : "(let (").t(xs.name + ": ").type(whole).t(") = ");
  m.child(g.gen(whole, scope, fuel / 2));
  m.t(repeated ? " for _t < " + std::to_string(1 + g.below(4)) + "i64 do " : "\n  in ");
  m.t(flat ? "tabulate " : "tabulate_2d ").name(rows);
  if (!flat) m.t(" ").name(columns);
  m.t(" (\\" + i.name + (flat ? "" : " " + k.name) + " -> ");
  // At the ends the nearest one, the one from the other end, or the middle itself.
  const auto end = g.below(3);
  const auto clamped = [&](const std::string& at, int by, const std::string& size) {
    const std::string moved = at + (by < 0 ? " - 1" : " + 1");
    m.t("[");
    if (end == 0) {
      m.t(by < 0 ? "i64.max 0 (" + moved + ")" : "i64.min (" + moved + ") (");
      if (by > 0) m.name(size).t(" - 1)");
    } else if (end == 1) {
      m.t("(" + moved + (by < 0 ? " + " : ""));
      if (by < 0) m.name(size);
      m.t(") % ").name(size);
    } else {
      m.t("if " + (by < 0 ? at + " > 0" : moved + " < "));
      if (by > 0) m.name(size);
      m.t(" then " + moved + " else " + at);
    }
    m.t("]");
  };
  const auto neighbour = [&](const Var& v, int down, int right) {
    m.t("let " + v.name + " = " + xs.name);
    if (down == 0) m.t("[" + i.name + "]");
    if (down != 0) clamped(i.name, down, rows);
    if (!flat && right == 0) m.t("[" + k.name + "]");
    if (!flat && right != 0) clamped(k.name, right, columns);
    m.t(" ");
  };
  neighbour(near[0], 0, 0);
  neighbour(near[1], -1, 0);
  neighbour(near[2], 1, 0);
  if (!flat) neighbour(near[3], 0, -1);
  if (!flat) neighbour(near[4], 0, 1);
  const Scope inner = times(times(times(with(scope, known), rows), columns), "4");
  return m.t("in ").child(g.gen(element, inner, fuel / 2), known).t("))").done();
}

/// A reduction, scan or histogram whose elements are rows, by an operator of their elements.
ExprPtr make_of_rows(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || fuel < 5) return nullptr;
  const size_t which = type.rank() < 2 ? 0 : g.below(3);
  const Type row = which == 0 ? type : type.element();
  const auto o = g.operator_for(row.element());
  if (!o || has_sizes(row.element()) || !o->prepare.empty()) return nullptr;
  if (which == 2 && !o->commutative) return nullptr;
  const std::string size = which == 1 ? type.size : g.any_size(scope);
  Make m("of_rows", type);
  const auto operands = [&] {
    m.t("(map2 " + o->op + ") (replicate ").name(row.size).t(" " + o->neutral + ") ");
  };
  if (which == 0) {
    m.t(g.chance(80) ? "(reduce " : "(foldl ");
    operands();
  } else if (which == 1) {
    m.t("(scan ");
    operands();
  } else {
    const std::string h = g.fresh("h");
    m.t("(reduce_by_index (copy ").child(g.gen(type, scope, fuel / 3)).t(") ");
    operands();
    m.t("(map (\\" + h + " -> " + h + " % 4 - 1) ");
    m.child(g.gen(Type::array(size, Type::i64()), scope, fuel / 4)).t(") ");
  }
  return m.child(g.gen(Type::array(size, row), scope, fuel / 2)).t(")").done();
}

/// A part of a matrix, by steps in both dimensions.
ExprPtr make_slice_2d(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 5) return nullptr;
  const std::string rows = g.any_size(scope), columns = g.any_size(scope);
  const std::string k = g.fresh("k"), l = g.fresh("k");
  const Type element = g.element_type(scope, 0);
  const Var x{g.fresh("v"), matrix(k, l, element), {}};
  const std::vector<Var> known = {x, {k, Type::i64(), {}}, {l, Type::i64(), {}}};
  Make m("slice_2d", type);
  m.t("(let [" + k + "][" + l + "] (" + x.name + ": ").type(x.type).t(") = (");
  m.child(g.gen(matrix(rows, columns, element), scope, fuel / 2)).t(")[");
  const auto part = [&](const std::string& size) {
    switch (g.below(6)) {
      case 0: m.t("::2"); break;
      case 1: m.t("::-1"); break;
      case 2: m.t("1 % ").name(size).t(":"); break;
      case 3: m.t(":").name(size).t(" / 2"); break;
      case 4: m.t("i64.min 1 ").name(size).t("::3"); break;
      default: m.t("::-2"); break;
    }
  };
  if (!is_size_name(rows) && !is_size_name(columns)) {
    part(rows);
    m.t(", ");
    part(columns);
  } else {  // the rest of a division by a size that may be 0
    m.t(g.chance(50) ? "::-1, ::2" : "::2, ::-1");
  }
  m.t("]\n  in ");
  const Scope inner = with_size(with_size(with(scope, known), k), l);
  m.child(g.gen(type, inner, fuel / 2), known);
  return without(m, {k, l});
}

/// Rows or columns of a matrix, each written whole in a loop.
ExprPtr make_update_row(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (type.rank() < 2 || fuel < 5) return nullptr;
  const bool column = g.chance(50);
  const Var acc{g.fresh("a"), type, {}};
  const Var i{g.fresh("i"), Type::i64(), column ? type.element().size : type.size};
  const Type part = column ? Type::array(type.size, type.element().element()) : type.element();
  const std::string v = g.fresh("v");
  Make m("update_row", type);
  m.t("(loop (" + acc.name + ": *").type(type).t(") = copy ").child(g.gen(type, scope, fuel / 2));
  m.t(" for " + i.name + " < ").name(i.below).t(is_size_name(i.below) ? " do" : "i64 do");
  m.t(" let " + v + " = copy (");
  m.child(g.gen(part, times(with(scope, {acc, i}), i.below), fuel / 2), {acc, i});
  m.t(") in " + acc.name + " with ");
  if (column) {
    m.t(g.chance(70) ? "[:, " : "[::-1, ").t(i.name + "]");
  } else {
    m.t("[" + i.name).t(g.chance(70) ? "]" : ", ::-1]");
  }
  return m.t(" = " + v + ")").done();
}

/// An array inside, as long as an index or an element says, for whatever is done with arrays.
ExprPtr make_varying_let(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 6) return nullptr;
  const std::string k = g.fresh("k");
  const Type element = g.element_type(scope, 0);
  const Var x{g.fresh("v"), Type::array(k, element), {}}, i{g.fresh("i"), Type::i64(), {}};
  const Var count{k, Type::i64(), {}};
  Make m("varying_let", type);
  m.t("(let [" + k + "] (" + x.name + ": ").type(x.type).t(") = ");
  m.t("map (\\(" + i.name + ": i64) -> ");
  m.child(g.gen(element, times(with(scope, {i}), "7"), fuel / 3), {i});
  m.t(") (iota ((").child(g.gen(Type::i64(), scope, fuel / 5)).t(") % ");
  m.t(g.chance(50) ? "3 + 2))" : "7 & 7))").t("\n  in ");
  const Scope inner = with_size(with(scope, {x, count}), k);
  m.child(g.gen(type, inner, fuel / 2), {x, count});
  return without(m, {k});
}

}  // namespace kenaz::fuzz
