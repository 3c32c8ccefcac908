#include "server/host/residual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kenaz::host {
namespace {

using namespace program;
using testing::ElementsAre;

const Operand kFirst = ScalarReg{0}, kSecond = ScalarReg{1};
Operand number(int64_t v) { return PrimValue::i64(v); }

Registers some_registers() {
  Registers registers;
  registers.scalars = {PrimValue::i64(6), PrimValue::i64(7)};
  return registers;
}

TEST(Recording, LeavesOutWhatComputesScalarsOnly) {
  const Registers registers = some_registers();
  Recording recording;
  const Code code = {
      {OpScalar{ScalarReg{1}, ScalarOp::kAdd, PrimType::kI64, PrimType::kI64, {kFirst, number(1)}}},
      {OpMove{ScalarReg{1}, kFirst}},
      {OpTune{ScalarReg{1}, 0}},
      {OpAssert{PrimValue::of_bool(true), {}, ""}},
      {OpIf{PrimValue::of_bool(true), {}, {}}},
      {OpWhile{}},
      {OpLaunch{KernelId{0}, number(0), {}}}};
  for (const HostOp& op : code) EXPECT_TRUE(recording.note(op, registers));
  recording.end({PrimValue::i64(3)}, {Piece{&code, 2}});
  const ResidualPtr made = recording.take();
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->code.empty());
  EXPECT_THAT(made->scalars, ElementsAre(PrimValue::i64(3)));
  ASSERT_EQ(made->rest.size(), 1u);
  EXPECT_EQ(made->rest[0].next, 2u);
}

TEST(Recording, PutsConstantsForScalars) {
  const Registers registers = some_registers();
  const BlockReg a{0}, b{1};
  Recording recording;
  const Arg scalar{Arg::kScalar, Arg::kRead, kFirst, {}};
  const Arg block{Arg::kBlock, Arg::kRead, number(0), a};
  const Code code = {{OpAlloc{a, kFirst, OpAlloc::kZeroes, 2}},
                     {OpPart{b, a, kFirst, kSecond}},
                     {OpLaunch{KernelId{4}, kSecond, {block, scalar}}},
                     {OpWrite{PrimType::kI64, a, kFirst, {kSecond}}},
                     {OpCompare{ScalarReg{0}, 1, kSecond}},
                     {OpMoveBlock{a, b}},
                     {OpRelease{a}}};
  for (const HostOp& op : code) EXPECT_TRUE(recording.note(op, registers));
  recording.end({}, {});
  const ResidualPtr made = recording.take();
  ASSERT_TRUE(made);
  ASSERT_EQ(made->code.size(), code.size());
  const auto& alloc = std::get<OpAlloc>(made->code[0].op);
  EXPECT_EQ(alloc.bytes, number(6));
  EXPECT_EQ(alloc.use, OpAlloc::kZeroes);
  EXPECT_EQ(alloc.number, 2);
  const auto& part = std::get<OpPart>(made->code[1].op);
  EXPECT_EQ(part.offset, number(6));
  EXPECT_EQ(part.bytes, number(7));
  const auto& launch = std::get<OpLaunch>(made->code[2].op);
  EXPECT_EQ(launch.kernel, KernelId{4});
  EXPECT_EQ(launch.groups, number(7));
  EXPECT_EQ(launch.args[0].block, a);
  EXPECT_EQ(launch.args[1].scalar, number(6));
  const auto& write = std::get<OpWrite>(made->code[3].op);
  EXPECT_EQ(write.offset, number(6));
  EXPECT_THAT(write.values, ElementsAre(number(7)));
  EXPECT_EQ(std::get<OpCompare>(made->code[4].op).size, number(7));
}

TEST(Recording, EndsBeforeWhatIsNotKnownAndBeforeItIsLong) {
  const Registers registers = some_registers();
  const HostOp release{OpRelease{BlockReg{0}}};
  for (const HostOp& op : {HostOp{OpRead{}}, HostOp{OpCall{}}}) {
    Recording recording;
    EXPECT_TRUE(recording.note(release, registers));
    EXPECT_FALSE(recording.note(op, registers));
    EXPECT_EQ(recording.take(), nullptr);
  }
  Recording recording;
  for (size_t k = 0; k < Recording::kMostOps; ++k) EXPECT_TRUE(recording.note(release, registers));
  EXPECT_FALSE(recording.note(release, registers));
}

TEST(Residuals, AreWorthWhileWhenACallComesAgain) {
  const Code code, other;
  const auto none = std::shared_ptr<const Tuning>(), some = std::make_shared<const Tuning>();
  const std::vector<PrimValue> one = {PrimValue::i64(1)}, two = {PrimValue::i64(2)};
  Residuals residuals;
  EXPECT_FALSE(residuals.look(code, one, none).again);
  EXPECT_FALSE(residuals.look(other, one, none).again);
  EXPECT_TRUE(residuals.look(code, one, none).again);
  EXPECT_FALSE(residuals.look(code, two, none).again);
  EXPECT_FALSE(residuals.look(code, one, none).again);
  EXPECT_FALSE(residuals.look(code, one, some).again);
}

TEST(Residuals, AreKeptForTheLastSizes) {
  const Code code;
  const auto size = [](size_t k) { return std::vector{PrimValue::i64(static_cast<int64_t>(k))}; };
  Residuals residuals;
  for (size_t k = 0; k <= Residuals::kKept; ++k) {
    residuals.keep(code, size(k), nullptr, std::make_shared<const Residual>());
  }
  EXPECT_FALSE(residuals.look(code, size(0), nullptr).residual);
  for (size_t k = 1; k <= Residuals::kKept; ++k) {
    EXPECT_TRUE(residuals.look(code, size(k), nullptr).residual) << k;
  }
  EXPECT_FALSE(residuals.look(code, size(1), std::make_shared<const Tuning>()).residual);
}

}  // namespace
}  // namespace kenaz::host
