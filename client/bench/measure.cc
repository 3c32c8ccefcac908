#include "client/bench/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "client/bench/statistics.h"
#include "client/bench/value_bytes.h"
#include "client/lib/temp_dir.h"
#include "client/lib/values.h"
#include "client/testing/callee.h"
#include "protocol/data/compare.h"

namespace kenaz::bench {

using testing::Callee;
using testing::Case;

namespace {

constexpr const char* kLog = "server.stderr";  // the file that servers' standard error goes to
constexpr size_t kLogBytes = 65536;            // of it that results keep

double now() {
  return std::chrono::duration<double>(client::Clock::now().time_since_epoch()).count();
}

/// Measures one dataset on a server.
class Run {
 public:
  Run(client::Connection& server, const std::string& program, const Case& c,
      const client::TempDir& scratch, const MeasureOptions& options)
      : server_(server), program_(program), case_(c), scratch_(scratch), options_(options) {}

  Status measure(const std::string& entry, const Listener& listener, Dataset& dataset,
                 Profile& profile) {
    KENAZ_TRY(server_.request({"clear"}));
    KENAZ_ASSIGN(const auto callee, Callee::look_up(server_, entry));
    (void)server_.request({"pause_profiling"});
    KENAZ_TRY(callee.load(case_.input, program_, scratch_));
    KENAZ_TRY(callee.call());
    KENAZ_TRY(weigh(callee, dataset));
    KENAZ_TRY(check_result(callee.output().type));
    SamplingHooks hooks;
    hooks.run = [&] { return run(callee); };
    hooks.now = now;
    hooks.report = [&](size_t runs, double done) {
      if (listener.progress) listener.progress(entry + " " + dataset.name, runs, done);
    };
    KENAZ_ASSIGN(auto samples, sample(options_.sampling, hooks));
    dataset.runtimes = std::move(samples.runtimes);
    dataset.settled = samples.settled;
    return look_inside(callee, dataset, profile);
  }

 private:
  Result<double> run(const Callee& callee) {
    if (callee.consumes()) {
      KENAZ_TRY(callee.free_inputs());
      KENAZ_TRY(callee.load(case_.input, program_, scratch_));
    }
    KENAZ_ASSIGN(const int64_t microseconds, callee.call());
    KENAZ_TRY(server_.request({"free", "out"}));
    return static_cast<double>(microseconds);
  }

  /// The sizes of arguments and result, where servers tell them.
  Status weigh(const Callee& callee, Dataset& dataset) {
    int64_t sum = 0;
    const auto add = [&](const std::string& variable, const std::string& type) -> Result<bool> {
      KENAZ_ASSIGN(const auto bytes, value_bytes(server_, variable, type));
      sum += bytes.value_or(0);
      return bytes.has_value();
    };
    KENAZ_ASSIGN(bool known, add("out", callee.output().type));
    for (size_t i = 0; known && i < callee.inputs().size(); ++i) {
      KENAZ_ASSIGN(known, add(fmt::format("in{}", i), callee.inputs()[i].type));
    }
    if (known) dataset.figures.value_bytes = sum;
    return {};
  }

  /// Frees the variable `out` in any case that leaves the server usable.
  Status check_result(const std::string& type) {
    if (!std::holds_alternative<testing::Literal>(case_.expected) &&
        !std::holds_alternative<testing::DataFile>(case_.expected)) {
      KENAZ_TRY(server_.request({"free", "out"}));
      return {};
    }
    KENAZ_ASSIGN(const auto got, client::take_results(server_, scratch_, "out", type));
    KENAZ_ASSIGN(const auto wanted, testing::stated_results(case_.expected, program_));
    if (const auto difference = data::mismatch(wanted, got)) {
      return bad_request("a wrong result: " + *difference);
    }
    return {};
  }

  /// A few profiled calls, and the report. Time stamps take time, so these are not measured.
  Status look_inside(const Callee& callee, Dataset& dataset, Profile& profile) {
    constexpr double kLong = 3e5;  // microseconds
    const int calls = median(dataset.runtimes) < kLong ? 3 : 1;
    const bool profiles = server_.request({"unpause_profiling"}).has_value();
    for (int k = 0; profiles && k < calls; ++k) KENAZ_TRY(run(callee));
    if (profiles) KENAZ_TRY(server_.request({"pause_profiling"}));
    auto report = server_.request_line({"report"});
    auto parsed = report ? parse_profile(*report) : Result<Profile>(Profile());
    if (!parsed) return {};  // some servers report in words
    profile = std::move(*parsed);
    dataset.bytes = profile.memory;
    if (options_.keep_report) {
      dataset.report = *report;
      const auto log = client::read_file(scratch_.file(kLog));
      dataset.log = log ? client::tail(*log, kLogBytes) : "";
    }
    std::vector<double> device;
    for (const ProfiledCall& call : profile.calls) device.push_back(call.device_us());
    const bool several = profile.calls.size() == 1 && profile.calls[0].name.empty();
    dataset.figures.device_us = median(device) / (several ? calls : 1);
    if (!device.empty() && !several)
      dataset.figures.kernel_bytes = profile.calls.back().bytes(options_.copy_rate);
    return {};
  }

