#include "client/testing/program_runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "client/lib/temp_dir.h"
#include "client/lib/values.h"
#include "client/testing/callee.h"
#include "client/testing/regex.h"
#include "protocol/base/diagnostic_text.h"
#include "protocol/data/compare.h"

namespace kenaz::testing {
namespace {

using client::Connection;

constexpr const char* kServerStderr = "server.stderr";
constexpr size_t kQuotedText = 3000;  // of a message that does not match

class ProgramTest {
 public:
  ProgramTest(const std::string& path, const TestOptions& options, client::TempDir scratch,
              ProgramResult& result)
      : path_(path),
        options_(options),
        scratch_(std::move(scratch)),
        deadline_(client::deadline_in(options.timeout)),
        result_(result) {}
  void run();

 private:
  void fail(std::string message) { result_.failures.push_back({"", "", std::move(message)}); }
  bool excluded(const std::vector<std::string>& tags) const;

  Status check_rejected(const std::string& regex);
  Status check_starts_and_ends();
  Status check_warnings(const std::vector<std::string>& regexes);
  void drop_variables();
  template <class Body>
  void for_each_case(const ProgramSpec& spec, Body body) const;
  void run_cases(const ProgramSpec& spec);
  template <class Body>
  void run_one(Run run, Body body);
  void run_properties(const ProgramSpec& spec);
  Status run_case(const std::string& entry, const Case& c);
  Result<std::vector<data::Value>> results_of(Connection& server, const std::string& entry,
                                              const Input& input);
  Status compare(const Expected& expected, const std::string& entry, const Input& input,
                 const std::vector<data::Value>& got);
  /// `expects`: the server that automatic outputs come from, not the one under test.
  Result<std::unique_ptr<Connection>> start(bool expects, const std::string& stderr_name);
  Result<Connection*> server();
  Result<Connection*> reference();

