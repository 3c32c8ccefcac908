// Quotients and square roots are rounded correctly, over whole ranges of values, also on a device
// whose own quotients and roots are off by as much as Vulkan lets them be. Functions of f32 without
// f64 are near enough.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/glsl/compile.h"
#include "kernels/glsl/library.h"
#include "kernels/glsl/types.h"
#include "kernels/scalar/ops.h"
#include "tests/test_device.h"

namespace kenaz {
namespace {

constexpr size_t kWorkgroup = 64;

struct Pairs {
  std::vector<uint32_t> a, b;
  void add(uint32_t x, uint32_t y) {
    a.push_back(x);
    b.push_back(y);
  }
};

/// How the device is made to compute.
struct Way {
  int off;                 // by so many units in the last place
  bool fuses;              // rounds a * b + c once, whatever the device does
  bool contracts = false;  // the functions are those for devices that may contract
  friend void PrintTo(const Way& w, std::ostream* out) {
    *out << w.off << (w.fuses ? " fused" : "") << (w.contracts ? " contracted" : "");
  }
};

Status replace(std::string& text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == std::string::npos) return internal_error("no '" + from + "' in " + text);
  text.replace(at, from.size(), to);
  return {};
}

/// A kernel that makes r of type `type` from a and b by the library's function, which may call
/// `estimate`: that is off by as many units in the last place as slots[4] says.
Result<std::vector<uint32_t>> compile(PrimType type, const std::string& function, int arity,
                                      const std::string& estimate, const Way& way) {
  glsl::Library library({.fused_floats = way.contracts});
  library.need(function);
  std::string text = library.text();
  if (!estimate.empty()) {
    KENAZ_TRY(replace(
        text, "return " + estimate + ";",
        fmt::format("return uintBitsToFloat(floatBitsToUint({}) + uint(slots[4]));", estimate)));
  }
  if (way.fuses) {
    // Products of two floats are exact in doubles, and so are the sums that matter.
    KENAZ_TRY(
        replace(text, "return fma(a, b, c);", "return float(double(a) * double(b) + double(c));"));
  }
  const int bytes = prim_size(type);
  const auto operand = [&](int slot) {
    return glsl::load(type, fmt::format("slots[{}] + {}ul * i", slot, bytes));
  };
  return glsl::compile_glsl(
      "test",
      glsl::preamble() +
          fmt::format("layout(local_size_x = {}) in;\n"
                      "layout(push_constant, scalar) uniform Slots {{ uint64_t slots[5]; }};\n",
                      kWorkgroup) +
          text +
          fmt::format("void main() {{\n"
                      "  zero_bits = uint64_t(gl_NumWorkGroups.z >> 31);\n"
                      "  uint64_t i = uint64_t(gl_GlobalInvocationID.x);\n"
                      "  if (i < slots[3]) {{ {} }}\n"
                      "}}\n",
                      glsl::store(type, fmt::format("slots[2] + {}ul * i", bytes),
                                  fmt::format("{}({}{})", function, operand(0),
                                              arity == 2 ? ", " + operand(1) : ""))));
}

/// Puts the values of a type into a block, as bits.
device::BlockPtr block_of(PrimType type, const std::vector<uint32_t>& bits) {
  std::vector<std::byte> bytes;
  for (const uint32_t v : bits) {
    for (int k = 0; k < prim_size(type); k++) bytes.push_back(std::byte(v >> (8 * k) & 0xff));
  }
  auto block = test_device()->allocate(static_cast<int64_t>(bytes.size()));
  EXPECT_TRUE(block && test_device()->upload(*block, 0, bytes));
  return block.value_or(nullptr);
}

class Rounding : public testing::TestWithParam<Way> {
 protected:
  /// What the function makes of each pair, as bits.
  static std::vector<uint32_t> run(PrimType type, const std::string& function, int arity,
                                   const std::string& estimate, const Way& way,
                                   const Pairs& pairs) {
    const auto words = compile(type, function, arity, estimate, way);
    EXPECT_TRUE(words) << words.error().text();
    device::Device& device = *test_device();
    const auto kernel = device.make_kernel({"test", *words, 40});
    EXPECT_TRUE(kernel) << kernel.error().text();
    const auto a = block_of(type, pairs.a), b = block_of(type, pairs.b);
    const auto out = block_of(type, pairs.a);
    const std::vector<uint64_t> slots{a->address(), b->address(), out->address(), pairs.a.size(),
                                      static_cast<uint64_t>(static_cast<int64_t>(way.off))};
    const size_t groups = (pairs.a.size() + kWorkgroup - 1) / kWorkgroup;
    EXPECT_TRUE(device.dispatch(*kernel, static_cast<uint32_t>(groups), 1,
                                std::as_bytes(std::span(slots))));
    EXPECT_TRUE(device.barrier());
    std::vector<std::byte> bytes(pairs.a.size() * static_cast<size_t>(prim_size(type)));
    EXPECT_TRUE(device.download(out, 0, bytes));
    std::vector<uint32_t> bits(pairs.a.size(), 0);
    for (size_t k = 0; k < bytes.size(); k++) {
      const auto size = static_cast<size_t>(prim_size(type));
      bits[k / size] |= std::to_integer<uint32_t>(bytes[k]) << (8 * (k % size));
    }
    return bits;
  }

