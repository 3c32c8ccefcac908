#include "client/lib/bridge.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "client/lib/fake_server.h"
#include "client/lib/files.h"
#include "client/lib/values.h"

namespace kenaz::client {
namespace {

using ::testing::HasSubstr;

class Bridge : public ::testing::Test {
 protected:
  void SetUp() override {
    auto c = Connection::connect(server_.url(), {}, deadline_in(20));
    ASSERT_TRUE(c) << c.error().text();
    connection_ = std::move(*c);
  }

  /// What the bridge answers to these lines.
  std::string run(const std::string& input) {
    EXPECT_TRUE(write_file(path("in"), input));
    const int in = ::open(path("in").c_str(), O_RDONLY);
    const int out = ::open(path("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    status_ = run_bridge(*connection_, in, out);
    ::close(in);
    ::close(out);
    return *read_file(path("out"));
  }
  std::string path(const std::string& name) const { return dir_.file(name); }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file(path(name), text));
  }

  FakeServer server_{{}};
  TempDir dir_ = *TempDir::make();
  std::unique_ptr<Connection> connection_;
  Status status_;
};

TEST_F(Bridge, ForwardsCommandsAndData) {
  EXPECT_EQ(run("upload 5 x i32\nab\ncdcall e y x\ndownload y\ndownload z\nbogus\n"),
            "%%% OK\n"
            "%%% OK\n"
            "a log line\nruntime: 42\n%%% OK\n"
            "5\nab\ncd%%% OK\n"
            "%%% FAILURE\nUnknown variable: z\n%%% OK\n"
            "%%% FAILURE\nUnknown command: bogus\n%%% OK\n");
  EXPECT_TRUE(status_);
}

TEST_F(Bridge, FilesAreTheClients) {
  write("text", "-- a comment\n[1, 2, 3]");
  EXPECT_EQ(run("restore " + path("text") + " xs []i64\nstore " + path("binary") + " xs\n" +
                "restore " + path("binary") + " ys []i64\nstore " + path("again") + " ys\n"),
            "%%% OK\n%%% OK\n%%% OK\n%%% OK\n%%% OK\n");
  EXPECT_EQ(read_value_file(path("binary"))->at(0).type_name(), "[]i64");
  EXPECT_EQ(*read_file(path("binary")), *read_file(path("again")));
}

TEST_F(Bridge, FailuresOfFiles) {
  write("bad", "[1, 2, oops]");
  write("two", "1i32 2i32");
  const auto bad = run("restore " + path("bad") + " xs []i32\n");
  EXPECT_THAT(bad, HasSubstr("%%% FAILURE\nFailed to restore variable xs.\nPossibly malformed data"
                             " in " +
                             path("bad") + " (line 1"));
  EXPECT_EQ(run("restore /nonexistent x i32\nrestore " + path("two") +
                " one i32\n"
                "restore " +
                path("two") +
                " odd\ntype one\nstore /nonexistent/x one\n"
                "store " +
                path("x") + " none\ndownload one\n")
                .substr(7),
            "%%% FAILURE\nFailed to open /nonexistent: No such file or directory\n%%% OK\n"
            "%%% FAILURE\nExpected EOF after reading 1 values from " +
                path("two") +
                "\n%%% OK\n"
                "%%% FAILURE\nVariable odd has no type.\nUsage: restore FILE VAR TYPE ..\n%%% OK\n"
                "%%% FAILURE\nUnknown command: type\n%%% OK\n"
                "%%% FAILURE\nFailed to open /nonexistent/x: No such file or directory\n%%% OK\n"
                "%%% FAILURE\nUnknown variable: none\n%%% OK\n"
                "11\n" +
                std::string("b\2\0 i32\1\0\0\0", 11) + "%%% OK\n");
}

TEST_F(Bridge, TheServerGoesAfterARefusal) {
  FakeServer strict({.max_upload = 20});
  connection_ = *Connection::connect(strict.url(), {}, deadline_in(20));
  write("big", "[1i32, 2i32, 3i32]");
  EXPECT_EQ(run("restore " + path("big") + " xs []i32\n"),
            "%%% OK\n%%% FAILURE\nThat many bytes are not allowed\n%%% OK\n");
  EXPECT_TRUE(status_);
  EXPECT_TRUE(connection_->broken());
}

TEST_F(Bridge, TheServerGoes) {
  run("quit\n");
  ASSERT_FALSE(status_);
  EXPECT_EQ(status_.error().message, "the server closed the connection");
}

}  // namespace
}  // namespace kenaz::client
