#include "server/options.h"

#include "protocol/base/whole_number.h"
#include "server/console.h"
#include "server/declarer.h"
#include "server/option_values.h"
#include "server/shader/options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "protocol/base/diagnostic_text.h"

namespace kenaz {
namespace {

/// "--dev" -> "--device" where only one long option starts like that, as getopt_long does.
Result<std::string> complete(const std::vector<std::string>& names, const std::string& arg) {
  if (!arg.starts_with("--") || arg.size() == 2) return arg;
  const std::string name = arg.substr(2, arg.find('=') - 2);
  std::vector<std::string> matches;
  for (const auto& n : names) {
    if (n == name) return arg;
    if (n.starts_with(name)) matches.push_back(n);
  }
  if (matches.size() == 1) return "--" + matches[0] + arg.substr(2 + name.size());
  if (matches.empty()) return arg;  // CLI11 says that it is unknown
  return bad_request(fmt::format("--{} is ambiguous: --{}", name, fmt::join(matches, ", --")));
}

/// Replaces a number of bytes with a unit by the number.
CLI::Validator as_bytes() {
  return {[](std::string& text) -> std::string {
            const auto bytes = size_in_bytes(text);
            if (!bytes) return text + " is no number of bytes, such as 4096 or 4gib";
            text = std::to_string(*bytes);
            return "";
          },
          ""};
}

void declare_programs(Declarer& app, Options& o) {
  app.add_option("PROGRAM", o.programs, "The programs to serve: Futhark's, or filters (.mfg)")
      ->option_text("PROG.fut ..");
  app.add_option("--programs", o.programs_folder,
                 "Serve the programs in this folder, by the names of their files")
      ->type_name("FOLDER");
  app.add_flag("--watch", o.watch,
               "With --listen: load a program anew when one of its files has changed, and what "
               "comes into the folder of --programs");
  app.add_option("--program-limit", o.program_limits,
                 "A limit of one program's own: call-timeout (seconds), call-memory (bytes of the "
                 "device's), calls or sessions (at a time); may be given again")
      ->type_name("PROGRAM.LIMIT=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--allow-load", o.allow_load,
               "Clients may load programs, each of which runs in a process of its own that has no "
               "files and no network");
  app.add_flag("--worker", o.worker, "Be such a process, for another server")->group("");
  app.add_option("--worker-device", o.worker_device, "Its device")->group("");
  app.add_option("--language", o.language,
                 "The language of the program: futhark or mfg. Default: by its ending")
      ->check(CLI::IsMember({"futhark", "mfg"}));
}

void declare(Declarer& app, Options& o) {
  app.add_option("-d,--device", o.device,
                 "Part of a device's name, #k for the k-th, cpu, or interpreter: kernels are "
                 "interpreted on the CPU, slowly, and what they do wrong fails the call. Or "
                 "several of these, with commas between them, or all: every GPU")
      ->type_name("NAME");
  app.add_option("--cache-file", o.cache_file, "Keep compiled pipelines in this file")
      ->type_name("FILE");
  app.add_option("--program-cache", o.cache_folder,
                 "Keep compiled programs in this folder; empty: none. Default: kenaz in "
                 "$XDG_CACHE_HOME or ~/.cache")
      ->type_name("FOLDER");
  app.add_option("--tuning", o.tuning_file, "Read tuning parameters from this file")
      ->type_name("FILE");
  app.add_option("--param", o.params, "Set a tuning parameter")
      ->type_name("NAME=INT")
      ->allow_extra_args(false);
  app.add_option("--threads", o.device_threads,
                 "Threads that it takes to fill the device, which Vulkan does not tell: kernels "
                 "are chosen for so many")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30));
  app.add_option("--one-pass-scans", o.one_pass_scans,
                 "Scans, packings and sorts whose workgroups wait for each other: auto takes them "
                 "where the device passes a test, once; where it does not, on may hang")
      ->check(CLI::IsMember({"auto", "on", "off"}))
      ->capture_default_str();
  app.add_option("--float-contract", o.float_contract,
                 "on: GPUs may round a product and a sum of floats once, and histograms take what "
                 "is subnormal for zero. off: the same bits on every device")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_option("--default-threshold", o.default_threshold,
                 "Value of thresholds that nothing else sets; 0: as the device needs it")
      ->type_name("INT");
  app.add_option("--memory-limit", o.memory_limit, "Bytes of device memory to use at most")
      ->transform(as_bytes())
      ->type_name("BYTES");
  auto* reference = app.add_flag("--reference", o.reference, "Evaluate on the CPU, sequentially");
  app.add_option(
         "--stage", o.stage,
         "With --reference: evaluate the program as it is at this stage of the compiler: "
         "lowered, soacs (optimised), seg (with what runs where), mem (with what lies where) "
         "or kir (the same as --device interpreter)")
      ->check(CLI::IsMember({"lowered", "soacs", "seg", "mem", "kir"}))
      ->needs(reference);
  app.add_flag_callback(
      "--optimise", [&o] { o.stage = "soacs"; }, "The same as --stage soacs");
  app.add_option(
      "--seed", o.seed,
      "Of the order in which elements are computed with --stage seg or mem, and of that of "
      "threads with --device interpreter; there 0: each runs as far as it can");
  app.add_flag(
      "--all-versions", o.all_versions,
      "With --stage seg or mem: compute all versions of what has several, and compare them");
  app.add_flag("-L,--log,-D,--debugging", o.log, "Say in the replies what was done");
  app.add_flag("-P,--profile", o.profile, "Record events for the command report");
  app.add_flag("--no-wake", o.no_wake,
               "Leave a GPU's clock to its driver, which may lower it in pauses");
  app.add_flag("--waker", o.waker, "Keep the clock up, for another server")->group("");
  app.add_flag("--validate", o.validate,
               "Run with the Vulkan validation layer; exit 3 if it spoke");
  app.add_flag("--check", o.check,
               "Compile the program, print diagnostics, exit 2 if it cannot be served");
  app.add_flag(
      "--json", o.json,
      "With --check or --explain: print diagnostics, or the report, as JSON to standard output");
  app.add_flag("--lsp", o.lsp, "Be a language server for editors on stdin and stdout");
  app.add_flag("--types-only", o.types_only, "With --check: accept what has no type error");
  app.add_flag("-w,--no-warnings", o.no_warnings, "Print no warnings");
  app.add_flag("--Werror", o.warnings_are_errors, "With --check: exit 2 if there are warnings");
  app.add_option("--dump", o.dump,
                 "Print the program compiled so far: lowered, ir, seg, mem, kir or glsl")
      ->check(CLI::IsMember({"lowered", "ir", "seg", "mem", "kir", "glsl"}));
  app.add_option("--pose", o.pose, "With --dump kir or glsl: for a device of this kind")
      ->check(CLI::IsMember({"least", "cpu", "gpu"}));
  app.add_flag("--explain", o.explain,
               "Say how the program runs on the device: in which ways, and why so");
  app.add_flag("--print-params", o.print_params, "Print the tuning parameters");
  app.add_flag("--list-devices", o.list_devices, "Print the Vulkan devices");
}

