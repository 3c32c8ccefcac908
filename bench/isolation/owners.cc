// owners DEVICE: what it costs that memory is cleared when it passes from one session to another. A
// call by one session again and again, and the same call by two sessions in turn, measured in turn
// in one run. Prints medians in microseconds, and ratios.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include "kernels/compiler.h"
#include "server/device/vulkan/vulkan_device.h"
#include "server/host/device_engine.h"
#include "server/host/device_target.h"

namespace kenaz::bench {
namespace {

// One kernel; a few, with temporary arrays.
constexpr char kProgram[] = R"(
entry one [n] (xs: [n]f32): [n]f32 = map (\x -> 2 * x + 1) xs
entry several [n] (xs: [n]f32): [n]f32 = map2 (+) (scan (+) 0 xs) (scan f32.max f32.lowest xs)
)";
constexpr int kRounds = 11;

using Clock = std::chrono::steady_clock;

struct Caller {
  std::shared_ptr<host::Engine> engine;
  host::LeafPtr argument;
};

/// Microseconds per call; the callers take turns.
double time_calls(const std::string& entry, const std::vector<Caller>& callers, int calls) {
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) {
    const Caller& caller = callers[static_cast<size_t>(i) % callers.size()];
    const auto result = caller.engine->call(entry, std::span(&caller.argument, 1));
    if (!result) throw std::runtime_error(result.error().text());
  }
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / calls;
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + kRounds / 2, v.end());
  return v[kRounds / 2];
}

void compare(const std::string& entry, const std::vector<Caller>& callers, int64_t n) {
  const int calls = n > 100'000 ? 4 : 40;
  std::vector<double> alone, in_turn;
  time_calls(entry, callers, 2);
  for (int round = 0; round < kRounds; ++round) {
    alone.push_back(time_calls(entry, {callers[0]}, calls));
    in_turn.push_back(time_calls(entry, callers, calls));
  }
  fmt::print("{:<8} {:>9} f32: one session {:>10.1f} us, two in turn {:>10.1f} us, {:.2f} times\n",
             entry, n, median(alone), median(in_turn), median(in_turn) / median(alone));
}

Status run(const std::string& device_name) {
  device::VulkanOptions options;
  options.device = device_name;
  KENAZ_ASSIGN(auto device, device::make_vulkan_device(options));
  const SourceReader reader = [](const std::string&) { return Result<std::string>(kProgram); };
  KENAZ_ASSIGN(auto program,
               compiler::compile("bench.fut", {reader}, host::device_target(device->info())));
  KENAZ_ASSIGN(auto made, host::make_device_engine(std::move(program), std::move(device)));
  const std::shared_ptr<host::Engine> engine = std::move(made);
  fmt::print("{}\n", engine->name());
  for (const int64_t n : {1000, 1'000'000}) {
    data::Value value{PrimType::kF32, {n}, {}};
    value.bytes.resize(static_cast<size_t>(n) * 4);
    std::vector<Caller> callers;
    for (int i = 0; i < 2; ++i) {
      const auto session = host::engine_for_session(engine, static_cast<uint64_t>(i) + 1);
      KENAZ_ASSIGN(auto argument, session->put(value));
      callers.push_back({session, std::move(argument)});
    }
    for (const char* entry : {"one", "several"}) compare(entry, callers, n);
  }
  return {};
}

}  // namespace
}  // namespace kenaz::bench

int main(int argc, char** argv) {
  const auto done = kenaz::bench::run(argc > 1 ? argv[1] : "");
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().text());
  return 1;
}
