#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <random>

#include "protocol/data/binary_format.h"
#include "protocol/data/compare.h"
#include "protocol/data/text_format.h"
#include "protocol/data/values.h"

namespace kenaz::data {
namespace {

Value read_one(std::string_view text, std::optional<LeafType> expected = {}) {
  ByteSource source(text);
  auto v = read_value(source, expected);
  EXPECT_TRUE(v) << text << ": " << (v ? "" : v.error().text());
  return v && *v ? **v : Value{};
}

std::string error_of(std::string_view text, std::optional<LeafType> expected = {}) {
  ByteSource source(text);
  auto v = read_value(source, expected);
  return v ? "no error: " + to_text(**v) : v.error().text();
}

TEST(TextFormat, Scalars) {
  EXPECT_EQ(to_text(read_one("42")), "42i32");
  EXPECT_EQ(to_text(read_one("-0x10i8")), "-16i8");
  EXPECT_EQ(to_text(read_one("0b1_01u16")), "5u16");
  EXPECT_EQ(to_text(read_one("0xffffffffi32")), "-1i32");
  EXPECT_EQ(to_text(read_one("18446744073709551615u64")), "18446744073709551615u64");
  EXPECT_EQ(to_text(read_one("-9223372036854775808i64")), "-9223372036854775808i64");
  EXPECT_EQ(to_text(read_one("1.5")), "1.5f64");
  EXPECT_EQ(to_text(read_one("0.1f32")), "0.100000001f32");
  EXPECT_EQ(to_text(read_one("0x1.8p3f32")), "12f32");
  EXPECT_EQ(to_text(read_one("1e-3f64")), "0.001f64");
  EXPECT_EQ(to_text(read_one("1f16")), "1f16");
  EXPECT_EQ(to_text(read_one("-f32.inf")), "-f32.inf");
  EXPECT_EQ(to_text(read_one("f16.nan")), "f16.nan");
  EXPECT_EQ(to_text(read_one(" -- a comment\n true")), "true");
  EXPECT_EQ(to_text(read_one("3", LeafType{PrimType::kF32, 0})), "3f32");
}

TEST(TextFormat, Arrays) {
  EXPECT_EQ(to_text(read_one("[[1, 2,],[3,4]]")), "[[1i32, 2i32], [3i32, 4i32]]");
  EXPECT_EQ(to_text(read_one("[1u8, 2]")), "[1u8, 2u8]");
  EXPECT_EQ(to_text(read_one("empty([0][2]f32)")), "empty([0][2]f32)");
  EXPECT_EQ(to_text(read_one("[empty([0]i8),empty([0]i8)]")), "empty([2][0]i8)");
  EXPECT_EQ(to_text(read_one("[]", LeafType{PrimType::kI64, 2})), "empty([0][0]i64)");
  EXPECT_EQ(to_text(read_one("[[],[]]", LeafType{PrimType::kI64, 2})), "empty([2][0]i64)");
  EXPECT_EQ(to_text(read_one("\"a\\n\\x41\"")), "[97u8, 10u8, 65u8]");
  EXPECT_EQ(to_text(read_one("[\"ab\", \"cd\"]")), "[[97u8, 98u8], [99u8, 100u8]]");
}

TEST(TextFormat, Errors) {
  EXPECT_EQ(error_of("[[1],[1,2]]"),
            "line 1, column 6: irregular array: a row of 2 elements after one of 1");
  EXPECT_EQ(error_of("[1,\n [2]]"),
            "line 2, column 3: irregular array: scalars and arrays, or arrays of different ranks, "
            "mixed");
  EXPECT_EQ(error_of("3000000000"), "line 1, column 1: 3000000000 does not fit in i32");
  EXPECT_EQ(error_of("18446744073709551616u64"),
            "line 1, column 1: 18446744073709551616u64 does not fit in u64");
  EXPECT_EQ(to_text(read_one("[255i8, 32767i8]")), "[-1i8, -1i8]");
  EXPECT_EQ(error_of("12abc"), "line 1, column 1: \"12abc\" is not a value");
  EXPECT_EQ(error_of("1i32", LeafType{PrimType::kI64, 0}),
            "line 1, column 1: expected a value of type i64, but found 1i32");
  EXPECT_EQ(error_of("[1 2]"), "line 1, column 4: expected \",\" or \"]\" in an array");
  EXPECT_EQ(error_of("[]"), "line 1, column 1: the type of [] is not known; write empty([0]i32)");
  EXPECT_EQ(error_of("empty([3]i32)"), "line 1, column 1: empty needs a dimension that is 0");
  EXPECT_EQ(error_of("[1]", LeafType{PrimType::kI32, 2}),
            "line 1, column 1: expected an array of 2 dimensions, but found 1");
  EXPECT_EQ(error_of(std::string(100000, '[')), "line 1, column 128: arrays nested too deeply");
  EXPECT_EQ(error_of("0." + std::string(5000, '1')),
            "line 1, column 1: a word of more than 4096 characters is no value");
}

TEST(Values, MixedSequence) {
  std::string bytes = " 1 ";
  append_binary(read_one("[1i8, 2i8]"), bytes);
  bytes += "\n[true] }";
  ByteSource source(bytes);
  std::string all;
  while (true) {
    auto v = read_value(source, {}, '}');
    ASSERT_TRUE(v) << v.error().text();
    if (!*v) break;
    all += to_text(**v) + ";";
  }
  EXPECT_EQ(all, "1i32;[1i8, 2i8];[true];");
  EXPECT_EQ(source.get(), '}');
}

TEST(BinaryFormat, HeadersAreNotBelieved) {
  std::string huge = binary_header(PrimType::kI32, std::vector<int64_t>{int64_t{1} << 40});
  EXPECT_THAT(error_of(huge), ::testing::HasSubstr("the header promises 4398046511104 bytes"));
  std::string overflow =
      binary_header(PrimType::kI32, std::vector<int64_t>{int64_t{1} << 40, int64_t{1} << 40});
  EXPECT_NE(error_of(overflow).find("is too large"), std::string::npos);
  EXPECT_NE(error_of(std::string("b\x02\0 i99xxxx", 11)).find("unknown element type"),
            std::string::npos);
  EXPECT_NE(error_of(std::string("b\x02\0bool", 7)).find("ends inside"), std::string::npos);
  std::string odd = binary_header(PrimType::kBool, {}) + '\7';
  EXPECT_NE(error_of(odd).find("neither 0 nor 1"), std::string::npos);
}

TEST(BinaryFormat, FilesAreReadInChunks) {
  std::string path = ::testing::TempDir() + "kenaz_data_test_" + std::to_string(getpid());
  Value big{PrimType::kI64, {3, 50000}, {}};
  for (int64_t i = 0; i < 150000; ++i) append(big, PrimValue::i64(i * 7919));
  std::string text = to_text(big);
  std::FILE* f = std::fopen(path.c_str(), "wb");
  ASSERT_NE(f, nullptr);
  ASSERT_TRUE(write_binary(f, big));
  std::fwrite(text.data(), 1, text.size(), f);
  ASSERT_TRUE(write_binary(f, big));
  std::fclose(f);
  auto source = ByteSource::open(path);
  ASSERT_TRUE(source);
  auto values = read_values(*source);
  std::remove(path.c_str());
  ASSERT_TRUE(values) << values.error().text();
  ASSERT_EQ(values->size(), 3u);
  for (const auto& v : *values) EXPECT_TRUE(v == big);
  EXPECT_FALSE(ByteSource::open(path));
  EXPECT_FALSE(ByteSource::open("/"));
}

TEST(Compare, Tolerance) {
  const auto differ = [](const char* e, const char* g) {
    return mismatch(read_one(e), read_one(g)).value_or("equal");
  };
  EXPECT_EQ(differ("[[1],[2]]", "[[1],[3]]"), "element [1][0]: expected 2i32, got 3i32");
  EXPECT_EQ(differ("1i32", "1i64"), "expected i32, got i64");
  EXPECT_EQ(differ("empty([0][2]i32)", "empty([0][3]i32)"), "expected [0][2]i32, got [0][3]i32");
  EXPECT_EQ(differ("[1000f32, 0f32]", "[1000f32, 1.9f32]"), "equal");  // 2.0 by the largest
  EXPECT_EQ(differ("[-1000f32, 0f32]", "[-1000f32, 1.9f32]"),
            "element [1]: expected 0f32, got 1.89999998f32");
  EXPECT_EQ(differ("[f64.nan, f64.inf]", "[-f64.nan, f64.inf]"), "equal");
  EXPECT_EQ(differ("f64.inf", "-f64.inf"), "expected f64.inf, got -f64.inf");
  EXPECT_EQ(differ("f64.inf", "1.0"), "expected f64.inf, got 1f64");
  EXPECT_EQ(differ("[1,2,3]", "[0,2,5]"),
            "element [0]: expected 1i32, got 0i32 (2 of 3 elements differ; greatest error 2)");
  EXPECT_EQ(differ("[1.0, f64.nan, 3.0]", "[1.5, 2.0, 3.25]"),
            "element [0]: expected 1f64, got 1.5f64 (3 of 3 elements differ; greatest error 0.5)");
  EXPECT_EQ(differ("[true, true]", "[false, false]"),
            "element [0]: expected true, got false (2 of 2 elements differ)");
  EXPECT_FALSE(mismatch(read_one("[1.0, 2.0]"), read_one("[1.5, 2.0]"), 0.25));
  EXPECT_TRUE(mismatch(read_one("[1.0, 2.0]"), read_one("[1.001, 2.0]"), 0));
}

/// Random edits of good input: whatever comes, an answer comes, and what was accepted survives a
/// trip through both forms.
TEST(Fuzz, ReadersAnswerEverything) {
  std::vector<std::string> seeds = {"[[1, 2],[3,4]]",
                                    "empty([0][2]f32)",
                                    "\"a\\x41b\" 0x1.8p-3f32",
                                    "[f32.nan, -f32.inf, 1e5f32]",
                                    "-- c\n[true,false] -12_3i64",
                                    "[\"ab\",\"cd\"]"};
  std::string binary;
  append_binary(read_one("[[1i16,2i16],[3i16,4i16]]"), binary);
  append_binary(read_one("true"), binary);
  seeds.push_back(binary);
  std::mt19937 random(1);
  for (int round = 0; round < 40000; ++round) {
    std::string s = seeds[random() % seeds.size()];
    for (int edits = static_cast<int>(random() % 4); edits >= 0 && !s.empty(); --edits) {
      const size_t at = random() % s.size();
      switch (random() % 4) {
        case 0: s[at] = static_cast<char>(random()); break;
        case 1: s.erase(at, 1 + random() % 3); break;
        case 2: s.insert(at, 1, "[](),-\"\\be0x.i3"[random() % 15]); break;
        default: s.insert(at, s.substr(random() % s.size(), random() % 8)); break;
      }
    }
    const auto values = read_values(s);
    if (!values) continue;
    std::string text, bytes;
    for (const auto& v : *values) {
      text += to_text(v) + " ";
      append_binary(v, bytes);
    }
    const auto from_text = read_values(text);
    const auto from_bytes = read_values(bytes);
    ASSERT_TRUE(from_text) << text << from_text.error().text();
    ASSERT_TRUE(from_bytes);
    ASSERT_FALSE(mismatch(*values, *from_text)) << text;
    ASSERT_TRUE(*values == *from_bytes);
  }
}

}  // namespace
}  // namespace kenaz::data
