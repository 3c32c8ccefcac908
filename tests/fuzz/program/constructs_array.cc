// Arrays: made, indexed, cut, joined, rearranged, updated in place.
#include "tests/fuzz/program/generator.h"

namespace kenaz::fuzz {
namespace {

/// if SIZE > 0 then E else the simplest of its type, unless that is not needed.
ExprPtr guard(Generator& g, const char* rule, const std::string& size, bool guarded, ExprPtr e) {
  if (!guarded) return e;
  const Type type = e->type;
  return Make(rule, type)
      .t("(if ")
      .name(size)
      .t(" > 0 then ")
      .child(std::move(e))
      .t(" else ")
      .child(g.simplest(type))
      .t(")")
      .done();
}

}  // namespace

ExprPtr Generator::index(const std::string& size, const Scope& scope, int fuel, bool* guarded) {
  std::vector<std::string> fitting;
  for (const Var& v : scope.vars) {
    if (v.below == size) fitting.push_back(v.name);
  }
  Make m("position", Type::i64());
  *guarded = false;
  if (!fitting.empty() && chance(75)) {
    const std::string i = pick(fitting);
    switch (below(7)) {
      case 0: return m.t("(").name(size).t(" - 1 - ").name(i).t(")").done();
      case 1: return m.t("((").name(i).t(" + 1) %% ").name(size).t(")").done();
      case 2: return m.t("(i64.max 0 (").name(i).t(" - 1))").done();
      case 3: return m.t("(i64.min (").name(size).t(" - 1) (").name(i).t(" + 1))").done();
      default: return m.name(i).done();
    }
  }
  *guarded = is_size_name(size) && !chance(3);
  if (!is_size_name(size) && chance(50)) {
    return m.t(std::to_string(below(std::stoul(size)))).done();
  }
  const std::string plain = is_size_name(size) ? size : size + "i64";
  switch (below(4)) {
    case 0: return m.t("(").name(size).t(" - 1)").done();
    case 1: return m.t("0").done();
    case 2: return m.t("(").child(gen(Type::i64(), scope, fuel)).t(" % ").name(size).t(")").done();
    default:
      return m.t("(i64.max 0 (i64.min (")
          .name(size)
          .t(" - 1) ")
          .child(gen(Type::i64(), scope, fuel))
          .t("))")
          .done();
  }
}

ExprPtr make_index(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (type.rank() > 2 || fuel < 2) return nullptr;
  const std::string size = g.any_size(scope);
  bool guarded = false;
  const ExprPtr at = g.index(size, scope, fuel / 3, &guarded);
  const ExprPtr array = g.gen(Type::array(size, type), scope, fuel / 2);
  ExprPtr e = Make("index", type).t("(").child(array).t(")[").child(at).t("]").done();
  return guard(g, "index_guard", size, guarded, std::move(e));
}

ExprPtr make_iota(Generator&, const Type& type, const Scope&, int) {
  if (!type.is_array() || !type.element().is(PrimType::kI64)) return nullptr;
  return Make("iota", type).t("(iota ").name(type.size).t(")").done();
}

ExprPtr make_replicate(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array()) return nullptr;
  return Make("replicate", type)
      .t("(replicate ")
      .name(type.size)
      .t(" ")
      .child(g.gen(type.element(), scope, fuel))
      .t(")")
      .done();
}

ExprPtr make_array_literal(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || is_size_name(type.size)) return nullptr;
  Make m("array_literal", type);
  const size_t n = std::stoul(type.size);
  m.t("[");
  for (size_t i = 0; i < n; ++i) {
    m.t(i > 0 ? ", " : "").child(g.gen(type.element(), scope, fuel / static_cast<int>(n)));
  }
  return m.t("]").done();
}

ExprPtr make_reverse(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array()) return nullptr;
  if (g.chance(50)) {
    return Make("reverse", type).t("(reverse ").child(g.gen(type, scope, fuel)).t(")").done();
  }
  return Make("reverse", type).t("(").child(g.gen(type, scope, fuel)).t(")[::-1]").done();
}

ExprPtr make_rotate(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array()) return nullptr;
  Make m("rotate", type);
  m.t("(rotate ");
  if (g.chance(60)) {
    m.t(g.pick<std::string>({"1", "(-1)", "2", "0"}));
  } else {
    m.child(g.gen(Type::i64(), scope, fuel / 3));
  }
  return m.t(" ").child(g.gen(type, scope, fuel / 2)).t(")").done();
}

ExprPtr make_take_concat(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array()) return nullptr;
  const std::string other = g.any_size(scope);
  const Type second = Type::array(other, type.element());
  const bool first = g.chance(50);
  Make m("take_concat", type);
  if (first) {
    m.t("(take ").name(type.size).t(" (").child(g.gen(type, scope, fuel / 2)).t(" ++ ");
    return m.child(g.gen(second, scope, fuel / 2)).t("))").done();
  }
  m.t("((drop ").name(other).t(" (").child(g.gen(second, scope, fuel / 2)).t(" ++ ");
  return m.child(g.gen(type, scope, fuel / 2)).t(")) :> ").type(type).t(")").done();
}

