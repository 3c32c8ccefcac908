// Programs built by hand, run on the first Vulkan device, staged and mapped.
#include "server/host/device_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>

#include "server/device/vulkan/vulkan_device.h"
#include "server/testdata/pieces.h"
#include "test_shaders/add.h"
#include "test_shaders/check.h"
#include "test_shaders/many.h"
#include "test_shaders/step.h"

namespace kenaz::host {
namespace {

using namespace program;
using testing::ElementsAre;
using testing::HasSubstr;

Operand s(uint32_t i) { return ScalarReg{i}; }
Operand n(int64_t v) { return PrimValue::i64(v); }
BlockReg b(uint32_t i) { return BlockReg{i}; }
Arg in(uint32_t r) { return {Arg::kBlock, Arg::kRead, n(0), b(r)}; }
Arg out(uint32_t r) { return {Arg::kBlock, Arg::kWrite, n(0), b(r)}; }
Arg inout(uint32_t r) { return {Arg::kBlock, Arg::kReadWrite, n(0), b(r)}; }
Arg val(Operand o) { return {Arg::kScalar, Arg::kRead, o, {}}; }
OpScalar binary(uint32_t dst, ScalarOp op, Operand x, Operand y) {
  return {ScalarReg{dst}, op, PrimType::kI64, PrimType::kI64, {x, y}};
}

enum : uint32_t { kAdd, kStep, kCheck, kMany };

template <size_t size>
Kernel kernel(const char* name, const uint32_t (&words)[size], int slots) {
  return {name, "", std::vector<uint32_t>(words, words + size), "", {}, 64, slots};
}

Program base_program() {
  Program p;
  for (const char* type : {"i32", "i64"}) {
    const PrimType prim = *prim_from_name(type);
    p.types[type] = {type, TypeKind::kPrimitive, {{prim, 0}}};
    const std::string array = std::string("[]") + type;
    p.types[array] = {array, TypeKind::kArray, {{prim, 1}}, 1, type};
  }
  p.kernels = {kernel("add", add_spirv, 6), kernel("step", step_spirv, 4),
               kernel("check", check_spirv, 5), kernel("many", many_spirv, 23)};
  p.kernel_failures.push_back({{std::string("Element "), 0, std::string(" at "), 1},
                               {PrimType::kI32, PrimType::kI64},
                               "-> #0  a.fut:1:2-3"});
  return p;
}

Entry::Param array_param(const std::string& name, uint32_t block, uint32_t size, bool consumed) {
  return {name, "[]i32", consumed, {ArrayLeaf{PrimType::kI32, b(block), {s(size)}}}};
}

/// Groups of 64 for the size in register 0, into register 1.
std::vector<HostOp> count_groups() {
  return {{binary(1, ScalarOp::kAdd, s(0), n(63))}, {binary(1, ScalarOp::kDiv, s(1), n(64))}};
}

/// (xs, k) -> xs with k added, `rounds` times, each into a new block, the old one released.
Entry add_entry(int64_t rounds) {
  Entry e;
  e.name = "add";
  e.params = {array_param("xs", 0, 0, false),
              {"k", "i32", false, {ScalarLeaf{PrimType::kI32, s(2)}}}};
  e.result_type = "[]i32";
  e.result = {ArrayLeaf{PrimType::kI32, b(1), {s(0)}}};
  e.scalar_regs = 6;
  e.block_regs = 3;
  e.code = count_groups();
  e.code.push_back({binary(3, ScalarOp::kMul, s(0), n(4))});
  e.code.push_back({OpMoveBlock{b(1), b(0)}});
  e.code.push_back({OpMove{ScalarReg{4}, n(0)}});
  OpWhile loop;
  loop.head = {{binary(5, ScalarOp::kLt, s(4), n(rounds))}};
  loop.cond = s(5);
  loop.body = {{OpAlloc{b(2), s(3)}},
               {OpLaunch{KernelId{kAdd}, s(1), {in(1), out(2), val(s(0)), val(s(2))}}},
               {OpMoveBlock{b(1), b(2)}},
               {OpRelease{b(2)}},
               {binary(4, ScalarOp::kAdd, s(4), n(1))}};
  e.code.push_back({std::move(loop)});
  return e;
}

class DeviceEngineTest : public testing::TestWithParam<bool> {
 protected:
  // Some drivers cannot be loaded and unloaded dozens of times in one process.
  static void SetUpTestSuite() {
    keeps_the_driver_loaded_ = device::make_vulkan_device({}).value_or(nullptr);
  }
  static void TearDownTestSuite() { keeps_the_driver_loaded_.reset(); }
  static inline std::shared_ptr<device::Device> keeps_the_driver_loaded_;

