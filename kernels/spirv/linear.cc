#include "kernels/spirv/linear.h"

#include "kernels/spirv/arithmetic.h"

namespace kenaz::spirv {

using kir::Value;
using kir::Values;

namespace {

/// A vector or matrix: its scalars, column by column. Of a vector `columns` is 1.
struct Matrix {
  Values scalars;
  size_t columns = 1, rows = 1;
  const Value& at(size_t column, size_t row) const { return scalars[column * rows + row]; }
};

class Algebra {
 public:
  Algebra(kir::Builder& k, const Types& types, const Items& items, spv::Op op)
      : k_(k), types_(types), items_(items), name_(name_of(op)) {}

  Matrix operand(Ident id) const {
    Matrix m{items_.values(id)};
    const TypeInfo& t = types_.at(items_.at(id).type);
    if (t.kind == TypeInfo::kMatrix) m.columns = t.count;
    m.rows = m.scalars.size() / m.columns;
    for (const Value& v : m.scalars) {
      if (!is_float(v.type.prim) || v.type != m.scalars[0].type) refuse("{}: of {}", name_, id);
    }
    return m;
  }
  Values product(const Matrix& a, const Matrix& b) {
    if (a.columns != b.rows || a.scalars[0].type != b.scalars[0].type) {
      refuse("{}: operands that do not fit", name_);
    }
    Values out;
    for (size_t c = 0; c < b.columns; c++) {
      for (size_t r = 0; r < a.rows; r++) {
        Value sum = k_.mul(a.at(0, r), b.at(c, 0));
        for (size_t n = 1; n < a.columns; n++) sum = k_.add(sum, k_.mul(a.at(n, r), b.at(c, n)));
        out.push_back(sum);
      }
    }
    return out;
  }
  Values scaled(const Matrix& a, const Value& by) {
    if (by.type != a.scalars[0].type) refuse("{}: operands of different types", name_);
    Values out;
    for (const Value& v : a.scalars) out.push_back(k_.mul(v, by));
    return out;
  }
  Values any_or_all(Ident id, bool all) {
    const Values& bits = items_.values(id);
    Value out = bits[0];
    for (const Value& b : bits) {
      if (b.type.prim != PrimType::kBool) refuse("{}: of no truth values", name_);
      out = all ? k_.and_(out, b) : k_.or_(out, b);
    }
    return {out};
  }
  /// `with`: what the component becomes; then the whole vector is the result.
  Values component(Ident vector, Ident index, const Value* with) {
    Values all = items_.values(vector);
    const Value& n = items_.scalar(index);
    if (!is_integer(n.type.prim)) refuse("{}: an index that is no integer", name_);
    if (with != nullptr && with->type != all[0].type) refuse("{}: of another type", name_);
    Value chosen = all[0];
    for (size_t c = 0; c < all.size(); c++) {
      const Value here = k_.eq(n, static_cast<int64_t>(c));
      if (with != nullptr) {
        all[c] = k_.select(here, *with, all[c]);
      } else if (c > 0) {
        chosen = k_.select(here, all[c], chosen);
      }
    }
    return with != nullptr ? all : Values{chosen};
  }

 private:
  kir::Builder& k_;
  const Types& types_;
  const Items& items_;
  const std::string name_;
};

Matrix transposed(const Matrix& a) {
  Matrix out{{}, a.rows, a.columns};
  for (size_t r = 0; r < a.rows; r++) {
    for (size_t c = 0; c < a.columns; c++) out.scalars.push_back(a.at(c, r));
  }
  return out;
}

/// A vector as one row.
Matrix as_row(Matrix a) {
  std::swap(a.columns, a.rows);
  return a;
}

}  // namespace

std::optional<Values> linear_algebra(kir::Builder& k, const Types& types, const Items& items,
                                     spv::Op op, std::span<const uint32_t> operands) {
  const auto operand = [&](size_t n) { return n < operands.size() ? operands[n] : 0; };
  Algebra a(k, types, items, op);
  switch (op) {
    case spv::OpVectorTimesScalar:
    case spv::OpMatrixTimesScalar: return a.scaled(a.operand(operand(0)), items.scalar(operand(1)));
    case spv::OpMatrixTimesVector:
    case spv::OpMatrixTimesMatrix: return a.product(a.operand(operand(0)), a.operand(operand(1)));
    case spv::OpDot:
    case spv::OpVectorTimesMatrix:
      return a.product(as_row(a.operand(operand(0))), a.operand(operand(1)));
    case spv::OpOuterProduct:
      return a.product(a.operand(operand(0)), as_row(a.operand(operand(1))));
    case spv::OpTranspose: return transposed(a.operand(operand(0))).scalars;
    case spv::OpAny:
    case spv::OpAll: return a.any_or_all(operand(0), op == spv::OpAll);
    case spv::OpVectorExtractDynamic: return a.component(operand(0), operand(1), nullptr);
    case spv::OpVectorInsertDynamic: {
      const Value with = items.scalar(operand(1));
      return a.component(operand(0), operand(2), &with);
    }
    default: return std::nullopt;
  }
}

}  // namespace kenaz::spirv
