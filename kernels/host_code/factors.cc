#include "kernels/host_code/factors.h"

#include "kernels/host_code/indices.h"
#include "kernels/host_code/neighbours.h"
#include "kernels/host_code/seg_element.h"

namespace kenaz::host_code {

using body::Thread;
using kir::Value;
using kir::Values;

namespace {

std::vector<PrimType> types_of(const ir::Program& p, const std::vector<ir::VarId>& values) {
  std::vector<PrimType> out;
  for (const ir::VarId v : values) out.push_back(p.type_of(v).prim);
  return out;
}

std::vector<kir::Type> params_of(const std::vector<PrimType>& types) {
  std::vector<kir::Type> out;
  for (const PrimType t : types) out.push_back({t});
  return out;
}

Values scalars(HostArrays& host, Thread& t, const ir::Body& b) {
  const auto results = body::translate(t, b);
  Values out;
  if (host.failed()) return out;
  for (const auto& r : results) out.push_back(std::get<Value>(r));
  return out;
}

/// (matrix's indices.., row or column, position) -> the factor's scalars. `own`: the dims of the
/// row or column.
kir::FunctionId side_function(HostArrays& host, Thread& t, const char* name, const ir::ESeg& e,
                              const std::vector<ir::SegDim>& matrix,
                              const std::vector<ir::SegDim>& own, const ir::Factors::Side& side) {
  const size_t n = matrix.size();
  return body::function(t, name, std::vector<kir::Type>(n + 2, kir::Type{PrimType::kI64}),
                        [&](const Values& at) {
                          for (size_t d = 0; d < n; d++) t.env.bind_param(matrix[d].index, at[d]);
                          bind_indices(host, t, own, at[n]);
                          t.env.bind_param(e.space.dims.back().index, at[n + 1]);
                          return scalars(host, t, side.body);
                        });
}

kir::FunctionId join_function(HostArrays& host, Thread& t, const ir::Factors& factors) {
  std::vector<ir::VarId> names = factors.left.values;
  names.insert(names.end(), factors.right.values.begin(), factors.right.values.end());
  return body::function(t, "join", params_of(types_of(t.ir(), names)), [&](const Values& values) {
    for (size_t n = 0; n < names.size(); n++) t.env.bind_param(names[n], values[n]);
    return scalars(host, t, factors.join);
  });
}

}  // namespace

plan::Factors factor_facts(const ir::Program& p, const ir::Factors& factors) {
  constexpr int kFew = 6;
  const auto is_read = [](const ir::Body& b) {
    return b.stms.size() == 1 && std::holds_alternative<ir::EIndex>(b.stms[0].exp);
  };
  const bool plain = is_read(factors.left.body) && is_read(factors.right.body) &&
                     short_statements(factors.join).value_or(kFew + 1) <= kFew;
  return {types_of(p, factors.left.values), types_of(p, factors.right.values), factors.left.along,
          factors.right.along, plain};
}

plan::Elements::Factors factor_functions(HostArrays& host, Thread& t, const ir::ESeg& e,
                                         const ir::Factors& factors) {
  const auto& dims = e.space.dims;
  const auto some = [&](size_t from, size_t to) {
    const auto at = [&](size_t d) { return dims.begin() + static_cast<std::ptrdiff_t>(d); };
    return std::vector<ir::SegDim>(at(from), at(to));
  };
  const ir::GridDims& grid = factors.dims;
  const auto rows = some(grid.row, grid.row_end), columns = some(grid.column, grid.end);
  auto matrix = some(0, grid.row);
  const auto between = some(grid.row_end, grid.column);
  matrix.insert(matrix.end(), between.begin(), between.end());
  const std::vector<Operand> sizes = host.dims_of(ir::sizes_of(matrix));
  plan::Elements::Factors out;
  out.enter = [&host, &t, sizes](kir::Builder&, const Value& matrix) {
    return sizes.empty() ? Values{} : indices_of(host, t, sizes, matrix);
  };
  const auto call = [](kir::FunctionId f) {
    return [f](kir::Builder& k, Values at, const Value& own, const Value& position) {
      at.push_back(own);
      at.push_back(position);
      return k.call(f, std::move(at));
    };
  };
  out.left = call(side_function(host, t, "left", e, matrix, rows, factors.left));
  out.right = call(side_function(host, t, "right", e, matrix, columns, factors.right));
  out.join = [f = join_function(host, t, factors)](kir::Builder& k, Values left,
                                                   const Values& right) {
    left.insert(left.end(), right.begin(), right.end());
    return k.call(f, std::move(left));
  };
  return out;
}

}  // namespace kenaz::host_code
