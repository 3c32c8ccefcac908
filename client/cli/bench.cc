// kenaz bench: run times of programs on the inputs of their test blocks.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "client/bench/chart.h"
#include "client/bench/compare.h"
#include "client/bench/copy_rate.h"
#include "client/bench/measure.h"
#include "client/bench/progress.h"
#include "client/bench/table.h"
#include "client/cli/subcommands.h"
#include "client/lib/temp_dir.h"
#include "client/testing/regex.h"
#include "client/testing/suite.h"
#include "protocol/base/utf8.h"

namespace kenaz::cli {
namespace {

using LabelledResults = std::vector<std::pair<std::string, bench::Results>>;

struct BenchCommand {
  bench::MeasureOptions measure;
  std::vector<std::string> paths, ignored;  // programs; expressions for those to leave out
  std::vector<std::string> results;         // files to take results from
  std::string json, compare, plot, trace;   // files; empty: none
  double tolerance = 0;  // with `compare`: how much slower is a failure; 0: none is
  int concurrency = 1;
  bool profile = false, copy = true;
};

/// The line of the program, cut where it becomes long.
std::string line_text(const bench::LineBytes& l) {
  constexpr size_t kMost = 60;
  const auto source = l.file.empty() ? Result<std::string>("") : client::read_file(l.file);
  if (!source) return "";
  const auto lines = split_lines(*source);
  if (l.line < 1 || static_cast<size_t>(l.line) > lines.size()) return "";
  std::string line = printable(lines[static_cast<size_t>(l.line) - 1]);
  line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
  if (line.size() <= kMost) return line;
  line.resize(kMost);
  while (!line.empty() && !is_utf8(line)) line.pop_back();  // part of a letter
  return line + " ..";
}

/// Measures programs and prints what comes.
class BenchSession {
 public:
  explicit BenchSession(const BenchCommand& command)
      : command_(command), progress_(::isatty(STDOUT_FILENO) != 0 ? print_now : nullptr) {}

  void measure(bench::Benchmark& benchmark) {
    bench::Table table(benchmark.names(), command_.measure.copy_rate);
    bool begun = false;
    bench::Listener listener;
    listener.progress = [&](const std::string& name, size_t runs, double done) {
      const auto since = client::Clock::now().time_since_epoch();
      progress_.show(name, done, runs, std::chrono::duration<double>(since).count());
    };
    listener.measured = [&](const std::string& entry, const bench::Dataset& d,
                            const bench::Profile& profile) {
      progress_.clear();
      if (!begun) print_text(benchmark.path() + "\n" + table.header());
      begun = true;
      print_text(table.row(entry + " " + d.name, d));
      failed_ = failed_ || !d.error.empty();
      note_profile(benchmark.path() + " " + entry + " " + d.name, profile);
      flush_output();
    };
    listener.observed = [&](const bench::ProfiledCall& call,
                            const Result<bench::KernelLines>& lines) {
      print_text(lines ? bench::lines_text(call, *lines, command_.measure.copy_rate, line_text)
                       : fmt::format("    no lines: {}\n", lines.error().text()));
      flush_output();
    };
    const auto measured = benchmark.measure(listener);
    progress_.clear();
    if (!measured) return fail(benchmark.path(), measured.error());
    print_text(table.notes());
    results_.insert(results_.end(), measured->begin(), measured->end());
  }

  void fail(const std::string& program, Error error) {
    failed_ = true;
    if (error.kind != ErrorKind::kCompile) error.message = program + ": " + error.message;
    complain(error);
  }

  void note_failure() { failed_ = true; }
  bool failed() const { return failed_; }
  const bench::Results& results() const { return results_; }
  const std::vector<bench::TitledCall>& calls() const { return calls_; }

 private:
  static void print_now(std::string_view text) {
    print_text(text);
    flush_output();
  }

  void note_profile(const std::string& title, const bench::Profile& profile) {
    if (!command_.profile && command_.trace.empty()) return;
    if (profile.calls.empty()) return;
    const bench::ProfiledCall& call = profile.calls.back();
    if (command_.profile) print_text(bench::profile_text(call, command_.measure.copy_rate));
    if (profile.lost > 0) {
      print_text(fmt::format("    {} events are missing: there were too many\n", profile.lost));
    }
    calls_.push_back({title, call});
  }

