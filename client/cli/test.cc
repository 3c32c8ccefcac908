// kenaz test.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <random>
#include <thread>

#include "client/cli/subcommands.h"
#include "client/lib/temp_dir.h"
#include "client/testing/report.h"
#include "client/testing/suite.h"

namespace kenaz::cli {
namespace {

struct TestCommand {
  testing::TestOptions test;
  std::vector<std::string> paths;
  std::string list, junit, results;
  int workers = 1;
  bool no_color = false, no_warnings = false;
};

Result<std::vector<std::string>> programs_of(const TestCommand& command) {
  std::vector<std::string> paths = command.paths;
  if (!command.list.empty()) {
    KENAZ_ASSIGN(std::string text, client::read_file(command.list));
    text += '\n';
    for (size_t start = 0, end; (end = text.find('\n', start)) != std::string::npos;
         start = end + 1) {
      if (end > start) paths.push_back(text.substr(start, end - start));
    }
  }
  if (paths.empty()) return bad_request("no programs: name files or folders, or give --list");
  KENAZ_ASSIGN(auto programs, testing::collect_programs(paths));
  if (programs.empty()) return bad_request("there are no programs there");
  return programs;
}

/// A line that is overwritten by whatever is printed next; on a terminal only.
class Progress {
 public:
  Progress(size_t total, bool enabled) : total_(total), enabled_(enabled) {}
  void clear() const {
    if (enabled_) print_text("\r\x1b[K");
  }
  void show(const testing::Totals& t) const {
    if (!enabled_) return;
    print_text(fmt::format("\r\x1b[K{}/{} programs, {} failed", t.programs, total_, t.failed));
    flush_output();
  }

 private:
  size_t total_;
  bool enabled_;
};

int test(const TestCommand& command) {
  const auto programs = programs_of(command);
  if (!programs) return complain(programs.error(), kUsage);
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  const bool color = colours_on(STDOUT_FILENO) && !command.no_color;
  const Progress progress(programs->size(), terminal);
  testing::Totals totals;
  std::optional<testing::ResultsFile> file;
  Status written;
  if (!command.results.empty()) {
    auto created = testing::ResultsFile::create(command.results);
    if (!created) return complain(created.error(), kUsage);
    file = std::move(*created);
  }
  const auto begin = client::Clock::now();
  const auto done = [&](const testing::ProgramResult& result) {
    totals.add(result);
    if (file && written) written = file->add(result);
    progress.clear();
    if (!command.no_warnings) print_text(testing::warning_text(result, color));
    if (result.outcome == testing::Outcome::kFail) {
      print_text(testing::failure_text(result, color));
      flush_output();
    }
    progress.show(totals);
    return !output_is_closed();
  };
  const auto results = testing::test_programs(*programs, command.test, command.workers, done);
  progress.clear();
  const double seconds = std::chrono::duration<double>(client::Clock::now() - begin).count();
  print_text(testing::summary_text(results, seconds));
  if (written && !command.junit.empty()) written = testing::write_junit(command.junit, results);
  if (!written) return complain(written.error(), kUsage);
  if (!command.test.entry.empty() && totals.runs == 0 && totals.failed == 0) {
    const auto none =
        fmt::format("no case is of an entry point or property {}", command.test.entry);
    return complain(bad_request(none).value(), kUsage);
  }
  return totals.failed == 0 ? kOk : kFailed;
}

}  // namespace

std::function<int()> declare_test(CLI::App& app) {
  auto command = std::make_shared<TestCommand>();
  add_server_options(app, command->test.server);
  command->workers = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  app.add_option("paths", command->paths, "Programs, and folders of programs");
  app.add_option("--list", command->list, "A file that names programs, one per line");
  app.add_option("-e,--entry-point", command->test.entry,
                 "Only cases of this entry point, or this property");
  app.add_option("-j,--concurrency", command->workers, "Programs tested at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  app.add_option("--exclude", command->test.exclude, "Leave out programs and cases with this tag")
      ->allow_extra_args(false);
  app.add_option("--expect-from", command->test.expect_from,
                 "The device that automatic outputs come from, instead of the reference evaluator")
      ->type_name("DEVICE");
  auto& properties = command->test.properties;
  properties.seed = (uint64_t{std::random_device()()} << 32) | std::random_device()();
  app.add_option("-n,--num-tests", properties.tests, "Candidates for each property")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("-m,--max-size", properties.size, "Size of candidates")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seed", properties.seed, "Of candidates; otherwise it differs in each run");
  app.add_option("--num-tries", properties.shrink_tries,
                 "How often a shrinker may fail to find a smaller candidate")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_flag("!--no-tuning", command->test.tuning, "Leave files PROGRAM.tuning alone");
  app.add_option("--timeout", command->test.timeout, "Seconds that a program may take")
      ->capture_default_str()
      ->check(seconds());
  app.add_option("--junit", command->junit, "Write the results to this file as JUnit's XML");
  app.add_option("--results", command->results, "Write the results to this file, tab separated");
  app.add_flag("-w,--no-warnings", command->no_warnings, "Print no warnings");
  app.add_flag("--no-color", command->no_color, "No colours");
  return [command] {
    client::remove_temp_dirs_when_killed();
    return test(*command);
  };
}

}  // namespace kenaz::cli
