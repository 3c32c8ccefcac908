#include "server/host/residual.h"

#include <optional>
#include <utility>

#include "protocol/base/overloaded.h"

namespace kenaz::host {

using namespace program;

namespace {

/// The operation with constants for scalars. Nothing if all that it does is to compute them, or to
/// decide by them.
std::optional<HostOp> with_constants(const HostOp& op, const Registers& registers) {
  const auto fix = [&](Operand& o) { o = registers.value(o); };
  const Overloaded visitor{
      [&](OpAlloc o) -> std::optional<HostOp> {
        fix(o.bytes);
        return HostOp{o};
      },
      [&](OpPart o) -> std::optional<HostOp> {
        fix(o.offset);
        fix(o.bytes);
        return HostOp{o};
      },
      [&](OpLaunch o) -> std::optional<HostOp> {
        if (registers.index(o.groups) == 0) return std::nullopt;
        fix(o.groups);
        for (Arg& arg : o.args) {
          if (arg.kind == Arg::kScalar) fix(arg.scalar);
        }
        return HostOp{std::move(o)};
      },
      [&](OpWrite o) -> std::optional<HostOp> {
        fix(o.offset);
        for (Operand& value : o.values) fix(value);
        return HostOp{std::move(o)};
      },
      [&](OpCompare o) -> std::optional<HostOp> {
        fix(o.size);
        return HostOp{o};
      },
      [](const OpMoveBlock& o) -> std::optional<HostOp> { return HostOp{o}; },
      [](const OpRelease& o) -> std::optional<HostOp> { return HostOp{o}; },
      [](const auto&) -> std::optional<HostOp> { return std::nullopt; },
  };
  return std::visit(visitor, op.op);
}

/// Nothing behind it gives the device anything to do.
std::optional<size_t> last_launch(const Code& code) {
  for (size_t n = code.size(); n-- > 0;) {
    if (std::holds_alternative<OpLaunch>(code[n].op)) return n;
    if (!std::holds_alternative<OpMoveBlock>(code[n].op) &&
        !std::holds_alternative<OpRelease>(code[n].op)) {
      break;
    }
  }
  return std::nullopt;
}

}  // namespace

int64_t Registers::index(const Operand& o) const {
  const PrimValue v = value(o);
  return is_integer(v.type) ? v.as_i64() : static_cast<int64_t>(v.bits);
}

bool Recording::note(const HostOp& op, const Registers& registers) {
  if (std::holds_alternative<OpRead>(op.op) || std::holds_alternative<OpCall>(op.op) ||
      made_->code.size() == kMostOps) {
    return false;
  }
  if (auto left = with_constants(op, registers)) made_->code.push_back(std::move(*left));
  return true;
}

void Recording::end(std::vector<PrimValue> scalars, std::vector<Piece> rest) {
  if (rest.empty()) made_->last_launch = last_launch(made_->code);
  made_->scalars = std::move(scalars);
  made_->rest = std::move(rest);
  ended_ = std::move(made_);
}

Residuals::Found Residuals::look(const Code& code, const std::vector<PrimValue>& scalars,
                                 const std::shared_ptr<const Tuning>& tuning) {
  OfEntry& entry = entries_[&code];
  for (const Known& known : entry.kept) {
    if (known.is(scalars, tuning)) return {known.residual, true};
  }
  if (entry.last.is(scalars, tuning)) return {nullptr, true};
  entry.last = {scalars, tuning, nullptr};
  return {};
}

void Residuals::keep(const Code& code, std::vector<PrimValue> scalars,
                     std::shared_ptr<const Tuning> tuning, ResidualPtr residual) {
  OfEntry& entry = entries_[&code];
  Known known{std::move(scalars), std::move(tuning), std::move(residual)};
  if (entry.kept.size() < kKept) {
    entry.kept.push_back(std::move(known));
    return;
  }
  entry.kept[entry.next] = std::move(known);
  entry.next = (entry.next + 1) % kKept;
}

}  // namespace kenaz::host
