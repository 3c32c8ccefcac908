#include "kernels/host_code/variables.h"

#include "protocol/base/check.h"

namespace kenaz::host_code {

void HostVariables::begin_variables() {
  block_names_.clear();
  borrowed_.clear();
}

void HostVariables::set(ir::VarId v, HostValue value) {
  if (undo_ != nullptr) {
    auto it = env_.find(v);
    undo_->emplace_back(v, it == env_.end() ? std::nullopt : std::optional<HostValue>(it->second));
  }
  note_borrowed(v, value);
  env_.insert_or_assign(v, std::move(value));
}

// Also at the end of a scope, which may have taken the scalar out of its array for itself alone.
void HostVariables::note_borrowed(ir::VarId v, const HostValue& value) {
  const auto* s = std::get_if<HostScalar>(&value);
  if (s != nullptr && s->is_borrowed()) borrowed_.insert(v);
}

const HostValue& HostVariables::value(ir::VarId v) {
  auto it = env_.find(v);
  CHECK(it != env_.end());
  return it->second;
}

HostArray HostVariables::array(ir::VarId v) { return std::get<HostArray>(value(v)); }

HostScalar HostVariables::host_scalar(const ir::Atom& a) {
  if (a.is_const()) return {a.constant().type, Operand(a.constant())};
  return std::get<HostScalar>(value(a.var()));
}

Operand HostVariables::read(const HostScalar& s) {
  if (const auto* known = std::get_if<Operand>(&s.at)) return *known;
  const auto& d = std::get<DeviceScalar>(s.at);
  const ScalarReg dst = new_scalar(s.type);
  if (d.told.valid()) {
    emit({program::OpRead{dst, s.type, d.told, PrimValue::i64(d.told_offset)}});
  } else {
    emit({program::OpRead{dst, s.type, d.block, d.offset}});
  }
  return dst;
}

Operand HostVariables::scalar(const ir::Atom& a) {
  const HostScalar s = host_scalar(a);
  if (const auto* known = std::get_if<Operand>(&s.at)) return *known;
  const Operand r = read(s);
  set(a.var(), HostScalar{s.type, r});
  return r;
}

std::vector<Operand> HostVariables::dims_of(const std::vector<ir::Atom>& dims) {
  std::vector<Operand> out;
  for (const auto& d : dims) out.push_back(scalar(d));
  return out;
}

std::vector<std::pair<ir::VarId, HostScalar>> HostVariables::take_borrowed() {
  std::vector<std::pair<ir::VarId, HostScalar>> out;
  for (const ir::VarId v : std::exchange(borrowed_, {})) {
    const auto it = env_.find(v);
    if (it == env_.end()) continue;
    const auto* s = std::get_if<HostScalar>(&it->second);
    if (s != nullptr && s->is_borrowed()) out.emplace_back(v, *s);
  }
  return out;
}

// ---- scopes

HostVariables::Scope::Scope(HostVariables& g, program::Code& code)
    : gen(g),
      outer_code(g.emit_to(&code)),
      outer_undo(std::exchange(g.undo_, &changes)),
      computed_before(g.computed().begin_scope()) {}

HostVariables::Scope::~Scope() {
  gen.undo_ = outer_undo;
  gen.emit_to(outer_code);
  gen.computed().end_scope(computed_before);
  for (auto it = changes.rbegin(); it != changes.rend(); ++it) {
    if (it->second) {
      gen.note_borrowed(it->first, *it->second);
      gen.env_.insert_or_assign(it->first, std::move(*it->second));
    } else {
      gen.env_.erase(it->first);
    }
  }
}

}  // namespace kenaz::host_code
