// kenaz-server: loads Futhark programs and answers commands, on stdin until it ends or on
// sockets until it is told to end.
// Exit status: 0, 1 on errors, 2 if the program is not a good one, 3 if --validate found something.
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>

#include "kernels/compiler.h"
#include "protocol/base/diagnostic_text.h"
#include "protocol/base/large_stack_thread.h"
#include "server/console.h"
#include "server/descriptors.h"
#include "server/editor/check_document.h"
#include "server/editor/language_server.h"
#include "server/load.h"
#include "server/loader.h"
#include "server/observe/report.h"
#include "server/option_values.h"
#include "server/options.h"
#include "server/session/session.h"
#include "server/shader/shader.h"
#include "server/transport/socket_server.h"
#include "server/transport/stdio.h"
#include "server/worker.h"

namespace kenaz {
namespace {

int report(const Error& error, bool colour = false) {
  if (error.kind != ErrorKind::kCompile) {
    complain(fmt::format("kenaz-server: {}\n", error.text()));
    return 1;
  }
  std::string text = error.text();
  while (text.ends_with('\n')) text.pop_back();
  complain((colour ? colour_diagnostics(text) : text) + "\n");
  return 2;
}

int list_devices() {
  const auto devices = device::list_vulkan_devices();
  if (!devices) return report(devices.error());
  std::string lines;
  for (const auto& d : *devices) lines += d + "\n";
  return print_out(lines) ? 0 : 1;
}

int report_validation(const device::ValidationLog& log) {
  if (log.count() == 0) return 0;
  complain(fmt::format("kenaz-server: the validation layer has {} messages:\n", log.count()));
  for (const auto& m : log.messages()) complain(m + "\n");
  return 3;
}

SessionOptions session_options(const Options& options) {
  SessionOptions s;
  s.log = options.log;
  s.profile = options.profile;
  s.limits = {options.limits.variables, options.limits.session_bytes};
  s.max_upload = options.limits.upload_bytes;
  s.file_seconds = options.limits.call_seconds;
  s.memory = std::make_shared<ClientMemory>(options.limits.client_bytes);
  s.metrics = std::make_shared<Metrics>(s.memory);
  if (options.allow_load) {
    const Limits& l = options.limits;
    s.clients = std::make_shared<ClientPrograms>(
        ClientPrograms::Limits{l.loaded, l.loaded_each, l.loaded_bytes, l.load_seconds,
                               l.call_seconds},
        options.command, s.memory);
  }
  return s;
}

ProgramFiles files_to_serve(const Options& options, Loader& loader) {
  return {{options.programs, options.programs_folder},
          compiler::file_reader(),
          [&loader](const ProgramFile& file, Sources& sources) {
            return loader.compile(file, sources);
          },
          loader.devices()};
}

/// A limit of a program that there is not would be none, by mistake. What comes into a folder later
/// may have some already.
Status check_limits(const Options& options, const Programs& programs) {
  KENAZ_ASSIGN(const LimitsByProgram limits, program_limits(options.program_limits));
  for (const auto& [name, of] : limits) {
    if (programs.find(name)) continue;
    if (options.programs_folder.empty()) {
      return bad_request(fmt::format("--program-limit {}: there is no such program", name));
    }
    spdlog::warn("--program-limit {}: there is no such program yet", name);
  }
  return {};
}

/// The devices that the loader has started, with the programs on them.
std::shared_ptr<DevicePool> pool_of(const Loader& loader,
                                    const std::vector<std::shared_ptr<Programs>>& programs) {
  std::vector<PooledDevice> devices;
  for (size_t k = 0; k < programs.size(); ++k) devices.push_back(loader.pooled(k, programs[k]));
  return std::make_shared<DevicePool>(std::move(devices));
}

/// The server with its own standard output: what libraries print goes to stderr instead, because
/// a stray line would be taken for a part of a reply.
int serve_stdio(const Options& options, std::shared_ptr<device::ValidationLog> validation) {
  const int out = dup(STDOUT_FILENO);
  if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return report(Error{ErrorKind::kInternal, "cannot redirect the standard output", {}});
  }
  auto session_with = session_options(options);
  const auto devices = named_devices(options.device);
  if (!devices) return report(devices.error());
  Loader loader(options, *devices, std::move(validation), session_with.metrics);
  auto programs = files_to_serve(options, loader).load();
  if (!programs) return report(programs.error(), options.colour);
  if (auto known = check_limits(options, *(*programs)[0]); !known) return report(known.error());
  Session session(pool_of(loader, *programs), std::move(session_with));
  return serve_lines(session, STDIN_FILENO, out, options.limits.line_bytes) ? 0 : 1;
}

/// A token is the file's first line.
Result<std::string> read_token(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && (info.st_mode & S_IROTH) != 0) {
    spdlog::warn("{}: everybody on this machine can read the token", path);
  }
  std::ifstream file(path);
  std::string token;
  if (!std::getline(file, token)) return bad_request(path + ": no token can be read from it");
  while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back()))) token.pop_back();
  constexpr size_t kShortest = 16, kLongest = 1024;  // what comes before it is limited, too
  if (token.size() < kShortest || token.size() > kLongest ||
      token.find_first_of(" \t\"") != std::string::npos) {
    return bad_request(
        fmt::format("{}: a token has {} to {} characters, none of them a space or a quote", path,
                    kShortest, kLongest));
  }
  return token;
}

