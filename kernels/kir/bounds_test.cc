#include "kernels/kir/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/kir/parse.h"

namespace kenaz::kir {
namespace {

using Launch = Bounds::Launch;

std::string text(const std::optional<Bounds::Range>& r) {
  return r ? std::to_string(r->least) + " to " + std::to_string(r->most) : "unknown";
}

/// Of v1 in a kernel of this body; v9 is an argument, v8 a spec of 64.
std::string bounds(const std::string& body, Launch launch = Launch::kAny,
                   const std::string& group = "32") {
  const auto kernel = parse("kernel \"k\" group " + group +
                            "\nblock v7 \"out\"\narg v9: i64 \"n\"\n"
                            "spec v8: i32 = 64i32 \"size\"\nmain {\n" +
                            body + "}\n");
  if (!kernel) return kernel.error().message;
  return text(Bounds(*kernel, launch).of(Value({PrimType::kI64, 1}, ValId{1})));
}

TEST(Bounds, OfLoops) {
  EXPECT_EQ(bounds("for v1: i64 = -3i64 to 5i64 step 2i64 {\n}\n"), "-3 to 4");
  EXPECT_EQ(bounds("for v2: i64 = 2i64 to 5i64 step 1i64 {\n"
                   "for v1: i64 = v2 to 9i64 step 1i64 {\n}\n}\n"),
            "2 to 8");
  EXPECT_EQ(bounds("for v2: i64 = 2i64 to 5i64 step 1i64 {\n"
                   "v3: i64 = add.i64(v2, 10i64)\n"
                   "for v1: i64 = 0i64 to v3 step 1i64 {\n}\n}\n"),
            "0 to 13");
  EXPECT_EQ(bounds("for v1: i64 = 0i64 to v9 step 1i64 {\n}\n"), "unknown");
  EXPECT_EQ(bounds("for v1: i64 = v9 to 4i64 step 1i64 {\n}\n"), "unknown");
}

TEST(Bounds, OfThreads) {
  EXPECT_EQ(bounds("v1: i32 = local\n"), "0 to 31");
  EXPECT_EQ(bounds("v1: i32 = local\n", Launch::kAny, "2 * v8"), "0 to 2147483646");
  EXPECT_EQ(bounds("v1: i32 = local\n", Launch::kUsual, "2 * v8"), "0 to 127");
  EXPECT_EQ(bounds("v1: i32 = group_size\n"), "1 to 32");
  EXPECT_EQ(bounds("v1: i64 = group\n"), "0 to 9223372036854775806");
}

TEST(Bounds, OfSums) {
  EXPECT_EQ(bounds("v2: i32 = local\nv3: i64 = convert.i32.i64(v2)\n"
                   "v4: i64 = sub.i64(5i64, v3)\nv1: i64 = add.i64(v4, v3)\n"),
            "-26 to 36");
  EXPECT_EQ(bounds("v2: i32 = local\nv1: i64 = add.i64(v9, 1i64)\n"), "unknown");
  EXPECT_EQ(bounds("v2: i64 = group\nv1: i64 = add.i64(v2, 2i64)\n"), "unknown") << "it may wrap";
  EXPECT_EQ(bounds("v2: i32 = local\nv1: i32 = add.i32(v2, 2147483647i32)\n"), "unknown");
}

TEST(Bounds, OfConversions) {
  EXPECT_EQ(bounds("v2: i32 = local\nv1: u8 = convert.i32.u8(v2)\n"), "0 to 31");
  EXPECT_EQ(bounds("v2: i64 = group\nv1: i32 = convert.i64.i32(v2)\n"), "unknown");
  EXPECT_EQ(bounds("v2: i32 = local\nv3: i32 = sub.i32(v2, 1i32)\n"
                   "v1: u32 = convert.i32.u32(v3)\n"),
            "unknown");
}

TEST(Bounds, OfSpecsInUsualLaunches) {
  const std::string body = "v1: i32 = add.i32(v8, 1i32)\n";
  EXPECT_EQ(bounds(body), "unknown");
  EXPECT_EQ(bounds(body, Launch::kUsual), "65 to 65");
}

}  // namespace
}  // namespace kenaz::kir