namespace {

/// z, y and others of their size, joined in any order, some of them more than once.
std::string joined(Generator& g, const std::string& z, const std::string& y, int pieces) {
  if (pieces > 1) {
    const auto left = static_cast<int>(1 + g.below(static_cast<uint64_t>(pieces - 1)));
    return "(" + joined(g, z, y, left) + " ++ " + joined(g, z, y, pieces - left) + ")";
  }
  switch (g.below(6)) {
    case 0: return "(reverse " + z + ")";
    case 1:
    case 2: return y;
    default: return z;
  }
}

}  // namespace

/// One of the pieces of a whole, or parts of two of them.
ExprPtr make_pieces(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || fuel < 4) return nullptr;
  const Var z{g.fresh("v"), type, {}}, y{g.fresh("v"), type, {}};
  Make m("pieces", type);
  m.t("(let (" + z.name + ": ").type(type).t(") = ").child(g.gen(type, scope, fuel / 2));
  m.t("\n  let (" + y.name + ": ").type(type).t(") = ");
  m.child(g.gen(type, with(scope, {z}), fuel / 2), {z});
  m.t("\n  in take ").name(type.size).t(" (rotate (").name(type.size);
  m.t(" * " + std::to_string(g.below(3)) + (g.chance(30) ? " + 1" : "") + ") ");
  if (g.chance(30)) {
    m.t("(flatten [" + z.name + ", " + joined(g, z.name, y.name, 1) + ", " + z.name + "])");
  } else {
    m.t(joined(g, z.name, y.name, static_cast<int>(2 + g.below(3))));
  }
  return m.t("))").done();
}

ExprPtr make_slice_let(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 4) return nullptr;
  const std::string size = g.any_size(scope);
  const std::string k = g.fresh("k");
  const Type from = Type::array(size, g.element_type(scope, g.chance(20) ? 1 : 0));
  const Var x{g.fresh("v"), Type::array(k, from.element()), {}};
  const Var count{k, Type::i64(), {}};
  Make m("slice_let", type);
  m.t("(let [" + k + "] (" + x.name + ": ").type(x.type).t(") = (");
  m.child(g.gen(from, scope, fuel / 2)).t(")[");
  switch (g.below(5)) {
    case 0: m.t("::2"); break;
    case 1: m.t(":").name(size).t(" / 2"); break;
    case 2: m.t("").name(size).t(" / 2:"); break;
    case 3: m.t("::-3"); break;
    default: m.t("i64.min 1 ").name(size).t(":"); break;
  }
  Scope inner = with_size(with(scope, {x, count}), k);
  // The binder's own sizes are in its text, so the names in `uses` are those of the outside.
  ExprPtr body = g.gen(type, inner, fuel / 2);
  auto e = std::const_pointer_cast<Expr>(m.t("]\n  in ").child(body, {x, count}).t(")").done());
  e->uses.erase(k);
  return e;
}

ExprPtr make_flatten_let(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (fuel < 4) return nullptr;
  const std::string k = g.fresh("k");
  const Type element = g.element_type(scope, 0);
  const Type from = Type::array(g.any_size(scope), Type::array(g.any_size(scope), element));
  const Var x{g.fresh("v"), Type::array(k, element), {}};
  const Var count{k, Type::i64(), {}};
  Make m("flatten_let", type);
  m.t("(let [" + k + "] (" + x.name + ": ").type(x.type).t(") = flatten ");
  m.child(g.gen(from, scope, fuel / 2)).t("\n  in ");
  Scope inner = with_size(with(scope, {x, count}), k);
  m.child(g.gen(type, inner, fuel / 2), {x, count});
  auto e = std::const_pointer_cast<Expr>(m.t(")").done());
  e->uses.erase(k);
  return e;
}

ExprPtr make_unflatten(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (type.rank() < 2) return nullptr;
  const std::string a = type.size;
  const std::string b = type.element().size;
  const Type other = Type::array(b, Type::array(a, type.element().element()));
  return Make("unflatten", type)
      .t("(unflatten ((flatten ")
      .child(g.gen(other, scope, fuel))
      .t(") :> [")
      .name(a)
      .t(" * ")
      .name(b)
      .t("]")
      .type(type.element().element())
      .t(") : ")
      .type(type)
      .t(")")
      .done();
}

ExprPtr make_transpose(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (type.rank() < 2) return nullptr;
  const Type other =
      Type::array(type.element().size, Type::array(type.size, type.element().element()));
  return Make("transpose", type).t("(transpose ").child(g.gen(other, scope, fuel)).t(")").done();
}

