// Kernels in which many threads access one place, or places side by side, and nothing is wrong.
#include "kernels/kir/eval/text_testing.h"

namespace kenaz::kir {
namespace {

struct Right {
  const char* name;
  std::vector<std::string> bodies;  // launches that nothing orders
  int64_t groups = 3;
};

const std::vector<Right>& right_kernels() {
  static const std::vector<Right> kKernels = {
      {"all read one place of device memory",
       {"v10: i32 = load v0[0i32]\nv11: i32 = load v0[0i32]\nstore v1[v7] = v10\n"}},
      {"all read one place of shared memory", {R"(
if v8 {
store s0[0i32] = v9
}
barrier
v10: i32 = load s0[0i32]
store v1[v7] = v10
)"}},
      {"bytes of one word", {"store v1[v7] = 1u8\n"}},
      {"disjoint places, backwards", {"v10: i32 = sub.i32(63i32, v7)\nstore v1[v10] = v9\n"}},
      {"workgroups take turns along an array", {R"(
v10: i64 = groups
v11: i32 = convert.i64.i32(v10)
v12: i32 = mul.i32(v3, v11)
v13: i32 = add.i32(v12, v5)
store v1[v13] = v9
)"}},
      {"even threads here, odd threads there", {R"(
v10: i32 = and.i32(v3, 1i32)
v11: bool = eq.i32(v10, 0i32)
if v11 {
store v1[v7] = v9
} else {
v12: i32 = xor.i32(v7, 0i32)
store v1[v12] = 3i32
}
)"}},
      {"atomics on one place", {R"(
atomic.add.i32 v2[0i32], v9
atomic.max.i32 v2[0i32], v9
v10: i32 = atomic.load.i32 v2[0i32]
atomic.store.i32 v2[0i32], v10
)"}},
      {"a counter that all read behind a barrier", {R"(
if v8 {
atomic.store.i32 s0[0i32], 0i32
}
barrier
atomic.add.i32 s0[0i32], 1i32
barrier
v10: i32 = load s0[0i32]
store v1[v7] = v10
)"}},
      {"the winner of a compare and swap writes", {R"(
v10: i32 = atomic.cas.i32 v2[0i32], 0i32, 1i32
v11: bool = eq.i32(v10, 0i32)
if v11 {
store v1[0i32] = v7
}
)"}},
      {"a ticket for each thread", {R"(
v10: i32 = atomic.add.i32 v2[0i32], 1i32
store v1[v10] = v7
)"}},
      {"two halves of a tile, one barrier for each step", {R"(
for v10: i32 = 0i32 to 4i32 step 1i32 uniform {
v11: i32 = and.i32(v10, 1i32)
v12: i32 = mul.i32(v11, 8i32)
v13: i32 = add.i32(v12, v3)
store s0[v13] = v9
barrier
v14: i32 = sub.i32(7i32, v3)
v15: i32 = add.i32(v12, v14)
v16: i32 = load s0[v15]
}
)"}},
      {"one thread writes and reads its own place", {R"(
store v1[v7] = v9
v10: i32 = load v1[v7]
v11: i32 = add.i32(v10, 1i32)
store v1[v7] = v11
)"}},
      {"all read, one writes, all read", {R"(
store s0[v3] = v9
barrier
v10: i32 = load s0[3i32]
barrier
if v8 {
store s0[3i32] = v10
}
barrier
v11: i32 = load s0[3i32]
)"}},
      {"pairs swap", {R"(
store s0[v3] = v9
barrier
v10: bool = lt.i32(v3, 4i32)
if v10 {
v11: i32 = sub.i32(7i32, v3)
v12: i32 = load s0[v3]
v13: i32 = load s0[v11]
store s0[v3] = v13
store s0[v11] = v12
}
)"}},
      {"one lane stores for its subgroup", {R"(
v10: i32 = subgroup.reduce.add v9
v11: i32 = lane
v12: bool = eq.i32(v11, 0i32)
v13: i32 = subgroup
v14: i32 = mul.i32(v5, 2i32)
v15: i32 = add.i32(v14, v13)
if v12 {
store v1[v15] = v10
}
)"}},
      {"a message by fences and relaxed atomics", {R"(
if v8 {
v10: bool = eq.i32(v5, 0i32)
if v10 {
store.coherent v1[0i32] = 7i32
fence.device
atomic.store.i32 v2[0i32], 1i32
} else {
v11: i32 = atomic.load.i32 v2[0i32]
fence.device
v12: bool = eq.i32(v11, 1i32)
if v12 {
v13: i32 = load.coherent v1[0i32]
}
}
}
)"}},
      {"a lock guards a place", {R"(
if v8 {
var x0: bool = false
while {
v10: bool = x0
v11: bool = not.bool(v10)
} test v11 {
v12: i32 = atomic.cas.i32.acquire_release v2[0i32], 0i32, 1i32
v13: bool = eq.i32(v12, 0i32)
if v13 {
v14: i32 = load.coherent v2[1i32]
v15: i32 = add.i32(v14, 1i32)
store.coherent v2[1i32] = v15
atomic.store.i32.release v2[0i32], 0i32
x0 = true
}
}
}
)"}},
      {"looking back at the workgroup before", {R"(
if v8 {
v10: i32 = atomic.add.i32 v2[0i32], 1i32
v11: i32 = add.i32(v10, 1i32)
var x0: i32 = v9
v12: bool = lt.i32(0i32, v10)
if v12 {
while {
v13: i32 = atomic.load.i32.acquire v2[v10]
v14: bool = eq.i32(v13, 0i32)
} test v14 {
}
v15: i32 = load.coherent v1[v10]
x0 = v15
}
v16: i32 = x0
store.coherent v1[v11] = v16
atomic.store.i32.release v2[v11], 1i32
}
)"}},
      {"threads that have stopped meet the others", {R"(
store s0[v3] = v9
if v8 {
stop
}
barrier
v10: i32 = sub.i32(7i32, v3)
v11: i32 = load s0[v10]
barrier
store s0[v3] = v11
)"}},
      {"undefined values are copied", {R"(
v10: i32 = load s0[v3]
v11: i32 = load v1[v7]
v12: i32 = add.i32(v10, v11)
store v1[v7] = v12
)"}},
      {"launches read the same, and write side by side", {"store v1[v7] = v9\n", R"(
v10: i32 = load v0[3i32]
v11: i32 = add.i32(v7, 24i32)
store v1[v11] = v10
)"}},
      {"launches meet in atomics",
       {"atomic.add.i32 v2[0i32], v9\n", "atomic.add.i32 v2[0i32], v9\n"}},
  };
  return kKernels;
}

TEST(KirLooksRacy, NothingIsReported) {
  ASSERT_GE(right_kernels().size(), 20u);
  for (const Right& r : right_kernels()) {
    for (uint64_t seed = 0; seed < 24; ++seed) {
      // Who spins lets the others go on in a random order only.
      const auto fault = fault_of(r.bodies, r.groups, false, seed + 1);
      EXPECT_FALSE(fault) << r.name << ", seed " << seed << ": " << fault->text;
    }
  }
}

}  // namespace
}  // namespace kenaz::kir