/// The device that --device interpreter makes up.
void declare_interpreter(Declarer& app, Options& o) {
  device::InterpreterOptions& i = o.interpreter;
  app.add_option("--subgroup-size", i.subgroup_size,
                 "With --device interpreter: threads of a subgroup; 1: it has none")
      ->check([](const std::string& text) {
        int n = 0;
        const bool good = CLI::detail::lexical_cast(text, n) && n >= 1 && n <= 128 &&
                          std::has_single_bit(static_cast<unsigned>(n));
        return good ? std::string() : text + " is no power of two up to 128";
      })
      ->capture_default_str();
  app.add_option("--max-group-size", i.max_group_size,
                 "With --device interpreter: threads of a workgroup, at most")
      ->check(CLI::Range(128, 1024))
      ->capture_default_str();
  app.add_option("--shared-memory", i.shared_bytes,
                 "With --device interpreter: bytes that the threads of a workgroup share")
      ->transform(as_bytes())
      ->check(CLI::Range(int64_t{16} << 10, int64_t{1} << 20))
      ->type_name("BYTES")
      ->capture_default_str();
  app.add_option("--observe", o.observe,
                 "Write to this file, at the end, what kernels did to memory, by line of the "
                 "program (implies --device interpreter; with --json: as JSON)")
      ->type_name("FILE");
  app.add_flag("--html", o.html, "With --observe: write it as a page for browsers");
  app.add_flag("--forward-progress", i.forward_progress,
               "With --device interpreter: workgroups may wait for each other");
  app.add_flag("--starts-in-order", i.starts_in_order,
               "With --forward-progress: workgroups start in the order of their numbers, and those "
               "that wait count on that");
  app.add_flag("--through-spirv", i.through_spirv,
               "With --device interpreter or --dump kir: make SPIR-V of kernels, as for a GPU, and "
               "run or print what is read from that");
  app.add_option("--groups", i.groups,
                 "With --device interpreter: of each launch run so many workgroups, the first, the "
                 "last and others by chance (see --seed), and leave the rest undefined; 0: all")
      ->check(is_count)
      ->capture_default_str();
}

/// What is wrong with it; nothing, if it is a file's mode.
std::string is_mode(const std::string& text) {
  return mode_bits(text) ? "" : text + " is no mode, such as 0660";
}

