#include "kernels/host_code/host_gen.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/diagnostics/diagnostic.h"
#include "kernels/host_code/launch.h"
#include "kernels/scalar/size.h"
#include "protocol/base/check.h"

namespace kenaz::host_code {

HostGen::HostGen(const ir::Lowered& lowered, const program::Target& target, program::Program& out,
                 explain::Recorder* recorder)
    : lowered_(lowered), ir_(lowered.ir), target_(target), out_(out), recorder_(recorder) {}

void HostGen::refuse(ir::ProvId place, const std::string& what) {
  if (failed()) return;
  Diagnostic d;
  if (place.valid()) d.range = ir_.provenances[place.index].range;
  d.message = fmt::format("Not supported on the device: {}.", what);
  error_ = d.str();
}

Status HostGen::run() {
  out_.types = lowered_.types;
  for (const ir::Tune& t : ir_.tunes) {
    auto cls = program::TuningClass::kNumber;
    if (t.cls == ir::TuneClass::kThreshold) cls = program::TuningClass::kThreshold;
    if (t.cls == ir::TuneClass::kUser) cls = program::TuningClass::kUser;
    out_.tuning.push_back({t.name, cls, t.fallback.value_or(target_.threads)});
  }
  find_functions();
  gen_constants();
  for (const auto& [id, index] : functions_) {
    if (!failed()) gen_function(id);
  }
  for (const auto& e : lowered_.entries) {
    if (failed()) break;
    gen_entry(e);
  }
  if (failed()) return fail(ErrorKind::kCompile, error_);
  return {};
}

// ---- registers, kernels

int64_t HostGen::local_bytes() const {
  constexpr int64_t kMost = 8192;
  return hides_latency_by_threads(*this) ? kMost : 0;
}

ScalarReg HostGen::new_scalar(PrimType t) {
  reg_types_.push_back(t);
  return ScalarReg{static_cast<uint32_t>(reg_types_.size() - 1)};
}
BlockReg HostGen::new_block() { return BlockReg{block_regs_++}; }

KernelId HostGen::add_kernel(program::Kernel k) {
  const KernelId id{static_cast<uint32_t>(out_.kernels.size())};
  // No two texts of kernel IR are equal: the kernel's name stands in them.
  const auto [it, fresh] = kernels_by_text_.emplace(k.glsl + k.kir, id);
  if (!fresh) {
    k.code_of = it->second;
    k.glsl.clear();
  }
  out_.kernels.push_back(std::move(k));
  return id;
}

int HostGen::add_failure(program::KernelFailure f) {
  out_.kernel_failures.push_back(std::move(f));
  return static_cast<int>(out_.kernel_failures.size()) - 1;
}

int HostGen::cut_failure(ir::ProvId place) {
  const auto [it, fresh] = cut_failures_.emplace(place.valid() ? place.index : UINT32_MAX, 0);
  if (fresh) {
    it->second = add_failure(
        {{"The device's driver ended a sequential loop early: llvmpipe allows 65535 iterations in "
          "one thread, those of all its loops together. Run the program on a GPU, with "
          "--reference, or on less data."},
         {},
         place.valid() ? ir_.backtrace(place) : ""});
  }
  return it->second;
}

std::string HostGen::kernel_name(const std::string& what) {
  return fmt::format("{}_{}_{}", function_name_, what, kernel_number_++);
}

// ---- arithmetic

Operand HostGen::emit_op(ScalarOp op, PrimType type, PrimType to, std::vector<Operand> args) {
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

std::optional<int64_t> HostGen::as_const(const Operand& a) const {
  const auto* c = std::get_if<PrimValue>(&a);
  if (c == nullptr || c->type != PrimType::kI64) return std::nullopt;
  return c->as_i64();
}

Operand HostGen::add(const Operand& a, const Operand& b) {
  if (as_const(a) == 0) return b;
  if (as_const(b) == 0) return a;
  return emit_op(ScalarOp::kAdd, PrimType::kI64, PrimType::kI64, {a, b});
}
Operand HostGen::mul(const Operand& a, const Operand& b) {
  if (as_const(a) == 0 || as_const(b) == 0) return konst(0);
  if (as_const(a) == 1) return b;
  if (as_const(b) == 1) return a;
  return emit_op(ScalarOp::kMul, PrimType::kI64, PrimType::kI64, {a, b});
}
Operand HostGen::div_up(const Operand& a, int64_t by) {
  if (by == 1) return a;
  return emit_op(ScalarOp::kQuot, PrimType::kI64, PrimType::kI64,
                 {plus(size(a), size(by - 1)).operand(), konst(by)});
}
Operand HostGen::min(const Operand& a, const Operand& b) {
  return emit_op(ScalarOp::kMin, PrimType::kI64, PrimType::kI64, {a, b});
}
Operand HostGen::max(const Operand& a, const Operand& b) {
  return emit_op(ScalarOp::kMax, PrimType::kI64, PrimType::kI64, {a, b});
}

HostSize HostGen::size(const Operand& n) {
  const auto known = as_const(n);
  return HostSize(known ? konst(Size(*known).value()) : n);
}
HostSize HostGen::plus(const HostSize& a, const HostSize& b) {
  return HostSize(
      emit_op(ScalarOp::kSizeAdd, PrimType::kI64, PrimType::kI64, {a.operand(), b.operand()}));
}
HostSize HostGen::times(const HostSize& a, const HostSize& b) {
  if (as_const(a.operand()) == 0) return a;
  if (as_const(b.operand()) == 0) return b;
  return HostSize(
      emit_op(ScalarOp::kSizeMul, PrimType::kI64, PrimType::kI64, {a.operand(), b.operand()}));
}
HostSize HostGen::count(const std::vector<Operand>& dims) {
  HostSize n = size(1);
  for (const auto& d : dims) n = times(n, size(d));
  return n;
}
HostSize HostGen::round_up(const HostSize& n, int64_t to) {
  return HostSize(emit_op(ScalarOp::kAnd, PrimType::kI64, PrimType::kI64,
                          {plus(n, size(to - 1)).operand(), konst(-to)}));
}

// ---- variables

void HostGen::set(ir::VarId v, HostValue value) {
  if (undo_ != nullptr) {
    auto it = env_.find(v);
    undo_->emplace_back(v, it == env_.end() ? std::nullopt : std::optional<HostValue>(it->second));
  }
  note_borrowed(v, value);
  env_.insert_or_assign(v, std::move(value));
}

// Also at the end of a scope, which may have taken the scalar out of its array for itself alone.
void HostGen::note_borrowed(ir::VarId v, const HostValue& value) {
  const auto* s = std::get_if<HostScalar>(&value);
  const auto* d = s == nullptr ? nullptr : std::get_if<DeviceScalar>(&s->at);
  if (d != nullptr && d->borrowed) borrowed_.insert(v);
}

const HostValue& HostGen::value(ir::VarId v) {
  auto it = env_.find(v);
  CHECK(it != env_.end());
  return it->second;
}

HostArray HostGen::array(ir::VarId v) { return std::get<HostArray>(value(v)); }

HostScalar HostGen::host_scalar(const ir::Atom& a) {
  if (a.is_const()) return {a.constant().type, Operand(a.constant())};
  return std::get<HostScalar>(value(a.var()));
}

Operand HostGen::read(const HostScalar& s) {
  if (const auto* known = std::get_if<Operand>(&s.at)) return *known;
  const auto& d = std::get<DeviceScalar>(s.at);
  const ScalarReg dst = new_scalar(s.type);
  emit({program::OpRead{dst, s.type, d.block, d.offset}});
  return dst;
}

Operand HostGen::scalar(const ir::Atom& a) {
  const HostScalar s = host_scalar(a);
  if (const auto* known = std::get_if<Operand>(&s.at)) return *known;
  const Operand r = read(s);
  set(a.var(), HostScalar{s.type, r});
  return r;
}

std::vector<Operand> HostGen::dims_of(const std::vector<ir::Atom>& dims) {
  std::vector<Operand> out;
  for (const auto& d : dims) out.push_back(scalar(d));
  return out;
}

// ---- scopes

HostGen::Scope::Scope(HostGen& g, program::Code& code)
    : gen(g), outer_code(g.code_), outer_undo(g.undo_), computed_before(g.computed_.begin_scope()) {
  gen.code_ = &code;
  gen.undo_ = &changes;
}

HostGen::Scope::~Scope() {
  gen.undo_ = outer_undo;
  gen.code_ = outer_code;
  gen.computed_.end_scope(computed_before);
  for (auto it = changes.rbegin(); it != changes.rend(); ++it) {
    if (it->second) {
      gen.note_borrowed(it->first, *it->second);
      gen.env_.insert_or_assign(it->first, std::move(*it->second));
    } else {
      gen.env_.erase(it->first);
    }
  }
}

void choose(HostGen& host, const Operand& cond, const std::function<void()>& then,
            const std::function<void()>& otherwise) {
  if (const auto* known = std::get_if<PrimValue>(&cond)) {
    known->as_bool() ? then() : otherwise();
    return;
  }
  program::OpIf branch;
  branch.cond = cond;
  host.emit_into(branch.then_code, then);
  host.emit_into(branch.else_code, otherwise);
  host.emit({std::move(branch)});
}

}  // namespace kenaz::host_code
