// kenaz bench: run times of programs on the inputs of their test blocks.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "client/cli/subcommands.h"
#include "client/testing/measure.h"
#include "client/testing/suite.h"

namespace kenaz::cli {
namespace {

struct BenchCommand {
  testing::MeasureOptions measure;
  std::vector<std::string> paths;
  std::string json;
};

/// "12.5 ms"; the server counts whole microseconds.
std::string duration(double microseconds) {
  if (microseconds < 1) return "< 1 us";
  if (microseconds < 1e4) return fmt::format("{:.0f} us", microseconds);
  if (microseconds < 1e7) return fmt::format("{:.1f} ms", microseconds / 1e3);
  return fmt::format("{:.2f} s", microseconds / 1e6);
}

/// A line per dataset, in columns; errors behind them.
void print_datasets(const std::vector<testing::Measurement>& all) {
  constexpr size_t kWidest = 60;
  size_t width = 0;
  const auto name = [](const testing::Measurement& m) { return m.entry + " " + m.dataset; };
  for (const auto& m : all) width = std::max(width, std::min(kWidest, name(m).size()));
  print_text(fmt::format("  {:<{}} {:>10} {:>10} {:>10} {:>7}\n", "", width, "median", "least",
                         "most", "runs"));
  for (const auto& m : all) {
    if (!m.error.empty()) {
      print_text(fmt::format("  {:<{}} {}\n", name(m), width, m.error));
    } else {
      print_text(fmt::format("  {:<{}} {:>10} {:>10} {:>10} {:>7}\n", name(m), width,
                             duration(m.median()), duration(static_cast<double>(m.least())),
                             duration(static_cast<double>(m.most())), m.runtimes.size()));
    }
  }
}

int bench(const BenchCommand& command) {
  const auto programs = testing::collect_programs(command.paths);
  if (!programs) return complain(programs.error(), kUsage);
  bool failed = false;
  std::vector<std::pair<std::string, std::vector<testing::Measurement>>> all;
  for (const auto& program : *programs) {
    const auto measured = testing::measure_program(program, command.measure);
    if (!measured) {
      failed = true;
      Error error = measured.error();
      if (error.kind != ErrorKind::kCompile) error.message = program + ": " + error.message;
      complain(error);
      continue;
    }
    if (measured->empty()) continue;
    print_text(program + "\n");
    print_datasets(*measured);
    for (const auto& m : *measured) failed = failed || !m.error.empty();
    flush_output();
    if (output_is_closed()) break;
    all.emplace_back(program, *measured);
  }
  if (!command.json.empty()) {
    if (const auto written = testing::write_bench_json(command.json, all); !written) {
      return complain(written.error(), kUsage);
    }
  }
  return failed ? kFailed : kOk;
}

}  // namespace

std::function<int()> declare_bench(CLI::App& app) {
  auto command = std::make_shared<BenchCommand>();
  add_server_options(app, command->measure.server);
  app.add_option("paths", command->paths, "Programs, and folders of programs")->required();
  app.add_option("-e,--entry-point", command->measure.entry, "Only this entry point");
  app.add_option("-r,--runs", command->measure.runs, "Runs per dataset, at least")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  app.add_flag("!--no-tuning", command->measure.tuning, "Leave files PROGRAM.tuning alone");
  app.add_option("--timeout", command->measure.timeout, "Seconds that a program may take")
      ->capture_default_str();
  app.add_option("--json", command->json, "Write the results to this file, as futhark bench does");
  return [command] { return bench(*command); };
}

}  // namespace kenaz::cli