void declare_sockets(Declarer& app, Options& o) {
  app.add_option("--listen", o.listen,
                 "Serve tcp://HOST:PORT or unix://PATH instead of stdin; may be given again")
      ->type_name("URL")
      ->allow_extra_args(false);
  app.add_option("--socket-mode", o.socket_mode,
                 "Who may connect to Unix sockets: permissions, in octal")
      ->check(is_mode)
      ->type_name("MODE")
      ->capture_default_str();
  app.add_option("--tls-cert", o.tls_cert, "Certificate chain (PEM); TCP then speaks TLS")
      ->type_name("FILE");
  app.add_option("--tls-key", o.tls_key, "The certificate's key (PEM)")->type_name("FILE");
  app.add_option("--token-file", o.token_file, "Ask sockets' clients for the token in this file")
      ->type_name("FILE");
  app.add_option("--root", o.root, "Let sockets' clients store and restore files in this folder")
      ->type_name("FOLDER");
  app.add_option("--metrics-file", o.metrics_file, "Write figures for Prometheus to this file")
      ->type_name("FILE");
  app.add_option("--log-level", o.log_level,
                 "What to log on stderr: info has a line for each call, notice has none")
      ->check(CLI::IsMember({"debug", "info", "notice", "warn", "error", "off"}))
      ->capture_default_str();
}

/// What is wrong with a number of bytes for all clients: with few nobody could connect.
std::string is_enough_memory(const std::string& text) {
  constexpr uint64_t kLeast = uint64_t{1} << 20;
  const auto bytes = size_in_bytes(text).value_or(0);
  return bytes == 0 || bytes >= kLeast ? "" : text + " bytes are too few for any client";
}

void declare_limits(Declarer& app, Options& o) {
  const auto seconds = [&](const char* name, double& value, const char* help) {
    return app.add_option(name, value, help)
        ->check(is_time)
        ->type_name("SECONDS")
        ->capture_default_str();
  };
  const auto bytes = [&](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help)
        ->transform(as_bytes())
        ->type_name("BYTES")
        ->capture_default_str();
  };
  Limits& l = o.limits;
  app.add_option("--max-connections", l.connections, "Connections at a time")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--max-variables", l.variables, "Variables of a session; 0: any number")
      ->check(is_count)
      ->capture_default_str();
  bytes("--max-session-bytes", l.session_bytes, "Bytes of a session's variables; 0: any number");
  bytes("--max-client-memory", l.client_bytes,
        "Bytes of host memory for all that clients send and keep; 0: any. Not given: 1 GiB on "
        "sockets, else 0")
      ->check(is_enough_memory)
      ->each([&o](const std::string&) { o.client_limited = true; });
  bytes("--max-line", l.line_bytes, "Bytes of a command")->check(CLI::Range(64, 1 << 30));
  bytes("--max-upload", l.upload_bytes, "Bytes of one upload; 0: any number");
  seconds("--call-timeout", l.call_seconds,
          "Time that a call may take; 0: any. Not given: 300 on sockets, else 0")
      ->each([&o](const std::string&) { o.call_limited = true; });
  seconds("--upload-timeout", l.upload_seconds,
          "Time in which a hundredth of an upload must come; 0: any");
  app.add_option("--max-loaded", l.loaded, "Programs of clients at a time, with --allow-load")
      ->check(CLI::Range(1, 12))
      ->capture_default_str();
  app.add_option("--max-loaded-each", l.loaded_each,
                 "Of these, programs of one client; 0: all but one")
      ->check(is_count)
      ->capture_default_str();
  bytes("--loaded-memory", l.loaded_bytes, "Bytes of memory for each of these; 0: any");
  seconds("--load-timeout", l.load_seconds, "Time in which one must be compiled; 0: any");
  seconds("--idle-timeout", l.idle_seconds, "Close sockets that idle for so long; 0: never");
  seconds("--session-timeout", l.session_seconds,
          "Keep a named session that long without a connection");
  seconds("--drain-timeout", l.drain_seconds, "Wait so long for clients after SIGTERM");
}

void declare_all(Declarer& app, Options& o) {
  declare_programs(app, o);
  declare(app, o);
  declare_interpreter(app, o);
  shader::declare(app, o.shader);
  declare_sockets(app, o);
  declare_limits(app, o);
}

Status check_programs(const Options& o) {
  const bool none = o.programs.empty() && o.programs_folder.empty();
  if (none && !o.list_devices && !o.lsp && !o.waker && o.shader.file.empty())
    return bad_request("PROG.fut is missing");
  if (!none && !o.shader.file.empty()) return bad_request("--shader takes no program");
  const bool serves = !o.check && !o.explain && !o.print_params && o.dump.empty();
  if (!serves && has_several_programs(o)) {
    return bad_request("what does not serve takes one program");
  }
  if (o.interpreter.through_spirv && o.interpreter.groups > 0) {
    return bad_request("--through-spirv excludes --groups");
  }
  if (o.watch && o.listen.empty()) return bad_request("--watch needs --listen");
  KENAZ_ASSIGN(const LimitsByProgram limits, program_limits(o.program_limits));
  const bool memory = std::any_of(limits.begin(), limits.end(),
                                  [](const auto& one) { return one.second.call_bytes > 0; });
  if (memory && o.reference) return bad_request("call-memory is of a device's, not --reference's");
  return {};
}

