#include "kernels/host_code/computed.h"

#include <gtest/gtest.h>

namespace kenaz::host_code {
namespace {

using program::Operand;
using program::ScalarReg;

constexpr PrimType kI64 = PrimType::kI64;

std::optional<Computed::Key> sum(const Computed& computed, const Operand& a, const Operand& b) {
  return computed.key(ScalarOp::kAdd, kI64, kI64, std::vector<Operand>{a, b});
}

TEST(Computed, FindsWhatIsTheSame) {
  Computed computed;
  const Operand a = ScalarReg{0}, b = ScalarReg{1}, one = PrimValue::i64(1);
  computed.note(*sum(computed, a, one), ScalarReg{2});
  EXPECT_EQ(computed.find(*sum(computed, a, one)), ScalarReg{2});
  EXPECT_FALSE(computed.find(*sum(computed, b, one)));
  EXPECT_FALSE(computed.find(*sum(computed, a, PrimValue::i64(0))));
  EXPECT_FALSE(computed.find(*sum(computed, a, PrimValue::i32(1))));
  // A register and a constant with its number differ.
  EXPECT_FALSE(computed.find(*sum(computed, PrimValue::i64(0), one)));
  EXPECT_FALSE(
      computed.find(*computed.key(ScalarOp::kSub, kI64, kI64, std::vector<Operand>{a, one})));
}

TEST(Computed, ForgetsWhatBranchesComputed) {
  Computed computed;
  const Operand a = ScalarReg{0}, one = PrimValue::i64(1), two = PrimValue::i64(2);
  computed.note(*sum(computed, a, one), ScalarReg{2});
  const size_t branch = computed.begin_scope();
  computed.note(*sum(computed, a, two), ScalarReg{3});
  EXPECT_TRUE(computed.find(*sum(computed, a, one)));
  computed.end_scope(branch);
  EXPECT_TRUE(computed.find(*sum(computed, a, one)));
  EXPECT_FALSE(computed.find(*sum(computed, a, two)));
}

TEST(Computed, WhatVariablesMakeIsComputedAgain) {
  Computed computed;
  computed.note_variable(ScalarReg{1});
  EXPECT_FALSE(sum(computed, ScalarReg{1}, PrimValue::i64(1)));
  EXPECT_FALSE(sum(computed, ScalarReg{0}, ScalarReg{1}));
  EXPECT_TRUE(sum(computed, ScalarReg{0}, ScalarReg{0}));
}

}  // namespace
}  // namespace kenaz::host_code