  static void expect_exact(ScalarOp op, PrimType type, const std::string& estimate, const Way& way,
                           const Pairs& pairs) {
    expect_near(op, type, estimate, way, pairs, 0);
  }

  /// As eval_scalar, but for so many units in the last place.
  static void expect_near(ScalarOp op, PrimType type, const std::string& estimate, const Way& way,
                          const Pairs& pairs, uint32_t units) {
    const int arity = scalar_op_arity(op);
    const std::string function = fmt::format("{}_{}", scalar_op_name(op), prim_name(type));
    const auto got = run(type, function, arity, estimate, way, pairs);
    size_t wrong = 0;
    for (size_t k = 0; k < got.size(); k++) {
      std::vector<PrimValue> args{{type, pairs.a[k]}, {type, pairs.b[k]}};
      args.resize(static_cast<size_t>(arity));
      const PrimValue expected = eval_scalar(op, type, type, args), value{type, got[k]};
      const bool nan = std::isnan(expected.as_double());
      if (nan ? std::isnan(value.as_double()) : value == expected) continue;
      // Floats of one sign follow each other as their bits do.
      if (!nan && expected.bits - value.bits + units <= 2 * units && units > 0) continue;
      if (wrong++ < 5) {
        ADD_FAILURE() << function
                      << fmt::format(" of {:#x}, {:#x} gives {:#x}, not {:#x}", pairs.a[k],
                                     pairs.b[k], got[k], expected.bits);
      }
    }
    EXPECT_EQ(wrong, 0u) << "of " << got.size();
  }
};

/// What the library's function of roots takes from the device.
std::string root_estimate(const Way& way) { return way.contracts ? "inversesqrt(x)" : "sqrt(x)"; }

/// Floats at which something changes, as bits, of both signs.
std::vector<uint32_t> edges() {
  std::vector<uint32_t> all;
  for (const uint32_t exponent : {0u, 1u, 2u, 23u, 24u, 126u, 127u, 128u, 150u, 253u, 254u, 255u}) {
    for (const uint32_t fraction : {0u, 1u, 2u, 3u, 0x2aaaaau, 0x3fffffu, 0x400000u, 0x400001u,
                                    0x555555u, 0x7ffffdu, 0x7ffffeu, 0x7fffffu}) {
      all.push_back(exponent << 23 | fraction);
      all.push_back(0x80000000u | exponent << 23 | fraction);
    }
  }
  return all;
}

Pairs float_pairs() {
  Pairs pairs;
  for (const uint32_t x : edges()) {
    for (const uint32_t y : edges()) pairs.add(x, y);
  }
  std::mt19937 chance(1);
  for (int k = 0; k < 400'000; k++) {
    const auto x = static_cast<uint32_t>(chance()), y = static_cast<uint32_t>(chance());
    pairs.add(x, y);
    pairs.add(x, x);
    // Quotients about 1, and about the smallest floats, halves of which are ties.
    pairs.add((x & 0x7fffffu) | 0x3f800000u, (y & 0x807fffffu) | 0x3f800000u);
    pairs.add((x & 0x7fffffu) | (k % 8 + 1u) << 23, (y & 0x7fffffu) | (k % 40 + 117u) << 23);
    pairs.add((x & 0x7ff000u) | (k % 8 + 1u) << 23, 1u << 23 | (k % 40 + 117u) << 23);
  }
  return pairs;
}

TEST_P(Rounding, QuotientsOfFloats) {
  if (std::abs(GetParam().off) > 2) GTEST_SKIP() << "more than Vulkan allows";
  expect_exact(ScalarOp::kDiv, PrimType::kF32, "a / b", GetParam(), float_pairs());
}

TEST_P(Rounding, RootsOfFloats) {
  Pairs pairs;
  for (const uint32_t x : edges()) pairs.add(x, 0);
  for (uint32_t k = 0; k < 1u << 20; k++) pairs.add(k * 4093u, 0);  // all exponents
  for (uint32_t k = 0; k < 1u << 16; k++) pairs.add(0x3f7f8000u + k, 0);
  expect_exact(ScalarOp::kSqrt, PrimType::kF32, root_estimate(GetParam()), GetParam(), pairs);
  expect_exact(ScalarOp::kRsqrt, PrimType::kF32, root_estimate(GetParam()), GetParam(), pairs);
}

TEST_P(Rounding, FunctionsOfFloatsWithoutF64) {
  if (!GetParam().contracts || GetParam().off != 0) GTEST_SKIP() << "computed in f64";
  Pairs pairs = float_pairs();
  for (const uint32_t x : edges()) pairs.add(x, 0x3fc00000);
  for (uint32_t k = 0; k < 1u << 20; k++) {
    // Numbers of moderate size, and powers that are finite.
    pairs.add(0x3c000000u + k * 97u, 0x3e000000u + (k * 4093u & 0x1ffffffu));
    pairs.add(0xbc000000u + k * 97u, 0xbe000000u + (k * 4093u & 0x1ffffffu));
  }
  for (auto* values : {&pairs.a, &pairs.b}) {
    // Powers of 1 and by 0 are 1, also of NaNs, but for signalling ones.
    for (uint32_t& v : *values) {
      if ((v & 0x7fffffffu) > 0x7f800000u) v |= 0x400000u;
    }
  }
  for (const ScalarOp op :
       {ScalarOp::kExp, ScalarOp::kLog, ScalarOp::kSin, ScalarOp::kCos, ScalarOp::kPow}) {
    expect_near(op, PrimType::kF32, "", GetParam(), pairs, 2);
  }
}

TEST_P(Rounding, QuotientsAndRootsOfHalves) {
  if (!test_device()->info().float16) GTEST_SKIP();
  Pairs all, roots;
  std::mt19937 chance(2);
  for (uint32_t x = 0; x < 1u << 16; x++) {
    roots.add(x, 0);
    for (int k = 0; k < 12; k++) all.add(x, static_cast<uint32_t>(chance()) & 0xffffu);
    for (const uint32_t y : {0x0000u, 0x8001u, 0x03ffu, 0x3c00u, 0x4200u, 0xfbffu, 0x7c00u, x}) {
      all.add(x, y);
    }
  }
  expect_exact(ScalarOp::kSqrt, PrimType::kF16, root_estimate(GetParam()), GetParam(), roots);
  expect_exact(ScalarOp::kRsqrt, PrimType::kF16, root_estimate(GetParam()), GetParam(), roots);
  if (std::abs(GetParam().off) <= 2) {
    expect_exact(ScalarOp::kDiv, PrimType::kF16, "a / b", GetParam(), all);
  }
}

INSTANTIATE_TEST_SUITE_P(UnitsOff, Rounding,
                         testing::Values(Way{-6, false}, Way{-2, false}, Way{0, false},
                                         Way{1, false}, Way{2, false}, Way{6, false}, Way{-6, true},
                                         Way{-2, true}, Way{-1, true}, Way{0, true}, Way{2, true},
                                         Way{6, true}, Way{-2, true, true}, Way{-1, true, true},
                                         Way{0, true, true}, Way{1, true, true}, Way{2, true, true},
                                         Way{0, false, true}, Way{2, false, true}));

}  // namespace
}  // namespace kenaz
