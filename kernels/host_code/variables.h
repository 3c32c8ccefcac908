// What the variables of IR are in host code.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/host_code/kernels.h"

namespace kenaz::host_code {

/// Scalars live in host registers, or in device memory where a kernel left them until the host
/// needs them.
class HostVariables : public HostKernels {
 public:
  using HostKernels::HostKernels;

  const HostValue& value(ir::VarId v) override;
  bool is_bound(ir::VarId v) const override { return env_.count(v) != 0; }
  Operand scalar(const ir::Atom& a) override;
  HostArray array(ir::VarId v);
  std::vector<Operand> dims_of(const std::vector<ir::Atom>& dims);
  void bind(ir::VarId v, HostValue value) { set(v, std::move(value)); }
  std::string name_of(BlockReg b) const override {
    const auto it = block_names_.find(b);
    return it == block_names_.end() ? "" : it->second;
  }
  /// Emits to `code` what `f` emits.
  void emit_into(program::Code& code, const std::function<void()>& f) {
    Scope scope(*this, code);
    f();
  }

 protected:
  /// Emits into `code` while it lives; at its end undoes what was noted about variables.
  struct Scope {
    Scope(HostVariables& g, program::Code& code);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    HostVariables& gen;
    program::Code* outer_code;
    std::vector<std::pair<ir::VarId, std::optional<HostValue>>>* outer_undo;
    std::vector<std::pair<ir::VarId, std::optional<HostValue>>> changes;
    size_t computed_before;
  };

  void begin_variables();
  void set(ir::VarId v, HostValue value);
  HostScalar host_scalar(const ir::Atom& a);
  Operand read(const HostScalar& s);
  void name_block(BlockReg b, std::string name) { block_names_[b] = std::move(name); }
  /// The variables, and what they are, that hold scalars of an array's memory: no others from now
  /// on, so the caller moves these elsewhere.
  std::vector<std::pair<ir::VarId, HostScalar>> take_borrowed();

 private:
  void note_borrowed(ir::VarId v, const HostValue& value);

  std::unordered_map<ir::VarId, HostValue> env_;
  std::vector<std::pair<ir::VarId, std::optional<HostValue>>>* undo_ = nullptr;
  std::set<ir::VarId> borrowed_;
  /// Of an entry point's parameters. Only where kernels are interpreted: elsewhere nobody would see
  /// them, and kernels that differ in nothing else are to be one.
  std::map<BlockReg, std::string> block_names_;
};

}  // namespace kenaz::host_code
