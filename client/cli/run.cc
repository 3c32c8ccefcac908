// kenaz run.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "client/cli/png.h"
#include "client/cli/run.h"
#include "client/cli/subcommands.h"
#include "client/lib/temp_dir.h"
#include "client/lib/values.h"
#include "protocol/data/text_format.h"
#include "protocol/data/values.h"

namespace kenaz::cli {
namespace {

Result<std::vector<data::Value>> read_arguments(const std::vector<client::EntryParam>& params) {
  std::vector<data::Value> values;
  // Nobody should have to end an input that is not wanted, a terminal or a pipe from elsewhere.
  if (params.empty()) return values;
  KENAZ_ASSIGN(auto source, data::ByteSource::open("/dev/stdin"));
  for (size_t i = 0; i < params.size(); ++i) {
    const auto leaf = client::transparent_leaf(params[i].type);
    if (!leaf) {
      return bad_request(
          fmt::format("a value of the opaque type {} cannot be read", params[i].type));
    }
    auto value = data::read_value(source, *leaf);
    if (!value) {
      return bad_request(fmt::format("standard input: {} (value {} of {}, of type {})",
                                     value.error().message, i + 1, params.size(), params[i].type));
    }
    if (!*value) {
      return bad_request(
          fmt::format("standard input has {} values; the entry takes {}, the next "
                      "of type {}",
                      i, params.size(), params[i].type));
    }
    values.push_back(std::move(**value));
  }
  const auto extra = data::read_value(source);
  if (!extra) return bad_request("standard input: " + extra.error().message);
  if (*extra) {
    return bad_request(fmt::format(
        "standard input has more than the {} values that the entry takes", params.size()));
  }
  return values;
}

class Run {
 public:
  Run(const RunOptions& options, client::Connection& server, client::TempDir scratch)
      : options_(options), server_(server), scratch_(std::move(scratch)) {}
  Status run();

 private:
  Status choose_entry();
  Status call_once();
  Status report(const std::string& name, const std::string& type);
  Status report_transparent(const std::string& name);
  Status print(const data::Value& value);

  const RunOptions& options_;
  client::Connection& server_;
  client::TempDir scratch_;
  std::string entry_;
  std::vector<client::EntryParam> params_;
  std::vector<data::Value> arguments_;
  std::string runtimes_;
  int shown_ = 0;  // results shown
};

Status Run::choose_entry() {
  KENAZ_ASSIGN(const auto entries, server_.request({"entry_points"}));
  KENAZ_ASSIGN(entry_, cli::choose_entry(entries, options_.entry));
  return {};
}

Status Run::call_once() {
  std::vector<std::string> names, call = {"call", entry_, "out"}, free = {"free"};
  for (size_t i = 0; i < params_.size(); ++i) names.push_back(fmt::format("in{}", i));
  call.insert(call.end(), names.begin(), names.end());
  free.insert(free.end(), names.begin(), names.end());
  // Every run gets its own inputs, as it may consume them.
  KENAZ_TRY(client::put_values(server_, scratch_, names, arguments_));
  KENAZ_ASSIGN(const auto lines, server_.request(call));
  for (const auto& line : lines) {
    constexpr std::string_view kRuntime = "runtime: ";
    if (line.starts_with(kRuntime)) {
      runtimes_ += line.substr(kRuntime.size()) + "\n";
    } else {
      fmt::print(stderr, "{}\n", line);
    }
  }
  if (!names.empty()) KENAZ_TRY(server_.request(free));
  return {};
}

Status Run::print(const data::Value& value) {
  if (!options_.png.empty()) return write_png(options_.png, value);
  if (options_.binary) return print_binary(value);
  return print_text(data::to_text(value) + "\n");
}

Status Run::report_transparent(const std::string& name) {
  KENAZ_ASSIGN(const auto values, client::get_values(server_, scratch_, name));
  if (shown_++ > 0 && !options_.png.empty()) {
    return bad_request("the result has several parts, so it cannot be a picture");
  }
  for (const auto& value : values) KENAZ_TRY(print(value));
  return {};
}

/// Records and tuples are taken apart; what is still opaque then is only named.
Status Run::report(const std::string& name, const std::string& type) {
  if (client::transparent_leaf(type)) return report_transparent(name);
  KENAZ_ASSIGN(const std::string kind, server_.request_line({"kind", type}));
  if (kind != "record") {
    if (options_.binary) return report_transparent(name);
    return print_text(fmt::format("#<opaque {}>\n", type));
  }
  KENAZ_ASSIGN(const auto fields, server_.fields(type));
  if (!fields) return internal_error(fmt::format("the record type {} has no fields", type));
  for (const auto& [field, field_type] : *fields) {
    const std::string part = fmt::format("{}_{}", name, field);
    KENAZ_TRY(server_.request({"project", part, name, field}));
    KENAZ_TRY(report(part, field_type));
  }
  return {};
}

Status Run::run() {
  KENAZ_TRY(choose_entry());
  KENAZ_ASSIGN(params_, server_.inputs(entry_));
  KENAZ_ASSIGN(const auto output, server_.output(entry_));
  KENAZ_ASSIGN(arguments_, read_arguments(params_));
  const int warm_up = options_.warm_up || !options_.runtimes.empty() ? 1 : 0;
  for (int i = 0; i < options_.runs + warm_up; ++i) {
    if (i > 0) KENAZ_TRY(server_.request({"free", "out"}));
    if (i == warm_up) runtimes_.clear();
    KENAZ_TRY(call_once());
  }
  if (!options_.runtimes.empty()) KENAZ_TRY(client::write_file(options_.runtimes, runtimes_));
  return options_.no_print ? Status() : report("out", output.type);
}

}  // namespace

int run_program(const RunOptions& options) {
  const auto complain_as = [&](const Error& e) { return complain(e, kFailed, options.complainer); };
  auto server = client::Connection::start(options.server, client::Deadline::max());
  if (!server) return complain_as(server.error());
  auto scratch = client::TempDir::make();
  if (!scratch) return complain_as(scratch.error());
  const auto status = Run(options, **server, std::move(*scratch)).run();
  if (!status) {
    const int failed = complain_as(status.error());
    if (options.end_server) (void)(*server)->finish();
    return failed;
  }
  const auto flushed = flush_output();
  if (!flushed) return complain_as(flushed.error());
  const auto end = (*server)->finish();
  if (!end) return complain_as(end.error());
  return kOk;
}

std::function<int()> declare_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  app.add_option("program", options->server.program, "The program's file")->required();
  add_server_options(app, options->server);
  app.add_option("-e,--entry-point", options->entry,
                 "The entry point (default: the only one, or main)");
  app.add_flag("-b,--binary-output", options->binary, "Print results in the binary format");
  app.add_flag("-n,--no-print-result", options->no_print, "Print no results");
  app.add_option("-t,--write-runtime-to", options->runtimes,
                 "Write the run times, in microseconds, to this file (after a warm-up run)");
  app.add_option("-r,--runs", options->runs, "Number of runs")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  app.add_option("--png", options->png,
                 "Write the result to this file as a picture: [h][w]i32 or u32 as 0xRRGGBB, "
                 "[h][w]u8 as grey");
  return [options] {
    client::remove_temp_dirs_when_killed();
    return run_program(*options);
  };
}

}  // namespace kenaz::cli
