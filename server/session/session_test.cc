#include "server/session/session.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "protocol/data/binary_format.h"
#include "protocol/data/text_format.h"
#include "protocol/data/values.h"
#include "server/testdata/echo_engine.h"
#include "server/testdata/streams.h"
#include "server/transport/stdio.h"

namespace kenaz {
namespace {

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() : session_(std::make_shared<EchoEngine>(), {}), dir_(::testing::TempDir()) {
    dir_ += "kenaz_session_test_" + std::to_string(getpid());
  }
  ~SessionTest() override { std::remove(dir_.c_str()); }

  /// The reply as one string, "|" for line ends, "!" before a failure; run times taken out.
  std::string run(const std::string& line) {
    const auto reply = session_.execute(line);
    std::string s;
    for (const auto& l : reply.output) s += (l.starts_with("runtime: ") ? "runtime" : l) + "|";
    if (reply.failure) s += "!" + *reply.failure;
    return s;
  }
  /// Several commands in order (operands of + have none).
  template <class... More>
  std::string run(const std::string& line, const More&... more) {
    std::string s = run(line);
    return s += run(more...);
  }
  void write(const std::string& text) { std::ofstream(dir_, std::ios::binary) << text; }
  /// What a variable holds: stored, and restored as text by the test's own reader.
  std::string read(const std::string& variable) {
    EXPECT_EQ(run("store " + dir_ + " " + variable), "");
    auto source = data::ByteSource::open(dir_);
    std::string s;
    while (auto v = data::read_value(*source)) {
      if (!*v) break;
      s += data::to_text(**v) + " ";
    }
    return s;
  }

