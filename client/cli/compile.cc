// kenaz vulkan, kenaz c: what stands where Futhark's compilers do. They check the program and write
// a launcher, a small script that starts the server on the program's source, which must stay where
// it is.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "client/cli/check.h"
#include "client/cli/subcommands.h"
#include "client/lib/temp_dir.h"
#include "protocol/base/replace_file.h"

namespace kenaz::cli {
namespace {

namespace fs = std::filesystem;

struct CompileCommand {
  CheckOptions check;
  std::string program;
  std::string output;  // empty: the program without .fut
  bool server = false, executable = false, library = false, safe = false, verbose = false,
       reference = false;
};

/// A word for the shell.
std::string shell_word(const std::string& word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

Result<std::string> absolute(const std::string& path) {
  std::error_code error;
  const auto full = fs::absolute(path, error);
  if (error) return bad_request(fmt::format("{}: {}", path, error.message()));
  return full.lexically_normal().string();
}

Status write_launcher(const CompileCommand& command, const std::string& output) {
  std::error_code error;
  const auto self = fs::read_symlink("/proc/self/exe", error);
  if (error) return internal_error("/proc/self/exe: " + error.message());
  KENAZ_ASSIGN(const std::string program, absolute(command.program));
  // A name without a slash is looked up in $PATH.
  std::string server = command.check.server;
  if (server.find('/') != std::string::npos) {
    KENAZ_ASSIGN(server, absolute(server));
  }
  const std::string script = fmt::format(
      "#!/bin/sh\n# Starts {} on the program that it was made from.\n"
      "exec {} launch {}{} {} {} \"$0\" \"$@\"\n",
      command.server ? "kenaz-server" : "kenaz", shell_word(self.string()),
      command.server ? "server" : "exe", command.reference ? "-reference" : "", shell_word(server),
      shell_word(program));
  if (fs::equivalent(output, command.program, error)) {
    return bad_request(fmt::format("{}: the launcher would replace the program", output));
  }
  return replace_file(
      output, [&](const std::string& to) { return client::write_file(to, script); }, 0755);
}

int compile(const CompileCommand& command) {
  const std::string& program = command.program;
  if (command.library) {
    return complain(
        {ErrorKind::kBadRequest, "there are no libraries, only --server and executables", {}});
  }
  std::string output = command.output;
  if (output.empty()) {
    if (!program.ends_with(".fut")) {
      return complain({ErrorKind::kBadRequest, program + " does not end in .fut: use -o", {}});
    }
    output = program.substr(0, program.size() - 4);
  }
  const auto code = check_program(command.check, program);
  if (!code) return complain(code.error());
  if (*code != kOk) return *code;
  const auto written = write_launcher(command, output);
  return written ? kOk : complain(written.error());
}

std::function<int()> declare(CLI::App& app, bool reference) {
  auto command = std::make_shared<CompileCommand>();
  command->reference = command->check.reference = reference;
  app.add_option("program", command->program, "The program's file; the launcher names it")
      ->required();
  add_check_options(app, command->check);
  app.add_option("-o", command->output, "The launcher (default: the program without .fut)");
  app.add_flag("--server", command->server, "A server instead of an executable that runs once");
  app.add_flag("--library", command->library, "Refused");
  app.add_flag("--executable", command->executable, "The default");
  app.add_flag("--safe", command->safe, "No difference: checks are made anyway");
  app.add_flag("-v,--verbose", command->verbose, "No difference");
  return [command] { return compile(*command); };
}

}  // namespace

std::function<int()> declare_vulkan(CLI::App& app) { return declare(app, false); }
std::function<int()> declare_c(CLI::App& app) { return declare(app, true); }

}  // namespace kenaz::cli
