// For tests: kernels that are right, and what goes wrong when one thing in them is changed.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kernels/kir/eval/text_testing.h"

namespace kenaz::kir {

inline constexpr uint64_t kOrders = 24;  // of threads, that are tried

/// `from` in the kernel becomes `to`, and there is a fault at the two lines.
struct Break {
  std::string from, to;
  FaultKind kind;
  std::set<uint32_t> lines;  // one number: twice the same line
  /// Where there are several faults: others of them. Which is found first is up to the order.
  std::vector<std::set<uint32_t>> or_lines = {};
};

inline std::string broken(std::string text, const Break& b) {
  const size_t at = text.find(b.from);
  EXPECT_NE(at, std::string::npos) << b.from;
  EXPECT_EQ(text.find(b.from, at + 1), std::string::npos) << b.from;
  return text.replace(at, b.from.size(), b.to);
}

inline std::set<uint32_t> lines_of(const Fault& f) { return {f.prov.index, f.other.index}; }

/// Nothing is wrong with the kernel in any order of threads; each break is found in all of them.
inline void expect_breaks(const std::string& right, int64_t groups,
                          const std::vector<Break>& breaks) {
  for (uint64_t seed = 0; seed < kOrders; ++seed) {
    const auto fault = fault_of({right}, groups, true, seed);
    EXPECT_FALSE(fault) << seed << ": " << fault->text;
    for (const Break& b : breaks) {
      const auto found = fault_of({broken(right, b)}, groups, true, seed);
      ASSERT_TRUE(found) << seed << ": " << b.from << " -> " << b.to;
      EXPECT_EQ(describe(found->kind), describe(b.kind)) << seed << ": " << found->text;
      auto lines = b.or_lines;
      lines.push_back(b.lines);
      EXPECT_THAT(lines, testing::Contains(lines_of(*found))) << seed << ": " << found->text;
    }
  }
}

}  // namespace kenaz::kir
