// Parallel statements at host level: which kernels they become.
#include <fmt/format.h>

#include "kernels/glsl/types.h"
#include "kernels/gpu/analysis.h"
#include "kernels/gpu/host_gen.h"
#include "kernels/gpu/kernel_gen.h"
#include "kernels/primitives/reduce/reduce.h"
#include "kernels/primitives/scan/scan.h"
#include "protocol/base/check.h"

namespace kenaz::gpu {

using ir::VarId;

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

/// Emits the operators' functions and describes the monoids to a primitive.
std::vector<primitives::MonoidText> describe(KernelGen& k, const std::vector<ir::Monoid>& monoids) {
  std::vector<primitives::MonoidText> out;
  for (const auto& m : monoids) {
    primitives::MonoidText t;
    t.function = fmt::format("op{}", out.size());
    k.operator_function(t.function, m);
    for (const auto& n : m.neutral) {
      const ir::Type type = k.host().ir().type_of(n);
      t.types.push_back(type.prim);
      if (n.is_const()) {
        t.neutral.push_back(glsl::literal(n.constant()));
      } else {
        t.neutral.push_back(k.host_value_text(n));
      }
    }
    out.push_back(std::move(t));
  }
  return out;
}

}  // namespace

// void elem(int64_t i, out T0 r0, ..)
void HostGen::element_function(KernelGen& k, const ir::ESoac& e, const SoacParts& parts) {
  std::vector<KernelArray> out;
  for (const auto& a : parts.stored) out.push_back(k.import_array(a));
  std::string head = "void elem(int64_t i";
  for (size_t n = 0; n < parts.handed; n++) {
    head += fmt::format(", out {} r{}", glsl::glsl_type(e.map.ret[n].prim), n);
  }
  k.begin_function(head + ")");
  for (size_t n = 0; n < parts.handed; n++) {
    k.line(fmt::format("r{} = {};", n, glsl::literal({e.map.ret[n].prim, 0})));
  }
  const Expr i{PrimType::kI64, "i", {}};
  k.bind_rows(e.map.params, e.inputs, i);
  std::vector<KernelArray> rows;
  std::vector<std::optional<KernelArray>> dests(parts.handed);
  for (const auto& a : out) {
    KernelArray row = a;
    row.layout = LayoutMath(k).row(a.layout, i);
    rows.push_back(row);
    if (row.layout.dims.empty()) {
      dests.emplace_back();
    } else {
      dests.emplace_back(row);
    }
  }
  const auto results = k.body(e.map.body, dests);
  if (failed()) return;
  for (size_t n = 0; n < parts.handed; n++) {
    k.line(fmt::format("r{} = {};", n, std::get<Expr>(results[n]).text));
  }
  for (size_t n = 0; n < rows.size(); n++) k.place(results[parts.handed + n], rows[n]);
  k.end_function();
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
  KernelGen k(*this, kernel_name(e.reduces.empty() ? "map" : "reduce"));
  k.set_place(s.prov);
  element_function(k, e, parts);
  if (failed()) return;
  if (e.reduces.empty()) {
    k.launch_elements(width);
  } else if (k.has_private_memory()) {
    reduce_arrays(e, map_operands(s, e, e.reduces, parts), s.pat);
  } else {
    reduce(k, e.reduces, width, s.pat);
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
  KernelGen k(*this, kernel_name("map"));
  k.set_place(s.prov);
  element_function(k, e, all);
  k.launch_elements(width);
  return operands;
}

// void elem(int64_t i, out ..) that reads arrays.
void HostGen::rows_function(KernelGen& k, const std::vector<HostArray>& arrays) {
  std::vector<KernelArray> in;
  std::string head = "void elem(int64_t i";
  for (const auto& a : arrays) {
    head += fmt::format(", out {} r{}", glsl::glsl_type(a.elem), in.size());
    in.push_back(k.import_array(a));
  }
  k.begin_function(head + ")");
  for (size_t n = 0; n < in.size(); n++) {
    const auto v = k.row(in[n], Expr{PrimType::kI64, "i", {}});
    k.line(fmt::format("r{} = {};", n, std::get<Expr>(v).text));
  }
  k.end_function();
}

// The rest of a reduction whose element function stands in `k`; binds the leading `results`.
void HostGen::reduce(KernelGen& k, const std::vector<ir::Monoid>& monoids, const Operand& width,
                     const std::vector<VarId>& results) {
  namespace pr = primitives;
  const size_t n = width_of(monoids);
  const BlockReg result = allocate_bytes(size(static_cast<int64_t>(8 * n)));
  pr::ReduceSpec spec;
  spec.commutative = true;
  for (const auto& m : monoids) spec.commutative &= commutes(m);
  spec.monoids = describe(k, monoids);
  if (failed()) return;
  spec.long_elements = k.has_loops();
  spec.width = k.import_operand(width).text;
  spec.result = k.block(result);
  k.writes_block(result);

  Operand groups = div_up(width, pr::kReduceWorkgroup * pr::kReducePerThread);
  groups = max(konst(1), min(groups, konst(pr::kReduceMaxGroups)));
  groups = k.affordable(groups, pr::kReduceWorkgroup);
  if (as_const(groups) != 1) {
    const BlockReg partial = allocate_bytes(size(pr::reduce_partial_bytes(n)));
    spec.partial = k.block(partial);
    k.writes_block(partial);
    program::OpIf many;
    many.cond = emit_op(ScalarOp::kLt, PrimType::kI64, PrimType::kBool, {konst(1), groups});
    many.then_code.push_back(
        {program::OpWrite{PrimType::kU32, partial, konst(0), {PrimValue{PrimType::kU32, 0}}}});
    emit({std::move(many)});
  }
  const auto text = pr::reduce_text(spec);
  k.launch(text.globals, text.main, pr::kReduceWorkgroup, groups, true);
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
  KernelGen k(*this, kernel_name("reduce"));
  rows_function(k, operands);
  reduce(k, e.reduces, scalar(e.width), results);
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

  const auto specify = [&](KernelGen& k) {
    pr::ScanSpec spec;
    spec.monoids = describe(k, e.scans);
    spec.width = k.import_operand(width).text;
    spec.totals = k.block(totals);
    k.writes_block(totals);
    for (const auto& a : out) {
      spec.out.push_back(k.block(a.block));
      k.writes_block(a.block);
    }
    return spec;
  };
  {
    KernelGen k(*this, kernel_name("scan"));
    k.set_place(s.prov);
    element_function(k, e, parts);
    if (failed()) return;
    if (k.has_private_memory()) {
      const auto rows = map_operands(s, e, e.scans, parts);
      KernelGen plain(*this, kernel_name("scan"));
      rows_function(plain, rows);
      const auto text = pr::scan_tiles_text(specify(plain));
      plain.launch(text.globals, text.main, pr::kScanWorkgroup, tiles, true);
    } else {
      const auto text = pr::scan_tiles_text(specify(k));
      k.launch(text.globals, text.main, pr::kScanWorkgroup, tiles, true);
    }
  }
  program::OpIf many;
  many.cond = emit_op(ScalarOp::kLt, PrimType::kI64, PrimType::kBool, {konst(1), tiles});
  {
    Scope scope(*this, many.then_code);
    KernelGen sums(*this, kernel_name("scan_totals"));
    const auto sums_text = pr::scan_totals_text(specify(sums));
    sums.launch(sums_text.globals, sums_text.main, pr::kScanWorkgroup, konst(1), true);
    KernelGen add(*this, kernel_name("scan_add"));
    const auto add_text = pr::scan_add_text(specify(add));
    add.launch(add_text.globals, add_text.main, pr::kScanWorkgroup, tiles, false);
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
  KernelGen k(*this, kernel_name("scatter"));
  k.set_place(s.prov);
  std::vector<KernelArray> to;
  for (const auto& d : dests) to.push_back(k.import_array(d));
  k.begin_function("void elem(int64_t i)");
  k.bind_rows(e.map.params, e.inputs, {PrimType::kI64, "i", {}});
  const auto results = k.body(e.map.body);
  if (failed()) return;
  k.scatter_element(to, ranks, results);
  k.end_function();
  k.launch_elements(scalar(e.width));
}

void HostGen::hist(const ir::Stm& s, const ir::EHist&) { sequential(s); }

void HostGen::sequential(const ir::Stm& s) {
  if (updates_in_place(ir_, ir::Body{{s}, {}})) settle_borrowed();
  for (VarId v : consumed_in(ir_, ir::Body{{s}, {}})) {
    if (!is_bound(v)) continue;
    const auto* a = std::get_if<HostArray>(&value(v));
    if (a != nullptr && a->kind != ArrayKind::kMemory) set(v, in_memory(*a));
  }
  KernelGen k(*this, kernel_name("sequential"), true);
  k.set_place(s.prov);
  const bool combinator =
      !std::holds_alternative<ir::ELoop>(s.exp) && !std::holds_alternative<ir::EIf>(s.exp);
  const bool in_place = std::holds_alternative<ir::EHist>(s.exp);
  std::vector<std::optional<HostArray>> made(s.pat.size());
  const auto make = [&](size_t n) {
    const ir::Type& t = ir_.type_of(s.pat[n]);
    made[n] = allocate(t.prim, dims_of(t.dims));
    return k.import_array(*made[n]);
  };
  for (size_t n = 0; n < s.pat.size(); n++) {
    if (combinator && !in_place && !ir_.type_of(s.pat[n]).is_scalar()) {
      k.set_dest(s.pat[n], make(n));
    }
  }
  const BlockReg scalars = allocate_bytes(size(static_cast<int64_t>(8 * s.pat.size())));
  k.begin_function("void elem(int64_t i)");
  k.stm(s);
  if (failed()) return;
  std::vector<HostValue> results;
  for (size_t n = 0; n < s.pat.size(); n++) {
    const KernelValue v = k.value(s.pat[n]);
    const Operand offset = konst(static_cast<int64_t>(8 * n));
    if (const auto* x = std::get_if<Expr>(&v)) {
      k.writes_block(scalars);
      k.line(glsl::store(x->type, fmt::format("{} + {}ul", k.block(scalars), 8 * n), x->text));
      results.emplace_back(HostScalar{x->type, DeviceScalar{scalars, offset, false}});
      continue;
    }
    const auto& a = std::get<KernelArray>(v);
    if (const auto host = k.as_import(a)) {
      results.emplace_back(*host);
      continue;
    }
    const KernelArray to = make(n);
    k.copy(a, to);
    results.emplace_back(*made[n]);
  }
  k.end_function();
  if (failed()) return;
  if (k.has_heap() && updates_in_place(ir_, ir::Body{{s}, {}})) {
    refuse(s.prov, "arrays of varying size beside in-place updates");
    return;
  }
  k.launch_single();
  for (size_t n = 0; n < s.pat.size(); n++) set(s.pat[n], std::move(results[n]));
}

}  // namespace kenaz::gpu
