// Scalars: literals, variables, arithmetic with operands near the edges.
#include <array>

#include "protocol/data/text_format.h"
#include "tests/fuzz/program/generator.h"

namespace kenaz::fuzz {
namespace {

std::string prim(const Type& t) { return std::string(prim_name(t.prim)); }

std::string int_text(PrimType type, int64_t value) {
  const PrimValue v = PrimValue::of_int(type, value);
  const std::string name(prim_name(type));
  if (prim_kind(type) == PrimKind::kUnsigned) return std::to_string(v.as_u64()) + name;
  const int64_t n = v.as_i64();
  if (n == PrimValue::of_int(type, int64_t{1} << (prim_bits(type) - 1)).as_i64()) {
    return name + ".lowest";
  }
  return n < 0 ? "(" + std::to_string(n) + name + ")" : std::to_string(n) + name;
}

ExprPtr binary(Generator& g, const Type& type, const Scope& scope, int fuel, const char* rule,
               const std::string& op, const Type& operand) {
  return Make(rule, type)
      .t("(")
      .child(g.gen(operand, scope, fuel / 2))
      .t(" " + op + " ")
      .child(g.gen(operand, scope, fuel - fuel / 2))
      .t(")")
      .done();
}

}  // namespace

ExprPtr Generator::literal(PrimType type) {
  const std::string name(prim_name(type));
  std::string text;
  if (type == PrimType::kBool) {
    text = chance(50) ? "true" : "false";
  } else if (is_integer(type)) {
    const int bits = prim_bits(type);
    switch (of_slopes() ? 4 : below(8)) {  // what is large hides behind rounding what is not
      case 0: text = int_text(type, -1); break;
      case 1: text = int_text(type, bits - 1); break;
      case 2: text = chance(50) ? name + ".highest" : name + ".lowest"; break;
      case 3: text = int_text(type, static_cast<int64_t>(random_())); break;
      default: text = int_text(type, static_cast<int64_t>(below(10)));
    }
  } else {
    switch (of_slopes() ? 3 : below(12)) {
      case 0: text = name + ".nan"; break;
      case 1: text = name + ".inf"; break;
      case 2: text = "(-0.0" + name + ")"; break;
      default: {
        const auto quarters = static_cast<int>(below(64));
        text = std::to_string(quarters / 4) + (std::array{".0", ".25", ".5", ".75"})[quarters % 4];
        text += name;
        if (chance(30)) text = "(-" + text + ")";
      }
    }
  }
  return Make("literal", Type::of(type)).t(text).done();
}

ExprPtr Generator::simplest(const Type& type) {
  switch (type.kind) {
    case Type::kPrim: {
      const std::string name(prim_name(type.prim));
      const std::string zero = type.prim == PrimType::kBool ? "false" : "0" + name;
      return Make("literal", type).t(zero).done();
    }
    case Type::kArray:
      return Make("simplest", type)
          .t("(replicate ")
          .name(type.size)
          .t(" ")
          .child(simplest(type.element()))
          .t(")")
          .done();
    case Type::kSum: {
      Make m("simplest", type);
      m.t("(#" + type.names[0]);
      for (const Type& part : type.parts[0].parts) m.t(" ").child(simplest(part));
      return m.t(" : " + type.alias + ")").done();
    }
    case Type::kTuple:
    case Type::kRecord: break;
  }
  Make m("simplest", type);
  const bool record = type.kind == Type::kRecord;
  m.t(record ? "{" : "(");
  for (size_t i = 0; i < type.parts.size(); ++i) {
    m.t(i > 0 ? ", " : "").t(record ? type.names[i] + " = " : "").child(simplest(type.parts[i]));
  }
  return m.t(record ? "}" : ")").done();
}

ExprPtr make_literal(Generator& g, const Type& type, const Scope&, int) {
  return type.kind == Type::kPrim ? g.literal(type.prim) : nullptr;
}

ExprPtr make_variable(Generator& g, const Type& type, const Scope& scope, int) {
  std::vector<std::string> names;
  for (const Var& v : scope.vars) {
    if (v.type == type) names.push_back(v.name);
  }
  if (names.empty()) return nullptr;
  // Those bound last have not been used yet.
  const size_t from = g.chance(50) && names.size() > 3 ? names.size() - 3 : 0;
  return Make("variable", type).name(names[from + g.below(names.size() - from)]).done();
}

ExprPtr make_size(Generator& g, const Type& type, const Scope& scope, int) {
  if (!type.is(PrimType::kI64) || scope.sizes.empty()) return nullptr;
  return Make("size", type).name(g.pick(scope.sizes)).done();
}

ExprPtr make_arithmetic(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_number()) return nullptr;
  static const std::vector<std::string> ints = {"+", "-", "*", "&", "|", "^", "+", "-"};
  static const std::vector<std::string> floats = {"+", "-", "*"};
  return binary(g, type, scope, fuel, "arithmetic", g.pick(type.is_int() ? ints : floats), type);
}

