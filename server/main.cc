// kenaz-server: loads one Futhark program and answers commands on stdin until it ends.
// Exit status: 0, 1 on errors, 2 if the program is not a good one, 3 if --validate found something.
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "server/load.h"
#include "server/options.h"
#include "server/session/session.h"
#include "server/transport/stdio.h"

namespace kenaz {
namespace {

int report(const Error& error) {
  fmt::print(stderr, "{}{}\n",
             error.kind == ErrorKind::kCompile ? "" : "kenaz-server: ", error.text());
  return error.kind == ErrorKind::kCompile ? 2 : 1;
}

Status check_parameters(const Options& options) {
  for (const auto& param : options.params) {
    return bad_request("Unknown parameter: " + param.substr(0, param.find('=')));
  }
  if (options.tuning_file.empty()) return {};
  const auto when = fmt::format("When loading tuning file '{}': ", options.tuning_file);
  std::ifstream file(options.tuning_file);
  std::stringstream text;
  if (!(text << file.rdbuf())) return bad_request(when + "it cannot be read.");
  if (auto ok = check_tuning(text.str()); !ok) return bad_request(when + ok.error().text());
  return {};
}

int list_devices() {
  const auto devices = device::list_vulkan_devices();
  if (!devices) return report(devices.error());
  for (const auto& d : *devices) fmt::print("{}\n", d);
  return 0;
}

/// The server with its own standard output: what libraries print goes to stderr instead, because
/// a stray line would be taken for a part of a reply.
int serve(const Options& options) {
  const int out = dup(STDOUT_FILENO);
  if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return report(Error{ErrorKind::kInternal, "cannot redirect the standard output", {}});
  }
  std::signal(SIGPIPE, SIG_IGN);
  auto validation = options.validate ? std::make_shared<device::ValidationLog>() : nullptr;
  int status = 0;
  {
    auto engine = load(options, validation);
    if (!engine) return report(engine.error());
    SessionOptions session_options;
    session_options.log = options.log;
    session_options.profile = options.profile;
    session_options.metrics = std::make_shared<Metrics>();
    Session session(std::move(*engine), std::move(session_options));
    if (!serve_lines(session, STDIN_FILENO, out)) status = 1;
  }
  if (validation && validation->count() > 0) {
    fmt::print(stderr, "kenaz-server: the validation layer has {} messages:\n",
               validation->count());
    for (const auto& m : validation->messages()) fmt::print(stderr, "{}\n", m);
    status = 3;
  }
  return status;
}

int run(const Options& options) {
  if (options.list_devices) return list_devices();
  if (options.check) {
    const auto ok = check(options);
    return ok ? 0 : report(ok.error());
  }
  if (!options.dump.empty()) {
    const auto text = dump(options);
    if (!text) return report(text.error());
    fmt::print("{}", *text);
    return 0;
  }
  if (const auto ok = check_parameters(options); !ok) return report(ok.error());
  if (options.print_params) return 0;
  return serve(options);
}

struct Job {
  const Options* options;
  int status;
};

/// On a thread with a large stack: the compiler's recursion follows the nesting of programs, which
/// it bounds, but more generously than the usual stack.
int run_with_large_stack(const Options& options) {
  constexpr size_t kStackBytes = size_t{256} << 20;
  Job job{&options, 1};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread{};
  const auto body = [](void* p) -> void* {
    auto* j = static_cast<Job*>(p);
    try {
      j->status = run(*j->options);
    } catch (const std::exception& e) {  // no memory, before there is a session to say so
      j->status = report(Error{ErrorKind::kInternal, e.what(), {}});
    }
    return nullptr;
  };
  if (pthread_create(&thread, &attributes, body, &job) != 0) return run(options);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return job.status;
}

}  // namespace
}  // namespace kenaz

int main(int argc, char** argv) {
  const auto parsed = kenaz::parse_options(argc, argv);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  return kenaz::run_with_large_stack(std::get<kenaz::Options>(parsed));
}