  const BenchCommand& command_;
  bench::Progress progress_;
  bench::Results results_;
  std::vector<bench::TitledCall> calls_;
  bool failed_ = false;
};

Result<std::vector<std::string>> programs_of(const BenchCommand& command) {
  KENAZ_ASSIGN(const auto all, testing::collect_programs(command.paths));
  std::vector<std::string> programs;
  for (const auto& path : all) {
    bool ignored = false;
    for (const auto& expression : command.ignored) {
      KENAZ_ASSIGN(const bool found, testing::regex_found(expression, path));
      ignored = ignored || found;
    }
    if (!ignored) programs.push_back(path);
  }
  return programs;
}

/// Finds out what there is to compare with: bytes in a microsecond; 0 if that cannot be known.
double measure_copy(const BenchCommand& command) {
  const bench::MeasureOptions& m = command.measure;
  if (!command.copy || m.server.reference || m.compiled) return 0;
  const double rate = bench::copy_rate(m.server).value_or(0);
  if (rate > 0) {
    print_text(
        fmt::format("A copy moves {:.{}f} GB/s on this device.\n", rate / 1e3, rate < 1e5 ? 1 : 0));
    flush_output();
  }
  return rate;
}

std::vector<bench::Benchmark> prepare_all(const BenchCommand& command, BenchSession& session,
                                          const std::vector<std::string>& programs) {
  std::vector<bench::Benchmark> benchmarks;
  for (const auto& program : programs) {
    auto prepared = bench::Benchmark::prepare(program, command.measure);
    if (!prepared) {
      session.fail(program, prepared.error());
    } else if (!prepared->empty()) {
      benchmarks.push_back(std::move(*prepared));
    }
  }
  return benchmarks;
}

void measure_all(BenchCommand& command, BenchSession& session,
                 std::vector<bench::Benchmark> benchmarks) {
  if (!benchmarks.empty()) command.measure.copy_rate = measure_copy(command);
  size_t launched = 0;
  for (size_t k = 0; k < benchmarks.size() && !output_is_closed(); ++k) {
    // Those that cannot be started say so when it is their turn.
    const size_t ahead = std::min(benchmarks.size(), k + static_cast<size_t>(command.concurrency));
    for (launched = std::max(launched, k); launched < ahead; ++launched) {
      (void)benchmarks[launched].launch();
    }
    bench::Benchmark current = std::move(benchmarks[k]);  // its server ends before the next begins
    session.measure(current);
  }
}

/// What was measured, and what comes from files, by label.
Result<LabelledResults> all_results(const BenchCommand& command, const BenchSession& session) {
  LabelledResults all;
  if (!command.paths.empty()) all.emplace_back("now", session.results());
  for (const auto& file : command.results) {
    KENAZ_ASSIGN(auto results, bench::read_results(file));
    all.emplace_back(std::filesystem::path(file).stem().string(), std::move(results));
  }
  return all;
}

/// Prints the comparison. Fails the command if a dataset is slower by more than is tolerated.
void report_changes(const BenchCommand& command, const bench::Results& before,
                    const bench::Results& after, BenchSession& session) {
  const auto compared = bench::compare(before, after);
  print_text(bench::comparison_text(compared));
  for (const auto& c : compared.both) {
    const bool slower = c.verdict == bench::Verdict::kSlower && command.tolerance > 0;
    if (slower && c.speedup * command.tolerance < 1) session.note_failure();
  }
}

Status write_files(const BenchCommand& command, BenchSession& session) {
  if (!command.json.empty()) {
    KENAZ_TRY(client::write_file(command.json, bench::results_json(session.results())));
  }
  if (!command.trace.empty()) {
    KENAZ_TRY(client::write_file(command.trace, bench::trace_json(session.calls())));
  }
  KENAZ_ASSIGN(auto all, all_results(command, session));
  if (!command.compare.empty()) {
    KENAZ_ASSIGN(auto before, bench::read_results(command.compare));
    report_changes(command, before, all.front().second, session);
    all.emplace_back(std::filesystem::path(command.compare).stem().string(), std::move(before));
  }
  if (command.plot.empty()) return {};
  KENAZ_ASSIGN(const auto svg, bench::chart_svg(bench::series_of(all)));
  return client::write_file(command.plot, svg);
}

int bench(BenchCommand& command) {
  command.profile = command.profile || command.measure.observe;
  command.measure.keep_report = command.profile;
  const auto programs = programs_of(command);
  if (!programs) return complain(programs.error(), kUsage);
  if (command.paths.empty() && command.results.empty()) {
    return complain(bad_request("no programs: name files or folders, or give --results").value(),
                    kUsage);
  }
  // Files that cannot be read should not cost a measurement.
  for (auto files = command.results; const auto& file : (files.push_back(command.compare), files)) {
    if (file.empty()) continue;
    if (const auto read = bench::read_results(file); !read) return complain(read.error(), kUsage);
  }
  const std::string& spec = command.measure.spec_file;
  if (const auto read = spec.empty() ? "" : client::read_file(spec); !read) {
    return complain(read.error(), kUsage);
  }
  BenchSession session(command);
  auto benchmarks = prepare_all(command, session, *programs);
  const bench::MeasureOptions& m = command.measure;
  const bool chosen = !m.entry.empty() && m.exclude.empty() && !programs->empty();
  if (chosen && benchmarks.empty() && !session.failed()) {
    return complain(bad_request("no dataset is of an entry point " + m.entry).value(), kUsage);
  }
  measure_all(command, session, std::move(benchmarks));
  if (const auto written = write_files(command, session); !written) {
    return complain(written.error(), kUsage);
  }
  return session.failed() ? kFailed : kOk;
}

/// Options of `futhark bench` that mean nothing here, and why.
constexpr std::pair<const char*, const char*> kRefused[] = {
    {"--backend", "there is one compiler, which is the server's; --device chooses the device"},
    {"--futhark", "nothing of Futhark's is used; --server names the server"},
    {"--pass-compiler-option", "the server is the compiler: --pass-option"},
    {"--cache-extension", "the server keeps compiled kernels by itself"},
    {"--runner", "give a server that runs somewhere else as --server, or measure beside it"},
};

void declare_refused(CLI::App& app) {
  for (const auto& [name, why] : kRefused) {
    const auto refuse = [name = name, why = why](const std::string&) {
      throw CLI::ValidationError(name, std::string("not here: ") + why);
    };
    app.add_option_function<std::string>(name, refuse)->group("");
  }
}

void declare_files(CLI::App& app, BenchCommand& command) {
  app.add_option("--json", command.json, "Write the results to this file, as futhark bench does")
      ->type_name("FILE");
  app.add_option("--compare", command.compare,
                 "Compare with the results in this file, of kenaz bench or futhark bench")
      ->type_name("FILE");
  app.add_option("--tolerance", command.tolerance,
                 "With --compare: exit with 1 if a dataset is slower by more than this factor")
      ->type_name("FACTOR")
      ->check(CLI::Range(1.0, 1e9));
  app.add_option("--results", command.results,
                 "Take results from this file, too, or instead of measuring: for --compare, --plot")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--plot", command.plot, "Draw run times over sizes to this file, as SVG")
      ->type_name("FILE");
  app.add_flag("-P,--profile", command.profile, "Say which kernels ran, and for how long");
  app.add_flag("--lines", command.measure.observe,
               "With --profile, which it implies: say what each line accesses, which the "
               "interpreter counts in some workgroups, and how fast");
  app.add_option("--trace", command.trace,
                 "Write when kernels ran to this file, for chrome://tracing")
      ->type_name("FILE");
}

void declare_choice(CLI::App& app, BenchCommand& command) {
  bench::MeasureOptions& m = command.measure;
  app.add_option("paths", command.paths, "Programs, and folders of programs");
  app.add_option("-e,--entry-point", m.entry, "Only this entry point");
  app.add_option("--exclude,--exclude-case", m.exclude,
                 "Leave out programs and datasets with this tag")
      ->type_name("TAG")
      ->allow_extra_args(false);
  app.add_option("--ignore-files", command.ignored, "Leave out programs whose path matches")
      ->type_name("REGEX")
      ->allow_extra_args(false);
  app.add_option("--spec-file", m.spec_file, "Take the test blocks of this file")
      ->type_name("FILE");
}

}  // namespace

std::function<int()> declare_bench(CLI::App& app) {
  auto command = std::make_shared<BenchCommand>();
  bench::MeasureOptions& m = command->measure;
  add_server_options(app, m.server);
  app.add_option("-p", m.server.arguments, "The same as --pass-option")
      ->type_name("OPT")
      ->allow_extra_args(false);
  declare_choice(app, *command);
  app.add_option("-r,--runs", m.sampling.runs, "Runs per dataset, at least")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  app.add_flag("!--no-convergence-phase", m.sampling.converge,
               "Take the first runs, even if they differ much");
  app.add_option("--convergence-max-seconds", m.sampling.convergence_seconds,
                 "How long to run until they differ less")
      ->capture_default_str()
      ->check(seconds());
  app.add_option("--timeout", m.timeout, "Seconds that a dataset may take; negative: any time")
      ->capture_default_str()
      ->check(seconds(true));
  auto* tuning = app.add_option("--tuning", m.tuning, "Extension of tuning files: PROGRAM.tuning")
                     ->type_name("EXT")
                     ->capture_default_str();
  app.add_flag_callback(
         "--no-tuning", [&m] { m.tuning.clear(); }, "Leave files PROGRAM.tuning alone")
      ->excludes(tuning);
  app.add_option("--concurrency", command->concurrency,
                 "Programs compiled at a time; each is measured alone")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  app.add_flag("--skip-compilation", m.compiled,
               "Run servers that are there: PROGRAM without .fut, of any compiler");
  app.add_flag("!--no-copy", command->copy, "Do not measure first how fast the device copies");
  declare_files(app, *command);
  declare_refused(app);
  return [command] {
    client::remove_temp_dirs_when_killed();
    return bench(*command);
  };
}

}  // namespace kenaz::cli