  void SetUp() override {
    device::VulkanOptions options;
    options.validation = log_;
    options.force_staging = GetParam();
    options.faults = faults_;
    auto made = device::make_vulkan_device(options);
    ASSERT_TRUE(made) << made.error().text();
    device_ = *made;
  }
  void TearDown() override {
    engine_.reset();
    device_.reset();
    EXPECT_THAT(log_->messages(), ElementsAre());
  }
  void load(Entry entry, const std::function<void(Program&)>& change = {}) {
    Program p = base_program();
    p.entries[entry.name] = std::move(entry);
    if (change) change(p);
    auto made = make_device_engine(std::move(p), device_);
    ASSERT_TRUE(made) << made.error().text();
    engine_ = std::move(*made);
  }
  LeafPtr i32s(const std::vector<int32_t>& v) {
    data::Value value{PrimType::kI32, {static_cast<int64_t>(v.size())}, {}};
    const auto bytes = std::as_bytes(std::span(v));
    value.bytes.assign(bytes.begin(), bytes.end());
    return *engine_->put(value);
  }
  LeafPtr scalar(PrimValue v) { return *engine_->put(data::Value::scalar(v)); }
  std::vector<int64_t> numbers(const LeafPtr& leaf) {
    auto value = engine_->get(*leaf);
    EXPECT_TRUE(value) << value.error().text();
    std::vector<int64_t> v;
    for (int64_t i = 0; i < value->count(); ++i) v.push_back(value->at(i).as_i64());
    return v;
  }
  Result<std::vector<LeafPtr>> call(const std::string& entry, std::vector<LeafPtr> args) {
    return engine_->call(entry, args);
  }

  std::shared_ptr<device::ValidationLog> log_ = std::make_shared<device::ValidationLog>();
  std::shared_ptr<device::VulkanFaults> faults_ = std::make_shared<device::VulkanFaults>();
  std::shared_ptr<device::Device> device_;
  std::unique_ptr<Engine> engine_;
};

TEST_P(DeviceEngineTest, ReusedMemoryInALongLoopIsOrdered) {
  load(add_entry(3000));
  const LeafPtr xs = i32s({1, 2, 3});
  auto result = call("add", {xs, scalar(PrimValue::i32(2))});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_THAT(numbers(result->at(0)), ElementsAre(6001, 6002, 6003));
  EXPECT_THAT(numbers(xs), ElementsAre(1, 2, 3));
  EXPECT_LT(device_->memory().peak, int64_t{16} << 20);
}

TEST_P(DeviceEngineTest, CallsThatComeAgainFollowTheirScalarsAndSizes) {
  load(add_entry(3));
  for (const int k : {2, 2, 2, 5, 5, 5, 2, 5}) {
    for (const bool longer : {false, false, true, true, true}) {
      auto result = call("add", {longer ? i32s({1, 2, 3}) : i32s({4}), scalar(PrimValue::i32(k))});
      ASSERT_TRUE(result) << result.error().text();
      if (longer) {
        EXPECT_THAT(numbers(result->at(0)), ElementsAre(1 + 3 * k, 2 + 3 * k, 3 + 3 * k));
      } else {
        EXPECT_THAT(numbers(result->at(0)), ElementsAre(4 + 3 * k));
      }
    }
  }
}

/// Adds k to each element if the launch is small, else 100 * k.
constexpr const char* kAddInTwoVersions = R"(#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 64) in;
#define small_or_any(small, any) (small)
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer I32 { int v; };
layout(push_constant, scalar) uniform Push { uint64_t a[6]; } push;
void main() {
  uint64_t i = uint64_t(gl_GlobalInvocationID.x);
  if (i >= push.a[3]) return;
  int k = int(push.a[4]) * small_or_any(1, 100);
  I32(push.a[2] + i * 4ul).v = I32(push.a[1] + i * 4ul).v + k;
}
)";

/// Adds k, 10 if it knows that nothing has failed, and 100 if it is to say its end, which it does
/// if `says`.
Kernel saying_kernel(bool says) {
  std::string text = R"(#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Ints { int v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Cell { uvec4 v; };
layout(local_size_x = 64) in;
layout(push_constant, scalar) uniform Push { uint64_t a[7]; } push;
void main() {
  uint i = gl_GlobalInvocationID.x;
  int more = int(push.a[4]) + int(push.a[0] & 1ul) * 10 + (push.a[5] != 0ul ? 100 : 0);
  if (i < uint(push.a[3])) Ints(push.a[2]).v[i] = Ints(push.a[1]).v[i] + more;
)";
  if (says) {
    text += R"(
  if (i == 0 && push.a[5] != 0ul) Cell(push.a[5]).v = uvec4(1, 0, 0xa5a5a5a4u, 0xa5a5a5a5u);
)";
  }
  Kernel k{"say", text + "}\n", {}, "", {}, 64, 7};
  k.may_fail = false;
  k.skips_look = k.says_end = true;
  return k;
}

