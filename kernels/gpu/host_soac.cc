// Segmented operations at host level: which kernels they become.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/glsl/types.h"
#include "kernels/gpu/analysis.h"
#include "kernels/gpu/host_gen.h"
#include "kernels/gpu/kernel_gen.h"
#include "kernels/primitives/reduce/reduce.h"
#include "kernels/primitives/scan/scan.h"
#include "protocol/base/check.h"

namespace kenaz::gpu {

using ir::VarId;

/// What an element function does with the results of a body: hands the first `handed` (scalars) to
/// its caller, writes those of the writes to `dests`, stores the others to `stored`. It may also
/// store operands, to the first arrays of `stored`, instead of handing them on.
struct HostGen::SegParts {
  size_t handed = 0;
  std::vector<HostArray> dests;
  std::vector<HostArray> stored;
};

namespace {

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
std::vector<primitives::MonoidText> describe(KernelGen& k,
                                             const std::vector<ir::SegMonoid>& monoids) {
  std::vector<primitives::MonoidText> out;
  for (const auto& lifted : monoids) {
    const ir::Monoid& m = lifted.op;
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

/// Each value of the writes at its index, where that is in bounds. `results`: those of the writes.
void write_element(KernelGen& k, const ir::ESeg& e, const std::vector<KernelArray>& dests,
                   const std::vector<KernelValue>& results) {
  std::vector<int> ranks;
  std::vector<KernelValue> indices, values;
  size_t at = 0;
  for (const auto& w : e.writes) {
    const size_t first = at, rank = static_cast<size_t>(w.index_rank);
    at += rank;
    for (size_t n = 0; n < w.dests.size(); n++) {  // each at the same index
      for (size_t d = 0; d < rank; d++) indices.push_back(results[first + d]);
      values.push_back(results[at++]);
      ranks.push_back(w.index_rank);
    }
  }
  indices.insert(indices.end(), values.begin(), values.end());
  if (!dests.empty()) k.scatter_element(dests, ranks, indices);
}

/// Whether a result of the body is an array that a combinator in it makes.
bool is_made_by_soac(const ir::Body& b, size_t result) {
  const ir::Atom& r = b.results[result];
  return std::any_of(b.stms.begin(), b.stms.end(), [&](const ir::Stm& s) {
    return std::holds_alternative<ir::ESoac>(s.exp) &&
           std::any_of(s.pat.begin(), s.pat.end(), [&](VarId v) { return r == ir::Atom(v); });
  });
}

}  // namespace

// void elem(int64_t i, out T0 r0, ..)
void HostGen::element_function(KernelGen& k, const ir::ESeg& e, const SegParts& parts) {
  std::vector<KernelArray> out, dests;
  for (const auto& a : parts.dests) dests.push_back(k.import_array(a));
  for (const auto& a : parts.stored) out.push_back(k.import_array(a));
  std::vector<PrimType> types;
  for (size_t n = 0; n < parts.handed; n++) types.push_back(ir_.type_of(e.body.results[n]).prim);
  std::string head = "void elem(int64_t i";
  for (size_t n = 0; n < parts.handed; n++) {
    head += fmt::format(", out {} r{}", glsl::glsl_type(types[n]), n);
  }
  k.begin_function(head + ")");
  for (size_t n = 0; n < parts.handed; n++) {
    k.line(fmt::format("r{} = {};", n, glsl::literal({types[n], 0})));
  }
  const Expr i{PrimType::kI64, "i", {}};
  k.bind(e.space.dims[0].index, i);
  // Results that are stored: the operands, if they are not handed on, and the plain ones.
  const size_t first_write = operands_of(e), first_plain = first_write + write_results_of(e);
  const auto place_of = [&](size_t n) {
    return n < first_plain ? n - parts.handed : n - parts.handed - (first_plain - first_write);
  };
  std::vector<std::optional<KernelArray>> places(e.body.results.size());
  std::vector<KernelArray> rows(e.body.results.size());
  for (size_t n = parts.handed; n < rows.size(); n++) {
    if (n >= first_write && n < first_plain) continue;
    rows[n] = out[place_of(n)];
    rows[n].layout = LayoutMath(k).row(rows[n].layout, i);
    if (!rows[n].layout.dims.empty()) places[n] = rows[n];
  }
  const auto results = k.body(e.body, places);
  if (failed()) return;
  for (size_t n = 0; n < parts.handed; n++) {
    k.line(fmt::format("r{} = {};", n, std::get<Expr>(results[n]).text));
  }
  write_element(k, e, dests,
                {results.begin() + static_cast<std::ptrdiff_t>(first_write),
                 results.begin() + static_cast<std::ptrdiff_t>(first_plain)});
  for (size_t n = parts.handed; n < rows.size(); n++) {
    if (n < first_write || n >= first_plain) k.place(results[n], rows[n]);
  }
  k.end_function();
}

bool HostGen::is_supported(const ir::Program& ir, const ir::ESeg& e) {
  const bool on_scalars = std::all_of(e.monoids.begin(), e.monoids.end(), [&](const auto& m) {
    return m.lifted.empty() &&
           std::all_of(m.op.neutral.begin(), m.op.neutral.end(),
                       [&](const ir::Atom& n) { return ir.type_of(n).is_scalar(); });
  });
  const bool plain_writes = std::all_of(e.writes.begin(), e.writes.end(), [](const auto& w) {
    return !w.combine && w.segment_rank == 0;
  });
  return e.level == ir::SegLevel::kDevice && e.space.dims.size() == 1 && on_scalars && plain_writes;
}

void HostGen::seg(const ir::Stm& s, const ir::ESeg& e) {
  if (is_single(e)) {
    single(s, e);
    return;
  }
  if (!is_supported(ir_, e)) {
    refuse(s.prov, "a segmented operation of this form");
    return;
  }
  if (e.kind == ir::SegKind::kScan) {
    scan(s, e);
    return;
  }
  const bool is_map = e.kind == ir::SegKind::kMap;
  const SegParts parts = make_results(s, e);
  KernelGen k(*this, kernel_name(!is_map ? "reduce" : e.writes.empty() ? "map" : "scatter"));
  k.set_place(s.prov);
  element_function(k, e, parts);
  if (failed()) return;
  if (is_map) {
    k.launch_elements(scalar(e.space.dims[0].size));
  } else if (k.has_private_memory()) {
    reduce_arrays(e, map_operands(s, e, parts), s.pat);
  } else {
    reduce(k, e, s.pat);
  }
}

/// The arrays of the writes and of the plain results, bound.
HostGen::SegParts HostGen::make_results(const ir::Stm& s, const ir::ESeg& e) {
  SegParts parts;
  parts.handed = operands_of(e);
  size_t k = parts.handed;
  if (!e.writes.empty()) settle_borrowed();
  for (const auto& w : e.writes) {
    for (VarId d : w.dests) {
      parts.dests.push_back(in_memory(array(d)));
      set(s.pat[k++], parts.dests.back());
    }
  }
  for (; k < s.pat.size(); k++) {
    const ir::Type& t = ir_.type_of(s.pat[k]);
    parts.stored.push_back(allocate(t.prim, dims_of(t.dims)));
    set(s.pat[k], parts.stored.back());
  }
  return parts;
}

// A primitive's workgroups have no room for their threads' arrays: the operands are made by a map
// first, and written to arrays.
std::vector<HostArray> HostGen::map_operands(const ir::Stm& s, const ir::ESeg& e,
                                             const SegParts& parts) {
  const Operand width = scalar(e.space.dims[0].size);
  std::vector<HostArray> operands;
  for (size_t n = 0; n < operands_of(e); n++) {
    operands.push_back(allocate(ir_.type_of(e.body.results[n]).prim, {width}));
  }
  SegParts all;
  all.dests = parts.dests;
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
void HostGen::reduce(KernelGen& k, const ir::ESeg& e, const std::vector<VarId>& results) {
  namespace pr = primitives;
  const Operand width = scalar(e.space.dims[0].size);
  const size_t n = operands_of(e);
  const BlockReg result = allocate_bytes(size(static_cast<int64_t>(8 * n)));
  pr::ReduceSpec spec;
  spec.commutative = true;
  for (const auto& m : e.monoids) spec.commutative &= commutes(m.op);
  spec.monoids = describe(k, e.monoids);
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
  for (const auto& m : e.monoids) {
    for (const auto& neutral : m.op.neutral) {
      set(results[at],
          HostScalar{ir_.type_of(neutral).prim,
                     DeviceScalar{result, konst(static_cast<int64_t>(8 * at)), false}});
      at++;
    }
  }
}

// Reductions of arrays that an earlier kernel wrote.
void HostGen::reduce_arrays(const ir::ESeg& e, const std::vector<HostArray>& operands,
                            const std::vector<VarId>& results) {
  KernelGen k(*this, kernel_name("reduce"));
  rows_function(k, operands);
  reduce(k, e, results);
}

void HostGen::scan(const ir::Stm& s, const ir::ESeg& e) {
  namespace pr = primitives;
  const Operand width = scalar(e.space.dims[0].size);
  const size_t scanned = operands_of(e);
  std::vector<HostArray> out;
  for (size_t k = 0; k < scanned; k++) {
    const ir::Type& t = ir_.type_of(s.pat[k]);
    out.push_back(allocate(t.prim, dims_of(t.dims)));
    set(s.pat[k], out.back());
  }
  const SegParts parts = make_results(s, e);
  const Operand tiles = div_up(width, pr::kScanTile);
  const BlockReg totals =
      allocate_bytes(times(size(tiles), size(static_cast<int64_t>(8 * scanned))));

  const auto specify = [&](KernelGen& k) {
    pr::ScanSpec spec;
    spec.monoids = describe(k, e.monoids);
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
      const auto rows = map_operands(s, e, parts);
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
}

void HostGen::single(const ir::Stm& s, const ir::ESeg& e) {
  const bool in_place = updates_in_place(ir_, e.body);
  if (in_place) settle_borrowed();
  for (VarId v : consumed_in(ir_, e.body)) {
    if (!is_bound(v)) continue;
    const auto* a = std::get_if<HostArray>(&value(v));
    if (a != nullptr && a->kind != ArrayKind::kMemory) set(v, in_memory(*a));
  }
  KernelGen k(*this, kernel_name("sequential"), true);
  k.set_place(s.prov);
  std::vector<std::optional<HostArray>> made(s.pat.size());
  const auto make = [&](size_t n) {
    const ir::Type& t = ir_.type_of(s.pat[n]);
    made[n] = allocate(t.prim, dims_of(t.dims));
    return k.import_array(*made[n]);
  };
  // What a combinator makes is made in its place; others may be what they update.
  std::vector<std::optional<KernelArray>> places(s.pat.size());
  for (size_t n = 0; n < s.pat.size(); n++) {
    if (!ir_.type_of(s.pat[n]).is_scalar() && is_made_by_soac(e.body, n)) places[n] = make(n);
  }
  const BlockReg scalars = allocate_bytes(size(static_cast<int64_t>(8 * s.pat.size())));
  k.begin_function("void elem(int64_t i)");
  const auto values = k.body(e.body, places);
  if (failed()) return;
  std::vector<HostValue> results;
  for (size_t n = 0; n < s.pat.size(); n++) {
    const Operand offset = konst(static_cast<int64_t>(8 * n));
    if (const auto* x = std::get_if<Expr>(&values[n])) {
      k.writes_block(scalars);
      k.line(glsl::store(x->type, fmt::format("{} + {}ul", k.block(scalars), 8 * n), x->text));
      results.emplace_back(HostScalar{x->type, DeviceScalar{scalars, offset, false}});
      continue;
    }
    const auto& a = std::get<KernelArray>(values[n]);
    if (const auto host = k.as_import(a)) {
      results.emplace_back(*host);
      continue;
    }
    const KernelArray to = made[n] ? *places[n] : make(n);
    k.copy(a, to);
    results.emplace_back(*made[n]);
  }
  k.end_function();
  if (failed()) return;
  if (k.has_heap() && in_place) {
    refuse(s.prov, "arrays of varying size beside in-place updates");
    return;
  }
  k.launch_single();
  for (size_t n = 0; n < s.pat.size(); n++) set(s.pat[n], std::move(results[n]));
}

}  // namespace kenaz::gpu