  client::Connection& server_;
  const std::string& program_;
  const Case& case_;
  const client::TempDir& scratch_;
  const MeasureOptions& options_;
};

bool counts(const std::vector<std::string>& tags, const MeasureOptions& options) {
  return std::none_of(tags.begin(), tags.end(), [&](const std::string& tag) {
    return tag == "nobench" || tag == "disable" || tag == "no_kenaz" ||
           std::find(options.exclude.begin(), options.exclude.end(), tag) != options.exclude.end();
  });
}

}  // namespace

Result<Benchmark> Benchmark::prepare(const std::string& path, const MeasureOptions& options) {
  Benchmark b(path, options);
  const std::string& from = options.spec_file.empty() ? path : options.spec_file;
  KENAZ_ASSIGN(const auto source, client::read_file(from));
  KENAZ_ASSIGN(const auto spec, testing::parse_spec(source, testing::spec_language(path)));
  if (!counts(spec.tags, options)) return b;
  for (const auto& group : spec.groups) {
    testing::CaseGroup counted;
    for (const auto& entry : group.entries) {
      if (options.entry.empty() || entry == options.entry) counted.entries.push_back(entry);
    }
    for (const Case& c : group.cases) {
      const bool fails = std::holds_alternative<testing::RuntimeError>(c.expected);
      if (!fails && counts(c.tags, options)) counted.cases.push_back(c);
    }
    if (!counted.entries.empty() && !counted.cases.empty()) b.groups_.push_back(counted);
  }
  return b;
}

std::vector<std::string> Benchmark::names() const {
  std::vector<std::string> all;
  for (const auto& group : groups_) {
    for (const auto& entry : group.entries) {
      for (const Case& c : group.cases) all.push_back(entry + " " + c.name);
    }
  }
  return all;
}

client::ServerOptions Benchmark::server_options() const {
  client::ServerOptions start = options_->server;
  if (options_->compiled) {
    const std::filesystem::path compiled = std::filesystem::path(path_).replace_extension();
    start.server = compiled.has_parent_path() ? compiled.string() : "./" + compiled.string();
  } else {
    start.program = path_;
  }
  start.stderr_path = scratch_->file(kLog);
  start.arguments.push_back("--profile");
  const std::string tuning = path_ + options_->tuning;
  if (!options_->tuning.empty() && std::filesystem::exists(tuning)) {
    start.arguments.insert(start.arguments.end(), {"--tuning", tuning});
  }
  return start;
}

Result<KernelLines> Benchmark::observe(const Profile& profile, const std::string& entry,
                                       const Case& c) const {
  if (!profile.device) return bad_request("the server does not tell what its device is like");
  return observe_lines(server_options(), *profile.device, entry, c);
}

Status Benchmark::launch() {
  if (server_) return {};
  KENAZ_ASSIGN(auto scratch, client::TempDir::make());
  scratch_ = std::make_shared<client::TempDir>(std::move(scratch));
  KENAZ_ASSIGN(server_, client::Connection::launch(server_options()));
  greeted_ = false;
  return {};
}

Status Benchmark::ready() {
  if (server_ && server_->broken() && greeted_) server_.reset();
  KENAZ_TRY(launch());
  if (!greeted_) KENAZ_TRY(server_->wait_for_greeting(client::Deadline::max()));
  greeted_ = true;
  const bool limited = options_->timeout >= 0;
  server_->set_deadline(limited ? client::deadline_in(options_->timeout) : client::Deadline::max());
  return {};
}

Result<Results> Benchmark::measure(const Listener& listener) {
  Results results;
  for (const auto& group : groups_) {
    for (const auto& entry : group.entries) {
      const auto same = [&](const Measured& m) { return m.entry == entry; };
      auto found = std::find_if(results.begin(), results.end(), same);
      if (found == results.end()) found = results.insert(found, {path_, entry, {}});
      for (const Case& c : group.cases) {
        KENAZ_TRY(ready());
        Dataset dataset;
        dataset.name = c.name;
        Profile profile;
        const auto status = Run(*server_, path_, c, *scratch_, *options_)
                                .measure(entry, listener, dataset, profile);
        if (!status) dataset.error = status.error().text();
        if (listener.measured) listener.measured(entry, dataset, profile);
        if (options_->observe && listener.observed && !profile.calls.empty()) {
          listener.observed(profile.calls.back(), observe(profile, entry, c));
        }
        found->datasets.push_back(std::move(dataset));
      }
    }
  }
  return results;
}

}  // namespace kenaz::bench
