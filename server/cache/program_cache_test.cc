#include "server/cache/program_cache.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "kernels/compiler.h"
#include "kernels/program/serialise.h"

namespace kenaz::cache {
namespace {

class ProgramCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/kenaz_programs_test_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = std::string(name) + "/programs";
    RecordingReader sources(read_);
    ASSERT_TRUE(sources("a.fut"));
    ASSERT_TRUE(sources("b.fut"));
    ASSERT_FALSE(sources("kenaz/sort.fut"));
    CachedProgram made;
    made.program.name = "made";
    made.warnings = {"careful"};
    ProgramCache(folder_, "one").keep("a.fut", sources, made);
  }
  void TearDown() override {
    std::filesystem::remove_all(std::filesystem::path(folder_).parent_path());
  }
  bool found(const std::string& path, const std::string& compiler) {
    const auto program = ProgramCache(folder_, compiler).find(path, read_);
    if (program) {
      EXPECT_EQ(program->program.name, "made");
      EXPECT_EQ(program->warnings, std::vector<std::string>{"careful"});
    }
    return program.has_value();
  }

  static constexpr const char* kUnreadable = "it cannot be read";
  std::map<std::string, std::string> files_ = {{"a.fut", "import \"b\""}, {"b.fut", "def x = 1"}};
  Read read_ = [this](const std::string& path) -> Result<std::string> {
    if (!files_.contains(path)) return fail(ErrorKind::kNoSuchFile, "no such file");
    if (files_[path] == kUnreadable) return bad_request(kUnreadable);
    return files_[path];
  };
  std::string folder_;
};

TEST_F(ProgramCacheTest, FindsWhatStillFits) {
  EXPECT_TRUE(found("a.fut", "one"));
  EXPECT_FALSE(found("b.fut", "one"));
  EXPECT_FALSE(found("a.fut", "two"));
  EXPECT_FALSE(found("a.fut", ""));
  files_["kenaz/sort.fut"] = "def y = 1";
  EXPECT_FALSE(found("a.fut", "one"));
  files_["kenaz/sort.fut"] = kUnreadable;
  EXPECT_FALSE(found("a.fut", "one"));
  files_.erase("kenaz/sort.fut");
  EXPECT_TRUE(found("a.fut", "one"));
  files_["b.fut"] = "def x = 2";
  EXPECT_FALSE(found("a.fut", "one"));
  files_.erase("b.fut");
  EXPECT_FALSE(found("a.fut", "one"));
}

TEST_F(ProgramCacheTest, DamageIsAsGoodAsAbsence) {
  // A real program, so that there is something to get wrong.
  auto program = compiler::compile(
      "c.fut", {[](const std::string&) -> Result<std::string> {
        return std::string("entry f [n] (xs: [n]f32) = reduce (+) 0 (scan (*) 1 xs)");
      }});
  ASSERT_TRUE(program) << program.error().text();
  RecordingReader sources(read_);
  ASSERT_TRUE(sources("b.fut"));
  const auto expected = program::serialise(*program);
  const ProgramCache cache(folder_, "one");
  cache.keep("c.fut", sources, {std::move(*program), {}});
  std::filesystem::path file;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (file.empty() || entry.file_size() > file_size(file)) file = entry.path();
  }
  std::string bytes;
  {
    std::ifstream in(file, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto write = [&](std::string_view text) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  };
  constexpr size_t kDense = 300;  // the header, the key and more
  const size_t step = bytes.size() / 500 + 1;
  for (size_t i = 0; i < bytes.size(); i += i < kDense ? 1 : step) {
    for (const int flip : {1, 4, 128, 255}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      write(damaged);
      EXPECT_FALSE(cache.find("c.fut", read_)) << i;
    }
    write(std::string_view(bytes).substr(0, i));
    EXPECT_FALSE(cache.find("c.fut", read_)) << i;
  }
  write(bytes + "x");
  EXPECT_FALSE(cache.find("c.fut", read_));
  // Sizes made up to agree with a file that is too short for its key.
  std::string small = bytes.substr(0, 32);
  for (uint64_t k = 0; k < 200; ++k) {
    const uint64_t wrapped = uint64_t{0} - k;
    std::memcpy(small.data() + 16, &wrapped, sizeof wrapped);
    write(small);
    EXPECT_FALSE(cache.find("c.fut", read_)) << k;
  }
  write(bytes);
  const auto again = cache.find("c.fut", read_);
  ASSERT_TRUE(again);
  EXPECT_EQ(program::serialise(again->program), expected);
}

TEST_F(ProgramCacheTest, WhatIsNoFileIsAsGoodAsAbsent) {
  ASSERT_TRUE(found("a.fut", "one"));
  std::filesystem::path file;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) file = entry.path();
  std::filesystem::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);  // nobody writes to it, and nobody waits for that
  EXPECT_FALSE(found("a.fut", "one"));
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  EXPECT_FALSE(found("a.fut", "one"));
}

TEST(BuildId, IsThere) { EXPECT_GE(build_id().size(), 8u); }

}  // namespace
}  // namespace kenaz::cache