ExprPtr make_division(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_int()) return nullptr;
  static const std::vector<std::string> ints = {"/", "%", "//", "%%"};
  Make m("division", type);
  m.t("(").child(g.gen(type, scope, fuel / 2)).t(" " + g.pick(ints) + " ");
  std::vector<const Var*> indices;
  for (const Var& v : scope.vars) {
    if (!v.below.empty()) indices.push_back(&v);
  }
  if (!indices.empty() && g.chance(60)) {
    const bool plain = type.is(PrimType::kI64);
    m.t(plain ? "(" : "(" + prim(type) + ".i64 (").name(g.pick(indices)->name);
    return m.t(" + " + std::to_string(1 + g.below(2)) + (plain ? "))" : ")))")).done();
  }
  if (g.chance(40)) {
    const int64_t divisor = g.chance(80) ? static_cast<int64_t>(1 + g.below(9)) : -1;
    return m.t(int_text(type.prim, divisor)).t(")").done();
  }
  if (g.chance(5)) return m.child(g.gen(type, scope, fuel / 2)).t(")").done();
  const std::string d = g.fresh("d");
  return m.t("(let " + d + " = ")
      .child(g.gen(type, scope, fuel / 2))
      .t(" in if " + d + " == 0 then 1 else " + d + "))")
      .done();
}

ExprPtr make_float_division(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_float()) return nullptr;
  return binary(g, type, scope, fuel, "float_division", g.chance(80) ? "/" : "%", type);
}

ExprPtr make_shift(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_int()) return nullptr;
  const std::vector<std::string> ops = {"<<", ">>", prim(type) + ".>>>"};
  return Make("shift", type)
      .t("(")
      .child(g.gen(type, scope, fuel / 2))
      .t(" " + g.pick(ops) + " (")
      .child(g.gen(type, scope, fuel / 2))
      .t(" & " + std::to_string(prim_bits(type.prim) - 1) + "))")
      .done();
}

ExprPtr make_unary(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (type.is(PrimType::kBool)) {
    return Make("unary", type).t("(!").child(g.gen(type, scope, fuel)).t(")").done();
  }
  if (!type.is_number()) return nullptr;
  static const std::vector<std::string> ints = {"neg", "abs", "sgn", "not"};
  static const std::vector<std::string> floats = {"neg",  "abs",   "sgn",   "floor",
                                                  "ceil", "trunc", "round", "sqrt"};
  // Steps hide where a function is steep: its differences are slopes that no derivative has.
  static const std::vector<std::string> smooth = {"neg", "abs", "sgn", "sqrt"};
  const auto& names = type.is_int() ? ints : g.of_slopes() ? smooth : floats;
  return Make("unary", type)
      .t("(" + prim(type) + "." + g.pick(names) + " ")
      .child(g.gen(type, scope, fuel))
      .t(")")
      .done();
}

ExprPtr make_bits(Generator& g, const Type& type, const Scope& scope, int fuel) {
  const Type operand = Type::of(g.any_int());
  if (type.is(PrimType::kI32)) {
    static const std::vector<std::string> counts = {"popc", "clz", "ctz"};
    return Make("bits", type)
        .t("(" + prim(operand) + "." + g.pick(counts) + " ")
        .child(g.gen(operand, scope, fuel))
        .t(")")
        .done();
  }
  if (!type.is_int()) return nullptr;
  return Make("bits", type)
      .t("(" + prim(type) + ".mul_hi ")
      .child(g.gen(type, scope, fuel / 2))
      .t(" ")
      .child(g.gen(type, scope, fuel / 2))
      .t(")")
      .done();
}

ExprPtr make_min_max(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is_number()) return nullptr;
  return Make("min_max", type)
      .t("(" + prim(type) + (g.chance(50) ? ".min " : ".max "))
      .child(g.gen(type, scope, fuel / 2))
      .t(" ")
      .child(g.gen(type, scope, fuel / 2))
      .t(")")
      .done();
}

ExprPtr make_convert(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (type.kind != Type::kPrim) return nullptr;
  const Type from = g.scalar();
  if (from == type) return nullptr;
  return g.converted(g.gen(from, scope, fuel), type);
}

ExprPtr make_compare(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is(PrimType::kBool)) return nullptr;
  static const std::vector<std::string> ops = {"==", "!=", "<", "<=", ">", ">="};
  Type operand = g.scalar();
  return binary(g, type, scope, fuel, "compare", g.pick(ops), operand);
}

ExprPtr make_logic(Generator& g, const Type& type, const Scope& scope, int fuel) {
  if (!type.is(PrimType::kBool)) return nullptr;
  return binary(g, type, scope, fuel, "logic", g.chance(50) ? "&&" : "||", type);
}

}  // namespace kenaz::fuzz
