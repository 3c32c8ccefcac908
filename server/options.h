// The server's command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/base/result.h"
#include "server/device/interpreter/interpreter_device.h"
#include "server/limits.h"
#include "server/shader/arguments.h"

namespace kenaz {

/// The device that interprets kernel IR on the CPU.
inline constexpr std::string_view kInterpreter = "interpreter";

struct Options {
  std::string program;                // the .fut or .mfg file; with several, the first
  std::string language;               // that it is written in; empty: its ending says so
  std::string device;                 // see device::VulkanOptions; or kInterpreter; or a list
  std::string worker_device;          // with `worker`: in place of `device`; empty: that
  std::vector<std::string> programs;  // all files to serve
  std::string programs_folder;        // and those in this folder; empty: none
  bool watch = false;                 // load programs anew when their files change
  // PROGRAM.LIMIT=VALUE, which have been checked.
  std::vector<std::string> program_limits;
  std::string cache_file, tuning_file;
  std::string cache_folder;             // of compiled programs; empty: none are kept
  std::vector<std::string> params;      // NAME=INT
  int64_t default_threshold = 0;        // 0: the device decides
  int64_t memory_limit = 0;             // bytes; 0: what the device has
  int64_t device_threads = 0;           // that fill the device; 0: a guess
  std::string one_pass_scans = "auto";  // "on", "off"; auto: if the device passes a test
  bool reference = false;               // the evaluator on the CPU instead of a device
  std::string stage = "lowered";  // with `reference`: what it evaluates; or "soacs", "seg", "mem"
  uint64_t seed = 1;              // of orders: of stages seg, mem; of threads
  bool all_versions = false;      // .. whether it compares what all versions compute
  bool log = false, profile = false, validate = false;
  device::InterpreterOptions interpreter;  // but for what is above: seed, memory_limit
  bool no_wake = false;
  bool waker = false;  // instead of serving: see device::answer_waker
  std::string float_contract = "on";
  // Instead of serving:
  bool check = false, print_params = false, list_devices = false;
  bool lsp = false;
  bool json = false;        // with `check` or `explain`: diagnostics, the report, as JSON
  bool types_only = false;  // with `check`: whatever has good types is fine
  bool no_warnings = false;
  bool warnings_are_errors = false;  // with `check`
  bool colour = false;               // of diagnostics: standard error is a terminal
  std::string dump;                  // "lowered", "ir", "seg", "kir", "glsl"
  std::string pose;                  // with `dump` "kir" or "glsl": see host::posed_target
  bool explain = false;
  std::string observe;     // while serving: a file for what kernels did, as text, with `json`: JSON
  bool html = false;       // .. as HTML
  shader::Command shader;  // run this instead of serving; `observe` may be empty: standard output

  // Sockets instead of stdin and stdout; see SocketOptions.
  std::vector<std::string> listen;
  std::string tls_cert, tls_key, token_file, root, metrics_file;
  bool allow_load = false;           // clients may load programs
  bool worker = false;               // be the process of such a program
  std::vector<std::string> command;  // what this process was started with
  std::string socket_mode = "0600";
  std::string log_level = "notice";
  Limits limits;
  bool call_limited = false;    // the user chose limits.call_seconds
  bool client_limited = false;  // .. limits.client_bytes
};

/// Whether there may be more than one program to serve.
inline bool has_several_programs(const Options& options) {
  return options.programs.size() > 1 || !options.programs_folder.empty();
}

/// What to do, or the exit status if all is said already (--help, or a bad command line). Long
/// options may be abbreviated as long as they are unique.
std::variant<Options, int> parse_options(int argc, const char* const* argv);

/// "0660" as the number that it is; nothing if it is no file's mode.
std::optional<uint32_t> mode_bits(std::string_view text);

/// The server's version: "0.1.0".
const char* version();

}  // namespace kenaz