  const std::string& path_;
  const TestOptions& options_;
  client::TempDir scratch_;
  client::Deadline deadline_;
  ProgramResult& result_;
  std::unique_ptr<Connection> server_, reference_;
};

bool ProgramTest::excluded(const std::vector<std::string>& tags) const {
  return std::any_of(tags.begin(), tags.end(), [&](const std::string& tag) {
    return tag == "disable" || tag == "notest" || tag == "no_kenaz" ||
           std::find(options_.exclude.begin(), options_.exclude.end(), tag) !=
               options_.exclude.end();
  });
}

Result<std::unique_ptr<Connection>> ProgramTest::start(bool expects,
                                                       const std::string& stderr_name) {
  client::ServerOptions options = options_.server;
  options.program = path_;
  options.reference = options.reference || expects;
  if (expects && !options_.expect_from.empty()) {
    options.reference = false;
    options.device = options_.expect_from;
    options.stage.clear();
    options.arguments.clear();  // they are for the server under test
  }
  options.stderr_path = scratch_.file(stderr_name);
  ::unlink(options.stderr_path.c_str());
  if (options_.tuning) add_tuning_file(options);
  return Connection::start(options, deadline_);
}

/// A server that died is started again, so that one bad run does not hide what the others do.
Result<Connection*> ProgramTest::server() {
  if (!server_ || server_->broken()) {
    server_.reset();
    KENAZ_ASSIGN(server_, start(false, kServerStderr));
  }
  return server_.get();
}

Result<Connection*> ProgramTest::reference() {
  if (!reference_ || reference_->broken()) {
    reference_.reset();
    auto started = start(true, "reference.stderr");
    if (!started) {
      return internal_error("for the expected output: " + started.error().message);
    }
    reference_ = std::move(*started);
  }
  return reference_.get();
}

Status ProgramTest::check_rejected(const std::string& regex) {
  client::ProcessOptions check;
  check.argv = {options_.server.server, "--check", path_};
  if (options_.server.reference) check.argv.push_back("--reference");
  check.stderr_path = scratch_.file("check.stderr");
  check.memory_limit = options_.server.memory_limit;
  KENAZ_ASSIGN(const auto status, client::run_to_end(check, deadline_));
  KENAZ_ASSIGN(const auto text, client::read_file(check.stderr_path));
  if (status.success()) return bad_request("accepted, but should be rejected with: " + regex);
  if (status.signal != 0 || status.code == 1) {
    return internal_error("the check " + status.text() + ":\n" + client::tail(text, kQuotedText));
  }
  KENAZ_ASSIGN(const bool found, regex_found(regex, without_excerpts(text)));
  if (!found) {
    return bad_request(
        fmt::format("rejected, but not with: {}\n{}", regex, client::tail(text, kQuotedText)));
  }
  return {};
}

Status ProgramTest::check_starts_and_ends() {
  KENAZ_ASSIGN(Connection * connection, server());
  KENAZ_TRY(connection->request({"entry_points"}));
  KENAZ_ASSIGN(const auto status, connection->finish());
  if (!status.success())
    return internal_error("at the end of its input the server " + status.text());
  return {};
}

Status ProgramTest::check_warnings(const std::vector<std::string>& regexes) {
  if (regexes.empty()) return {};
  KENAZ_TRY(server());
  KENAZ_ASSIGN(const auto text, client::read_file(scratch_.file(kServerStderr)));
  for (const auto& regex : regexes) {
    KENAZ_ASSIGN(const bool found, regex_found(regex, without_excerpts(text)));
    if (!found) {
      return bad_request(
          fmt::format("no warning matches: {}\n{}", regex, client::tail(text, kQuotedText)));
    }
  }
  return {};
}

Result<std::vector<data::Value>> ProgramTest::results_of(Connection& server,
                                                         const std::string& entry,
                                                         const Input& input) {
  KENAZ_ASSIGN(const auto callee, Callee::look_up(server, entry));
  KENAZ_TRY(callee.load(input, path_, scratch_));
  KENAZ_TRY(callee.call());
  KENAZ_TRY(callee.free_inputs());
  return client::take_results(server, scratch_, "out", callee.output().type);
}

Status ProgramTest::compare(const Expected& expected, const std::string& entry, const Input& input,
                            const std::vector<data::Value>& got) {
  std::vector<data::Value> wanted;
  if (!std::holds_alternative<AutoOutput>(expected)) {
    KENAZ_ASSIGN(wanted, stated_results(expected, path_));
  } else {
    KENAZ_ASSIGN(Connection * oracle, reference());
    auto values = results_of(*oracle, entry, input);
    if (!values) return internal_error("for the expected output: " + values.error().message);
    wanted = std::move(*values);
  }
  if (const auto difference = data::mismatch(wanted, got)) return bad_request(*difference);
  return {};
}

Status ProgramTest::run_case(const std::string& entry, const Case& c) {
  KENAZ_ASSIGN(Connection * connection, server());
  KENAZ_ASSIGN(const auto callee, Callee::look_up(*connection, entry));
  KENAZ_TRY(callee.load(c.input, path_, scratch_));
  const auto called = callee.call();
  if (!connection->broken()) KENAZ_TRY(callee.free_inputs());
  if (const auto* error = std::get_if<RuntimeError>(&c.expected)) {
    if (called) return bad_request("ran, but should fail with: " + error->regex);
    if (connection->broken()) return tl::unexpected<Error>(called.error());
    KENAZ_ASSIGN(const bool found, regex_found(error->regex, called.error().message));
    if (!found) {
      return bad_request(fmt::format("failed, but not with: {}\n{}", error->regex,
                                     client::tail(called.error().message, kQuotedText)));
    }
    return {};
  }
  KENAZ_TRY(called);
  // The reference has nothing but itself to compare an automatic output with.
  const bool is_own_oracle = options_.server.reference && options_.expect_from.empty() &&
                             std::holds_alternative<AutoOutput>(c.expected);
  if (std::holds_alternative<NoExpectation>(c.expected) || is_own_oracle) {
    ++result_.unchecked;
    KENAZ_TRY(connection->request({"free", "out"}));
    return {};
  }
  KENAZ_ASSIGN(const auto got,
               client::take_results(*connection, scratch_, "out", callee.output().type));
  return compare(c.expected, entry, c.input, got);
}

/// After a run that failed half-way, which may have left variables behind.
void ProgramTest::drop_variables() {
  for (Connection* connection : {server_.get(), reference_.get()}) {
    if (connection != nullptr && !connection->broken()) (void)connection->request({"clear"});
  }
}

/// Of the entry points that are to be tested.
template <class Body>
void ProgramTest::for_each_case(const ProgramSpec& spec, Body body) const {
  for (const auto& group : spec.groups) {
    for (const auto& entry : group.entries) {
      if (!options_.entry.empty() && entry != options_.entry) continue;
      for (const auto& c : group.cases) body(entry, c);
    }
  }
}

/// Does a run, which gives what is wrong or an empty string, and enters it in the results.
template <class Body>
void ProgramTest::run_one(Run run, Body body) {
  ++result_.runs;
  const auto begin = client::Clock::now();
  run.failure = begin >= deadline_ ? "no time is left for this run" : body();
  run.seconds = std::chrono::duration<double>(client::Clock::now() - begin).count();
  if (!run.failure.empty()) {
    drop_variables();
    result_.failures.push_back({run.entry, run.dataset, run.failure, run.line});
  }
  result_.cases.push_back(std::move(run));
}

void ProgramTest::run_cases(const ProgramSpec& spec) {
  for_each_case(spec, [&](const std::string& entry, const Case& c) {
    if (excluded(c.tags)) return;
    run_one({entry, c.name, c.line, 0, ""}, [&]() -> std::string {
      const auto status = run_case(entry, c);
      return status ? "" : status.error().text();
    });
  });
}

/// Declarations that are wrong are one failed run, and no property is tested then.
void ProgramTest::run_properties(const ProgramSpec& spec) {
  std::vector<std::string> names;
  for (const auto& property : spec.properties) names.push_back(property.name);
  Result<DeclaredProperties> declared = server().and_then(
      [&](Connection* connection) { return find_properties(*connection, names); });
  // Other servers need not know of attributes, as long as no block names a property.
  if (!declared && names.empty()) return;
  const int line = names.empty() ? 0 : spec.properties[0].line;
  if (!declared || !declared->errors.empty()) {
    return run_one({"properties", "declared", line, 0, ""}, [&] {
      return declared ? fmt::format("{}", fmt::join(declared->errors, "\n"))
                      : declared.error().text();
    });
  }
  std::vector<std::string> reports;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!options_.entry.empty() && names[i] != options_.entry) continue;
    run_one({names[i], "property", spec.properties[i].line, 0, ""}, [&] {
      const auto report = server().and_then([&](Connection* connection) {
        return test_property(*connection, scratch_, declared->properties[i], options_.properties,
                             path_);
      });
      std::string text = report ? *report : report.error().text();
      if (!text.empty()) reports.push_back(text);
      return text;
    });
  }
  if (reports.empty()) return;
  if (const auto written = write_property_reports(path_, reports); !written) {
    fail(written.error().text());
  }
}

