#include "protocol/base/replace_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "protocol/base/read_file.h"

namespace kenaz {
namespace {

namespace fs = std::filesystem;

class ReplaceFile : public testing::Test {
 protected:
  ReplaceFile() {
    std::string pattern = (fs::temp_directory_path() / "kenaz_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ReplaceFile() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  static std::string read(const std::string& path) {
    return read_regular_file(path, 1000).value_or("none");
  }
  static Status write_file(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
    return {};
  }
  static Status replace(const std::string& path, const std::string& text,
                        std::optional<mode_t> mode = {}) {
    return replace_file(
        path, [&](const std::string& to) { return write_file(to, text); }, mode);
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  std::string folder_;
};

TEST_F(ReplaceFile, MakesAFile) {
  ASSERT_TRUE(replace(at("a"), "new"));
  EXPECT_EQ(read(at("a")), "new");
  EXPECT_EQ(files(), 1U);
}

TEST_F(ReplaceFile, KeepsTheModeAndTheLink) {
  ASSERT_TRUE(write_file(at("a"), "old"));
  ASSERT_EQ(::chmod(at("a").c_str(), 0600), 0);
  fs::create_symlink("a", at("b"));
  ASSERT_TRUE(replace(at("b"), "new"));
  EXPECT_TRUE(fs::is_symlink(at("b")));
  EXPECT_EQ(read(at("a")), "new");
  EXPECT_EQ(fs::status(at("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(ReplaceFile, GivesAModeToNewAndOldFiles) {
  for (int times = 0; times < 2; ++times) {
    ASSERT_TRUE(replace(at("a"), "new", 0755));
    EXPECT_EQ(fs::status(at("a")).permissions(), static_cast<fs::perms>(0755));
    ASSERT_EQ(::chmod(at("a").c_str(), 0600), 0);
  }
}

TEST_F(ReplaceFile, LeavesWhatWasThereIfItFails) {
  ASSERT_TRUE(write_file(at("a"), "old"));
  const auto done = replace_file(at("a"), [&](const std::string& to) -> Status {
    EXPECT_TRUE(write_file(to, "half"));
    return bad_request("no");
  });
  EXPECT_FALSE(done);
  EXPECT_EQ(read(at("a")), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(ReplaceFile, WritesIntoPipes) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  const int fd = ::open(at("pipe").c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  ASSERT_TRUE(replace(at("pipe"), "new"));
  char got[8] = {};
  EXPECT_EQ(::read(fd, got, sizeof got), 3);
  EXPECT_STREQ(got, "new");
  EXPECT_TRUE(fs::is_fifo(at("pipe")));
  ::close(fd);
}

}  // namespace
}  // namespace kenaz