  Session session_;
  std::string dir_;  // one file, by its path
};

TEST_F(SessionTest, AsksAboutTypesAndEntries) {
  EXPECT_EQ(run("types").substr(0, 30), "i8|i16|i32|i64|u8|u16|u32|u64|");
  EXPECT_EQ(run("entry_points"), "fail|id|same|sleep|");
  EXPECT_EQ(run("inputs same"), "*(i32, bool)|");
  EXPECT_EQ(run("output same"), "(i32, bool)|");
  EXPECT_EQ(run("attributes same"), "a|b(1)|");
  EXPECT_EQ(run("fields \"(i32, bool)\""), "0 i32|1 bool|");
  EXPECT_EQ(run("fields []i32"), "!Not a record type");
  EXPECT_EQ(run("elemtype \"[](i32, bool)\""), "(i32, bool)|");
  EXPECT_EQ(run("rank i32"), "!Not an array type");
  EXPECT_EQ(run("variants sum"), "none|some|- []i32|- i32|");
  EXPECT_EQ(run("kind sum", "kind []i8", "kind i8"), "sum|array|primitive|");
  EXPECT_EQ(run("output nosuch"), "!Unknown entry point: nosuch");
}

TEST_F(SessionTest, ListsVariables) {
  EXPECT_EQ(run("vars"), "");
  write("1 true [1i64, 2i64]");
  run("restore " + dir_ + " \"a pair\" \"(i32, bool)\" Z []i64");
  EXPECT_EQ(run("vars"), "Z []i64 16|\"a pair\" \"(i32, bool)\" 5|");
}

TEST_F(SessionTest, RefusesBadLines) {
  EXPECT_EQ(run("  "), "!Empty line");
  EXPECT_TRUE(run("frobnicate").starts_with("!Unknown command: frobnicate"));
  EXPECT_EQ(run("rename a"), "!Wrong number of arguments: 1\nUsage: rename OLD NEW");
  EXPECT_TRUE(run("kind i33").starts_with("!Unknown type: i33"));
}

TEST_F(SessionTest, RestoresCallsAndStores) {
  write("1 true -- text\n");
  EXPECT_EQ(run("restore " + dir_ + " t \"(i32, bool)\""), "");
  EXPECT_EQ(run("call same u t"), "runtime|");
  EXPECT_EQ(run("free t"), "");
  EXPECT_EQ(run("type u"), "(i32, bool)|");
  EXPECT_EQ(run("project x u 0", "project x u 1", "project y u 2"),
            "!Variable already exists: x!No such field: 2");
  EXPECT_EQ(read("u"), "1i32 true ");
  EXPECT_EQ(run("call fail z x"), "runtime|!Error: no\n\nBacktrace:\n-> #0  a.fut:1:1-2");
  EXPECT_EQ(run("call same z x"), "!Wrong input type.  Expected (i32, bool), got i32.");
  EXPECT_EQ(run("call same u u"), "!Variable already exists: u");
  EXPECT_EQ(run("call same z"), "!Entry point same takes 1 inputs, but 0 are given.");
  EXPECT_EQ(run("call fail z u u"), "!Entry point fail takes 1 inputs, but 2 are given.");
  EXPECT_EQ(run("free z"), "!Unknown variable: z");
  EXPECT_EQ(run("clear", "type u"), "!Unknown variable: u");
}

// A disk may be slow, and what uses the engine keeps everybody else waiting.
TEST_F(SessionTest, StoresWhereNobodyWaits) {
  write("[1, 2, 3] 4 empty([0]i32)");
  run("restore " + dir_ + " a []i32 n i32 e []i32");
  const auto request = protocol::parse_request("store " + dir_ + " a n e");
  EXPECT_EQ(request->command->where, protocol::Where::kFile);
  const auto stream = session_.begin(*request);
  ASSERT_TRUE(stream) << stream.error().text();
  run("free a", "free n");  // the stream holds what it stores
  int works = 0, asides = 0;
  for (; (*stream)->want() != Stream::Want::kDone; ++works, ++asides) {
    ASSERT_EQ((*stream)->want(), Stream::Want::kWork);
    const auto before = std::filesystem::file_size(dir_);
    (*stream)->work();
    EXPECT_EQ(std::filesystem::file_size(dir_), before);
    ASSERT_EQ((*stream)->want(), Stream::Want::kAside);
    (*stream)->aside();
  }
  EXPECT_EQ(works, 3);
  EXPECT_FALSE(session_.end(**stream).failure);
  EXPECT_EQ(run("restore " + dir_ + " b []i32 m i32 f []i32"), "");
}

TEST_F(SessionTest, AStoreThatNobodyWaitsForEnds) {
  write("[1, 2, 3]");
  run("restore " + dir_ + " a []i32");
  const auto stream = session_.begin(*protocol::parse_request("store " + dir_ + " a"));
  ASSERT_TRUE(stream);
  (*stream)->work();
  (*stream)->cancel();
  (*stream)->aside();
  EXPECT_EQ((*stream)->want(), Stream::Want::kDone);
  EXPECT_TRUE(session_.end(**stream).failure);
}

TEST_F(SessionTest, RestoreKeepsWhatItReadBeforeTheFailure) {
  write("1 2");
  EXPECT_EQ(run("restore " + dir_ + " a i32"), "!Expected EOF after reading 1 values from " + dir_);
  EXPECT_EQ(run("restore " + dir_ + " b i32 c []i32"),
            "!Failed to restore variable c.\nPossibly malformed data in " + dir_ +
                " (line 1, column 3: expected an array of 1 dimensions, but found 0)");
  EXPECT_EQ(run("type a", "type b", "type c"), "i32|i32|!Unknown variable: c");
  EXPECT_EQ(run("restore " + dir_ + " d i32 a i32"), "!Variable already exists: a");
  EXPECT_EQ(run("type d"), "i32|");
  EXPECT_EQ(run("restore /nonexistent e i32"),
            "!Failed to open /nonexistent: No such file or directory");
  write("[1,2] [true]");
  EXPECT_TRUE(run("restore " + dir_ + " e \"[](i32, bool)\"").starts_with("!Failed to restore"));
}

TEST_F(SessionTest, BuildsRecordsAndArrays) {
  write("[1,2] [true,false] 7 true");
  run("restore " + dir_ + " i []i32 b []bool n i32 t bool");
  EXPECT_EQ(run("zip z \"[](i32, bool)\" i b"), "");
  EXPECT_EQ(run("shape z"), "2|");
  EXPECT_EQ(run("index e z 1"), "");
  EXPECT_EQ(read("e"), "2i32 false ");
  EXPECT_EQ(run("index f z 2", "index f z"),
            "!Invalid index `2` on dimension 0.!1 indices expected but 0 values provided.");
  EXPECT_EQ(run("new r \"(i32, bool)\" n t"), "");
  EXPECT_EQ(run("new s \"(i32, bool)\" t n"), "!Field 0 mismatch: expected type i32, got bool");
  EXPECT_EQ(run("set z r 0"), "");
  EXPECT_EQ(read("z"), "[7i32, 2i32] [true, false] ");
  EXPECT_EQ(read("i"), "[1i32, 2i32] ");  // shared with z before, but not changed with it
  EXPECT_EQ(run("unzip z p p"), "!Variable already exists: p");
  EXPECT_EQ(run("unzip z p q"), "");
  EXPECT_EQ(read("q"), "[true, false] ");
  EXPECT_EQ(run("new_array w \"[](i32, bool)\" 3 r e r"), "");
  EXPECT_EQ(read("w"), "[7i32, 2i32, 7i32] [true, false, true] ");
  EXPECT_EQ(run("new_array v []i32 2 n"), "!Expected 2 values, but got 1.");
  EXPECT_EQ(run("new_array v []i32 -1"), "!Invalid size `-1` of dimension 0.");
  EXPECT_EQ(run("new_array v []i32 0"), "");
  EXPECT_EQ(read("v"), "empty([0]i32) ");
}

TEST_F(SessionTest, BuildsSums) {
  write("[1,2] 7");
  run("restore " + dir_ + " xs []i32 n i32");
  EXPECT_EQ(run("construct s sum some xs n", "variant s"), "some|");
  EXPECT_EQ(run("destruct s ys m"), "");
  EXPECT_EQ(read("ys m"), "[1i32, 2i32] 7i32 ");
  EXPECT_EQ(run("construct t sum none"), "");
  EXPECT_EQ(read("t"), "0i8 0i32 empty([0]i32) ");
  EXPECT_EQ(run("construct u sum any"), "!No such variant: any");
}

TEST_F(SessionTest, UploadsAndDownloads) {
  const std::string data = binary("[1,2,3] 5 true [7,8] [true,false]");
  const std::string words = "i []i32 r \"(i32, bool)\" z \"[](i32, bool)\"";
  for (size_t piece : {1, 3, 1000}) {
    EXPECT_EQ(upload(session_, words, data, piece), "");
    EXPECT_EQ(read("i r z"), "[1i32, 2i32, 3i32] 5i32 true [7i32, 8i32] [true, false] ");
    EXPECT_EQ(download(session_, "i r z"), std::to_string(data.size()) + "\n" + data);
    EXPECT_EQ(run("free i r z"), "");
  }
  EXPECT_EQ(upload(session_, "e []i32", binary("empty([0]i32)"), 4), "");
  EXPECT_EQ(read("e"), "empty([0]i32) ");
  EXPECT_EQ(download(session_, "nosuch"), "refused: Unknown variable: nosuch");
}

TEST_F(SessionTest, RefusesBadUploads) {
  const std::string one = binary("1");
  EXPECT_EQ(upload(session_, "a i32", one, 100), "");
  EXPECT_EQ(upload(session_, "a i32", one, 100), "Variable already exists: a");
  EXPECT_EQ(upload(session_, "b i32 b i32", one + one, 2), "Variable already exists: b");
  EXPECT_EQ(upload(session_, "b i64", one, 100),
            "In the value of b: i64 of rank 0 is expected, but i32 of rank 0 comes.");
  EXPECT_EQ(upload(session_, "b i32 c i32", one, 100), "The data ends before the value of c does.");
  EXPECT_EQ(upload(session_, "b i32", one + one, 3),
            "Expected the data to end after 1 values, but 11 bytes follow.");
  EXPECT_EQ(upload(session_, "b i32", one.substr(0, 5), 3), "The data ends inside the value of b.");
  EXPECT_EQ(upload(session_, "b []i32", binary("[1,2]").substr(0, 20), 3),
            "The value of b takes 8 bytes, but only 5 follow its header.");
  EXPECT_EQ(upload(session_, "b bool", std::string("b\2\0bool\7", 8), 3),
            "A bool in the data of b is 7, which is neither 0 nor 1.");
  EXPECT_EQ(
      upload(session_, "b \"[](i32, bool)\"", binary("[1] [true,false]"), 3),
      "The parts of the value of b, of type [](i32, bool), have different shapes: [1] and [2]");
  EXPECT_EQ(upload(session_, "b nosuch", one, 3).substr(0, 20), "Unknown type: nosuch");
  EXPECT_EQ(run("type a", "type b"), "i32|!Unknown variable: b");
  EXPECT_FALSE(session_.begin(*protocol::parse_request("upload x b i32")));
  EXPECT_FALSE(session_.begin(*protocol::parse_request("upload -1 b i32")));
}

TEST_F(SessionTest, KeepsItsLimits) {
  SessionOptions options;
  options.limits = {3, 100};
  options.max_upload = 1000;
  Session session(std::make_shared<EchoEngine>(), options);
  const std::string ten = binary("[1,2,3,4,5,6,7,8,9,10]");
  EXPECT_EQ(upload(session, "a []i32 b []i32", ten + ten, 100), "");
  EXPECT_EQ(upload(session, "c []i32", ten, 100),
            "The value of c takes 40 bytes; the session may have 20 more.");
  EXPECT_EQ(upload(session, "c i32", binary("1"), 100), "");
  EXPECT_EQ(upload(session, "d i32", binary("1"), 100),
            "The session has 3 variables; more are not allowed.");
  EXPECT_FALSE(session.begin(*protocol::parse_request("upload 1001 b i32")));
  EXPECT_FALSE(session.execute("free a c").failure);
  write(data::to_text(*data::read_values(ten)->begin()));
  EXPECT_FALSE(session.execute("restore " + dir_ + " a []i32").failure);
  EXPECT_EQ(session.execute("restore " + dir_ + " e []i32").failure,
            "Failed to restore variable e.\n" + dir_ +
                ": The value takes 40 bytes; the session may have 20 more.");
}

TEST_F(SessionTest, RefusesConstructorsThatThereAreNot) {
  const std::string good = std::string("b\2\0  i8\1", 8) + binary("7i32 [1i32]");
  const std::string bad = std::string("b\2\0  i8\2", 8) + binary("7i32 [1i32]");
  EXPECT_EQ(upload(session_, "s sum", good, 3), "");
  EXPECT_EQ(run("variant s"), "some|");
  EXPECT_EQ(upload(session_, "t sum", bad, 3),
            "A constructor number in the data of t is 2, but the type has 2 constructors.");
  for (const auto* number : {"2i8", "-1i8"}) {
    write(std::string(number) + " 7 [1]");
    EXPECT_NE(run("restore " + dir_ + " t sum").find("but the type has 2 constructors"),
              std::string::npos);
  }
  write(bad);
  EXPECT_NE(run("restore " + dir_ + " t sum").find("but the type has 2 constructors"),
            std::string::npos);
}

TEST_F(SessionTest, OpensFilesBelowItsFolderOnly) {
  const std::string root = dir_ + "_root";
  ASSERT_EQ(system(("rm -rf " + root + " && mkdir -p " + root + "/sub && ln -s /etc " + root +
                    "/out && ln -s sub " + root + "/in && mkfifo " + root + "/pipe")
                       .c_str()),
            0);
  SessionOptions options;
  options.files = *FileAccess::below(root);
  Session session(std::make_shared<EchoEngine>(), options);
  const auto failure = [&](const std::string& line) {
    return session.execute(line).failure.value_or("");
  };
  EXPECT_EQ(upload(session, "a i32", binary("1"), 100), "");
  EXPECT_EQ(failure("store sub/a a"), "");
  EXPECT_EQ(failure("restore in/a b i32"), "");
  EXPECT_TRUE(failure("restore ../" + dir_ + " c i32").find("leads out") != std::string::npos);
  EXPECT_TRUE(failure("restore out/passwd c i32").find("leads out") != std::string::npos);
  EXPECT_TRUE(failure("restore /etc/passwd c i32").find("leads out") != std::string::npos);
  EXPECT_TRUE(failure("store ../x a").find("leads out") != std::string::npos);
  EXPECT_EQ(failure(std::string("restore sub/a\0x c i32", 21)),
            std::string("Failed to open sub/a\0x: A path has no NUL bytes.", 48));
  EXPECT_EQ(failure("restore pipe c i32"), "Failed to open pipe: Not a regular file");
  options.files = FileAccess::none();
  Session closed(std::make_shared<EchoEngine>(), options);
  EXPECT_TRUE(closed.execute("restore a b i32").failure->find("--root") != std::string::npos);
  ASSERT_EQ(system(("rm -r " + root).c_str()), 0);
}

TEST_F(SessionTest, ServesOldClientsToo) {
  write("1 true");
  run("restore " + dir_ + " t \"(i32, bool)\"");
  EXPECT_EQ(run("outputs same"), "i32|bool|");
  EXPECT_EQ(run("call same a b t"), "runtime|");
  EXPECT_EQ(run("type a", "type b"), "i32|bool|");
  EXPECT_EQ(run("call same a c t"), "!Variable already exists: a");
}

/// Whatever is sent, an answer comes, and a failed command leaves the variables alone.
TEST_F(SessionTest, AnswersEverything) {
  write("[1,2] [true,false] 7 true");
  const std::string start = "restore " + dir_ + " i []i32 b []bool n i32 t bool";
  std::vector<std::string> words = {
      "i",  "b",   "n",    "t",    "x",    "y",     "z",
      "0",  "1",   "2",    "-1",   "i32",  "[]i32", "\"(i32, bool)\"",
      "[]", "sum", "some", "none", "same", "fail",  "\"[](i32, bool)\"",
      "\""};
  std::vector<std::string> commands;
  for (const auto& c : protocol::commands()) commands.emplace_back(c.name);
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    if (round % 50 == 0) run("clear", start);
    std::string line = commands[random() % commands.size()];
    if (line == "store" || line == "restore" || line == "upload" || line == "download") continue;
    for (size_t n = random() % 6; n > 0; --n) line += " " + words[random() % words.size()];
    const auto reply = session_.execute(line);
    ASSERT_FALSE(reply.failure && reply.failure->empty()) << line;
  }
}

