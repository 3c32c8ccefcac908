#include "kernels/kir/access.h"

#include <gtest/gtest.h>

#include "kernels/kir/test_kernel.h"
#include "kernels/kir/validate.h"

namespace kenaz::kir {
namespace {

/// The accesses to the blocks v0, v1, v2 as "-", "r", "w" or "rw" each, separated by spaces.
std::string accesses(const std::string& main, const std::string& functions = "") {
  const Kernel k =
      kernel_of("kernel \"k\" group 8\nblock v0 \"a\"\nblock v1 \"b\"\n" +
                std::string("block v2 \"c\"\narg v3: i64 \"n\"\narg v4: bool \"t\"\n") +
                "shared s0: u64[4] \"s\"\nlocal l0: u64[4] \"l\"\n" + functions + "main {\n" +
                main + "\n}\n");
  const auto valid = validate(k);
  EXPECT_TRUE(valid.has_value()) << valid.error().text();
  const std::vector<Access> all = access_of(k);
  EXPECT_EQ(all.size(), 5U);
  EXPECT_EQ(all[3], Access::kNone);
  const char* const names[] = {"-", "r", "w", "rw"};
  std::string out;
  for (int i = 0; i < 3; i++)
    out += std::string(i > 0 ? " " : "") + names[static_cast<int>(all[i])];
  return out;
}

TEST(KirAccess, LoadsReadAndStoresWrite) {
  EXPECT_EQ(accesses(""), "- - -");
  EXPECT_EQ(accesses("v5: i32 = load v0[v3]\nstore v1[v3] = v5"), "r w -");
  EXPECT_EQ(accesses("v5: i32 = load v0[v3]\nstore v0[v3] = v5"), "rw - -");
  EXPECT_EQ(accesses("store s0[v3] = v0\nstore l0[v3] = v1"), "- - -");
}

TEST(KirAccess, Atomics) {
  EXPECT_EQ(accesses("v5: i32 = atomic.load.i32 v0[v3]\natomic.store.i32 v1[v3], v5\n"
                     "atomic.add.i32 v2[v3], v5"),
            "r w rw");
  EXPECT_EQ(accesses("v5: u64 = atomic.add.u64 s0[v3], 1u64"), "- - -");
}

TEST(KirAccess, InConditionsAndLoops) {
  EXPECT_EQ(accesses("if v4 {\nstore v0[v3] = v3\n} else {\nfor v5: i64 = 0i64 to v3 step 1i64 {\n"
                     "store v1[v5] = v5\n}\n}\n"
                     "while {\nv6: bool = load v2[v3]\n} test v6 {\n}"),
            "w w r");
}

TEST(KirAccess, AddressArithmetic) {
  const std::string offset = "v5: u64 = convert.i64.u64(v3)\nv6: u64 = add.u64(v5, v1)\n";
  EXPECT_EQ(accesses(offset + "store v6[v3] = v3"), "- w -");
  // What was loaded is an offset here.
  EXPECT_EQ(accesses("v5: u64 = load v0[v3]\nv6: u64 = add.u64(v1, v5)\nstore v6[v3] = v3"),
            "r w -");
  EXPECT_EQ(accesses("v5: i64 = convert.u64.i64(v2)\nv6: i64 = add.i64(v5, v3)\n"
                     "v7: u64 = bitcast.i64.u64(v6)\nstore v7[v3] = v3"),
            "- - w");
}

TEST(KirAccess, OneOfSeveralBlocks) {
  EXPECT_EQ(accesses("v5: u64 = select.u64(v4, v0, v2)\nstore v5[v3] = v3"), "w - w");
  EXPECT_EQ(accesses("v5: u64 = load v0[v3]\nv6: u64 = select.u64(v4, v1, v5)\nstore v6[v3] = v3"),
            "rw w w");
}

TEST(KirAccess, AnAddressThatIsNotKnownMayBeOfAnyBlock) {
  EXPECT_EQ(accesses("v5: u64 = load v0[v3]\nstore v5[v3] = v3"), "rw w w");
  EXPECT_EQ(accesses("v5: u64 = load s0[v3]\nv6: i32 = load v5[v3]"), "r r r");
  EXPECT_EQ(accesses("v5: u64 = load l0[v3]\nv6: i32 = load v5[v3]"), "r r r");
  EXPECT_EQ(accesses("v5: u64 = convert.i64.u64(v3)\nv6: i32 = load v5[v3]"), "r r r");
  EXPECT_EQ(accesses("v5: i32 = load 256u64[v3]"), "r r r");
}

TEST(KirAccess, TheChoiceIsNoAddress) {
  EXPECT_EQ(accesses("v5: bool = load v0[v3]\nv6: bool = lt.u64(v0, v2)\n"
                     "v7: bool = and.bool(v5, v6)\nv8: u64 = select.u64(v7, v1, v1)\n"
                     "store v8[v3] = v3"),
            "r w -");
}

TEST(KirAccess, Variables) {
  EXPECT_EQ(accesses("var x0: u64 = v0\nv5: u64 = x0\nstore v5[v3] = v3\nx0 = v1"), "w w -");
  // The address of the iteration before.
  EXPECT_EQ(accesses("var x0: u64 = v0\nvar x1: u64 = v1\n"
                     "for v5: i64 = 0i64 to v3 step 1i64 {\n"
                     "v6: u64 = x0\nstore v6[v5] = v5\nv7: u64 = x1\nx0 = v7\nx1 = v2\n}"),
            "w w w");
}

TEST(KirAccess, VectorsAndSubgroups) {
  EXPECT_EQ(accesses("v5: u64x2 = compose(v0, v2)\nv6: u64 = extract(v5, 1)\nstore v6[v3] = v3"),
            "w - w");
  EXPECT_EQ(accesses("v5: u64 = subgroup.broadcast v1, 0i32\nstore v5[v3] = v3"), "- w -");
}

TEST(KirAccess, ALoopOverAddresses) {
  EXPECT_EQ(accesses("v5: u64 = add.u64(v1, 64u64)\nfor v6: u64 = v1 to v5 step 4u64 {\n"
                     "store v6[0i32] = 1i32\n}"),
            "- w -");
}

TEST(KirAccess, Calls) {
  const std::string functions =
      "fun f0 \"put\" (v10: u64) {\nstore v10[v3] = v3\nreturn\n}\n"
      "fun f1 \"on\" (v11: u64) {\nv12: u64 = add.u64(v11, 8u64)\ncall f0(v12)\nreturn v12\n}\n"
      "fun f2 \"unused\" (v13: u64) {\nv14: i32 = load v13[v3]\nreturn\n}\n";
  EXPECT_EQ(accesses("call f0(v1)", functions), "- w -");
  EXPECT_EQ(accesses("call f0(v1)\ncall f0(v2)", functions), "- w w");
  EXPECT_EQ(accesses("v5: u64 = call f1(v2)\nv6: i32 = load v5[v3]", functions), "- - rw");
  EXPECT_EQ(accesses("", functions), "- - -");
}

}  // namespace
}  // namespace kenaz::kir