TEST_P(DeviceEngineTest, CallsThatComeAgainEndWhenTheirLastLaunchSaysSo) {
  for (const bool says : {true, false}) {
    for (const int rounds : {1, 3}) {
      load(add_entry(rounds), [&](Program& p) { p.kernels[kAdd] = saying_kernel(says); });
      const auto expect = [&](const LeafPtr& xs, int64_t added) {
        auto result = call("add", {xs, scalar(PrimValue::i32(1))});
        ASSERT_TRUE(result) << result.error().text();
        const std::vector<int64_t> before = numbers(xs), after = numbers(result->at(0));
        EXPECT_EQ(after.front(), before.front() + added) << says << rounds;
        EXPECT_EQ(after.back(), before.back() + added) << says << rounds;
      };
      const LeafPtr few = i32s({1, 2, 3}), others = i32s({4, 5, 6});
      const LeafPtr many = i32s(std::vector<int32_t>(64 * kMostSaying + 1, 7));
      for (const LeafPtr& xs : {few, few}) expect(xs, 10 + rounds);
      // Nothing can have failed before the first launch, nor before the last.
      const int64_t known = (rounds > 1 ? 20 : 10) + rounds + 100;
      for (const LeafPtr& xs : {few, others, few}) expect(xs, known);
      for (const LeafPtr& xs : {many, many, many, many}) expect(xs, 10 + rounds);
      expect(others, known);
    }
  }
}

TEST_P(DeviceEngineTest, LargeBlocksHaveAVersionOfTheirOwn) {
  for (const bool has_versions : {true, false}) {
    load(add_entry(1), [&](Program& p) {
      p.kernels[kAdd].spirv.clear();
      p.kernels[kAdd].glsl = kAddInTwoVersions;
      p.kernels[kAdd].small_bytes = has_versions ? 8 : 0;
    });
    for (int again = 0; again < 2; ++again) {
      auto few = call("add", {i32s({1, 2}), scalar(PrimValue::i32(3))});
      ASSERT_TRUE(few) << few.error().text();
      EXPECT_THAT(numbers(few->at(0)), ElementsAre(4, 5));
      auto many = call("add", {i32s({1, 2, 3}), scalar(PrimValue::i32(3))});
      ASSERT_TRUE(many) << many.error().text();
      const int k = has_versions ? 300 : 3;
      EXPECT_THAT(numbers(many->at(0)), ElementsAre(1 + k, 2 + k, 3 + k));
    }
  }
}

TEST_P(DeviceEngineTest, LaunchesOfFewTurnsAndOfManyAreRight) {
  load(add_entry(2), [&](Program& p) {
    p.kernels[kAdd].turns = {{100000, {2}}, {1, {kPerThread, 3}}, {1, {kGroups}}};
  });
  for (int again = 0; again < 2; ++again) {
    for (const LeafPtr& xs : {i32s({1, 2}), i32s({1, 2, 3})}) {
      auto sums = call("add", {xs, scalar(PrimValue::i32(3))});
      ASSERT_TRUE(sums) << sums.error().text();
      EXPECT_EQ(numbers(sums->at(0)).back(), numbers(xs).back() + 6);
    }
  }
}

