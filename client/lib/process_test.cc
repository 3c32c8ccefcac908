#include "client/lib/process.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <limits>

#include "client/lib/connection.h"
#include "client/lib/temp_dir.h"

namespace kenaz::client {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Process> shell(const std::string& script) {
  auto process = Process::spawn({{"/bin/sh", "-c", script}, "", 0});
  EXPECT_TRUE(process) << process.error().text();
  return process ? std::move(*process) : nullptr;
}

TEST(Process, LinesBothWays) {
  auto p = shell("read x; echo \"got $x\"; echo; printf rest");
  ASSERT_TRUE(p->write("hello\n", deadline_in(5)));
  EXPECT_EQ(p->read_line(deadline_in(5)).value(), "got hello");
  EXPECT_EQ(p->read_line(deadline_in(5)).value(), "");
  EXPECT_EQ(p->read_line(deadline_in(5)).value(), std::nullopt);  // "rest" has no end
  EXPECT_TRUE(p->wait(deadline_in(5))->success());
}

TEST(Process, TellsHowItEnded) {
  EXPECT_EQ(shell("exit 3")->wait(deadline_in(5))->text(), "exited with code 3");
  EXPECT_THAT(shell("kill -9 $$")->wait(deadline_in(5))->text(), HasSubstr("signal 9"));
  auto p = shell("sleep 30");
  EXPECT_EQ(p->wait(deadline_in(0.05)), std::nullopt);
  EXPECT_EQ(p->kill().signal, 9);
}

TEST(Process, DeadlinesHold) {
  auto p = shell("sleep 30");
  const auto begin = Clock::now();
  EXPECT_FALSE(p->read_line(deadline_in(0.05)));
  // More than its input holds: it never reads.
  EXPECT_FALSE(p->write(std::string(size_t{8} << 20, 'x'), deadline_in(0.05)));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
}

TEST(Process, DeadlinesBeyondTheClockNeverCome) {
  for (const double seconds : {1e10, 1e300, std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(deadline_in(seconds), Deadline::max()) << seconds;
  }
  const Deadline past = deadline_in(-1e300);
  EXPECT_LE(past, Clock::now());
  EXPECT_GT(deadline_in(1e8), Clock::now() + std::chrono::hours(24));
}

TEST(Process, WritingToTheDeadIsAnError) {
  auto p = shell("exit 0");
  ASSERT_TRUE(p->wait(deadline_in(5)));
  EXPECT_FALSE(p->write("x\n", deadline_in(1)));
}

TEST(Process, CannotStart) {
  const auto p = Process::spawn({{"/nonexistent/program"}, "", 0});
  ASSERT_FALSE(p);
  EXPECT_THAT(p.error().message, HasSubstr("cannot start /nonexistent/program: No such file"));
}

TEST(Process, SignalsDoNotHideThatItCannotStart) {
  struct sigaction action = {}, before = {};
  action.sa_handler = [](int) {};  // and no SA_RESTART
  ::sigaction(SIGALRM, &action, &before);
  const itimerval often = {{0, 1000}, {0, 1000}}, never = {};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  int started = 0;
  for (int i = 0; i < 300; ++i) {
    if (Process::spawn({{"/nonexistent/program"}, "", 0})) ++started;
  }
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(started, 0);
}

TEST(Connection, RepliesFailuresAndTheEnd) {
  const auto dir = TempDir::make();
  ServerOptions options;
  options.server = "/bin/sh";
  options.program = dir->file("server");
  ASSERT_TRUE(write_file(options.program, R"(
    echo hello; echo "%%% OK"
    read line; echo one; echo "two three"; echo "%%% OK"
    read line; echo log; echo "%%% FAILURE"; echo "it is"; echo "broken"; echo "%%% OK"
    read line; echo "$line"; echo "%%% OK"
    read line; echo "oh no" >&2; exit 7)"));
  options.stderr_path = dir->file("stderr");
  auto c = Connection::start(options, deadline_in(5));
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_THAT((*c)->greeting(), ::testing::ElementsAre("hello"));
  EXPECT_THAT((*c)->request({"a"}).value(), ::testing::ElementsAre("one", "two three"));
  const auto failed = (*c)->request({"b"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "it is\nbroken");
  EXPECT_EQ((*c)->request_line({"inputs", "(i32, bool)"}).value(), "inputs \"(i32, bool)\"");
  const auto ended = (*c)->request({"d"});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "the server exited with code 7:\noh no");
  EXPECT_TRUE((*c)->broken());
  EXPECT_FALSE((*c)->request({"e"}));
}

TEST(Connection, AServerThatRejectsItsProgramSaysAllThereIsToSay) {
  const auto dir = TempDir::make();
  ASSERT_TRUE(dir);
  ServerOptions options;
  options.server = dir->file("server");
  ASSERT_TRUE(write_file(options.server, "#!/bin/sh\necho 'Error at a.fut:1:1-2:' >&2\nexit 2\n"));
  ::chmod(options.server.c_str(), 0700);
  options.stderr_path = dir->file("stderr");
  const auto told = Connection::start(options, deadline_in(5));
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().kind, ErrorKind::kCompile);
  EXPECT_EQ(told.error().message, "Error at a.fut:1:1-2:");
  options.stderr_path.clear();
  const auto silent = Connection::start(options, deadline_in(5));
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().kind, ErrorKind::kCompile);
  EXPECT_EQ(silent.error().message, "");
}

TEST(Connection, AServerThatDoesNotStart) {
  ServerOptions options;
  options.server = "/bin/false";
  const auto c = Connection::start(options, deadline_in(5));
  ASSERT_FALSE(c);
  EXPECT_THAT(c.error().message, HasSubstr("exited with code 1"));
}

}  // namespace
}  // namespace kenaz::client
