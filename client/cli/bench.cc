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

void print_dataset(const testing::Measurement& m) {
  if (!m.error.empty()) {
    fmt::print("  {} {}: {}\n", m.entry, m.dataset, m.error);
    return;
  }
  fmt::print("  {} {}: median {:.0f} us, min {} us, {} runs\n", m.entry, m.dataset, m.median(),
             *std::min_element(m.runtimes.begin(), m.runtimes.end()), m.runtimes.size());
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
      complain(Error{ErrorKind::kInternal, program + ": " + measured.error().text(), {}});
      continue;
    }
    if (measured->empty()) continue;
    fmt::print("{}\n", program);
    for (const auto& m : *measured) {
      print_dataset(m);
      failed = failed || !m.error.empty();
    }
    flush_output();
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
  app.add_option("--timeout", command->measure.timeout, "Seconds that a program may take")
      ->capture_default_str();
  app.add_option("--json", command->json, "Write the results to this file, as futhark bench does");
  return [command] { return bench(*command); };
}

}  // namespace kenaz::cli