TEST_P(DeviceEngineTest, EmptyArraysAndResultsThatShareMemory) {
  load(add_entry(0));
  LeafPtr empty = i32s({}), xs = i32s({4});
  auto a = call("add", {empty, scalar(PrimValue::i32(2))});
  ASSERT_TRUE(a);
  EXPECT_THAT(a->at(0)->shape, ElementsAre(0));
  EXPECT_THAT(numbers(a->at(0)), ElementsAre());
  auto same = call("add", {xs, scalar(PrimValue::i32(2))});
  ASSERT_TRUE(same);
  xs.reset();
  EXPECT_THAT(numbers(same->at(0)), ElementsAre(4));
}

TEST_P(DeviceEngineTest, WrongArgumentsAreRefused) {
  load(add_entry(1));
  const LeafPtr xs = i32s({1}), k = scalar(PrimValue::i32(2));
  for (const auto& args : std::vector<std::vector<LeafPtr>>{
           {}, {xs}, {xs, k, k}, {k, xs}, {xs, scalar(PrimValue::i64(2))}}) {
    auto result = call("add", args);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::kBadRequest);
  }
  EXPECT_FALSE(call("nothing", {xs, k}));
}

/// (xs, k) -> xs with k added, twice, one behind the other, in one block: the second `from` bytes
/// behind the first.
Entry parts_entry(int64_t from) {
  Entry e = add_entry(0);
  e.name = "parts";
  e.block_regs = 5;
  e.code = count_groups();
  e.code.push_back({binary(3, ScalarOp::kMul, s(0), n(4))});
  e.code.push_back({OpAlloc{b(1), n(16 + 4 * 4)}});
  e.code.push_back({OpPart{b(3), b(1), n(0), s(3)}});
  e.code.push_back({OpPart{b(4), b(1), n(from), s(3)}});
  for (const uint32_t part : {3u, 4u}) {
    e.code.push_back({OpLaunch{KernelId{kAdd}, s(1), {in(0), out(part), val(s(0)), val(s(2))}}});
  }
  e.code.push_back({OpWrite{PrimType::kI32, b(4), n(4), {PrimValue::i32(9)}}});
  e.code.push_back({OpRead{ScalarReg{4}, PrimType::kI32, b(4), n(0)}});
  e.code.push_back({OpWrite{PrimType::kI32, b(3), n(4), {s(4)}}});
  e.code.push_back({OpRelease{b(3)}});
  e.code.push_back({OpMove{ScalarReg{0}, n(8)}});
  return e;
}

TEST_P(DeviceEngineTest, PartsOfABlockAreItsMemory) {
  load(parts_entry(16));
  auto result = call("parts", {i32s({1, 2, 3, 4}), scalar(PrimValue::i32(5))});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_THAT(numbers(result->at(0)), ElementsAre(6, 6, 8, 9, 6, 9, 8, 9));
}

TEST_P(DeviceEngineTest, CallsThatComeAgainFollowWhatTheyRead) {
  load(parts_entry(16));
  for (const int32_t x : {1, 2, 3, 4, 5}) {
    auto result = call("parts", {i32s({x, 2, 3, 4}), scalar(PrimValue::i32(5))});
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_THAT(numbers(result->at(0)), ElementsAre(x + 5, x + 5, 8, 9, x + 5, 9, 8, 9));
  }
}

/// k -> 10 if the program's parameter is at most k, else 20; fails for k = 0.
Entry compare_entry() {
  Entry e;
  e.name = "compare";
  e.params = {{"k", "i64", false, {ScalarLeaf{PrimType::kI64, s(0)}}}};
  e.result_type = "i64";
  e.result = {ScalarLeaf{PrimType::kI64, s(2)}};
  e.scalar_regs = 4;
  e.tuning = {0};
  OpIf branch{s(1), {{OpMove{ScalarReg{2}, n(10)}}}, {{OpMove{ScalarReg{2}, n(20)}}}};
  e.code = {{OpCompare{ScalarReg{1}, 0, s(0)}},
            {std::move(branch)},
            {binary(3, ScalarOp::kNe, s(0), n(0))},
            {OpAssert{s(3), {std::string("none")}, ""}}};
  return e;
}

