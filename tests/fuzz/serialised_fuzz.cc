// Compiled programs as bytes, as a cache has them: whatever is read can be written, as the same
// bytes, and what is not fit to run is said to be so.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/program/serialise.h"
#include "protocol/base/check.h"
#include "server/host/check_program.h"

using namespace kenaz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto program = program::deserialise(bytes);
  if (!program) {
    CHECK(!program.error().message.empty());
    return 0;
  }
  const auto again = program::deserialise(program::serialise(*program));
  CHECK(again);
  const auto status = host::check_program(*program);
  CHECK(status || !status.error().message.empty());
  return 0;
}

#ifdef KENAZ_FUZZ
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

/// A bit of everything, to start from: bytes that nobody could read need not lie among the sources.
program::Program sample() {
  using namespace program;
  const Operand n = PrimValue::i64(5);
  Program p;
  p.name = "sample";
  p.types["[]i32"] = {"[]i32", TypeKind::kArray, {{PrimType::kI32, 1}}, 1, "i32"};
  p.types["s"] = {"s", TypeKind::kSum, {}, 0, "", {{"f", "i32"}}, {{"A", {"i32"}, {{0, 1}, {}}}}};
  p.kernels.push_back({"k", "void main() {}", {1, 2, 3}, "", {}, 256, 3});
  p.kernel_failures.push_back({{std::string("at "), 0}, {PrimType::kI64}, "-> #0  a.fut:1:1-2"});
  Entry e;
  e.name = "main";
  e.params = {{"xs", "[]i32", true, {ArrayLeaf{PrimType::kI32, {0}, {ScalarReg{0}}}}}};
  e.result_type = "[]i32";
  e.result = {ScalarLeaf{PrimType::kBool, ScalarReg{3}}};
  e.scalar_regs = 4;
  e.block_regs = 4;
  OpWhile loop{{{OpMove{{1}, n}}}, ScalarReg{1}, {{OpRelease{{2}}}}};
  OpIf branch{
      ScalarReg{2}, {{std::move(loop)}}, {{OpMoveBlock{{1}, {2}}}, {OpPart{{1}, {2}, n, n}}}};
  e.code = {{OpScalar{{0}, ScalarOp::kAdd, PrimType::kI64, PrimType::kI64, {n, ScalarReg{1}}}},
            {OpAlloc{{0}, n}},
            {OpLaunch{{0}, n, {{{Arg::kBlock, Arg::kWrite, n, {1}}}}}},
            {OpRead{{0}, PrimType::kF16, {1}, n}},
            {OpWrite{PrimType::kU8, {1}, n, {n, ScalarReg{2}}}},
            {std::move(branch)},
            {OpTune{{1}, 0}},
            {OpCompare{{1}, 0, n}},
            {OpAssert{ScalarReg{1}, {std::string("size "), n}, "-> #0  b.fut:1:1-2"}}};
  p.entries["main"] = std::move(e);
  p.constants = {{OpMove{{0}, n}}};
  p.tuning = {{"t", TuningClass::kThreshold, 7}};
  p.constant_scalar_regs = 1;
  return p;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned) {
  static const auto start = program::serialise(sample());
  if (size < 8 && start.size() <= max_size) {
    std::transform(start.begin(), start.end(), data, [](std::byte b) { return uint8_t(b); });
    size = start.size();
  }
  return LLVMFuzzerMutate(data, size, max_size);
}
#endif
