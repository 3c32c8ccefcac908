#include "server/cache/program_cache.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

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

  std::map<std::string, std::string> files_ = {{"a.fut", "import \"b\""}, {"b.fut", "def x = 1"}};
  Read read_ = [this](const std::string& path) -> Result<std::string> {
    if (!files_.contains(path)) return bad_request("no such file");
    return files_[path];
  };
  std::string folder_;
};

TEST_F(ProgramCacheTest, FindsWhatStillFits) {
  EXPECT_TRUE(found("a.fut", "one"));
  EXPECT_FALSE(found("b.fut", "one"));
  EXPECT_FALSE(found("a.fut", "two"));
  EXPECT_FALSE(found("a.fut", ""));
  files_["b.fut"] = "def x = 2";
  EXPECT_FALSE(found("a.fut", "one"));
  files_.erase("b.fut");
  EXPECT_FALSE(found("a.fut", "one"));
}

TEST_F(ProgramCacheTest, DamageIsAsGoodAsAbsence) {
  const auto file = std::filesystem::directory_iterator(folder_)->path();
  std::string bytes;
  {
    std::ifstream in(file, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (size_t i = 0; i < bytes.size(); i += 7) {
    std::string damaged = bytes;
    damaged[i] ^= 4;
    std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
    EXPECT_FALSE(found("a.fut", "one")) << i;
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes.substr(0, i);
    EXPECT_FALSE(found("a.fut", "one")) << i;
  }
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  EXPECT_TRUE(found("a.fut", "one"));
}

TEST(BuildId, IsThere) { EXPECT_GE(build_id().size(), 8u); }

}  // namespace
}  // namespace kenaz::cache
