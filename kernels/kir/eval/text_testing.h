// For tests: kernels in text form that are launched one after the other, and what was wrong.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/kir/eval/testing.h"
#include "kernels/kir/parse.h"
#include "kernels/kir/validate.h"

namespace kenaz::kir {

/// What a kernel's text begins with. v0: 64 i32, 0, 1, ..; v1: an undefined block of as many; v2:
/// 16 zeros. v7 is the thread's number in all workgroups, v9 its element of v0.
inline constexpr const char* kTextHead = R"(kernel "k" group 8
block v0 "in"
block v1 "out"
block v2 "zeros"
shared s0: i32[16] "tile"
local l0: i32[4] "row"
main {
v3: i32 = local
v4: i64 = group
v5: i32 = convert.i64.i32(v4)
v6: i32 = mul.i32(v5, 8i32)
v7: i32 = add.i32(v6, v3)
v8: bool = eq.i32(v3, 0i32)
v9: i32 = load v0[v7] @1
)";

/// Of these seeds every second pair runs threads in lock step.
inline bool in_lock_step(uint64_t seed) { return seed % 4 >= 2; }

/// Runs `bodies` one after the other, each as a kernel of `groups` workgroups; `ordered`: with
/// barriers between them. The first fault, if there is any; what cannot be run fails the test.
inline std::optional<Fault> fault_of(const std::vector<std::string>& bodies, int64_t groups,
                                     bool ordered, uint64_t seed) {
  Memory memory;
  const std::vector<int32_t> in = iota(64), zeros(16);
  std::vector<PrimValue> args;
  const auto give = [&](uint64_t address) { args.push_back({PrimType::kU64, address}); };
  give(memory.allocate(std::as_bytes(std::span(in))));
  give(memory.allocate(in.size() * sizeof in[0]));
  give(memory.allocate(std::as_bytes(std::span(zeros))));
  RunOptions options;
  options.subgroup_size = 4;
  options.concurrent_groups = 1 + static_cast<int>(seed % 3);
  options.max_steps = 200'000;
  options.lock_step = in_lock_step(seed);
  options.overlaps = true;
  for (const std::string& body : bodies) {
    options.seed = seed == 0 ? 0 : seed++;
    auto kernel = parse(kTextHead + body + "}\n");
    const Status valid = kernel ? validate(*kernel) : tl::make_unexpected(kernel.error());
    EXPECT_TRUE(valid) << valid.error().text() << body;
    if (!valid) return std::nullopt;
    std::optional<Fault> fault;
    const auto ran = run(*kernel, memory, args, groups, options, nullptr, &fault);
    if (fault) return fault;
    EXPECT_TRUE(ran) << ran.error().text();
    if (ordered) memory.barrier();
  }
  return std::nullopt;
}

}  // namespace kenaz::kir