Status complete_names(const CLI::App& app, std::vector<std::string>& args) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const auto& n : option->get_lnames()) names.push_back(n);
  }
  for (size_t k = 0; k < args.size() && args[k] != "--"; ++k) {
    KENAZ_ASSIGN(args[k], complete(names, args[k]));
  }
  return {};
}

Status parse(CLI::App& app, const Options& options, std::vector<std::string> args) {
  for (size_t k = 0; k < args.size() && args[k] != "--"; ++k) {
    // CLI11 takes "--option=" for an option whose value comes next.
    if (!args[k].starts_with("--") || args[k].find('=') != args[k].size() - 1) continue;
    args[k].pop_back();
    args.emplace(args.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    ++k;
  }
  std::reverse(args.begin(), args.end());  // CLI11 wants them so
  app.parse(args);
  return check_programs(options);
}

int usage_error(std::string_view what) {
  complain(fmt::format(
      "kenaz-server: {}\nUsage: kenaz-server [OPTIONS] PROG.fut ..  (--help lists them)\n", what));
  return 1;
}

std::string default_cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/kenaz";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.cache/kenaz";
  return {};
}

/// As they are before any is parsed.
Options options_of(int argc, const char* const* argv) {
  Options options;
  options.command.assign(argv, argv + argc);
  options.cache_folder = default_cache_folder();
  options.colour = wants_colour(STDERR_FILENO, std::getenv("NO_COLOR"), std::getenv("TERM"));
  return options;
}

/// Nothing if `args` is more than options under their full names, or wrong.
std::optional<Options> parse_plain(Options options, const std::vector<std::string>& args) {
  CLI::App app;
  Declarer declarer(app, args);
  declare_all(declarer, options);
  try {
    if (!parse(app, options, args)) return std::nullopt;
  } catch (const CLI::Error&) {
    return std::nullopt;
  }
  return options;
}

std::variant<Options, int> parse_any(Options options, std::vector<std::string> args) {
  CLI::App app("Serves the entry points of a Futhark program over stdin and stdout, or on sockets.",
               "kenaz-server");
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("--version", "kenaz-server " KENAZ_VERSION, "Print the version");
  Declarer declarer(app);
  declare_all(declarer, options);
  try {
    if (auto ok = complete_names(app, args); !ok) return usage_error(ok.error().text());
    if (auto ok = parse(app, options, args); !ok) return usage_error(ok.error().text());
  } catch (const CLI::CallForHelp&) {
    return print_out(app.help()) ? 0 : 1;
  } catch (const CLI::CallForVersion& e) {
    return print_out(fmt::format("{}\n", e.what())) ? 0 : 1;
  } catch (const CLI::ParseError& e) {
    return usage_error(e.what());
  }
  return options;
}

/// What options say together.
void settle(Options& options) {
  if (!options.programs.empty()) options.program = options.programs[0];
  if (options.stage == "kir" || !options.observe.empty()) {
    options.reference = false;
    options.device = kInterpreter;
  }
  if (options.worker && !options.worker_device.empty()) options.device = options.worker_device;
  options.interpreter.seed = options.seed;
  options.interpreter.memory_limit = options.memory_limit;
  if (!options.listen.empty() && !options.call_limited) {
    options.limits.call_seconds = kSocketCallSeconds;
  }
  if (!options.listen.empty() && !options.client_limited) {
    options.limits.client_bytes = kSocketClientBytes;
  }
}

}  // namespace

std::optional<uint32_t> mode_bits(std::string_view text) {
  const auto bits = whole_number<uint32_t>(text, 8);
  return bits && *bits <= 0777 ? bits : std::nullopt;
}

std::variant<Options, int> parse_options(int argc, const char* const* argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  try {
    std::variant<Options, int> parsed = 1;
    if (auto plain = parse_plain(options_of(argc, argv), args)) {
      parsed = *std::move(plain);
    } else {
      parsed = parse_any(options_of(argc, argv), args);
    }
    if (auto* options = std::get_if<Options>(&parsed)) settle(*options);
    return parsed;
  } catch (const std::exception& e) {
    complain(fmt::format("kenaz-server: {}\n", e.what()));
    return 1;
  }
}

const char* version() { return KENAZ_VERSION; }

}  // namespace kenaz
