// Calls that would never end, on the device and in the evaluator.
#include "server/host/call_stop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <random>
#include <thread>

#include "kernels/compiler.h"
#include "server/device/vulkan/vulkan_device.h"
#include "server/host/device_engine.h"
#include "server/host/device_target.h"
#include "server/host/engine.h"
#include "server/host/reference_engine.h"

namespace kenaz::host {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

// `on_host` loops with kernels inside, so on the host. `in_kernels` launches many long kernels:
// llvmpipe ends a thread's loops early, so none of them would be endless alone there.
// `in_one_kernel` is endless in every thread where the driver lets it be.
constexpr char kProgram[] = R"(
entry on_host (n: i64): i64 =
  let xs = loop xs = iota n while xs[0] >= 0 do map (+ 1) (scan (+) 0 (map (% 2) xs))
  in xs[1]
entry in_kernels (n: i64): []i64 =
  map (\i -> loop x = i for j < 60000i64 do (x * 3 + j) ^ (x >> 7)) (iota n)
entry in_one_kernel (n: i64): []i64 =
  map (\i -> loop x = i while x >= 0 do (x * 3 + 1) & (n - 1)) (iota n)
entry of_what_is_not_stored (n: i64): i64 = i64.sum (map (\i -> (i * 3) ^ (i >> 7)) (iota n))
entry remainders (n: i64): []i8 = map (\i -> i8.i64 (i % 113)) (iota n)
entry all_but (n: i64): []i8 =
  map (\i -> assert (i != n - 5) (i8.i64 (i % 113))) (iota n)
entry on_scalars (x: i64): i64 = loop x while x >= 0 do (x + 1) & 0xff
entry fine (n: i64): i64 = i64.sum (iota n)
entry grow (n: i64): i64 =
  length (loop xs = replicate (n << 20) 0i8 for _i < 1000i32 do copy (xs ++ xs[:0]))
)";

// A constant that never ends.
constexpr char kEndlessConstant[] = R"(
def never = loop x = 1i64 while x >= 0 do (x + 1) & 0xff
entry waits (n: i64): i64 = never + n
entry fine (n: i64): i64 = i64.sum (iota n)
)";

// A kernel that llvmpipe takes seconds to compile; another one each time, because Mesa keeps what
// it has compiled.
std::string slow_to_compile() {
  const std::string salt = std::to_string(std::random_device()());
  std::string text = "entry slow (n: i64): []i64 = map (\\i -> let x = i\n";
  for (int k = 0; k < 22; ++k) {
    text +=
        "let x = loop x for j < n do x * " + std::to_string(k + 3) + " + (j ^ x) % " + salt + "\n";
  }
  return text + "in x) (iota n)\nentry fine (n: i64): i64 = i64.sum (iota n)\n";
}

SourceReader reader(const std::string& program) {
  return [program](const std::string&) -> Result<std::string> { return program; };
}

class CallStopTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { load(kProgram); }
  void load(const std::string& text) {
    const std::string kind = GetParam();
    engine_.reset();
    if (kind == "Reference") {
      auto checked = compiler::front_end("test.fut", {reader(text)});
      ASSERT_TRUE(checked) << checked.error().text();
      auto lowered = compiler::lower(*checked);
      ASSERT_TRUE(lowered) << lowered.error().text();
      keep(make_reference_engine(std::move(*lowered)));
      return;
    }
    device::VulkanOptions options;
    options.validation = log_;
    options.force_staging = kind == "Staged";
    auto device = device::make_vulkan_device(options);
    ASSERT_TRUE(device) << device.error().text();
    auto program = compiler::compile("test.fut", {reader(text)}, device_target((*device)->info()));
    ASSERT_TRUE(program) << program.error().text();
    keep(make_device_engine(std::move(*program), std::move(*device)));
  }
  void TearDown() override {
    engine_.reset();
    EXPECT_THAT(log_->messages(), testing::ElementsAre());
  }
  void keep(Result<std::unique_ptr<Engine>> engine) {
    ASSERT_TRUE(engine) << engine.error().text();
    engine_ = std::move(*engine);
  }

  Status call(const std::string& entry, int64_t n) {
    const LeafPtr arg = *engine_->put(data::Value::scalar(PrimValue::i64(n)));
    auto result = engine_->call(entry, std::span(&arg, 1));
    if (!result) return tl::make_unexpected(result.error());
    return {};
  }
  /// The call ended with this failure, and the engine goes on.
  void expect_stopped(const std::string& entry, const Status& status, Clock::time_point start,
                      const std::string& message) {
    ASSERT_FALSE(status) << entry;
    EXPECT_EQ(status.error().kind, ErrorKind::kProgramFailure);
    EXPECT_EQ(status.error().text(), "Error: " + message) << entry;
    EXPECT_LT(Clock::now() - start, 9s) << entry;  // else the device would have counted as lost
    engine_->set_call_timeout(60s);
    const Status fine = call("fine", 1000);
    EXPECT_TRUE(fine) << fine.error().text();
  }
  void expect_late(const std::string& entry, int64_t n) {
    engine_->set_call_timeout(300ms);
    const auto start = Clock::now();
    const Status status = call(entry, n);
    expect_stopped(entry, status, start,
                   "the call took longer than 0.3 seconds (--call-timeout) and was stopped.");
  }
  void expect_cancelled(const std::string& entry, int64_t n, const std::function<void()>& cancel) {
    engine_->set_call_timeout(0us);
    const auto start = Clock::now();
    std::atomic<bool> over = false;
    std::thread other([&] {
      while (!over) {  // a cancel() that comes before the call has begun does nothing
        std::this_thread::sleep_for(100ms);
        cancel();
      }
    });
    const Status status = call(entry, n);
    over = true;
    other.join();
    expect_stopped(entry, status, start, "the call was cancelled.");
  }
  void expect_cancelled(const std::string& entry, int64_t n) {
    expect_cancelled(entry, n, [&] { engine_->cancel(); });
  }

  std::shared_ptr<device::ValidationLog> log_ = std::make_shared<device::ValidationLog>();
  std::unique_ptr<Engine> engine_;
};