Result<SocketOptions> socket_options(const Options& options) {
  SocketOptions s;
  s.listen = options.listen;
  s.socket_mode = mode_bits(options.socket_mode).value_or(0600);
  s.tls_cert = options.tls_cert;
  s.tls_key = options.tls_key;
  s.metrics_file = options.metrics_file;
  s.limits = options.limits;
  s.session = session_options(options);
  if (!options.token_file.empty()) {
    KENAZ_ASSIGN(s.token, read_token(options.token_file));
  }
  s.session.files = FileAccess::none();
  if (!options.root.empty()) {
    KENAZ_ASSIGN(s.session.files, FileAccess::below(options.root));
  }
  return s;
}

void allow_many_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// Ends the process, should what it frees take too long: a driver that has begun to compile a
/// kernel cannot be interrupted.
class EndingTimer {
 public:
  static constexpr std::chrono::seconds kPatience{3};

 private:
  std::jthread thread_{[](const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any never;
    never.wait_for(lock, stop, kPatience, [] { return false; });
    if (!stop.stop_requested()) std::_Exit(0);
  }};
};

/// The first line of the log, and more if there are several programs.
void log_programs(const Programs& programs) {
  const auto all = programs.all();
  if (all.size() == 1) {
    return spdlog::info("kenaz-server {} serves {}", version(), all[0]->path);
  }
  spdlog::info("kenaz-server {} serves {} programs", version(), all.size());
  for (const auto& p : all) {
    spdlog::info("{} is {}, version {}, with {} entry points", p->name, p->path, p->version,
                 p->engine->entries().size());
  }
}

void log_devices(const DevicePool& pool) {
  const auto devices = pool.figures();
  if (devices.size() == 1) return spdlog::info("running on {}", devices[0].name);
  for (const auto& d : devices) spdlog::info("device {} is {}", d.number, d.name);
}

/// Once programs have been loaded; `queues` must outlive them.
void let_step_aside(Loader& loader, const std::vector<std::shared_ptr<Programs>>& programs,
                    DeviceQueues& queues) {
  for (size_t k = 0; k < programs.size(); ++k) {
    const host::Engine::StepAside step_aside =
        [&queue = queues.of(k)](const std::function<void()>& wait) { queue.step_aside(wait); };
    loader.set_step_aside(k, step_aside);
    for (const auto& program : programs[k]->all()) program->engine->set_step_aside(step_aside);
  }
}

/// A SIGHUP before there is something to load anew: what it asks for is done when there is.
volatile std::sig_atomic_t early_hangup = 0;

int serve_sockets(const Options& options, std::shared_ptr<device::ValidationLog> validation) {
  std::signal(SIGHUP, [](int) { early_hangup = 1; });
  spdlog::set_default_logger(spdlog::stderr_logger_mt("kenaz"));
  const bool calls = options.log_level == "debug" || options.log_level == "info";
  spdlog::set_level(options.log_level == "notice" ? spdlog::level::info
                                                  : spdlog::level::from_str(options.log_level));
  allow_many_descriptors();
  auto sockets = socket_options(options);
  if (!sockets) return report(sockets.error());
  sockets->log_calls = calls;
  std::optional<EndingTimer> ending;  // goes after the server, the engines and what loads them
  const auto devices = named_devices(options.device);
  if (!devices) return report(devices.error());
  Loader loader(options, *devices, std::move(validation), sockets->session.metrics);
  DeviceQueues queues(loader.devices());
  ProgramFiles files = files_to_serve(options, loader);
  auto programs = files.load();
  if (!programs) return report(programs.error(), options.colour);
  if (auto known = check_limits(options, *(*programs)[0]); !known) return report(known.error());
  let_step_aside(loader, *programs, queues);
  const auto pool = pool_of(loader, *programs);
  sockets->on_hangup = [&files] { files.look(); };
  auto server = SocketServer::create(*sockets, pool, queues);
  if (!server) return report(server.error());
  files.watch(queues.post(), options.watch);
  if (early_hangup != 0) files.look();
  log_programs(*(*programs)[0]);
  log_devices(*pool);
  for (const auto& address : (*server)->addresses()) spdlog::info("listening on {}", address);
  // All carry out the devices' work, which needs large stacks.
  std::atomic<bool> has_threads = true;
  auto io = std::make_unique<LargeStackThread>([&, self = std::this_thread::get_id()] {
    has_threads = std::this_thread::get_id() != self;
    if (has_threads) (*server)->run();
    queues.stop();
  });
  if (!queues.run()) {
    has_threads = false;
    (*server)->stop();
  }
  io.reset();
  if (!has_threads) return report(Error{ErrorKind::kInternal, "threads cannot be had", {}});
  heed_no_signals();
  ending.emplace();
  return 0;
}

