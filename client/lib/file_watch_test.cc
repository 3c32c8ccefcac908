#include "client/lib/file_watch.h"

#include <gmock/gmock.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace kenaz::client {
namespace {

using ::testing::IsEmpty;

class FileWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = FileWatch::create();
    ASSERT_TRUE(made);
    watch_.emplace(std::move(*made));
    folder_ =
        std::filesystem::temp_directory_path() / ("kenaz-watch-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder_);
    stop_ = ::eventfd(0, 0);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    ::close(stop_);
  }
  std::string path(const std::string& name) { return folder_ + "/" + name; }

  std::optional<FileWatch> watch_;
  std::string folder_;
  int stop_ = -1;
};

TEST_F(FileWatchTest, NamesWhatHasBeenWrittenOrPutInAPlace) {
  watch_->watch({folder_, path("none")});
  std::ofstream(path("a")) << "x";
  std::filesystem::rename(path("a"), path("b"));
  const auto changed = watch_->wait(stop_, 0.02);
  ASSERT_TRUE(changed);
  EXPECT_THAT(*changed, ::testing::ElementsAre(path("a"), path("b")));
}

TEST_F(FileWatchTest, EndsWhenItShallStop) {
  watch_->watch({folder_});
  const uint64_t one = 1;
  ASSERT_EQ(::write(stop_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  const auto changed = watch_->wait(stop_, 0.02);
  ASSERT_TRUE(changed);
  EXPECT_THAT(*changed, IsEmpty());
}

TEST_F(FileWatchTest, AFolderThatIsNoLongerWatchedIsSilent) {
  std::filesystem::create_directory(path("in"));
  watch_->watch({folder_, path("in")});
  watch_->watch({path("in")});
  std::ofstream(path("a")) << "x";
  std::ofstream(path("in/c")) << "x";
  const auto changed = watch_->wait(stop_, 0.02);
  ASSERT_TRUE(changed);
  EXPECT_THAT(*changed, ::testing::ElementsAre(path("in/c")));
}

}  // namespace
}  // namespace kenaz::client
