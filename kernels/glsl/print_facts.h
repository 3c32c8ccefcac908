// What has to be known of a kernel before its text is printed.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "kernels/glsl/untold.h"
#include "kernels/kir/kir.h"
#include "kernels/kir/looks.h"

namespace kenaz::glsl {

class Facts {
 public:
  /// `cuts`: loops may be ended early by the driver, and then stop the thread.
  Facts(const kir::Kernel& kernel, bool cuts);

  /// How often the value is used by what is printed. Pure instructions whose value is not used
  /// are not printed.
  const std::vector<int>& uses() const { return uses_; }
  int uses(kir::ValId v) const { return uses_[v.index]; }

  /// Whether no compiler can tell the integer (see Untold).
  bool is_untold(const kir::Value& v) const { return untold_.is_untold(v); }

  /// Whether it is a number that bools alone decide.
  bool is_of_bools(kir::ValId v) const { return of_bools_[v.index]; }

  /// Whether no bit of the integer but the lowest can be set, as far as a compiler sees by bits.
  bool is_lowest_bit(const kir::Value& v) const { return bits_of(v) == 1; }

  /// Whether a thread that goes may have stopped behind it.
  bool may_stop(const kir::Inst& inst) const;
  bool may_stop(const kir::Block& block) const;
  bool may_stop(kir::FunctionId f) const { return function_stops_[f.index]; }
  bool looks(const kir::Inst& loop) const { return looks_.looks(loop); }

  bool has_looking_loops() const { return looks_.any(); }
  bool has_loops() const { return has_loops_; }
  /// Barriers or subgroup operations: all threads of a workgroup go on, or none. Subgroup
  /// operations alone are not worth a barrier where that costs what was read ahead: who goes on
  /// when the call has failed computes with values that nobody will see.
  bool works_together() const { return works_together_; }
  bool knows_subgroups() const { return knows_subgroups_; }
  bool stores_to_device() const { return stores_to_device_; }

 private:
  void look_at(const kir::Block& block);
  void look_at(const kir::Inst& inst);
  void note(const kir::Inst& inst);
  bool by_bools(const kir::IPrim& i) const;
  /// Those that may be set, of a value and of the result of an operation.
  uint64_t bits_of(const kir::Value& v) const;
  uint64_t bits_of(const kir::IPrim& i) const;
  uint64_t bits_of_difference(const kir::IPrim& i) const;

  const kir::Kernel& kernel_;
  bool cuts_;
  std::vector<int> uses_;
  kir::Looks looks_;
  Untold untold_;
  std::vector<bool> of_bools_;                 // by ValId
  std::vector<uint64_t> bits_;                 // by ValId
  std::vector<const kir::IPrim*> operations_;  // by ValId, may be null
  std::vector<bool> function_stops_;
  bool has_loops_ = false, works_together_ = false, knows_subgroups_ = false;
  bool stores_to_device_ = false;
};

/// The variables that the instruction assigns, those in its blocks included.
std::set<uint32_t> assigned_by(const kir::Inst& inst);

/// Whether the instruction only computes its value: it need not be printed if that is not used.
bool is_pure(const kir::Inst& inst);

}  // namespace kenaz::glsl
