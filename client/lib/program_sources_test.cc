#include "client/lib/program_sources.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "client/lib/temp_dir.h"

namespace kenaz::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ProgramSources : public ::testing::Test {
 protected:
  ProgramSources() : dir_(std::move(*TempDir::make())) {
    std::filesystem::create_directories(dir_.file("lib/deep"));
  }
  std::string write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file(dir_.file(name), text));
    return dir_.file(name);
  }
  static std::vector<std::string> paths(const Result<std::vector<SourceFile>>& files) {
    std::vector<std::string> all;
    for (const auto& file : files.value()) all.push_back(file.path);
    return all;
  }
  const TempDir dir_;
};

TEST_F(ProgramSources, ImportsAreFollowedAndTheProgramComesFirst) {
  const auto main = write("main.fut",
                          "import \"lib/a\"\n-- import \"lib/b\"\nentry f = 1\n"
                          "open import \"/prelude/soacs\" import \"nosuch\"");
  write("lib/a.fut", "module deep = import\n  \"deep/c\"\ndef important = \"x\"");
  write("lib/b.fut", "");
  write("lib/deep/c.fut", "import \"../a\"");
  const auto files = read_program(main);
  ASSERT_TRUE(files) << files.error().text();
  EXPECT_THAT(paths(files), ElementsAre("main.fut", "lib/a.fut", "lib/deep/c.fut"));
  EXPECT_EQ(source_archive({&(*files)[2], 1}).value(),
            "file \"lib/deep/c.fut\" 13\nimport \"../a\"");
}

TEST_F(ProgramSources, PathsAreFromTheFolderThatHasAll) {
  write("a.fut", "");
  EXPECT_THAT(paths(read_program(write("lib/deep/main.fut", "import \"../../a\""))),
              ElementsAre("lib/deep/main.fut", "a.fut"));
}

TEST_F(ProgramSources, WhatCannotBeReadOrSentIsSaid) {
  const auto none = read_program(dir_.file("none.fut"));
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("none.fut: "));
  std::filesystem::create_directory(dir_.file("folder.fut"));
  const auto folder = read_program(write("main.fut", "import \"folder\""));
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("folder.fut: It is a directory."));
  const SourceFile file{"a\"b.fut", ""};
  EXPECT_FALSE(source_archive({&file, 1}));
}

}  // namespace
}  // namespace kenaz::client
