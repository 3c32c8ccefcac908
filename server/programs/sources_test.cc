#include "server/programs/sources.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "protocol/base/read_file.h"

namespace kenaz {
namespace {

namespace fs = std::filesystem;

class SourcesTest : public ::testing::Test {
 protected:
  ~SourcesTest() override { fs::remove(path_); }
  void write(const std::string& text) { std::ofstream(path_) << text; }
  /// So old that it is not read again unless it looks changed.
  static void wait_until_old() { std::this_thread::sleep_for(std::chrono::milliseconds(2100)); }

  const std::string path_ = ::testing::TempDir() + fmt::format("kenaz_sources_{}", getpid());
  int reads_ = 0;
  Sources sources_{[this](const std::string& path) {
    ++reads_;
    return read_regular_file(path, 1000);
  }};
};

TEST_F(SourcesTest, SeeWhatAFileHolds) {
  EXPECT_EQ(sources_.noted(), 0U);
  write("one");
  ASSERT_EQ(*sources_.read(path_), "one");
  const uint64_t noted = sources_.noted();
  EXPECT_EQ(sources_.now(), noted);
  write("two");  // at once, and as long: no time stamp need show it
  EXPECT_NE(sources_.now(), noted);
  EXPECT_EQ(sources_.noted(), noted);
  write("one");
  EXPECT_EQ(sources_.now(), noted);
  fs::remove(path_);
  EXPECT_NE(sources_.now(), noted);
}

TEST_F(SourcesTest, SeeThatAFileIsThereNow) {
  EXPECT_FALSE(sources_.read(path_));
  EXPECT_EQ(sources_.now(), sources_.noted());
  write("");
  EXPECT_NE(sources_.now(), sources_.noted());
  fs::remove(path_);
  fs::create_directory(path_);  // and that something is that cannot be read
  EXPECT_NE(sources_.now(), sources_.noted());
}

TEST_F(SourcesTest, SeeWhatToolsGiveAnOldTime) {
  write("one");
  const auto time = fs::last_write_time(path_);
  ASSERT_TRUE(sources_.read(path_));
  wait_until_old();
  EXPECT_EQ(sources_.now(), sources_.noted());
  EXPECT_EQ(reads_, 1);  // not again
  EXPECT_EQ(sources_.now(true), sources_.noted());
  EXPECT_EQ(reads_, 2);
  write("two");
  fs::last_write_time(path_, time);
  EXPECT_NE(sources_.now(), sources_.noted());
}

}  // namespace
}  // namespace kenaz