constexpr int64_t kHuge = int64_t{1} << 22;

TEST_P(CallStopTest, LateCallsEnd) {
  expect_late("on_host", 1000);
  expect_late("on_scalars", 1);
  expect_late("in_kernels", kHuge);
}

// So many workgroups take minutes on a CPU, though each finds that it need not run.
TEST_P(CallStopTest, LaunchesOfCountlessWorkgroupsEnd) {
  if (GetParam() == std::string("Reference")) return;  // it stores all numbers
  expect_late("of_what_is_not_stored", int64_t{1} << 50);
  expect_cancelled("of_what_is_not_stored", int64_t{1} << 50);
}

// A device that is a CPU is given them in pieces.
TEST_P(CallStopTest, LaunchesOfManyWorkgroupsAreWhole) {
  if (GetParam() == std::string("Reference")) return;
  for (const int64_t n : {(1 << 15) * 128, (1 << 15) * 128 + 1, 3 * 65535 * 128 + 5}) {
    const LeafPtr arg = *engine_->put(data::Value::scalar(PrimValue::i64(n)));
    const auto result = engine_->call("remainders", std::span(&arg, 1));
    ASSERT_TRUE(result) << result.error().text();
    const auto value = engine_->get(*result->at(0));
    ASSERT_TRUE(value) << value.error().text();
    ASSERT_EQ(value->bytes.size(), static_cast<size_t>(n));
    // Tens of millions: an assertion for each would take longer than the launches.
    const std::byte* const bytes = value->bytes.data();
    int64_t right = 0;
    while (right < n && static_cast<int64_t>(bytes[right]) == right % 113) ++right;
    ASSERT_EQ(right, n) << static_cast<int64_t>(bytes[right]);
    const Status fails = call("all_but", n);
    ASSERT_FALSE(fails);
    EXPECT_THAT(fails.error().text(), HasSubstr("Assertion is false"));
  }
}

TEST_P(CallStopTest, EndlessKernelsEnd) {
  engine_->set_call_timeout(300ms);
  const Status status = call("in_one_kernel", kHuge);
  ASSERT_FALSE(status);
  // llvmpipe ends the loops itself, and says so.
  EXPECT_THAT(status.error().text(),
              testing::AnyOf(HasSubstr("took longer"), HasSubstr("ended a sequential loop early")));
  EXPECT_TRUE(call("fine", 1000));
}

TEST_P(CallStopTest, CancelledCallsEnd) {
  expect_cancelled("on_host", 1000);
  expect_cancelled("in_kernels", kHuge);
}

TEST_P(CallStopTest, OnesOwnCallsAreCancelledOnly) {
  constexpr uint64_t kOwn = 7, kOther = 8;
  engine_->set_owner(kOwn);
  engine_->set_call_timeout(300ms);
  std::thread other([&] {
    for (int i = 0; i < 10; ++i) {
      std::this_thread::sleep_for(10ms);
      engine_->cancel_calls_of(kOther);
    }
  });
  const auto start = Clock::now();
  const Status late = call("on_scalars", 1);
  other.join();
  expect_stopped("on_scalars", late, start,
                 "the call took longer than 0.3 seconds (--call-timeout) and was stopped.");
  expect_cancelled("on_host", 1000, [&] { engine_->cancel_calls_of(kOwn); });
}

