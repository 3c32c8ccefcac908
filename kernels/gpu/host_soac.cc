// Parallel statements at host level: which kernels they become.
#include <fmt/format.h>

#include "kernels/body/analysis.h"
#include "kernels/gpu/host_gen.h"
#include "kernels/gpu/launch.h"
#include "kernels/primitives/reduce/reduce.h"
#include "kernels/primitives/scan/scan.h"
#include "protocol/base/check.h"

namespace kenaz::gpu {

using body::KernelArray;
using body::KernelValue;
using body::Thread;
using ir::VarId;
using kir::Value;
using kir::Values;

/// What an element function does with the results of a combinator's map: hands the first `handed`
/// (scalars) to its caller, stores the others to `stored`.
struct HostGen::SoacParts {
  size_t handed = 0;
  std::vector<HostArray> stored;
};

namespace {

bool on_scalars(const ir::Program& ir, const std::vector<ir::Monoid>& monoids) {
  for (const auto& m : monoids) {
    for (const auto& n : m.neutral) {
      if (!ir.type_of(n).is_scalar()) return false;
    }
  }
  return true;
}

size_t width_of(const std::vector<ir::Monoid>& monoids) {
  size_t n = 0;
  for (const auto& m : monoids) n += m.neutral.size();
  return n;
}

/// Operators known to commute, whether the program says so or not.
bool commutes(const ir::Monoid& m) {
  if (m.commutative) return true;
  if (m.op.params.size() != 2 || m.op.body.stms.size() != 1) return false;
  const auto* p = std::get_if<ir::EPrim>(&m.op.body.stms[0].exp);
  if (p == nullptr || p->args.size() != 2) return false;
  switch (p->op) {
    case ScalarOp::kAdd:
    case ScalarOp::kMul:
    case ScalarOp::kMin:
    case ScalarOp::kMax:
    case ScalarOp::kAnd:
    case ScalarOp::kOr:
    case ScalarOp::kXor: break;
    default: return false;
  }
  const ir::Atom a = m.op.params[0], b = m.op.params[1];
  return (p->args[0] == a && p->args[1] == b) || (p->args[0] == b && p->args[1] == a);
}

/// Makes the operators' functions and describes the monoids to a primitive.
primitives::Monoids describe(Thread& t, const std::vector<ir::Monoid>& monoids) {
  std::vector<primitives::Monoid> out;
  for (const auto& m : monoids) {
    primitives::Monoid to;
    to.function = body::operator_function(t, fmt::format("op{}", out.size()), m);
    for (const auto& n : m.neutral) to.types.push_back(t.ir().type_of(n).prim);
    to.neutral = [&t, &m] { return t.env.scalars(m.neutral); };
    out.push_back(std::move(to));
  }
  return primitives::Monoids(std::move(out));
}

/// A function of an element's number.
kir::FunctionId elem_function(Thread& t, const std::function<Values(const Value&)>& body) {
  return body::function(t, "elem", {{PrimType::kI64}},
                        [&](const Values& args) { return body(args[0]); });
}

}  // namespace

kir::FunctionId HostGen::element_function(Thread& t, const ir::ESoac& e, const SoacParts& parts) {
  return elem_function(t, [&](const Value& i) {
    body::bind_rows(t, e.map.params, e.inputs, i);
    std::vector<KernelArray> rows;
    std::vector<std::optional<KernelArray>> dests(parts.handed);
    for (const auto& a : parts.stored) {
      rows.push_back(body::row_place(t, t.args.array(a), i));
      dests.push_back(rows.back().layout.dims.empty() ? std::nullopt : std::optional(rows.back()));
    }
    const auto results = body::translate(t, e.map.body, dests);
    Values handed;
    if (failed()) return handed;
    for (size_t n = 0; n < parts.handed; n++) handed.push_back(std::get<Value>(results[n]));
    for (size_t n = 0; n < rows.size(); n++) body::place(t, results[parts.handed + n], rows[n]);
    return handed;
  });
}

void HostGen::soac(const ir::Stm& s, const ir::ESoac& e) {
  if (!on_scalars(ir_, e.scans) || !on_scalars(ir_, e.reduces)) {
    sequential(s);
    return;
  }
  if (!e.scans.empty()) {
    scan(s, e);
    return;
  }
  const Operand width = scalar(e.width);
  SoacParts parts;
  parts.handed = width_of(e.reduces);
  for (size_t k = parts.handed; k < s.pat.size(); k++) {
    const ir::Type& t = ir_.type_of(s.pat[k]);
    parts.stored.push_back(allocate(t.prim, dims_of(t.dims)));
    set(s.pat[k], parts.stored.back());
  }
  Thread t(*this, kernel_name(e.reduces.empty() ? "map" : "reduce"), s.prov);
  const auto elem = element_function(t, e, parts);
  if (failed()) return;
  if (e.reduces.empty()) {
    launch_elements(*this, t, elem, width);
  } else if (t.has_private_memory()) {
    reduce_arrays(e, map_operands(s, e, e.reduces, parts), s.pat);
  } else {
    reduce(t, elem, e.reduces, width, s.pat);
  }
}

// A primitive's workgroups have no room for their threads' arrays: the operands are made by a map
// first, and written to arrays.
std::vector<HostArray> HostGen::map_operands(const ir::Stm& s, const ir::ESoac& e,
                                             const std::vector<ir::Monoid>& monoids,
                                             const SoacParts& parts) {
  const Operand width = scalar(e.width);
  std::vector<HostArray> operands;
  for (const auto& m : monoids) {
    for (const auto& n : m.neutral) operands.push_back(allocate(ir_.type_of(n).prim, {width}));
  }
  SoacParts all;
  all.stored = operands;
  all.stored.insert(all.stored.end(), parts.stored.begin(), parts.stored.end());
  Thread t(*this, kernel_name("map"), s.prov);
  launch_elements(*this, t, element_function(t, e, all), width);
  return operands;
}

// An element function that reads arrays.
kir::FunctionId HostGen::rows_function(Thread& t, const std::vector<HostArray>& arrays) {
  return elem_function(t, [&](const Value& i) {
    Values row;
    for (const auto& a : arrays) row.push_back(body::element(t, t.args.array(a), {i}));
    return row;
  });
}

// The rest of a reduction whose element function is `elem`; binds the leading `results`.
void HostGen::reduce(Thread& t, kir::FunctionId elem, const std::vector<ir::Monoid>& monoids,
                     const Operand& width, const std::vector<VarId>& results) {
  namespace pr = primitives;
  const size_t n = width_of(monoids);
  const BlockReg result = allocate_bytes(size(static_cast<int64_t>(8 * n)));
  pr::ReduceSpec spec{describe(t, monoids), true, elem, t.args.operand(width),
                      t.args.block(result), {}};
  if (failed()) return;
  for (const auto& m : monoids) spec.commutative &= commutes(m);

  Operand groups = div_up(width, pr::kReduceWorkgroup * pr::kReducePerThread);
  groups = max(konst(1), min(groups, konst(pr::kReduceMaxGroups)));
  groups = affordable(*this, t, groups, pr::kReduceWorkgroup);
  if (as_const(groups) != 1) {
    const BlockReg partial = allocate_bytes(size(pr::reduce_partial_bytes(n)));
    spec.partial = t.args.block(partial);
    program::OpIf many;
    many.cond = emit_op(ScalarOp::kLt, PrimType::kI64, PrimType::kBool, {konst(1), groups});
    many.then_code.push_back(
        {program::OpWrite{PrimType::kU32, partial, konst(0), {PrimValue{PrimType::kU32, 0}}}});
    emit({std::move(many)});
  }
  pr::build_reduce(t.k, spec);
  launch_groups(*this, t, pr::kReduceWorkgroup, groups);
  size_t at = 0;
  for (const auto& m : monoids) {
    for (const auto& neutral : m.neutral) {
      set(results[at],
          HostScalar{ir_.type_of(neutral).prim,
                     DeviceScalar{result, konst(static_cast<int64_t>(8 * at)), false}});
      at++;
    }
  }
}

// Reductions of arrays that an earlier kernel wrote.
void HostGen::reduce_arrays(const ir::ESoac& e, const std::vector<HostArray>& operands,
                            const std::vector<VarId>& results) {
  Thread t(*this, kernel_name("reduce"));
  const auto elem = rows_function(t, operands);
  reduce(t, elem, e.reduces, scalar(e.width), results);
}

void HostGen::scan(const ir::Stm& s, const ir::ESoac& e) {
  namespace pr = primitives;
  const Operand width = scalar(e.width);
  const size_t scanned = width_of(e.scans), reduced = width_of(e.reduces);
  SoacParts parts;
  parts.handed = scanned;
  std::vector<HostArray> operands;  // of the reductions
  std::vector<HostArray> out;
  for (size_t k = 0; k < s.pat.size(); k++) {
    if (k >= scanned && k < scanned + reduced) {
      operands.push_back(allocate(ir_.type_of(s.pat[k]).prim, {width}));
      parts.stored.push_back(operands.back());
      continue;
    }
    const ir::Type& t = ir_.type_of(s.pat[k]);
    const HostArray a = allocate(t.prim, dims_of(t.dims));
    set(s.pat[k], a);
    if (k < scanned) {
      out.push_back(a);
    } else {
      parts.stored.push_back(a);
    }
  }
  const Operand tiles = div_up(width, pr::kScanTile);
  const BlockReg totals =
      allocate_bytes(times(size(tiles), size(static_cast<int64_t>(8 * scanned))));

  const auto specify = [&](Thread& t) {
    pr::ScanSpec spec{describe(t, e.scans), t.args.operand(width), {}, t.args.block(totals)};
    for (const auto& a : out) spec.out.push_back(t.args.block(a.block));
    return spec;
  };
  const auto launch_tiles = [&](Thread& t, kir::FunctionId elem) {
    pr::build_scan_tiles(t.k, specify(t), elem);
    launch_groups(*this, t, pr::kScanWorkgroup, tiles);
  };
  {
    Thread t(*this, kernel_name("scan"), s.prov);
    const auto elem = element_function(t, e, parts);
    if (failed()) return;
    if (t.has_private_memory()) {
      const auto rows = map_operands(s, e, e.scans, parts);
      Thread plain(*this, kernel_name("scan"));
      launch_tiles(plain, rows_function(plain, rows));
    } else {
      launch_tiles(t, elem);
    }
  }
  program::OpIf many;
  many.cond = emit_op(ScalarOp::kLt, PrimType::kI64, PrimType::kBool, {konst(1), tiles});
  {
    Scope scope(*this, many.then_code);
    Thread sums(*this, kernel_name("scan_totals"));
    pr::build_scan_totals(sums.k, specify(sums));
    launch_groups(*this, sums, pr::kScanWorkgroup, konst(1));
    Thread add(*this, kernel_name("scan_add"));
    pr::build_scan_add(add.k, specify(add));
    launch_groups(*this, add, pr::kScanWorkgroup, tiles);
  }
  if (failed()) return;
  emit({std::move(many)});
  if (reduced > 0) {
    const auto begin = s.pat.begin() + static_cast<long>(scanned);
    reduce_arrays(e, operands, {begin, begin + static_cast<long>(reduced)});
  }
}

void HostGen::scatter(const ir::Stm& s, const ir::EScatter& e) {
  settle_borrowed();
  std::vector<HostArray> dests;
  std::vector<int> ranks;
  for (size_t k = 0; k < e.dests.size(); k++) {
    dests.push_back(in_memory(array(e.dests[k].array)));
    ranks.push_back(e.dests[k].index_rank);
    set(s.pat[k], dests.back());
  }
  Thread t(*this, kernel_name("scatter"), s.prov);
  const auto elem = elem_function(t, [&](const Value& i) {
    std::vector<KernelArray> to;
    for (const auto& d : dests) to.push_back(t.args.array(d));
    body::bind_rows(t, e.map.params, e.inputs, i);
    const auto results = body::translate(t, e.map.body);
    if (!failed()) body::scatter_element(t, to, ranks, results);
    return Values{};
  });
  if (!failed()) launch_elements(*this, t, elem, scalar(e.width));
}

void HostGen::hist(const ir::Stm& s, const ir::EHist&) { sequential(s); }

void HostGen::sequential(const ir::Stm& s) {
  if (updates_in_place(ir_, ir::Body{{s}, {}})) settle_borrowed();
  for (VarId v : consumed_in(ir_, ir::Body{{s}, {}})) {
    if (!is_bound(v)) continue;
    const auto* a = std::get_if<HostArray>(&value(v));
    if (a != nullptr && a->kind != ArrayKind::kMemory) set(v, in_memory(*a));
  }
  Thread t(*this, kernel_name("sequential"), s.prov, true);
  const bool combinator =
      !std::holds_alternative<ir::ELoop>(s.exp) && !std::holds_alternative<ir::EIf>(s.exp);
  const bool in_place = std::holds_alternative<ir::EHist>(s.exp);
  std::vector<std::optional<HostArray>> made(s.pat.size());
  const auto make = [&](size_t n) {
    const ir::Type& type = ir_.type_of(s.pat[n]);
    made[n] = allocate(type.prim, dims_of(type.dims));
    return t.args.array(*made[n]);
  };
  for (size_t n = 0; n < s.pat.size(); n++) {
    if (combinator && !in_place && !ir_.type_of(s.pat[n]).is_scalar()) {
      t.dests.set(s.pat[n], make(n));
    }
  }
  const BlockReg scalars = allocate_bytes(size(static_cast<int64_t>(8 * s.pat.size())));
  std::vector<HostValue> results;
  const auto elem = elem_function(t, [&](const Value&) {
    body::translate(t, s);
    for (size_t n = 0; n < s.pat.size() && !failed(); n++) {
      const KernelValue v = t.env.value(s.pat[n]);
      const auto offset = static_cast<int64_t>(8 * n);
      if (const auto* x = std::get_if<Value>(&v)) {
        const int64_t index = offset / prim_size(x->type.prim);
        t.k.store(t.args.block(scalars), kir::i64(index), *x);
        results.emplace_back(HostScalar{x->type.prim, DeviceScalar{scalars, konst(offset), false}});
        continue;
      }
      const auto& a = std::get<KernelArray>(v);
      if (const auto host = t.args.as_import(a)) {
        results.emplace_back(*host);
        continue;
      }
      body::copy(t, a, make(n));
      results.emplace_back(*made[n]);
    }
    return Values{};
  });
  if (failed()) return;
  if (t.heap.used() && updates_in_place(ir_, ir::Body{{s}, {}})) {
    refuse(s.prov, "arrays of varying size beside in-place updates");
    return;
  }
  launch_single(*this, t, elem);
  for (size_t n = 0; n < s.pat.size(); n++) set(s.pat[n], std::move(results[n]));
}

}  // namespace kenaz::gpu
