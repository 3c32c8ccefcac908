#include "kernels/glsl/scalar.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <glslang/SPIRV/spirv.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/glsl/compile.h"
#include "kernels/glsl/types.h"

namespace kenaz::glsl {
namespace {

/// A kernel that assigns `expression` to a variable of type `to`, with operands a, b and c of type
/// `type`, i (i32) and t (bool).
std::string kernel(const Library& library, const std::string& expression, PrimType type,
                   PrimType to) {
  const std::string in = glsl_type(type);
  return preamble() + library.text() +
         fmt::format(
             "layout(push_constant, scalar) uniform Slots {{ uint64_t slots[6]; }};\n"
             "void main() {{\n"
             "  {0} a = {1}, b = {2}, c = {3};\n"
             "  int i = {4};\n"
             "  bool t = {5};\n"
             "  {6} r = {7};\n"
             "  {8};\n"
             "}}\n",
             in, from_slot(type, "slots[0]"), from_slot(type, "slots[1]"),
             from_slot(type, "slots[2]"), from_slot(PrimType::kI32, "slots[3]"),
             from_slot(PrimType::kBool, "slots[4]"), glsl_type(to), expression,
             store(to, "slots[5]", "r"));
}

std::vector<std::string> operands(ScalarOp op) {
  if (op == ScalarOp::kSelect) return {"t", "a", "b"};
  if (op == ScalarOp::kLdexp) return {"a", "i"};
  std::vector<std::string> args{"a", "b", "c"};
  args.resize(static_cast<size_t>(scalar_op_arity(op)));
  return args;
}

Result<std::vector<uint32_t>> compile(ScalarOp op, PrimType type, PrimType to,
                                      LibraryOptions options = {}) {
  Library library(options);
  const std::string expression = scalar_op(library, op, type, to, operands(op));
  const PrimType result = scalar_op_result(op, type, to);
  return compile_glsl("test", kernel(library, expression, type, result));
}

/// The operations that `type` has, each with every type that it can lead to.
std::vector<std::pair<ScalarOp, PrimType>> operations(PrimType type) {
  std::vector<std::pair<ScalarOp, PrimType>> all;
  for (int o = 0; o <= static_cast<int>(ScalarOp::kSelect); o++) {
    const auto op = static_cast<ScalarOp>(o);
    if (!scalar_op_accepts(op, type)) continue;
    const bool to_any = op == ScalarOp::kConvert || op == ScalarOp::kBitcast;
    for (int t = 0; t < (to_any ? kPrimTypeCount : 1); t++) {
      const PrimType to = to_any ? static_cast<PrimType>(t) : type;
      if (op == ScalarOp::kBitcast && prim_bits(to) != prim_bits(type)) continue;
      all.emplace_back(op, to);
    }
  }
  return all;
}

class EveryType : public testing::TestWithParam<int> {};

// With all that it needs of the library, each operation compiles alone.
TEST_P(EveryType, OperationsCompile) {
  const auto type = static_cast<PrimType>(GetParam());
  for (const auto& [op, to] : operations(type)) {
    const auto made = compile(op, type, to);
    EXPECT_TRUE(made) << scalar_op_name(op) << " to " << prim_name(to) << "\n"
                      << made.error().text();
    const auto other = compile(op, type, to, {.quick_divisions = true, .fused_floats = true});
    EXPECT_TRUE(other) << scalar_op_name(op) << "\n" << other.error().text();
  }
}

/// Whether what it gives, or the outcome of the comparison, depends on more than the low bits.
bool needs_exact_operands(spv::Op op) {
  return (op >= spv::OpConvertFToU && op <= spv::OpConvertUToF) ||
         (op >= spv::OpSNegate && op <= spv::OpSMod) ||
         (op >= spv::OpIEqual && op <= spv::OpSLessThanEqual) ||
         (op >= spv::OpShiftRightLogical && op <= spv::OpShiftLeftLogical) || op == spv::OpNot;
}

/// Calls f(operation, words) for each instruction of a module.
template <class F>
void each_instruction(const std::vector<uint32_t>& module, F f) {
  for (size_t at = 5; at < module.size(); at += module[at] >> 16) {
    f(static_cast<spv::Op>(module[at] & 0xffff), &module[at]);
  }
}

/// The instructions that compute with integers of 8 or 16 bits.
size_t narrow_arithmetic(const std::vector<uint32_t>& module) {
  std::set<uint32_t> types, values;
  size_t found = 0;
  each_instruction(module, [&](spv::Op op, const uint32_t* words) {
    const size_t count = words[0] >> 16;
    if (op == spv::OpTypeInt) {
      if (words[2] < 32) types.insert(words[1]);
      return;
    }
    if (count > 2 && types.count(words[1])) values.insert(words[2]);
    if (!needs_exact_operands(op)) return;
    const bool uses = std::any_of(words + 3, words + count,
                                  [&](uint32_t operand) { return values.count(operand) > 0; });
    found += uses || types.count(words[1]);
  });
  return found;
}

// Drivers compute with narrow integers in wider registers, and may forget to wrap what is there.
TEST_P(EveryType, NarrowIntegersAreComputedWithAtFullWidth) {
  const auto type = static_cast<PrimType>(GetParam());
  for (const auto& [op, to] : operations(type)) {
    const auto made = compile(op, type, to);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(narrow_arithmetic(*made), 0u) << scalar_op_name(op) << " to " << prim_name(to);
  }
}

// A driver may take the negation of a zero for the zero, but cannot fold bits that it does not
// know.
TEST_P(EveryType, FloatsAreNegatedByTheirSignBit) {
  const auto type = static_cast<PrimType>(GetParam());
  if (!is_float(type)) return;
  const auto made = compile(ScalarOp::kNeg, type, type);
  ASSERT_TRUE(made) << made.error().text();
  each_instruction(*made, [](spv::Op op, const uint32_t*) { EXPECT_NE(op, spv::OpFNegate); });
}

INSTANTIATE_TEST_SUITE_P(Scalar, EveryType, testing::Range(0, kPrimTypeCount),
                         [](const auto& info) {
                           return std::string(prim_name(static_cast<PrimType>(info.param)));
                         });

// A gap in the library fails the kernel that falls into it, with the function's name.
TEST(Library, WhatIsMissingIsAnError) {
  for (const char* name : {"nonsense_i32", "nonsense_f32", "nonsense", "sin_i32", "nonsense_"}) {
    Library library;
    EXPECT_EQ(library.need(name), name);
    const auto made = compile_glsl(
        "test", kernel(library, fmt::format("{}(a)", name), PrimType::kI32, PrimType::kI32));
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().kind, ErrorKind::kInternal);
    EXPECT_NE(made.error().text().find(name), std::string::npos) << made.error().text();
  }
}

}  // namespace
}  // namespace kenaz::glsl
