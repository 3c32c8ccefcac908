#include "server/programs/program_files.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "protocol/base/read_file.h"
#include "server/testdata/echo_engine.h"

namespace kenaz {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

/// A program is text: its version. "broken" is none, "import FILE" is that file's, "slow"
/// cannot be started, and "no constants" not in place of another.
class ProgramFilesTest : public ::testing::Test {
 protected:
  ProgramFilesTest() {
    folder_ = fs::path(::testing::TempDir()) / fmt::format("kenaz_programs_{}", getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ProgramFilesTest() override {
    files_.reset();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(path(name) + "~") << text;  // whole, as most editors do
    fs::rename(path(name) + "~", path(name));
  }

  static Result<std::string> read(const std::string& file) { return read_regular_file(file, 1000); }
  Result<CompiledProgram> compile(const ProgramFile& file, Sources& sources) {
    ++compiled_;
    KENAZ_ASSIGN(std::string text, sources.read(file.path));
    if (text.starts_with("import ")) {
      KENAZ_ASSIGN(text, sources.read(path(text.substr(7))));
    }
    if (text == "broken") return fail(ErrorKind::kCompile, "it is broken");
    using Constants = CompiledProgram::Constants;
    return CompiledProgram{
        text, [this, file, text](size_t device, Constants constants) -> Result<LoadedProgram> {
          if (device == lost_) return fail(ErrorKind::kDeviceLost, "it is lost");
          if (device == refuses_) return internal_error("no start there");
          const bool must_hold = constants == Constants::kMustHold;
          if (text == "slow" || !starts_ || (text == "no constants" && must_hold)) {
            return internal_error("no start");
          }
          return loaded_program(file.name, file.path, text, std::make_unique<EchoEngine>());
        }};
  }

  Status load(std::vector<std::string> names, std::string folder = "") {
    for (auto& name : names) name = path(name);
    files_.emplace(
        ProgramFiles::What{std::move(names), std::move(folder)}, read,
        [this](const ProgramFile& file, Sources& sources) { return compile(file, sources); },
        devices_);
    KENAZ_ASSIGN(all_programs_, files_->load());
    programs_ = all_programs_[0];
    return {};
  }
  void watch(bool always) {
    files_->watch([](size_t, const std::function<void()>& job) { job(); }, always);
  }
  void look(bool asked = true) {
    files_->look_now([](size_t, const std::function<void()>& job) { job(); }, asked);
  }
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

  /// "NAME VERSION" of what is served.
  std::vector<std::string> served() const {
    std::vector<std::string> all;
    for (const auto& p : programs_->all()) all.push_back(p->name + " " + p->version);
    return all;
  }
  template <class Condition>
  bool eventually(Condition condition) {
    for (int i = 0; i < 6000 && !condition(); ++i) pause();
    return condition();
  }
  bool comes(std::vector<std::string> expected) {
    return eventually([&] { return served() == expected; });
  }

  fs::path folder_;
  std::atomic<int> compiled_{0};
  std::atomic<bool> starts_{true};
  size_t devices_ = 1;
  static constexpr size_t kNone = 1000;
  std::atomic<size_t> lost_ = kNone, refuses_ = kNone;  // devices
  std::vector<std::shared_ptr<Programs>> all_programs_;
  std::shared_ptr<Programs> programs_;
  std::optional<ProgramFiles> files_;
};

TEST_F(ProgramFilesTest, TriesAgainWhatCouldNotBeStarted) {
  write("a.fut", "1");
  ASSERT_TRUE(load({"a.fut"}));
  starts_ = false;
  write("a.fut", "2");
  look();
  EXPECT_THAT(served(), ElementsAre("a 1"));
  starts_ = true;
  look();
  EXPECT_THAT(served(), ElementsAre("a 2"));
}

TEST_F(ProgramFilesTest, AConstantThatFailsMattersWhereThereIsABetterProgram) {
  write("a.fut", "no constants");
  ASSERT_TRUE(load({"a.fut"}));
  EXPECT_THAT(served(), ElementsAre("a no constants"));
  for (const char* version : {"1", "no constants"}) {
    write("a.fut", version);
    look();
    EXPECT_THAT(served(), ElementsAre("a 1"));
  }
}

TEST_F(ProgramFilesTest, TakesNoNamesThatCannotBeWritten) {
  for (const char* name : {"a\"b.fut", "a\nb.fut", "a\x1b.fut", "a\xff.fut"}) {
    EXPECT_FALSE(program_files({path(name)}, "")) << name;
  }
  EXPECT_TRUE(program_files({path("\xc3\xa4.fut")}, ""));
}

TEST_F(ProgramFilesTest, AFileThatCannotBeServedKeepsNoOthersBack) {
  write("a.fut", "1");
  write("b.fut", "1");
  ASSERT_TRUE(load({}, folder_.string()));
  write("b.mfg", "2");  // one name for two
  write("x\x1b.fut", "1");
  write("c.fut", "1");
  fs::remove(path("a.fut"));
  look();
  EXPECT_THAT(served(), ElementsAre("b 1", "c 1"));
  fs::remove(path("b.fut"));
  look();
  EXPECT_THAT(served(), ElementsAre("b 2", "c 1"));
}

TEST_F(ProgramFilesTest, LoadsAllAndPrefersTheFirst) {
  write("b.fut", "1");
  write("a.fut", "2");
  ASSERT_TRUE(load({"b.fut", "a.fut"}));
  EXPECT_THAT(served(), ElementsAre("a 2", "b 1"));
  EXPECT_EQ(programs_->preferred(), "b");
  ASSERT_TRUE(load({}, folder_.string()));
  EXPECT_THAT(served(), ElementsAre("a 2", "b 1"));
  EXPECT_EQ(programs_->preferred(), "a");
}

TEST_F(ProgramFilesTest, SaysWhatCannotBeLoaded) {
  write("a.fut", "1");
  write("a.mfg", "2");
  write("b.fut", "broken");
  EXPECT_THAT(load({"a.fut", "a.mfg"}).error().text(), HasSubstr("would have the name a"));
  EXPECT_EQ(load({"b.fut"}).error().message, "it is broken");
  fs::create_directory(folder_ / "empty");
  EXPECT_THAT(load({}, path("empty")).error().text(), HasSubstr("there is no program"));
  EXPECT_FALSE(load({}, path("nosuch")));
  write("a\"b.fut", "1");
  EXPECT_THAT(load({"a\"b.fut"}).error().text(), HasSubstr("cannot be written"));
}

TEST_F(ProgramFilesTest, LoadsAnewWhatHasChangedWhenAsked) {
  write("a.fut", "1");
  write("b.fut", "import library");
  write("library", "1");
  ASSERT_TRUE(load({"a.fut", "b.fut"}));
  const ProgramPtr a = programs_->find("a");
  look();
  EXPECT_EQ(compiled_, 2);
  write("library", "2");
  look();
  EXPECT_THAT(served(), ElementsAre("a 1", "b 2"));
  EXPECT_EQ(programs_->find("a"), a);
  EXPECT_EQ(compiled_, 3);
}

TEST_F(ProgramFilesTest, WhatIsBrokenLeavesTheOldOneRunning) {
  write("a.fut", "1");
  ASSERT_TRUE(load({"a.fut"}));
  const ProgramPtr first = programs_->find("a");
  for (const char* text : {"broken", "import nosuch", "slow", "no constants"}) {
    write("a.fut", text);
    look();
    EXPECT_EQ(programs_->find("a"), first) << text;
  }
  fs::remove(path("a.fut"));
  look();
  EXPECT_EQ(programs_->find("a"), first);
  write("a.fut", "1");  // as it runs
  look();
  EXPECT_EQ(programs_->find("a"), first);
  EXPECT_EQ(compiled_, 7);
  write("a.fut", "import library");
  look();
  write("library", "2");  // which was missing
  look();
  EXPECT_THAT(served(), ElementsAre("a 2"));
}

TEST_F(ProgramFilesTest, SeesChangesByItself) {
  write("a.fut", "1");
  write("b.fut", "1");
  ASSERT_TRUE(load({}, folder_.string()));
  watch(true);
  for (const char* version : {"2", "3", "4"}) {
    write("a.fut", version);
    ASSERT_TRUE(comes({std::string("a ") + version, "b 1"})) << version;
  }
  write("c.fut", "1");
  EXPECT_TRUE(comes({"a 4", "b 1", "c 1"}));
  fs::remove(path("b.fut"));
  EXPECT_TRUE(comes({"a 4", "c 1"}));
  write("b.fut", "2");
  EXPECT_TRUE(comes({"a 4", "b 2", "c 1"}));
}

TEST_F(ProgramFilesTest, AFileThatIsReplacedIsNotTakenForRemoved) {
  write("a.fut", "1");
  write("b.fut", "1");
  ASSERT_TRUE(load({}, folder_.string()));
  for (int i = 0; i < 5; ++i) {
    fs::rename(path("a.fut"), path("a.bak"));
    look(false);
    EXPECT_THAT(served(), ElementsAre("a 1", "b 1"));
    fs::rename(path("a.bak"), path("a.fut"));
    look(false);
  }
  fs::remove(path("a.fut"));
  look(false);
  look(false);
  EXPECT_THAT(served(), ElementsAre("b 1"));
}

TEST_F(ProgramFilesTest, LooksOnAThreadOfItsOwnWhenAsked) {
  write("a.fut", "1");
  ASSERT_TRUE(load({"a.fut"}));
  watch(false);
  write("a.fut", "2");
  files_->look();
  EXPECT_TRUE(comes({"a 2"}));
}

TEST_F(ProgramFilesTest, AllDevicesHaveTheSamePrograms) {
  devices_ = 2;
  write("a.fut", "1");
  write("b.fut", "1");
  ASSERT_TRUE(load({}, folder_.string()));
  ASSERT_EQ(all_programs_.size(), 2u);
  const auto version = [&](size_t device, const char* name) {
    const auto program = all_programs_[device]->find(name);
    return program ? program->version : "none";
  };
  EXPECT_NE(all_programs_[0]->find("a")->engine, all_programs_[1]->find("a")->engine);
  write("a.fut", "2");
  refuses_ = 1;  // then none has it
  look();
  EXPECT_EQ(version(0, "a") + version(1, "a"), "11");
  refuses_ = kNone;
  look();
  EXPECT_EQ(version(0, "a") + version(1, "a"), "22");
  EXPECT_EQ(all_programs_[1]->free_later(), false);  // each device's thread has been told
  write("a.fut", "3");
  lost_ = 0;  // which keeps nobody else from going on
  look();
  EXPECT_EQ(version(0, "a") + version(1, "a"), "23");
  lost_ = kNone;
  look();
  EXPECT_EQ(version(0, "a") + version(1, "a"), "33");
  fs::remove(path("b.fut"));
  look();
  EXPECT_EQ(version(0, "b") + version(1, "b"), "nonenone");
}

TEST_F(ProgramFilesTest, EndsWhileTheEnginesThreadIsAway) {
  write("a.fut", "1");
  ASSERT_TRUE(load({"a.fut"}));
  files_->watch([](size_t, const std::function<void()>&) {}, false);  // never comes
  write("a.fut", "2");
  files_->look();
  EXPECT_TRUE(eventually([&] { return compiled_ == 2; }));
  files_.reset();
  EXPECT_THAT(served(), ElementsAre("a 1"));
}

}  // namespace
}  // namespace kenaz