std::string report_text(const Options& options, const observe::Observations& seen,
                        const SourceReader& read) {
  return options.html   ? observe::html(seen, read)
         : options.json ? observe::json(seen)
                        : observe::text(seen, read);
}

Status write_observations(const Options& options, const observe::Observations& seen,
                          const SourceReader& read) {
  std::ofstream file(options.observe);
  file << report_text(options, seen, read);
  file.close();
  return file ? Status() : internal_error("cannot write " + options.observe);
}

/// Exit status 1 if the shader cannot be run, or does something wrong, after the report of what it
/// did before.
int run_shader(const Options& options) {
  const auto observed =
      shader::observe(options.shader, options.interpreter, compiler::file_reader());
  if (!observed) return report(observed.error());
  complain(observed->notes);
  if (options.observe.empty()) {
    if (!print_out(report_text(options, observed->seen, observed->read))) return 1;
  } else if (const Status written = write_observations(options, observed->seen, observed->read);
             !written) {
    return report(written.error());
  }
  return observed->fault.message.empty() ? 0 : report(observed->fault);
}

int serve(Options options) {
  for (const int meaningless : {SIGPIPE, SIGUSR1, SIGUSR2}) std::signal(meaningless, SIG_IGN);
  if (!options.observe.empty()) {
    options.interpreter.observations = std::make_shared<device::interpreter::Observations>();
  }
  auto validation = options.validate ? std::make_shared<device::ValidationLog>() : nullptr;
  const int status = options.listen.empty() ? serve_stdio(options, validation)
                                            : serve_sockets(options, validation);
  if (!options.observe.empty()) {
    const Status written =
        write_observations(options, *options.interpreter.observations, compiler::file_reader());
    if (!written) return report(written.error());
  }
  const int found = validation ? report_validation(*validation) : 0;
  return found != 0 ? found : status;
}

int check_as_json(const Options& options) {
  Options quiet = options;
  quiet.no_warnings = true;
  quiet.warnings_are_errors = false;
  editor::CheckDocumentOptions how;
  how.program = options.program;
  how.warnings = !options.no_warnings;
  how.warnings_are_errors = options.warnings_are_errors;
  if (!options.types_only) how.compile = [&quiet] { return check_loading(quiet); };
  const auto document = editor::check_document(how, compiler::file_reader());
  if (!print_out(document.text + "\n")) return 1;
  return document.accepted ? 0 : 2;
}

int wake_device(const Options& options) {
  close_descriptors_from(STDERR_FILENO + 1);  // of the server that has started this
  device::VulkanOptions vulkan;
  vulkan.device = options.device;
  const Status ended = device::answer_waker(vulkan, STDIN_FILENO);
  return ended ? 0 : report(ended.error());
}

int run(const Options& options) {
  if (options.worker) return serve_worker(options);
  if (options.waker) return wake_device(options);
  if (options.list_devices) return list_devices();
  if (!options.shader.file.empty()) return run_shader(options);
  if (options.lsp) return editor::serve_editor(STDIN_FILENO, STDOUT_FILENO);
  if (options.check && options.json) return check_as_json(options);
  if (options.check) {
    const auto ok = check_loading(options);
    return ok ? 0 : report(ok.error(), options.colour);
  }
  if (options.explain) {
    const auto text = explanation(options);
    if (!text) return report(text.error(), options.colour);
    return print_out(*text) ? 0 : 1;
  }
  if (!options.dump.empty()) {
    const auto text = dump(options);
    if (!text) return report(text.error(), options.colour);
    return print_out(*text) ? 0 : 1;
  }
  if (options.print_params) {
    const auto text = print_params(options);
    if (!text) return report(text.error(), options.colour);
    return print_out(*text) ? 0 : 1;
  }
  return serve(options);
}

/// On a thread with a large stack: the compiler's recursion follows the nesting of programs, which
/// it bounds, but more generously than the usual stack.
int run_with_large_stack(const Options& options) {
  int status = 1;
  {
    const LargeStackThread thread([&] {
      try {
        status = run(options);
      } catch (const std::exception& e) {  // no memory, before there is a session to say so
        status = report(Error{ErrorKind::kInternal, e.what(), {}});
      }
    });
  }
  return status;
}

}  // namespace
}  // namespace kenaz

int main(int argc, char** argv) {
  kenaz::hold_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its limit fails what writes to it, and that only
  const auto parsed = kenaz::parse_options(argc, argv);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  return kenaz::run_with_large_stack(std::get<kenaz::Options>(parsed));
}
