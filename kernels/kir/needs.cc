#include "kernels/kir/needs.h"

#include <fmt/format.h>

#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

constexpr int64_t kSharedAlignment = 16;  // the largest of any array's
// Workgroups whose threads meet begin together, or not at all: a shared word tells which.
constexpr int64_t kBeginningBytes = 16;

bool is_whole(PrimType t, int bytes) { return is_integer(t) && prim_size(t) == bytes; }

void add_prim(const IPrim& i, Needs& needs) {
  if (i.op == ScalarOp::kSelect || i.op == ScalarOp::kBitcast) return;
  const PrimType to = scalar_op_result(i.op, i.type, i.to);
  needs.int8 = needs.int8 || is_whole(i.type, 1) || is_whole(to, 1);
  needs.int16 = needs.int16 || is_whole(i.type, 2) || is_whole(to, 2);
}

void add_subgroup(const ISubgroup& i, Needs& needs) {
  needs.full_subgroups = true;
  if (combines(i.op)) {
    needs.subgroup_arithmetic = true;
  } else if (takes_lane(i.op)) {
    needs.shuffle = true;
  } else {
    needs.vote = true;
  }
}

void add_atomic(const IAtomic& i, Needs& needs) {
  const bool shared = std::holds_alternative<SharedId>(i.at.base);
  if (i.type == PrimType::kF32) {
    (shared ? needs.shared_f32_atomic_add : needs.f32_atomic_add) = true;
  } else if (i.type == PrimType::kF64) {
    (shared ? needs.shared_f64_atomic_add : needs.f64_atomic_add) = true;
  } else if (prim_size(i.type) == 8) {
    (shared ? needs.shared_i64_atomics : needs.i64_atomics) = true;
  }
}

void add_type(PrimType t, Needs& needs) {
  needs.f16 = needs.f16 || t == PrimType::kF16;
  needs.f64 = needs.f64 || t == PrimType::kF64;
}

void add_inst(const Inst& inst, Needs& needs) {
  if (const auto* prim = std::get_if<IPrim>(&inst.op)) add_prim(*prim, needs);
  if (const auto* subgroup = std::get_if<ISubgroup>(&inst.op)) add_subgroup(*subgroup, needs);
  if (const auto* atomic = std::get_if<IAtomic>(&inst.op)) add_atomic(*atomic, needs);
  if (const auto* builtin = std::get_if<IBuiltin>(&inst.op)) {
    needs.full_subgroups = needs.full_subgroups || builtin->kind >= BuiltinKind::kLane;
  }
  visit_operands(inst.op, [&](const Value& v) { add_type(v.type.prim, needs); });
}

}  // namespace

int64_t value_of(const Kernel& kernel, const StaticSize& size, std::span<const PrimValue> specs) {
  if (size.spec < 0) return size.constant;
  const auto spec = static_cast<size_t>(size.spec);
  const PrimValue v = specs.empty() ? kernel.specs[spec].fallback : specs[spec];
  return size.constant * v.as_i64();
}

Needs needs_of(const Kernel& kernel, std::span<const PrimValue> specs) {
  Needs needs;
  bool meets = false;
  for_each_inst_of(kernel, [&](const Inst& i) {
    add_inst(i, needs);
    meets |= std::holds_alternative<IBarrier>(i.op) || std::holds_alternative<ISubgroup>(i.op);
    visit_results(i.op, [&](ValId v) { add_type(kernel.vals[v.index].prim, needs); });
    visit_var(i.op, [&](VarId v) { add_type(kernel.vars[v.index].prim, needs); });
  });
  for (const Arg& a : kernel.args) add_type(kernel.vals[a.val.index].prim, needs);
  for (const LocalArray& a : kernel.locals) add_type(a.type, needs);
  for (const SharedArray& a : kernel.shared) {
    add_type(a.type, needs);
    const int64_t bytes = value_of(kernel, a.length, specs) * prim_size(a.type) * a.lanes;
    needs.shared_bytes += (bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
  }
  for (const Function& f : kernel.functions) {
    for (const ValId p : f.params) add_type(kernel.vals[p.index].prim, needs);
    for (const Value& r : f.results) add_type(r.type.prim, needs);
  }
  if (meets) needs.shared_bytes += kBeginningBytes;
  needs.forward_progress = kernel.needs_progress;
  needs.group_size = value_of(kernel, kernel.group_size, specs);
  return needs;
}

std::optional<std::string> unmet(const Needs& n, const program::Target& t) {
  if (n.full_subgroups && t.subgroup_size <= 1) return "subgroups";
  if (n.subgroup_arithmetic && !t.subgroup_arithmetic) return "subgroup arithmetic";
  if ((n.shuffle || n.vote) && !t.subgroup_arithmetic) return "subgroup shuffles and votes";
  if (n.f16 && !t.f16) return "16-bit floats";
  if (n.f64 && !t.f64) return "64-bit floats";
  if (n.i64_atomics && !t.i64_atomics) return "64-bit atomics";
  if (n.shared_i64_atomics && !t.shared_i64_atomics) return "64-bit atomics in shared memory";
  if (n.f32_atomic_add && !t.f32_atomic_add) return "atomic sums of f32";
  if (n.f64_atomic_add && !t.f64_atomic_add) return "atomic sums of f64";
  if ((n.shared_f32_atomic_add && !t.shared_f32_atomic_add) ||
      (n.shared_f64_atomic_add && !t.shared_f64_atomic_add)) {
    return "atomic sums of floats in shared memory";
  }
  if (n.forward_progress && !t.forward_progress) return "forward progress of workgroups";
  if (n.group_size > t.max_group_size) {
    return fmt::format("workgroups of {} threads (it has {})", n.group_size, t.max_group_size);
  }
  if (n.full_subgroups && n.group_size % t.subgroup_size != 0) {
    return fmt::format("full subgroups in workgroups of {} threads (subgroups have {})",
                       n.group_size, t.subgroup_size);
  }
  if (n.shared_bytes > t.shared_bytes) {
    return fmt::format("{} bytes of shared memory (it has {})", n.shared_bytes, t.shared_bytes);
  }
  return std::nullopt;
}

}  // namespace kenaz::kir