TEST_P(DeviceEngineTest, CallsThatComeAgainFollowTuningAndSayWhatTheyCompared) {
  load(compare_entry(), [](Program& p) { p.tuning = {{"t", TuningClass::kThreshold, 5}}; });
  const auto set = std::make_shared<const Tuning>(Tuning{{"t", 9}});
  for (const auto& tuning :
       {std::shared_ptr<const Tuning>(), set, std::shared_ptr<const Tuning>()}) {
    engine_->set_tuning(tuning);
    for (int i = 0; i < 4; ++i) {
      auto result = call("compare", {scalar(PrimValue::i64(7))});
      ASSERT_TRUE(result) << result.error().text();
      EXPECT_THAT(numbers(result->at(0)), ElementsAre(tuning ? 20 : 10));
      EXPECT_THAT(engine_->comparisons(), ElementsAre(Comparison{"t", 7, !tuning}));
    }
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(call("compare", {scalar(PrimValue::i64(0))}));
  }
}

TEST_P(DeviceEngineTest, PartsEndWithTheirBlock) {
  for (const int64_t from : {-16, 4, 32, 48}) {
    load(parts_entry(from));
    auto result = call("parts", {i32s({1, 2, 3, 4}), scalar(PrimValue::i32(5))});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::kInternal);
  }
}

/// Consumes xs: xs[0] = xs[0] * 3 + 1, in place, after a host write to xs[1].
Entry step_entry() {
  Entry e;
  e.name = "step";
  e.params = {array_param("xs", 0, 0, true)};
  e.result_type = "[]i32";
  e.result = {ArrayLeaf{PrimType::kI32, b(0), {s(0)}}};
  e.scalar_regs = 1;
  e.block_regs = 1;
  e.code = {{OpLaunch{KernelId{kStep}, n(1), {inout(0), val(n(1))}}},
            {OpWrite{PrimType::kI32, b(0), n(4), {PrimValue::i32(77)}}}};
  return e;
}

TEST_P(DeviceEngineTest, ConsumedArgumentsAreWrittenInPlaceUnlessShared) {
  load(step_entry());
  const LeafPtr xs = i32s({1, 2});
  auto first = call("step", {xs});
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_THAT(numbers(first->at(0)), ElementsAre(4, 77));
  auto second = call("step", {first->at(0)});  // shares its memory with xs
  ASSERT_TRUE(second);
  EXPECT_THAT(numbers(second->at(0)), ElementsAre(13, 77));
  EXPECT_THAT(numbers(first->at(0)), ElementsAre(4, 77));
}

TEST_P(DeviceEngineTest, WhatIsBeingReadIsNotWrittenInPlace) {
  load(step_entry());
  LeafPtr xs = i32s({1, 2});
  auto reader = engine_->reader(xs);
  ASSERT_TRUE(reader);
  auto result = call("step", {xs});
  ASSERT_TRUE(result);
  xs.reset();
  EXPECT_THAT(numbers(result->at(0)), ElementsAre(4, 77));
  ASSERT_TRUE((*reader)->work());
  const auto window = (*reader)->window();
  int32_t seen[2] = {};
  ASSERT_EQ(window.size(), sizeof seen);
  std::memcpy(seen, window.data(), sizeof seen);
  EXPECT_THAT(seen, ElementsAre(1, 2));
}

/// Fails in a kernel if an element is at least 10, then on the host if the first is 5.
Entry check_entry() {
  Entry e;
  e.name = "check";
  e.params = {array_param("xs", 0, 0, false)};
  e.result_type = "i32";
  e.result = {ScalarLeaf{PrimType::kI32, s(2)}};
  e.scalar_regs = 4;
  e.block_regs = 1;
  e.code = count_groups();
  e.code.push_back({OpLaunch{KernelId{kCheck}, s(1), {in(0), val(s(0)), val(n(10))}}});
  e.code.push_back({OpRead{ScalarReg{2}, PrimType::kI32, b(0), n(0)}});
  e.code.push_back({OpScalar{
      ScalarReg{3}, ScalarOp::kNe, PrimType::kI32, PrimType::kI32, {s(2), PrimValue::i32(5)}}});
  e.code.push_back({OpAssert{s(3), {std::string("first is "), s(2)}, "-> #0  b.fut:3:4-5"}});
  return e;
}