void ProgramTest::run() {
  const auto source = client::read_file(path_);
  if (!source) return fail(source.error().text());
  const auto spec = parse_spec(*source, spec_language(path_));
  if (!spec) return fail(spec.error().text());
  if (excluded(spec->tags)) {
    result_.outcome = Outcome::kExcluded;
    return;
  }
  if (spec->compile_error) {
    if (const auto status = check_rejected(*spec->compile_error); !status) {
      fail(status.error().text());
    }
    return;
  }
  if (const auto status = check_warnings(spec->warnings); !status) fail(status.error().text());
  // A program that cannot be loaded fails once, not once per run.
  if (const auto started = server(); !started) {
    for_each_case(*spec, [&](const std::string&, const Case&) { ++result_.runs; });
    result_.runs += static_cast<int>(spec->properties.size());
    return fail(started.error().text());
  }
  const auto said = client::read_file(scratch_.file(kServerStderr));
  const bool expected = !spec->warnings.empty();  // then they are no news
  if (said && !expected && said->find("Warning") != std::string::npos) result_.warnings = *said;
  run_cases(*spec);
  run_properties(*spec);
  if (!server_ || server_->broken()) return;
  if (const auto status = check_starts_and_ends(); !status) fail(status.error().text());
}

}  // namespace

int ProgramResult::failed_runs() const {
  const auto whole = [](const Failure& f) { return f.entry.empty(); };
  if (std::any_of(failures.begin(), failures.end(), whole)) return runs;
  return static_cast<int>(failures.size());
}

ProgramResult test_program(const std::string& path, const TestOptions& options) {
  ProgramResult result;
  result.path = path;
  const auto begin = client::Clock::now();
  if (auto scratch = client::TempDir::make()) {
    ProgramTest(path, options, std::move(*scratch), result).run();
  } else {
    result.failures.push_back({"", "", scratch.error().text()});
  }
  result.seconds = std::chrono::duration<double>(client::Clock::now() - begin).count();
  if (!result.failures.empty()) result.outcome = Outcome::kFail;
  return result;
}

}  // namespace kenaz::testing
