// What host code has computed so far where code is emitted now. The conditions and sizes of plans
// have much in common, and a call of a small kernel takes no longer than a hundred operations on
// scalars: each is emitted once.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "kernels/program/program.h"

namespace kenaz::host_code {

class Computed {
 public:
  /// An operation and its operands.
  using Key = std::array<uint64_t, 7>;

  /// Nothing if an operand is a variable.
  std::optional<Key> key(ScalarOp op, PrimType type, PrimType to,
                         std::span<const program::Operand> args) const;
  std::optional<program::ScalarReg> find(const Key& key) const;
  void note(const Key& key, program::ScalarReg result);
  /// `reg` is set more than once: what is computed from it does not stay as it is.
  void note_variable(program::ScalarReg reg) { variables_.insert(reg); }

  /// Code that begins now may not be run before code behind it.
  size_t begin_scope() const { return noted_.size(); }
  void end_scope(size_t begin);
  void clear() { *this = {}; }

 private:
  std::map<Key, program::ScalarReg> results_;
  std::vector<Key> noted_;  // in order
  std::set<program::ScalarReg> variables_;
};

}  // namespace kenaz::host_code