TEST_P(DeviceEngineTest, FailuresOfKernelsAndHostHaveTheirText) {
  load(check_entry());
  const auto good = [&] {
    auto fine = call("check", {i32s({1, 2})});
    ASSERT_TRUE(fine) << fine.error().text();
    EXPECT_THAT(numbers(fine->at(0)), ElementsAre(1));
  };
  good();
  auto kernel_failed = call("check", {i32s({5, 2, 30})});
  ASSERT_FALSE(kernel_failed);
  EXPECT_EQ(kernel_failed.error().kind, ErrorKind::kProgramFailure);
  EXPECT_EQ(kernel_failed.error().text(),
            "Error: Element 30 at 2\n\nBacktrace:\n-> #0  a.fut:1:2-3");
  good();
  auto host_failed = call("check", {i32s({5, 2})});
  ASSERT_FALSE(host_failed);
  EXPECT_EQ(host_failed.error().text(), "Error: first is 5\n\nBacktrace:\n-> #0  b.fut:3:4-5");
  good();
  EXPECT_FALSE(call("check", {i32s({})}));  // the read leaves the block
}

TEST_P(DeviceEngineTest, KernelsThatCannotFailAreNotAskedWhetherTheyHave) {
  load(check_entry(), [](Program& p) { p.kernels[kCheck].may_fail = false; });  // which is wrong
  auto failed = call("check", {i32s({4, 2, 30})});
  EXPECT_TRUE(failed) << failed.error().text();
}

// llvmpipe ignores, silently, conditions that are nested too deep.
TEST_P(DeviceEngineTest, KernelsThatNestDeeperThanTheDriverTakesAreRefused) {
  const int most = device_->info().max_nesting;
  if (most == std::numeric_limits<int>::max()) GTEST_SKIP() << "no limit here";
  load(check_entry(), [&](Program& p) {
    p.kernels[kCheck].nesting = most + 1;
    p.kernels[kCheck].place = "-> #0  a.fut:7:8-9";
  });
  const auto refused = call("check", {i32s({1, 2})});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kProgramFailure);
  EXPECT_THAT(refused.error().text(), HasSubstr("nested"));
  EXPECT_THAT(refused.error().text(), HasSubstr("a.fut:7:8-9"));
}

