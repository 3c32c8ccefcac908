#include "server/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <utility>

#include "protocol/base/whole_number.h"
#include "server/descriptors.h"
#include "server/loader.h"
#include "server/session/session.h"
#include "server/transport/stdio.h"
#include "server/workers/confine.h"
#include "server/workers/signature.h"
#include "server/workers/source_archive.h"
#include "server/workers/workers.h"

namespace kenaz {
namespace {

bool say(const std::string& head, std::string_view body) {
  std::string all = fmt::format("{} {}\n", head, body.size());
  all += body;
  for (std::string_view rest = all; !rest.empty();) {
    const ssize_t n = write(kWorkerTalk, rest.data(), rest.size());
    if (n <= 0) return false;
    rest.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

int report(const Error& error) {
  std::string text = error.text();
  while (text.ends_with('\n')) text.pop_back();
  say(error.kind == ErrorKind::kCompile ? "error compile" : "error other", text);
  return 1;
}

/// A line with a number, and so many bytes.
Result<std::string> read_sources(LineReader& reader) {
  std::string line;
  if (reader.next(line) != LineReader::Line::kLine) return bad_request("no sources");
  const auto bytes = whole_number<size_t>(line);
  if (!bytes) return bad_request("no sources");
  std::string sources(*bytes, '\0');
  for (size_t have = 0; have < *bytes;) {
    const size_t n = reader.read(std::as_writable_bytes(std::span(sources)).subspan(have));
    if (n == 0) return bad_request("no sources");
    have += n;
  }
  return sources;
}

/// Ends calls when the server says so, and the process when there is no server any more.
class Control {
 public:
  Control() {
    std::thread([this] { listen(); }).detach();
  }
  void set_session(Session* session) { session_ = session; }

 private:
  [[noreturn]] void listen() {
    char what = 0;
    while (read(kWorkerControl, &what, 1) == 1) {
      Session* const session = session_;
      if (session == nullptr) continue;
      if (what == 'c') session->cancel_call();
      if (what == 'n') session->next_call();
      if (what == 'n' && write(kWorkerControl, &what, 1) != 1) break;
    }
    std::_Exit(0);
  }

  std::atomic<Session*> session_ = nullptr;
};

/// What the server's command line says for its own programs and sockets is not for this.
void adapt(Options& options) {
  options.programs.clear();
  options.programs_folder.clear();
  options.listen.clear();
  options.cache_file.clear();
  options.cache_folder.clear();
  options.tuning_file.clear();
  options.program_limits.clear();
  options.params.clear();
  options.no_warnings = true;
  const int64_t most = options.limits.loaded_bytes;
  if (most > 0 && (options.memory_limit == 0 || options.memory_limit > most)) {
    options.memory_limit = options.interpreter.memory_limit = most;
  }
}

/// Descriptors that were the server's, and signals that a terminal sends to all.
void leave_the_server() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int meaningless : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    std::signal(meaningless, SIG_IGN);
  }
  // Others come first: with the processor, and where memory ends.
  constexpr int kLater = 5;
  setpriority(PRIO_PROCESS, 0, kLater);
  const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  constexpr std::string_view kFirstToGo = "1000";
  if (score >= 0 && write(score, kFirstToGo.data(), kFirstToGo.size()) < 0) {
    spdlog::debug("oom_score_adj cannot be written");
  }
  close_descriptors_from(kWorkerControl + 1);
}

/// What the program, or who has broken out of it, has to say is not for the server's log.
void be_silent() {
  const int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
}

Result<LoadedProgram> compile(Loader& loader, const SourceArchive& archive) {
  Sources sources([&archive](const std::string& path) -> Result<std::string> {
    const auto file = archive.files.find(path);
    if (file != archive.files.end()) return file->second;
    return fail(ErrorKind::kNoSuchFile, "It is not among the files that were sent.");
  });
  KENAZ_ASSIGN(const auto compiled, loader.compile({"", archive.main}, sources));
  return compiled.start(0, CompiledProgram::Constants::kMayFail);
}

}  // namespace

int serve_worker(Options options) {
  leave_the_server();
  adapt(options);
  Control control;
  Loader loader(options, {options.device}, nullptr, std::make_shared<Metrics>(nullptr));
  if (const Status started = loader.start_devices(); !started) return report(started.error());
  be_silent();
  const device::Info* const device = loader.device_info(0);
  const bool is_gpu = device != nullptr && !device->is_cpu && !device->interprets;
  const Status confined = confine({options.limits.loaded_bytes, is_gpu});
  if (!confined) return report(confined.error());
  if (!say("ok", "")) return 1;

  LineReader reader(kWorkerTalk);
  const auto sources = read_sources(reader);
  if (!sources) return report(sources.error());
  const auto archive = read_source_archive(*sources);
  if (!archive) return report(archive.error());
  auto program = compile(loader, *archive);
  if (!program) return report(program.error());
  const std::string signature = write_signature(*program->engine);
  auto programs = std::make_shared<Programs>();
  programs->put(std::move(*program));
  Session session(std::move(programs), SessionOptions{});
  control.set_session(&session);
  if (!say("ok", signature)) return 1;
  serve_lines(session, kWorkerTalk, kWorkerTalk);
  std::_Exit(0);  // whatever the program has left behind
}

}  // namespace kenaz
