// Loops that count.
#pragma once

#include <optional>
#include <vector>

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Of a kernel that stays as it is.
class Counters {
 public:
  explicit Counters(const Kernel& kernel);

  /// A loop that makes to - from turns at most.
  struct Span {
    Value from, to;
  };
  /// Of a loop that goes on at most while a variable is less than a number (or more), and whose
  /// body adds 1 to it (or -1) once in each turn. What it is compared with may still differ from
  /// turn to turn.
  std::optional<Span> of(const IWhile& loop) const;

 private:
  struct Variable {
    std::optional<Value> first;  // that it is declared with
    int assignments = 0;
  };
  std::vector<Variable> variables_;  // by VarId
};

}  // namespace kenaz::kir
