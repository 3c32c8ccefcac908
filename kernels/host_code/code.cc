#include "kernels/host_code/code.h"

#include <fmt/format.h>

#include "kernels/diagnostics/diagnostic.h"
#include "kernels/scalar/size.h"

namespace kenaz::host_code {

void HostCode::refuse(ir::ProvId place, const std::string& what) {
  if (failed()) return;
  Diagnostic d;
  if (place.valid()) d.range = ir_.provenances[place.index].range;
  d.message = fmt::format("Not supported on the device: {}.", what);
  error_ = d.str();
}

// llvmpipe has local arrays on the stack, for all threads of a subgroup, or across barriers for all
// of a workgroup. Elements there are stored and loaded in a third of the time that others take.
int64_t HostCode::local_bytes() const {
  constexpr int64_t kMost = 8192, kMostOnCpus = 4096;
  return hides_latency_by_threads(*this) ? kMost : kMostOnCpus;
}
int64_t HostCode::largest_table() const {
  constexpr int64_t kMostOnCpus = 1024;
  return hides_latency_by_threads(*this) ? Host::largest_table() : kMostOnCpus;
}
int64_t HostCode::most_apart() const {
  return hides_latency_by_threads(*this) ? Host::most_apart() : largest_table();
}

// ---- registers

ScalarReg HostCode::new_scalar(PrimType t) {
  reg_types_.push_back(t);
  return ScalarReg{static_cast<uint32_t>(reg_types_.size() - 1)};
}
BlockReg HostCode::new_block() { return BlockReg{block_regs_++}; }

void HostCode::begin_registers() {
  reg_types_.resize(static_cast<size_t>(out_.constant_scalar_regs));
  block_regs_ = static_cast<uint32_t>(out_.constant_block_regs);
  tuned_.clear();
  computed_.clear();
}

Operand HostCode::tune(uint32_t param) {
  const ScalarReg dst = new_scalar(PrimType::kI64);
  tuned_[dst] = param;
  emit({program::OpTune{dst, param}});
  return dst;
}

std::set<uint32_t> HostCode::tuned() const {
  std::set<uint32_t> out;
  for (const auto& [reg, param] : tuned_) out.insert(param);
  return out;
}

// ---- arithmetic

Operand HostCode::emit_op(ScalarOp op, PrimType type, PrimType to, std::vector<Operand> args) {
  std::vector<PrimValue> constants;
  for (const auto& a : args) {
    if (const auto* c = std::get_if<PrimValue>(&a)) constants.push_back(*c);
  }
  if (constants.size() == args.size()) return eval_scalar(op, type, to, constants);
  const auto key = computed_.key(op, type, to, args);
  if (const auto known = key ? computed_.find(*key) : std::nullopt) return *known;
  const ScalarReg dst = new_scalar(scalar_op_result(op, type, to));
  if (const auto* reg = std::get_if<ScalarReg>(&args[0]);
      reg != nullptr && op == ScalarOp::kLe && tuned_.count(*reg) != 0) {
    emit({program::OpCompare{dst, tuned_[*reg], std::move(args[1])}});
    return dst;
  }
  emit({program::OpScalar{dst, op, type, to, std::move(args)}});
  if (key) computed_.note(*key, dst);
  return dst;
}

std::optional<int64_t> HostCode::as_const(const Operand& a) const {
  const auto* c = std::get_if<PrimValue>(&a);
  if (c == nullptr || c->type != PrimType::kI64) return std::nullopt;
  return c->as_i64();
}

Operand HostCode::add(const Operand& a, const Operand& b) {
  if (as_const(a) == 0) return b;
  if (as_const(b) == 0) return a;
  return emit_op(ScalarOp::kAdd, PrimType::kI64, PrimType::kI64, {a, b});
}
Operand HostCode::mul(const Operand& a, const Operand& b) {
  if (as_const(a) == 0 || as_const(b) == 0) return konst(0);
  if (as_const(a) == 1) return b;
  if (as_const(b) == 1) return a;
  return emit_op(ScalarOp::kMul, PrimType::kI64, PrimType::kI64, {a, b});
}
Operand HostCode::div_up(const Operand& a, int64_t by) {
  if (by == 1) return a;
  return emit_op(ScalarOp::kQuot, PrimType::kI64, PrimType::kI64,
                 {plus(size(a), size(by - 1)).operand(), konst(by)});
}
Operand HostCode::min(const Operand& a, const Operand& b) {
  return emit_op(ScalarOp::kMin, PrimType::kI64, PrimType::kI64, {a, b});
}
Operand HostCode::max(const Operand& a, const Operand& b) {
  return emit_op(ScalarOp::kMax, PrimType::kI64, PrimType::kI64, {a, b});
}

HostSize HostCode::size(const Operand& n) {
  const auto known = as_const(n);
  return HostSize(known ? konst(Size(*known).value()) : n);
}
HostSize HostCode::plus(const HostSize& a, const HostSize& b) {
  return HostSize(
      emit_op(ScalarOp::kSizeAdd, PrimType::kI64, PrimType::kI64, {a.operand(), b.operand()}));
}
HostSize HostCode::times(const HostSize& a, const HostSize& b) {
  if (as_const(a.operand()) == 0) return a;
  if (as_const(b.operand()) == 0) return b;
  return HostSize(
      emit_op(ScalarOp::kSizeMul, PrimType::kI64, PrimType::kI64, {a.operand(), b.operand()}));
}
HostSize HostCode::count(const std::vector<Operand>& dims) {
  HostSize n = size(1);
  for (const auto& d : dims) n = times(n, size(d));
  return n;
}
HostSize HostCode::round_up(const HostSize& n, int64_t to) {
  return HostSize(emit_op(ScalarOp::kAnd, PrimType::kI64, PrimType::kI64,
                          {plus(n, size(to - 1)).operand(), konst(-to)}));
}

bool hides_latency_by_threads(const program::Target& target) { return target.threads >= 1 << 14; }
bool hides_latency_by_threads(const HostCode& host) {
  return hides_latency_by_threads(host.target());
}

}  // namespace kenaz::host_code
