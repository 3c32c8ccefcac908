#include <fmt/format.h>

#include "kernels/mfg/check/checker.h"

namespace kenaz::mfg {

namespace {

struct Operator {
  std::string_view sign;
  ScalarOp op;
  bool compares, integers;  // integers: of no floats
  bool swapped = false;     // a > b is b < a
};
// Division, remainder and >> are C's.
constexpr Operator kOperators[] = {
    {"+", ScalarOp::kAdd, false, false},      {"-", ScalarOp::kSub, false, false},
    {"*", ScalarOp::kMul, false, false},      {"/", ScalarOp::kQuot, false, false},
    {"%", ScalarOp::kRem, false, false},      {"|", ScalarOp::kOr, false, true},
    {"&", ScalarOp::kAnd, false, true},       {"<<", ScalarOp::kShl, false, true},
    {">>", ScalarOp::kShr, false, true},      {"==", ScalarOp::kEq, true, false},
    {"!=", ScalarOp::kNe, true, false},       {"<", ScalarOp::kLt, true, false},
    {"<=", ScalarOp::kLe, true, false},       {">", ScalarOp::kLt, true, false, true},
    {">=", ScalarOp::kLe, true, false, true},
};

/// The operation at a type: / and % are others for floats.
ScalarOp at_type(ScalarOp op, PrimType t) {
  if (!is_float(t)) return op;
  if (op == ScalarOp::kQuot) return ScalarOp::kDiv;
  return op == ScalarOp::kRem ? ScalarOp::kMod : op;
}

bool has_floats(const Type& t) { return !t.all_integers(); }

}  // namespace

void Checker::meet(std::string_view op, CExpPtr& a, CExpPtr& b, Type& result,
                   const SourceRange& range) {
  const Type& ta = a->type;
  const Type& tb = b->type;
  if (ta.tuple && tb.tuple) {
    if (ta != tb) {
      reject(range, fmt::format("The operands of {} are {} and {}; of two tuples, all components "
                                "must have the same types.",
                                op, ta.str(), tb.str()));
    }
    result = ta;
    return;
  }
  result = ta.tuple ? ta : tb;
  const PrimType other = ta.tuple ? tb.prim() : ta.prim();
  for (PrimType& t : result.elems) {
    const auto both = promote(t, other);
    if (!both) {
      reject(range, fmt::format("The operands of {} are {} and {}, and neither type holds the "
                                "other's values; convert one, as in i32(..).",
                                op, ta.str(), tb.str()));
    }
    t = *both;
  }
  // A scalar that goes with components of several types becomes a tuple.
  const auto fit = [&](CExpPtr& e) {
    if (e->type.tuple) {
      e = convert(std::move(e), result);
    } else if (result.uniform()) {
      e = convert(std::move(e), Type::scalar(result.prim()));
    } else {
      const CExpPtr one = bind(e);
      e = convert(tuple(std::vector(result.size(), one), one->range), result);
    }
  };
  fit(a);
  fit(b);
}

CExpPtr Checker::power(const CExpPtr& a, const CExpPtr& b, const SourceRange& range) {
  const Type& ta = a->type;
  const Type& tb = b->type;
  if (ta.tuple && tb.tuple && ta.size() != tb.size()) {
    reject(range, fmt::format("The operands of ^ are {} and {}; two tuples must be of the same "
                              "length.",
                              ta.str(), tb.str()));
  }
  const size_t n = std::max(ta.size(), tb.size());
  const auto exponent = known(b);
  const CExpPtr base = bind(a), power_of = bind(b);
  std::vector<CExpPtr> parts;
  for (size_t k = 0; k < n; ++k) {
    CExpPtr x = component(base, ta.tuple ? k : 0);
    CExpPtr y = component(power_of, tb.tuple ? k : 0);
    const Type type = x->type;
    constexpr int64_t kMost = 4;
    if (exponent && is_integer(exponent->type) && exponent->as_i64() >= 1 &&
        exponent->as_i64() <= kMost) {
      CExpPtr product = x;
      for (int64_t i = 1; i < exponent->as_i64(); ++i) {
        product = prim(ScalarOp::kMul, {product, x}, range);
      }
      parts.push_back(std::move(product));
      continue;
    }
    const PrimType at =
        is_float(type.prim()) || is_float(y->type.prim()) ? PrimType::kF32 : type.prim();
    x = convert(std::move(x), Type::scalar(at));
    y = convert(std::move(y), Type::scalar(at));
    parts.push_back(convert(prim(ScalarOp::kPow, {x, y}, range), type));
  }
  return ta.tuple || tb.tuple ? tuple(std::move(parts), range) : parts[0];
}

CExpPtr Checker::arithmetic(const std::string& op, CExpPtr a, CExpPtr b, const SourceRange& range) {
  if (op == "^") return power(a, b, range);
  const bool is_logic = op == "&&" || op == "||";
  Type result;
  meet(op, a, b, result, range);
  const Operator* found = nullptr;
  for (const Operator& row : kOperators) {
    if (row.sign == op) found = &row;
  }
  if ((is_logic || (found != nullptr && found->integers)) && has_floats(result)) {
    reject(range, fmt::format("{} takes integers, but its operands are {} and {}.", op,
                              a->type.str(), b->type.str()));
  }
  if (is_logic) return logic(op == "&&" ? ScalarOp::kAnd : ScalarOp::kOr, {a, b}, range);
  if (found->swapped) std::swap(a, b);
  if (result.uniform()) return prim(at_type(found->op, result.prim()), {a, b}, range);
  const CExpPtr x = bind(a), y = bind(b);
  std::vector<CExpPtr> parts;
  for (size_t k = 0; k < result.size(); ++k) {
    parts.push_back(
        prim(at_type(found->op, result.elems[k]), {component(x, k), component(y, k)}, range));
  }
  return tuple(std::move(parts), range);
}

CExpPtr Checker::on(const EBinary& b, const SourceRange& range) {
  CExpPtr lhs = exp(*b.lhs);
  CExpPtr rhs = exp(*b.rhs);
  return arithmetic(b.op, std::move(lhs), std::move(rhs), range);
}

CExpPtr Checker::on(const EUnary& u, const SourceRange& range) {
  CExpPtr arg = exp(*u.arg);
  const Type type = arg->type;
  if (u.op == '-') return prim(ScalarOp::kNeg, {std::move(arg)}, range);
  if (has_floats(type)) {
    reject(range, fmt::format("! takes integers, but its operand is {}.", type.str()));
  }
  return convert(logic(ScalarOp::kNot, {std::move(arg)}, range), type);
}

}  // namespace kenaz::mfg
