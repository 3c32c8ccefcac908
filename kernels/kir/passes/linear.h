// Indices and addresses as linear forms: 3 * v1 + v2 + 5.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// The sum of values, each times its factor, and a constant.
struct Linear {
  /// By the values' numbers; no factor is 0.
  std::vector<std::pair<uint32_t, int64_t>> terms;
  int64_t constant = 0;
};

/// a + factor * b
Linear sum(Linear a, const Linear& b, int64_t factor);

/// The forms of a kernel's values, as they are when it is made.
class LinearForms {
 public:
  explicit LinearForms(const Kernel& kernel);

  /// Of an integer. One that has many terms, or constants that are near overflow, which are none
  /// that a compiler has made of neighbours, is a value times 1.
  const Linear& of(const Value& v);
  /// A power of two up to kMostDivisor that divides the terms.
  int divisor(const Linear& form) const;

  static constexpr int kMostDivisor = 16;

 private:
  int divisor(const Value& v, int depth) const;
  Linear made(const Value& v);
  const IPrim* prim(uint32_t v) const;

  std::unordered_map<uint32_t, IPrim> prims_;                    // copies: passes move instructions
  std::unordered_map<uint32_t, std::pair<Value, Value>> loops_;  // from, step
  std::unordered_map<uint32_t, Linear> forms_;
  Linear constant_;
};

}  // namespace kenaz::kir
