// kenaz observe: what the kernels of a call do to memory, by line of the program. Likewise of a
// compute shader in SPIR-V that somebody else has made.
#include <memory>

#include "client/cli/run.h"
#include "client/cli/subcommands.h"
#include "client/lib/process.h"
#include "client/lib/temp_dir.h"
#include "client/lib/values.h"

namespace kenaz::cli {
namespace {

constexpr double kShaderTimeout = 24 * 3600;  // seconds

/// What a shader runs with, as kenaz-server --shader has it.
struct ShaderInputs {
  std::vector<std::string> buffers, push, spec, out;
  std::string dispatch;
  bool any() const {
    return !buffers.empty() || !push.empty() || !spec.empty() || !out.empty() || !dispatch.empty();
  }
};

struct ObserveCommand {
  RunOptions run;
  ShaderInputs shader;
  int subgroup_size = 0;  // 0: the server's default
  bool json = false;
  int64_t groups = 0;  // of each launch; 0: all
  std::string html;    // a file for the page; empty: the report goes to standard output
};

/// What a server gets to write the report to this file.
std::vector<std::string> report_options(const ObserveCommand& command, const std::string& report) {
  std::vector<std::string> words = {"--observe=" + report};
  if (command.json) words.push_back("--json");
  if (!command.html.empty()) words.push_back("--html");
  if (command.groups > 0) words.push_back("--groups=" + std::to_string(command.groups));
  if (command.subgroup_size > 0) {
    words.push_back("--subgroup-size=" + std::to_string(command.subgroup_size));
  }
  return words;
}

int run_observed(const ObserveCommand& command, const std::string& report) {
  RunOptions run = command.run;
  run.no_print = true;
  run.server.device = "interpreter";
  for (std::string& word : report_options(command, report)) {
    run.server.arguments.push_back(std::move(word));
  }
  run.end_server = command.groups > 0;
  return run_program(run);
}

int run_shader(const ObserveCommand& command, const std::string& report) {
  client::ProcessOptions child;
  child.argv = report_options(command, report);
  child.argv.insert(child.argv.begin(), command.run.server.server);
  const auto give = [&](const std::string& option, const std::vector<std::string>& values) {
    for (const std::string& v : values) child.argv.push_back("--" + option + "=" + v);
  };
  const ShaderInputs& inputs = command.shader;
  give("shader", {command.run.server.program});
  give("buffer", inputs.buffers);
  give("push", inputs.push);
  give("spec", inputs.spec);
  give("out", inputs.out);
  if (!inputs.dispatch.empty()) give("dispatch", {inputs.dispatch});
  if (!command.run.entry.empty()) give("entry", {command.run.entry});
  const auto& more = command.run.server.arguments;
  child.argv.insert(child.argv.end(), more.begin(), more.end());
  const auto status = client::run_to_end(child, client::deadline_in(kShaderTimeout));
  if (!status) return complain(status.error());
  if (status->signal != 0) return complain(internal_error("the server " + status->text()).value());
  return status->code;
}

int observe(const ObserveCommand& command) {
  const bool shader = command.run.server.program.ends_with(".spv");
  if (!shader && command.shader.any()) {
    return complain({ErrorKind::kBadRequest,
                     "--buffer, --push, --spec, --dispatch and --out are for shaders (.spv)",
                     {}});
  }
  const auto scratch = client::TempDir::make();
  if (!scratch) return complain(scratch.error());
  const std::string report = scratch->file("report");
  const int done = shader ? run_shader(command, report) : run_observed(command, report);
  // What is not computed may well be needed, and a shader may do something wrong: what has run is
  // worth a report nevertheless.
  if (done != kOk && command.groups == 0 && !shader) return done;
  const auto text = client::read_file(report);
  if (!text) return done != kOk ? done : complain(text.error());
  const Status printed =
      command.html.empty() ? print_text(*text) : client::write_file(command.html, *text);
  return printed ? done : complain(printed.error());
}

void declare_shader(CLI::App& app, ShaderInputs& inputs) {
  const auto several = [&](const char* name, std::vector<std::string>& values, const char* type,
                           const char* text) {
    app.add_option(name, values, text)->type_name(type)->allow_extra_args(false)->group("Shaders");
  };
  several("--buffer", inputs.buffers, "SET,BINDING=BYTES",
          "A buffer, by number or NAME=. BYTES: a file, zeros:N, undefined:N, iota:TYPE:N, "
          "random:TYPE:N[:SEED] or TYPE:V,V,..");
  several("--push", inputs.push, "BYTES",
          "Push constants, as --buffer has them; u64:&NAME is a buffer's address");
  several("--spec", inputs.spec, "ID=VALUE", "A specialisation constant");
  several("--out", inputs.out, "SET,BINDING=FILE", "Write this buffer to a file in the end");
  app.add_option("--dispatch", inputs.dispatch, "How many workgroups (default: 1)")
      ->type_name("X[,Y[,Z]]")
      ->group("Shaders");
}

}  // namespace

std::function<int()> declare_observe(CLI::App& app) {
  auto command = std::make_shared<ObserveCommand>();
  app.add_option("program", command->run.server.program,
                 "The program's file, or a compute shader's in SPIR-V (.spv)")
      ->required();
  app.add_option("-e,--entry-point,--entry", command->run.entry,
                 "The entry point (default: the only one, or main); its arguments come from "
                 "standard input. Of a shader: which one of several in the file");
  command->run.server.server = client::default_server();
  app.add_option("--server", command->run.server.server, "The server's executable")
      ->capture_default_str();
  app.add_option("--pass-option", command->run.server.arguments, "An option for the server")
      ->type_name("OPT")
      ->allow_extra_args(false);
  app.add_option("--groups", command->groups,
                 "Run only so many workgroups of each launch: the first, the last and others by "
                 "chance; what the rest would compute is undefined")
      ->check(CLI::PositiveNumber);
  app.add_option("--subgroup", command->subgroup_size,
                 "Threads of a subgroup: a power of two, 1 to 128 (default: 32)")
      ->check(CLI::PositiveNumber);
  declare_shader(app, command->shader);
  CLI::Option* json = app.add_flag("--json", command->json, "As JSON, for tools");
  app.add_option("--html", command->html, "As a page for browsers, to this file")
      ->type_name("FILE")
      ->excludes(json);
  return [command] {
    client::remove_temp_dirs_when_killed();
    return observe(*command);
  };
}

}  // namespace kenaz::cli
