#include "protocol/base/read_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace kenaz {
namespace {

class ReadFile : public testing::Test {
 protected:
  ReadFile() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kenaz_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ReadFile() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name, const std::string& contents) const {
    std::ofstream(folder_ + "/" + name) << contents;
    return folder_ + "/" + name;
  }
  static std::string error(const std::string& path, int64_t max_bytes = 1000) {
    const auto read = read_regular_file(path, max_bytes);
    return read ? "read: " + *read : read.error().text();
  }
  std::string folder_;
};

TEST_F(ReadFile, GivesEveryByte) {
  const std::string text = std::string("a\0b\n", 4) + std::string(200'000, 'x');
  const auto read = read_regular_file(file("a", text), 200'004);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, text);
  EXPECT_EQ(*read_regular_file(file("b", ""), 0), "");
}

TEST_F(ReadFile, ReadsFilesThatSayTheyAreEmpty) {
  const auto read = read_regular_file("/proc/self/status", 100'000);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->substr(0, 5), "Name:");
  EXPECT_EQ(error("/proc/self/status", 10), "It has more than 10 bytes.");
}

TEST_F(ReadFile, RefusesWhatIsNoRegularFile) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error(pipe), "It is not a regular file.");  // and does not wait for a writer
  EXPECT_EQ(error("/dev/zero"), "It is not a regular file.");
  EXPECT_EQ(error(folder_), "It is a directory.");
  EXPECT_EQ(error("/proc/self/mem"), "Input/output error");
}

TEST_F(ReadFile, TellsWhatIsNotThere) {
  const auto is_absent = [&](const std::string& path) {
    return read_regular_file(path, 1000).error().kind == ErrorKind::kNoSuchFile;
  };
  EXPECT_EQ(error(folder_ + "/absent"), "No such file or directory");
  EXPECT_TRUE(is_absent(folder_ + "/absent"));
  EXPECT_TRUE(is_absent(file("a", "") + "/below"));
  EXPECT_FALSE(is_absent(folder_));
  const std::string link = folder_ + "/link";
  ASSERT_EQ(::symlink("absent", link.c_str()), 0);
  EXPECT_EQ(error(link), "It is a link to no file.");
  EXPECT_FALSE(is_absent(link));
}

TEST_F(ReadFile, RefusesWhatIsTooLong) {
  EXPECT_EQ(error(file("a", "12345"), 4), "It has more than 4 bytes.");
  EXPECT_EQ(error(file("a", "12345"), 5), "read: 12345");
}

}  // namespace
}  // namespace kenaz