TEST_P(CallStopTest, BigCopiesEnd) {
  if (GetParam() != std::string("Reference")) return;  // devices are told elsewhere
  expect_late("grow", 512);                            // half a gigabyte a thousand times
}

TEST_P(CallStopTest, EndlessConstantsEnd) {
  load(kEndlessConstant);
  engine_->set_call_timeout(300ms);
  const std::string late =
      "Error: the call took longer than 0.3 seconds (--call-timeout) and was stopped.";
  const Status prepared = engine_->prepare();
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().text(), late);
  const Status waits = call("waits", 1);
  ASSERT_FALSE(waits);
  EXPECT_EQ(waits.error().text(), late);
  EXPECT_TRUE(call("fine", 1000));
  expect_cancelled("waits", 1);
}

TEST_P(CallStopTest, CompilingKernelsIsNotTheCallsFaultAndEndsWhenItIsCancelled) {
  load(slow_to_compile());
  engine_->set_call_timeout(1s);
  auto start = Clock::now();
  const Status slow = call("slow", 2);
  EXPECT_TRUE(slow) << slow.error().text();
  const auto compiling = Clock::now() - start;
  load(slow_to_compile());
  start = Clock::now();
  const Status cancelled = [&] {
    std::atomic<bool> over = false;
    std::thread other([&] {
      while (!over) {
        std::this_thread::sleep_for(20ms);
        engine_->cancel();
      }
    });
    const Status status = call("slow", 2);
    over = true;
    other.join();
    return status;
  }();
  if (cancelled) return;  // compiled already: this engine, or this machine, is quick
  EXPECT_EQ(cancelled.error().text(), "Error: the call was cancelled.");
  EXPECT_LT(Clock::now() - start, std::max<Clock::duration>(1s, compiling / 2));
  engine_->set_call_timeout(60s);
  EXPECT_TRUE(call("fine", 1000));
  EXPECT_TRUE(call("slow", 2));  // what was begun goes on
}

// Others may take all of their time before it is this call's turn again.
TEST_P(CallStopTest, WaitingForItsTurnIsNotTheCallsFault) {
  if (GetParam() == std::string("Reference")) return;  // it compiles no kernels
  bool aside = false;
  engine_->set_step_aside([&](const std::function<void()>& wait) {
    aside = true;
    wait();
    std::this_thread::sleep_for(1500ms);
  });
  engine_->set_call_timeout(1s);
  const Status status = call("fine", 1000);
  EXPECT_TRUE(status) << status.error().text();
  EXPECT_TRUE(aside);
}

TEST_P(CallStopTest, CancelWithoutACallDoesNothing) {
  engine_->cancel();
  EXPECT_TRUE(call("fine", 1000));
}

TEST_P(CallStopTest, CallsInTimeAreLeftAlone) {
  engine_->set_call_timeout(60s);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(call("fine", 100'000));
}

INSTANTIATE_TEST_SUITE_P(Engines, CallStopTest, testing::Values("Mapped", "Staged", "Reference"),
                         [](const auto& info) { return std::string(info.param); });

TEST(CallStop, ADeviceThatDoesNotEndIsGivenUp) {
  CallStop stop;
  stop.set_timeout(1us);
  stop.begin();
  std::this_thread::sleep_for(1ms);
  EXPECT_GT(stop.look(false), 0ns);  // told to stop: it has some time for it
  EXPECT_FALSE(stop.check());
  EXPECT_FALSE(stop.end());
  EXPECT_TRUE(stop.check());
}

TEST(CallStop, ADeviceIsGivenUpOnlyIfItMakesNoProgress) {
  const auto told_to_stop = [](CallStop& stop) {
    stop.set_timeout(1us);
    stop.begin();
    std::this_thread::sleep_for(1ms);
    EXPECT_GT(stop.look(false), 0ns);
  };
  CallStop patient({}, CallStop::kForEver), stop({}, 300ms);
  told_to_stop(patient);
  told_to_stop(stop);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(100ms);
    EXPECT_GT(stop.look(true), 0ns);
  }
  std::this_thread::sleep_for(310ms);
  EXPECT_EQ(stop.look(false), 0ns);
  EXPECT_GT(patient.look(false), 0ns);
}

TEST(CallStop, WaitsOffTheClock) {
  CallStop stop;
  stop.set_timeout(500ms);
  stop.begin();
  int asked = 0;
  stop.away([&] {
    EXPECT_TRUE(stop.wait([&](std::chrono::milliseconds) {
      std::this_thread::sleep_for(150ms);
      return ++asked == 4;
    }));
  });
  EXPECT_TRUE(stop.check());
  std::this_thread::sleep_for(510ms);
  EXPECT_FALSE(stop.check());
}

}  // namespace
}  // namespace kenaz::host