TEST_P(DeviceEngineTest, LongArgumentListsAndConstants) {
  Entry e;
  e.name = "many";
  e.result_type = "i64";
  e.result = {ScalarLeaf{PrimType::kI64, s(1)}};
  e.scalar_regs = 2;
  e.block_regs = 1;
  OpLaunch launch{KernelId{kMany}, n(2), {out(0)}};
  for (int64_t i = 0; i < 20; ++i) launch.args.push_back(val(i == 0 ? s(0) : n(i)));
  e.code = {{std::move(launch)}, {OpRead{ScalarReg{1}, PrimType::kI64, b(0), n(0)}}};
  load(std::move(e), [](Program& p) {
    p.constants = {{OpMove{ScalarReg{0}, n(100'000)}}, {OpAlloc{b(0), n(8)}}};
    p.constant_scalar_regs = p.constant_block_regs = 1;
  });
  auto result = call("many", {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_THAT(numbers(result->at(0)), ElementsAre(100'000 + 190 + 2000));
}

TEST_P(DeviceEngineTest, SizesThatContradictEachOther) {
  Entry e = add_entry(1);
  e.params[1] = array_param("ys", 2, 0, false);
  load(std::move(e));
  EXPECT_TRUE(call("add", {i32s({1, 2}), i32s({3, 4})}));
  auto bad = call("add", {i32s({1, 2}), i32s({3})});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().text(), HasSubstr("Error: entry point arguments have invalid sizes."));
}

TEST_P(DeviceEngineTest, TooMuchMemoryFailsTheCallOnly) {
  Entry e = add_entry(1);
  e.code[2] = {OpMove{ScalarReg{3}, n(int64_t{1} << 60)}};
  load(std::move(e));
  auto result = call("add", {i32s({1}), scalar(PrimValue::i32(2))});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kOutOfMemory);
  EXPECT_THAT(numbers(i32s({9})), ElementsAre(9));
}

TEST_P(DeviceEngineTest, ACallTakesNoMoreMemoryThanItMay) {
  load(add_entry(2));
  const LeafPtr xs = i32s(std::vector<int32_t>(100'000, 1)), two = scalar(PrimValue::i32(2));
  engine_->set_call_bytes(100'000);
  const auto refused = call("add", {xs, two});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kOutOfMemory);
  EXPECT_THAT(refused.error().text(), HasSubstr("of what the call may take"));
  const LeafPtr more = i32s(std::vector<int32_t>(100'000, 1));  // is no call
  engine_->set_call_bytes(2'000'000);
  EXPECT_TRUE(call("add", {more, two}));
  engine_->set_call_bytes(0);
  EXPECT_TRUE(call("add", {more, two}));
}

TEST_P(DeviceEngineTest, SizesThatCouldNotBeCountedAreOutOfMemory) {
  for (const int64_t bytes : {INT64_MIN, int64_t{-1}, int64_t{1} << 62, INT64_MAX}) {
    Entry e = add_entry(1);
    e.code[2] = {OpMove{ScalarReg{3}, n(bytes)}};
    load(std::move(e));
    auto result = call("add", {i32s({1}), scalar(PrimValue::i32(2))});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::kOutOfMemory) << result.error().text();
    EXPECT_THAT(result.error().text(),
                HasSubstr(std::to_string(device_->info().max_block_bytes) + " bytes"));
    EXPECT_THAT(numbers(i32s({9})), ElementsAre(9));
  }
}

/// (n) -> an array of n i32 that nothing writes.
Entry unwritten_entry() {
  Entry e;
  e.name = "unwritten";
  e.params = {{"n", "i64", false, {ScalarLeaf{PrimType::kI64, s(0)}}}};
  e.result_type = "[]i32";
  e.result = {ArrayLeaf{PrimType::kI32, b(0), {s(0)}}};
  e.scalar_regs = 2;
  e.block_regs = 1;
  e.code = {{binary(1, ScalarOp::kMul, s(0), n(4))}, {OpAlloc{b(0), s(1)}}};
  return e;
}

TEST_P(DeviceEngineTest, SessionsDoNotSeeEachOthersMemory) {
  load(unwritten_entry(), [](Program& p) { p.entries["add"] = add_entry(5); });
  const std::shared_ptr<Engine> shared = std::move(engine_);
  const auto first = engine_for_session(shared, 1), second = engine_for_session(shared, 2);
  constexpr int32_t kSecret = 0x5ec2e7;
  for (const int32_t n : {100, 30'000, 8'000'000}) {
    data::Value value{PrimType::kI32, {n}, {}};
    const std::vector<int32_t> secrets(static_cast<size_t>(n), kSecret);
    const auto bytes = std::as_bytes(std::span(secrets));
    value.bytes.assign(bytes.begin(), bytes.end());
    {
      const std::vector<LeafPtr> args = {*first->put(value),
                                         *first->put(data::Value::scalar(PrimValue::i32(0)))};
      ASSERT_TRUE(first->call("add", args));  // leaves it in temporary memory, too
    }
    const LeafPtr size = *second->put(data::Value::scalar(PrimValue::i64(n)));
    const auto unwritten = second->call("unwritten", std::span(&size, 1));
    ASSERT_TRUE(unwritten) << unwritten.error().text();
    const auto seen = second->get(*unwritten->at(0));
    ASSERT_TRUE(seen);
    EXPECT_TRUE(same_bytes(seen->bytes, std::vector<std::byte>(static_cast<size_t>(n) * 4))) << n;
  }
}

/// The constants put 7 into scalar 0 and then fail, if `good` is false.
void add_constants(Program& p, bool good) {
  p.constants = {
      {OpMove{ScalarReg{0}, n(7)}},
      {OpAssert{PrimValue::of_bool(good), {std::string("no seven")}, "-> #0  c.fut:1:2"}}};
  p.constant_scalar_regs = 1;
}

Entry seven_entry() {
  Entry e;
  e.name = "seven";
  e.result_type = "i64";
  e.result = {ScalarLeaf{PrimType::kI64, s(0)}};
  e.scalar_regs = 1;
  return e;
}

TEST_P(DeviceEngineTest, ConstantsThatFailStopOnlyThoseWhoNeedThem) {
  const auto with_both = [](bool good) {
    return [good](Program& p) {
      add_constants(p, good);
      Entry other = unwritten_entry();  // with its registers after the constants'
      other.params[0].leaves = {ScalarLeaf{PrimType::kI64, s(1)}};
      other.result = {ArrayLeaf{PrimType::kI32, b(0), {s(1)}}};
      other.scalar_regs = 3;
      other.code = {{binary(2, ScalarOp::kMul, s(1), n(4))}, {OpAlloc{b(0), s(2)}}};
      p.entries["other"] = other;
    };
  };
  load(seven_entry(), with_both(true));
  auto seven = call("seven", {});
  ASSERT_TRUE(seven) << seven.error().text();
  EXPECT_THAT(numbers(seven->at(0)), ElementsAre(7));

  load(seven_entry(), with_both(false));
  const std::string text = "Error: no seven\n\nBacktrace:\n-> #0  c.fut:1:2";
  const Status prepared = engine_->prepare();
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().text(), text);
  for (int i = 0; i < 2; ++i) {
    seven = call("seven", {});
    ASSERT_FALSE(seven);
    EXPECT_EQ(seven.error().kind, ErrorKind::kProgramFailure);
    EXPECT_EQ(seven.error().text(), text);
    EXPECT_TRUE(call("other", {scalar(PrimValue::i64(3))}));
  }
}

TEST_P(DeviceEngineTest, CallsThatFailAnywhereLeaveNothingBehind) {
  load(add_entry(600), [](Program& p) { p.entries["check"] = check_entry(); });
  const LeafPtr xs = i32s({5, 2, 30}), k = scalar(PrimValue::i32(2)), fine = i32s({1});
  for (int64_t n = 0; n < 60; ++n) {
    for (const bool check : {false, true}) {
      faults_->calls = 0;
      faults_->fail_at = n;
      auto first = check ? call("check", {xs}) : call("add", {xs, k});
      faults_->fail_at = -1;
      EXPECT_TRUE(!check || !first);
      auto again = call("add", {xs, k});
      ASSERT_TRUE(again) << n << again.error().text();
      EXPECT_THAT(numbers(again->at(0)), ElementsAre(1205, 1202, 1230)) << n;
      EXPECT_TRUE(call("check", {fine})) << n;
    }
  }
}

TEST_P(DeviceEngineTest, BrokenProgramsAreRefused) {
  const std::vector<std::function<void(Program&)>> breakages = {
      [](Program& p) { p.entries["add"].scalar_regs = 2; },
      [](Program& p) { p.entries["add"].block_regs = 1; },
      [](Program& p) { p.entries["add"].result_type = "f32"; },
      [](Program& p) { p.entries["add"].result = {}; },
      [](Program& p) { p.kernels.clear(); },
      [](Program& p) { p.kernels[kAdd].slots = 5; },
      [](Program& p) { p.kernels[kAdd].spirv.clear(); },
      [](Program& p) { p.kernels[kAdd].small_bytes = 8; },  // beside its SPIR-V
      [](Program& p) {
        p.kernels[kAdd].turns = {{1, {4}}};
      },
      [](Program& p) {
        p.kernels[kAdd].turns = {{1, {0}}};
      },  // a block
      [](Program& p) {
        p.kernels[kAdd].turns = {{1, {-4}}};
      },
      [](Program& p) { p.kernels[kStep].code_of = KernelId{kAdd}; },  // beside its own
      [](Program& p) {
        p.kernels.push_back({"k", "", {}, "", {}, 64, 6, 0, true, Kernel::kNothing, 0, "", {7}});
      },
      [](Program& p) {
        p.kernels.push_back(
            {"k", "", {}, "", {}, 64, 6, 0, true, Kernel::kNothing, 0, "", {kStep}});
      },
      [](Program& p) { p.constant_block_regs = 100; },
      [](Program& p) { p.constant_scalar_regs = -1; },
      [](Program& p) { p.kernel_failures[0].message.push_back(2); },
      [](Program& p) { p.entries["add"].code.push_back({OpRelease{}}); },
      [](Program& p) {
        p.entries["add"].code.push_back(
            {OpScalar{ScalarReg{0}, ScalarOp::kShl, PrimType::kF32, PrimType::kF32, {n(1), n(1)}}});
      },
      [](Program& p) {
        Code deep;
        for (int i = 0; i < 1000; ++i) {
          OpIf nest{PrimValue::of_bool(true), std::move(deep), {}};
          deep = {};
          deep.push_back({std::move(nest)});
        }
        p.entries["add"].code = std::move(deep);
      },
  };
  for (size_t i = 0; i < breakages.size(); ++i) {
    Program p = base_program();
    p.entries["add"] = add_entry(1);
    breakages[i](p);
    auto made = make_device_engine(std::move(p), device_);
    ASSERT_FALSE(made) << i;
    EXPECT_EQ(made.error().kind, ErrorKind::kInternal) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Vulkan, DeviceEngineTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Staged" : "Mapped"; });

}  // namespace
}  // namespace kenaz::host