TEST(Transport, ReadsBoundedLines) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  const std::string text = "one\n" + std::string(20, 'x') + "\n\nlast";
  ASSERT_EQ(write(fds[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  close(fds[1]);
  LineReader reader(fds[0], 10);
  std::string line;
  EXPECT_EQ(reader.next(line), LineReader::Line::kLine);
  EXPECT_EQ(line, "one");
  EXPECT_EQ(reader.next(line), LineReader::Line::kTooLong);
  EXPECT_EQ(reader.next(line), LineReader::Line::kLine);
  EXPECT_EQ(line, "");
  EXPECT_EQ(reader.next(line), LineReader::Line::kLine);
  EXPECT_EQ(line, "last");
  EXPECT_EQ(reader.next(line), LineReader::Line::kEnd);
  close(fds[0]);
}

TEST(Transport, WhoExpectsALineSoonStillWaitsForALateOne) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  LineReader reader(fds[0]);
  std::thread writer([&] {
    for (const std::string_view text : {"soon\n", "late\n"}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ASSERT_EQ(write(fds[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    close(fds[1]);
  });
  std::string line;
  reader.expect_soon(std::chrono::seconds(60));
  EXPECT_EQ(reader.next(line), LineReader::Line::kLine);
  EXPECT_EQ(line, "soon");
  reader.expect_soon(std::chrono::microseconds(1));
  EXPECT_EQ(reader.next(line), LineReader::Line::kLine);
  EXPECT_EQ(line, "late");
  reader.expect_soon(std::chrono::seconds(60));
  EXPECT_EQ(reader.next(line), LineReader::Line::kEnd);
  writer.join();
  close(fds[0]);
}

}  // namespace
}  // namespace kenaz
