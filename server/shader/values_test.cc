// What users may write for the bytes of a buffer.
#include "server/shader/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace kenaz::shader {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
std::vector<T> values(std::string_view text, const Addresses& addresses = {}) {
  const auto bytes = bytes_of(text, addresses);
  EXPECT_TRUE(bytes) << bytes.error().message;
  std::vector<T> out(bytes ? bytes->data.size() / sizeof(T) : 0);
  if (!out.empty()) std::memcpy(out.data(), bytes->data.data(), out.size() * sizeof(T));
  return out;
}

std::string refusal(std::string_view text) {
  const auto bytes = bytes_of(text);
  return bytes ? "it was read" : bytes.error().message;
}

TEST(ShaderValues, AreListed) {
  EXPECT_THAT(values<int16_t>("i16:-32768,32767,0xffff"), ElementsAre(-32768, 32767, -1));
  EXPECT_THAT(values<uint64_t>("u64:18446744073709551615,&x", {{"x", 77}}),
              ElementsAre(UINT64_MAX, 77));
  EXPECT_THAT(values<double>("f64:-1.5,inf,1e3"), ElementsAre(-1.5, INFINITY, 1000));
  EXPECT_EQ(bytes_of("f64:1")->align, 8U);
}

TEST(ShaderValues, AreCountedOrRandom) {
  EXPECT_THAT(values<uint8_t>("iota:u8:3"), ElementsAre(0, 1, 2));
  EXPECT_THAT(values<float>("iota:f32:2"), ElementsAre(0, 1));
  EXPECT_THAT(values<uint32_t>("zeros:8"), ElementsAre(0, 0));
  EXPECT_FALSE(bytes_of("undefined:8")->defined);
  EXPECT_EQ(values<int32_t>("random:i32:100:5"), values<int32_t>("random:i32:100:5"));
  EXPECT_NE(values<int32_t>("random:i32:100:5"), values<int32_t>("random:i32:100:6"));
  for (const float x : values<float>("random:f32:1000")) {
    EXPECT_GE(x, 0);
    EXPECT_LE(x, 1);
  }
}

TEST(ShaderValues, SayWhyTheyAreRefused) {
  EXPECT_THAT(refusal("u8:256"), HasSubstr("256 is no u8"));
  EXPECT_THAT(refusal("u32:-1"), HasSubstr("-1 is no u32"));
  EXPECT_THAT(refusal("i8:-129"), HasSubstr("-129 is no i8"));
  EXPECT_THAT(refusal("f32:1.0x"), HasSubstr("1.0x is no number"));
  EXPECT_THAT(refusal("u32:&x"), HasSubstr("there is no buffer &x"));
  EXPECT_THAT(refusal("iota:bool:3"), HasSubstr("bool is no type"));
  EXPECT_THAT(refusal("iota:u64:9999999999"), HasSubstr("no number from 0 to 536870912"));
  EXPECT_THAT(refusal("file:"), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace kenaz::shader
