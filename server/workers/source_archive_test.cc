#include "server/workers/source_archive.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kenaz {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::string file(const std::string& path, const std::string& text) {
  return fmt::format("file {} {}\n{}", path, text.size(), text);
}

std::string error_of(const std::string& bytes) {
  const auto archive = read_source_archive(bytes);
  return archive ? "" : archive.error().text();
}

TEST(SourceArchive, TheFirstFileIsTheProgram) {
  const auto archive =
      read_source_archive(file("b.fut", "file a.fut 3\n") + file("\"lib/a b.fut\"", ""));
  ASSERT_TRUE(archive);
  EXPECT_EQ(archive->main, "b.fut");
  EXPECT_THAT(archive->files,
              ElementsAre(Pair("b.fut", "file a.fut 3\n"), Pair("lib/a b.fut", "")));
}

TEST(SourceArchive, RefusesPathsThatLeadElsewhere) {
  for (const std::string path : {"/a.fut", "../a.fut", "a/../b.fut", "a/../../b.fut", "./a.fut",
                                 "a//b.fut", "..", "a/", "\"\"", "\xff.fut"}) {
    EXPECT_NE(error_of(file(path, "x")), "") << path;
  }
  EXPECT_NE(error_of(file("a.fut", "x") + file("a.fut", "x")), "");
  EXPECT_EQ(error_of(file("..a/b..fut", "x")), "");
}

TEST(SourceArchive, RefusesWhatIsCutShortOrSomethingElse) {
  const std::string good = file("a.fut", "entry f = 1") + file("b.fut", "def x = 2");
  for (size_t n = 0; n < good.size(); ++n) {
    // At the end of a file there is a shorter archive.
    const bool whole = n == file("a.fut", "entry f = 1").size();
    EXPECT_EQ(error_of(good.substr(0, n)).empty(), whole) << n;
  }
  for (const char* const bad :
       {"entry f = 1\n", "file a.fut\n", "file a.fut -1\n", "file a.fut 1x\na",
        "file a.fut 18446744073709551616\n", "file a.fut 1 2\na", "\n"}) {
    EXPECT_NE(error_of(bad), "") << bad;
  }
}

}  // namespace
}  // namespace kenaz
