#include "kernels/kir/needs.h"

#include <gtest/gtest.h>

#include "kernels/kir/test_kernel.h"
#include "kernels/kir/validate.h"

namespace kenaz::kir {
namespace {

Kernel kernel_needing(const std::string& main, const std::string& tables = "") {
  Kernel k = kernel_of("kernel \"k\" group 64\nblock v0 \"a\"\narg v1: i32 \"n\"\n" + tables +
                       "\nmain {\n" + main + "\n}\n");
  const auto valid = validate(k);
  EXPECT_TRUE(valid.has_value()) << valid.error().text();
  return k;
}
/// A target that has all.
program::Target everything() {
  program::Target t;
  t.subgroup_size = 32;
  t.subgroup_arithmetic = t.f16 = t.f64 = t.i64_atomics = t.shared_i64_atomics = true;
  t.f32_atomic_add = t.f64_atomic_add = true;
  t.shared_f32_atomic_add = t.shared_f64_atomic_add = true;
  t.forward_progress = true;
  return t;
}
/// The kernel needs what `have` stands for, and nothing else that `everything` has.
template <class Have>
void expect_needs(const Kernel& k, Have&& have, const std::string& missing) {
  program::Target t = everything();
  EXPECT_EQ(unmet(needs_of(k), t), std::nullopt);
  have(t);
  EXPECT_EQ(unmet(needs_of(k), t), missing);
}

TEST(KirNeeds, PlainKernelsRunAnywhere) {
  const Kernel k = kernel_needing(
      "v2: i32 = local\nv3: i32 = load v0[v2]\nbarrier\n"
      "atomic.add.i32 v0[v2], v3\nv4: i64 = group");
  Needs plain;
  plain.group_size = 64;
  plain.shared_bytes = 16;  // of the barrier
  EXPECT_EQ(needs_of(k), plain);
  EXPECT_EQ(unmet(needs_of(k), program::Target{}), std::nullopt);
}

TEST(KirNeeds, Subgroups) {
  const auto none = [](program::Target& t) { t.subgroup_size = 1; };
  for (const char* fact : {"lane", "subgroup", "subgroups", "subgroup_size"}) {
    const Kernel k = kernel_needing(std::string("v2: i32 = ") + fact);
    EXPECT_TRUE(needs_of(k).full_subgroups);
    expect_needs(k, none, "subgroups");
  }
  const auto plain = [](program::Target& t) { t.subgroup_arithmetic = false; };
  const Kernel sum = kernel_needing("v2: i32 = subgroup.inclusive.add v1");
  EXPECT_TRUE(needs_of(sum).subgroup_arithmetic);
  EXPECT_FALSE(needs_of(sum).shuffle || needs_of(sum).vote);
  expect_needs(sum, none, "subgroups");
  expect_needs(sum, plain, "subgroup arithmetic");
  const Kernel shuffle = kernel_needing("v2: i32 = subgroup.broadcast v1, 0i32");
  EXPECT_TRUE(needs_of(shuffle).shuffle);
  EXPECT_FALSE(needs_of(shuffle).subgroup_arithmetic || needs_of(shuffle).vote);
  expect_needs(shuffle, plain, "subgroup shuffles and votes");
  const Kernel vote = kernel_needing("v2: i32 = subgroup.count true");
  EXPECT_TRUE(needs_of(vote).vote);
  EXPECT_FALSE(needs_of(vote).subgroup_arithmetic || needs_of(vote).shuffle);
  expect_needs(vote, plain, "subgroup shuffles and votes");
}

TEST(KirNeeds, SubgroupsMustBeFull) {
  const Kernel k = kernel_needing("v2: i32 = lane");
  program::Target t = everything();
  t.subgroup_size = 48;
  EXPECT_EQ(unmet(needs_of(k), t),
            "full subgroups in workgroups of 64 threads (subgroups have 48)");
}

TEST(KirNeeds, Floats) {
  const auto no_f16 = [](program::Target& t) { t.f16 = false; };
  const auto no_f64 = [](program::Target& t) { t.f64 = false; };
  expect_needs(kernel_needing("v2: f64 = convert.i32.f64(v1)"), no_f64, "64-bit floats");
  expect_needs(kernel_needing("store v0[v1] = 1.0f64"), no_f64, "64-bit floats");
  expect_needs(kernel_needing("var x0: f64"), no_f64, "64-bit floats");
  expect_needs(kernel_needing("", "arg v2: f64 \"x\""), no_f64, "64-bit floats");
  expect_needs(kernel_needing("", "shared s0: f64[2] \"x\""), no_f64, "64-bit floats");
  expect_needs(kernel_needing("", "local l0: f64[2] \"x\""), no_f64, "64-bit floats");
  expect_needs(kernel_needing("", "fun f0 \"f\" (v2: f64) {\nreturn\n}"), no_f64, "64-bit floats");
  expect_needs(kernel_needing("v2: f16x2 = load v0[v1]"), no_f16, "16-bit floats");
  EXPECT_FALSE(needs_of(kernel_needing("v2: f16x2 = load v0[v1]")).f64);
}

TEST(KirNeeds, SmallIntegersOnlyWhereTheyAreComputedWith) {
  const Kernel moved = kernel_needing("v2: i8 = load v0[v1]\nstore v0[0i32] = v2");
  EXPECT_FALSE(needs_of(moved).int8);
  const Kernel added = kernel_needing("v2: i8 = load v0[v1]\nv3: i8 = add.i8(v2, v2)");
  EXPECT_TRUE(needs_of(added).int8);
  EXPECT_FALSE(needs_of(added).int16);
  EXPECT_TRUE(needs_of(kernel_needing("v2: u16 = convert.i32.u16(v1)")).int16);
  EXPECT_FALSE(needs_of(kernel_needing("v2: bool = not.bool(true)")).int8);
}

TEST(KirNeeds, Atomics) {
  const auto device = [](program::Target& t) { t.i64_atomics = false; };
  const auto shared = [](program::Target& t) { t.shared_i64_atomics = false; };
  expect_needs(kernel_needing("atomic.add.i64 v0[v1], 1i64"), device, "64-bit atomics");
  const Kernel k = kernel_needing("atomic.max.u64 s0[v1], 1u64", "shared s0: u64[2] \"x\"");
  expect_needs(k, shared, "64-bit atomics in shared memory");
  EXPECT_FALSE(needs_of(k).i64_atomics);
  EXPECT_FALSE(needs_of(kernel_needing("atomic.add.u32 v0[v1], 1u32")).i64_atomics);
}

TEST(KirNeeds, AtomicSumsOfFloats) {
  const Kernel f32 = kernel_needing("atomic.add.f32 v0[v1], 1f32");
  expect_needs(
      f32, [](program::Target& t) { t.f32_atomic_add = false; }, "atomic sums of f32");
  EXPECT_FALSE(needs_of(f32).f64_atomic_add || needs_of(f32).shared_f32_atomic_add);
  const Kernel f64 = kernel_needing("atomic.add.f64 v0[v1], 1f64");
  expect_needs(
      f64, [](program::Target& t) { t.f64_atomic_add = false; }, "atomic sums of f64");
  EXPECT_FALSE(needs_of(f64).f32_atomic_add || needs_of(f64).i64_atomics);
  const char* in_shared = "atomic sums of floats in shared memory";
  expect_needs(
      kernel_needing("atomic.add.f32 s0[v1], 1f32", "shared s0: f32[2] \"x\""),
      [](program::Target& t) { t.shared_f32_atomic_add = false; }, in_shared);
  expect_needs(
      kernel_needing("atomic.add.f64 s0[v1], 1f64", "shared s0: f64[2] \"x\""),
      [](program::Target& t) { t.shared_f64_atomic_add = false; }, in_shared);
}

TEST(KirNeeds, Progress) {
  Kernel k = kernel_needing("");
  k.needs_progress = true;
  expect_needs(
      k, [](program::Target& t) { t.forward_progress = false; }, "forward progress of workgroups");
}

TEST(KirNeeds, AWordForWorkgroupsWhoseThreadsMeet) {
  EXPECT_EQ(needs_of(kernel_needing("")).shared_bytes, 0);
  EXPECT_EQ(needs_of(kernel_needing("barrier")).shared_bytes, 16);
  EXPECT_EQ(needs_of(kernel_needing("", "shared s0: f32x4[3] \"v\"")).shared_bytes, 48);
  EXPECT_EQ(needs_of(kernel_needing("v2: i32 = subgroup.count true", "shared s0: u8[3] \"b\""))
                .shared_bytes,
            32);
}

TEST(KirNeeds, SizesDependOnSpecs) {
  Kernel k = kernel_needing("",
                            "spec v2: i32 = 100i32 \"items\"\nshared s0: f32[10 * v2] \"a\"\n"
                            "shared s1: u8[3] \"b\"");
  k.group_size = {2, 0};
  EXPECT_EQ(needs_of(k).shared_bytes, 4000 + 16);
  EXPECT_EQ(needs_of(k).group_size, 200);
  const PrimValue specs[] = {PrimValue::i32(1)};
  EXPECT_EQ(needs_of(k, specs).shared_bytes, 48 + 16);
  EXPECT_EQ(needs_of(k, specs).group_size, 2);
  program::Target t;
  t.max_group_size = 199;
  EXPECT_EQ(unmet(needs_of(k), t), "workgroups of 200 threads (it has 199)");
  t.max_group_size = 200;
  t.shared_bytes = 4015;
  EXPECT_EQ(unmet(needs_of(k), t), "4016 bytes of shared memory (it has 4015)");
  t.shared_bytes = 4016;
  EXPECT_EQ(unmet(needs_of(k), t), std::nullopt);
}

}  // namespace
}  // namespace kenaz::kir