namespace {

/// "copy ARRAY", or the array alone if nobody else can have it. Then it has to remain what it is.
void to_consume(Make& m, const ExprPtr& array) {
  static const std::set<std::string> fresh = {
      "map",     "map2", "map_zip",   "leaf_map", "tabulate",      "tabulate_2d", "scan",
      "scatter", "hist", "replicate", "iota",     "array_literal", "rotate",      "update_loop"};
  if (fresh.count(array->rule) == 0) {
    m.t("copy ").child(array);
    return;
  }
  auto kept = std::make_shared<Expr>(*array);
  kept->fixed = true;
  m.child(kept);
}

}  // namespace

ExprPtr make_update(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || fuel < 3) return nullptr;
  bool guarded = false;
  const ExprPtr at = g.index(type.size, scope, fuel / 4, &guarded);
  Make m("update", type);
  to_consume(m.t("("), g.gen(type, scope, fuel / 3));
  m.t(" with [").child(at).t("] = ").child(g.gen(type.element(), scope, fuel / 3)).t(")");
  return guard(g, "update_guard", type.size, guarded, m.done());
}

/// Two arrays that change places in every turn, one of them updated.
ExprPtr make_loop_swap(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || fuel < 6) return nullptr;
  const Var a{g.fresh("a"), type, {}};
  const Var b{g.fresh("a"), type, {}};
  const Var i{g.fresh("i"), Type::i64(), type.size};
  const Scope inner = times(with(scope, {a, b, i}), i.below);
  const std::string v = g.fresh("v");
  Make m("loop_swap", type);
  m.t("(loop (" + a.name + ": *").type(type).t(", " + b.name + ": *").type(type).t(") = (");
  to_consume(m, g.gen(type, scope, fuel / 4));
  to_consume(m.t(", "), g.gen(type, scope, fuel / 4));
  m.t(") for " + i.name + " < ").name(i.below).t(is_size_name(i.below) ? " do" : "i64 do");
  m.t(" let " + v + " = copy (").child(g.gen(type.element(), inner, fuel / 3), {a, b, i});
  m.t(") in (" + b.name + ", " + a.name + " with [" + i.name + "] = " + v);
  return m.t(g.chance(50) ? ")).0" : ")).1").done();
}

ExprPtr make_update_slice(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || fuel < 4) return nullptr;
  const std::string b = g.fresh("t");
  Make m("update_slice", type);
  m.t("(let " + b + " = ").child(g.gen(type, scope, fuel / 2));
  m.t(" in copy ").child(g.gen(type, scope, fuel / 2));
  const std::string h = "i64.min 1 ";
  switch (g.below(3)) {
    case 0:
      m.t(" with [" + h).name(type.size).t(":] = copy " + b + "[" + h).name(type.size).t(":])");
      break;
    case 1:
      m.t(" with [0:").name(type.size).t(" / 2] = copy " + b + "[0:").name(type.size).t(" / 2])");
      break;
    default: m.t(" with [::-1] = copy " + b + ")"); break;
  }
  return m.done();
}

ExprPtr make_update_loop(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || fuel < 5) return nullptr;
  const Var acc{g.fresh("a"), type, {}};
  const Var i{g.fresh("i"), Type::i64(), g.chance(70) ? type.size : g.any_size(scope)};
  const Scope inner = times(with(scope, {acc, i}), i.below);
  const std::string v = g.fresh("v");
  bool guarded = false;
  ExprPtr at = g.index(type.size, inner, fuel / 4, &guarded);
  if (guarded) at = nullptr;
  Make m("update_loop", type);
  m.t("(loop (" + acc.name + ": *").type(type).t(") = copy ");
  m.child(g.gen(type, scope, fuel / 3)).t(" for " + i.name + " < ").name(i.below);
  m.t(is_size_name(i.below) ? " do " : "i64 do ");
  if (!at) m.t("if ").name(type.size).t(" == 0 then " + acc.name + " else ");
  m.t("let " + v + " = copy (").child(g.gen(type.element(), inner, fuel / 3), {acc, i});
  m.t(") in " + acc.name + " with [");
  if (at) return m.child(at, {acc, i}).t("] = " + v + ")").done();
  return m.t(i.name + " % ").name(type.size).t("] = " + v + ")").done();
}

ExprPtr make_unzip(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || fuel < 3) return nullptr;
  std::vector<Type> parts = {type.element(), g.element_type(scope, 0)};
  const bool first = g.chance(50);
  if (!first) std::swap(parts[0], parts[1]);
  return Make("unzip", type)
      .t("(unzip ")
      .child(g.gen(Type::array(type.size, Type::tuple(std::move(parts))), scope, fuel))
      .t(first ? ").0" : ").1")
      .done();
}

ExprPtr make_zip(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_array() || type.element().kind != Type::kTuple) return nullptr;
  const auto& parts = type.element().parts;
  Make m("zip", type);
  m.t(parts.size() == 2 ? "(zip" : "(zip3");
  for (const Type& part : parts) {
    m.t(" ").child(g.gen(Type::array(type.size, part), scope, fuel / 2));
  }
  return m.t(")").done();
}

}  // namespace kenaz::fuzz
