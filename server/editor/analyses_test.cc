#include "server/editor/analyses.h"

#include <gmock/gmock.h>

#include <atomic>
#include <future>

namespace kenaz::editor {
namespace {

std::shared_ptr<const Texts> texts(const std::string& main, const std::string& lib) {
  const auto shared = [](const std::string& s) { return std::make_shared<const std::string>(s); };
  return std::make_shared<const Texts>(
      Texts{{"/p/main.fut", shared(main)}, {"/p/lib.fut", shared(lib)}});
}

TEST(Worker, RunsJobsInOrder) {
  std::string done;
  Worker worker;
  for (const char c : {'a', 'b', 'c'}) {
    worker.add([&done, c](const std::stop_token&) { done += c; });
  }
  worker.finish();
  EXPECT_EQ(done, "abc");
}

TEST(Worker, AJobStopsAndReplacesThoseWithItsKey) {
  // The first job ends when all others wait: stopped by the second, it could let that one run
  // before the third comes to take its place.
  std::promise<void> begun, added;
  std::atomic<bool> stopped = false;
  std::string done;
  Worker worker;
  worker.add(
      [&](const std::stop_token& stop) {
        begun.set_value();
        while (!stop.stop_requested()) std::this_thread::yield();
        stopped = true;
        added.get_future().wait();
      },
      "check");
  begun.get_future().wait();
  worker.add([&](const std::stop_token&) { done += "a"; });
  worker.add([&](const std::stop_token&) { done += "b"; }, "check");
  worker.add([&](const std::stop_token& stop) { done += stop.stop_requested() ? "x" : "c"; },
             "check");
  added.set_value();
  worker.finish();
  EXPECT_TRUE(stopped);
  EXPECT_EQ(done, "ac");
}

TEST(Worker, EndsWhileAJobRuns) {
  std::promise<void> begun;
  {
    Worker worker;
    worker.add([&](const std::stop_token& stop) {
      begun.set_value();
      while (!stop.stop_requested()) std::this_thread::yield();
    });
    begun.get_future().wait();
  }
}

TEST(Analyses, AreMadeAnewWhenAnImportHasChanged) {
  Analyses analyses;
  const std::string main = "import \"lib\"\ndef f = two\n";
  const auto good = texts(main, "def two = 2");
  const auto* first = analyses.of("/p/main.fut", good, {});
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->accepted);
  EXPECT_EQ(analyses.of("/p/main.fut", good, {}), first);
  const auto* second = analyses.of("/p/main.fut", texts(main, "def one = 1"), {});
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->accepted);
}

TEST(Analyses, OneThatWasStoppedIsNotKept) {
  Analyses analyses;
  std::stop_source stop;
  stop.request_stop();
  const auto good = texts("def f = 1", "");
  EXPECT_EQ(analyses.of("/p/main.fut", good, stop.get_token()), nullptr);
  EXPECT_TRUE(analyses.of("/p/main.fut", good, {})->accepted);
}

}  // namespace
}  // namespace kenaz::editor
