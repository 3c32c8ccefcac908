#include "server/programs/program_files.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <tuple>
#include <utility>

#include "protocol/base/utf8.h"

namespace kenaz {

namespace fs = std::filesystem;

namespace {

// A change is acted on when it is seen at two looks, so that files are whole, and a file that an
// editor replaces is not taken for removed.
constexpr std::chrono::milliseconds kBetweenLooks{200};
constexpr std::chrono::seconds kBetweenSweeps{1};

Result<ProgramFile> program_file(const fs::path& path) {
  std::string name = path.stem().string();
  if (name.empty() || name.find('"') != std::string::npos || !is_utf8(name) ||
      std::any_of(name.begin(), name.end(), is_control)) {
    return bad_request(fmt::format("{}: a program's name cannot be written as a word of a command",
                                   printable(path.string())));
  }
  return ProgramFile{std::move(name), path.string()};
}

/// Programs stand in the folder itself; what they import may be below it.
Result<std::vector<ProgramFile>> files_of_folder(const std::string& folder) {
  std::vector<ProgramFile> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::path& path = it->path();
    const bool is_program = path.extension() == ".fut" || path.extension() == ".mfg";
    if (!is_program || path.filename().string().starts_with('.')) continue;
    KENAZ_ASSIGN(auto file, program_file(path));
    files.push_back(std::move(file));
  }
  if (error) return bad_request(fmt::format("{}: {}", folder, error.message()));
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return std::tie(a.name, a.path) < std::tie(b.name, b.path);
  });
  return files;
}

}  // namespace

Result<std::vector<ProgramFile>> program_files(const std::vector<std::string>& paths,
                                               const std::string& folder) {
  std::vector<ProgramFile> files;
  for (const auto& path : paths) {
    KENAZ_ASSIGN(auto file, program_file(path));
    files.push_back(std::move(file));
  }
  if (!folder.empty()) {
    KENAZ_ASSIGN(auto more, files_of_folder(folder));
    files.insert(files.end(), more.begin(), more.end());
  }
  std::map<std::string, std::string> paths_by_name;
  for (const auto& file : files) {
    const auto [other, is_new] = paths_by_name.emplace(file.name, file.path);
    if (is_new) continue;
    return bad_request(fmt::format("{} and {}: both programs would have the name {}", other->second,
                                   file.path, file.name));
  }
  return files;
}

ProgramFiles::ProgramFiles(What what, Sources::Read read, Compile compile)
    : what_(std::move(what)), read_(std::move(read)), compile_(std::move(compile)) {}

ProgramFiles::~ProgramFiles() {
  wakeup_.stop.request_stop();
  thread_.reset();
}

ProgramFiles::Watched ProgramFiles::watched(ProgramFile file) const {
  return {std::move(file), Sources(read_)};
}

Result<std::shared_ptr<Programs>> ProgramFiles::load() {
  KENAZ_ASSIGN(const auto files, program_files(what_.paths, what_.folder));
  if (files.empty()) {
    return bad_request(fmt::format("{}: there is no program (.fut, .mfg)", what_.folder));
  }
  for (const auto& file : files) {
    Watched program = watched(file);
    KENAZ_ASSIGN(auto compiled, compile_(file, program.sources));
    KENAZ_ASSIGN(auto loaded, compiled.start(CompiledProgram::Constants::kMayFail));
    programs_->put(std::move(loaded));
    watched_.emplace(file.name, std::move(program));
  }
  if (!what_.paths.empty()) programs_->set_preferred(files[0].name);
  return programs_;
}

// ---- the thread

void ProgramFiles::watch(Post post, bool always) {
  post_ = std::move(post);
  always_ = always;
  bool apart = true;
  thread_.emplace([this, &apart, self = std::this_thread::get_id()] {
    if (std::this_thread::get_id() == self) {
      apart = false;
    } else {
      run();
    }
  });
  if (!apart) spdlog::error("no thread can be had; programs are not loaded anew");
}

void ProgramFiles::look() {
  const std::lock_guard lock(wakeup_.mutex);
  wakeup_.asked = true;
  wakeup_.changed.notify_all();
}

void ProgramFiles::look_now(const Post& post, bool asked) {
  post_ = post;
  look_at_all(asked);
  free_unused();
}

bool ProgramFiles::wait(bool& asked) {
  std::unique_lock lock(wakeup_.mutex);
  const auto is_asked = [this] { return wakeup_.asked; };
  const auto stop = wakeup_.stop.get_token();
  if (always_) {
    wakeup_.changed.wait_for(lock, stop, kBetweenLooks, is_asked);
  } else if (programs_->free_later()) {
    wakeup_.changed.wait_for(lock, stop, kBetweenSweeps, is_asked);
  } else {
    wakeup_.changed.wait(lock, stop, is_asked);
  }
  asked = std::exchange(wakeup_.asked, false);
  return !stop.stop_requested();
}

void ProgramFiles::run() {
  bool asked = false;
  while (wait(asked)) {
    try {
      if (asked || always_) look_at_all(asked);
      free_unused();
    } catch (const std::exception& e) {  // no memory; the next look may have some
      spdlog::error("programs are not looked at: {}", e.what());
    }
  }
}

void ProgramFiles::free_unused() {
  // A call may last, and one such job is enough.
  if (!programs_->free_later() || sweeping_->exchange(true)) return;
  try {
    post_([programs = programs_, sweeping = sweeping_] {
      *sweeping = false;
      programs->free_unused();
    });
  } catch (...) {
    *sweeping_ = false;
    throw;
  }
}

void ProgramFiles::look_at_all(bool asked) {
  if (!what_.folder.empty()) look_at_folder(asked);
  int compiled = 0;
  for (auto& [name, program] : watched_) {
    if (program.missed == 0) compiled += look_at(program, asked) ? 1 : 0;
  }
  if (asked && compiled == 0) spdlog::info("no program has changed");
}

void ProgramFiles::look_at_folder(bool asked) {
  const auto files = program_files(what_.paths, what_.folder);
  if (!files) {
    const std::string text = files.error().text();
    if (asked || text != folder_error_) spdlog::error("{}", text);
    folder_error_ = text;
    return;
  }
  folder_error_.clear();
  std::map<std::string, Watched> now;
  for (const auto& file : *files) {
    auto known = watched_.extract(file.name);
    if (known && known.mapped().file.path == file.path) {
      known.mapped().missed = 0;
      now.insert(std::move(known));
    } else {
      now.emplace(file.name, watched(file));
    }
  }
  for (auto& [name, program] : watched_) {  // those that are left have gone
    if (!is_gone(program, asked)) now.emplace(name, std::move(program));
  }
  watched_ = std::move(now);
}

/// The last program goes on being served.
bool ProgramFiles::is_gone(Watched& program, bool asked) {
  constexpr int kLooks = 2;
  ++program.missed;
  if (program.missed < kLooks && !asked) return false;
  if (!programs_->find(program.file.name)) return true;
  if (programs_->remove(program.file.name)) {
    spdlog::info("{}: removed, not served any more", program.file.path);
    return true;
  }
  if (program.missed == kLooks || asked) {
    spdlog::warn("{}: removed, but served, since there is no other program", program.file.path);
  }
  return false;
}

bool ProgramFiles::look_at(Watched& program, bool asked) {
  const uint64_t now = program.sources.now(asked);
  const bool is_new = program.sources.noted() == 0;
  const bool again = asked && program.failed;  // perhaps for a reason that has passed
  if (!is_new && !again && now == program.sources.noted()) {
    program.changing = 0;
    return false;
  }
  // A new file may still be written.
  if (is_new && !asked && !std::exchange(program.changing, 1)) return false;
  if (!is_new && !asked && std::exchange(program.changing, now) != now) return false;
  program.changing = 0;
  reload(program);
  return true;
}

void ProgramFiles::reload(Watched& program) {
  const std::string& path = program.file.path;
  const ProgramPtr running = programs_->find(program.file.name);
  const char* const instead = running ? "it goes on as it was" : "it is not served";
  Sources sources(read_);
  auto compiled = compile_(program.file, sources);
  program.sources = std::move(sources);
  program.failed = true;
  if (!compiled) {
    return spdlog::error("{}: not loaded, {}:\n{}", path, instead, compiled.error().text());
  }
  if (running && running->version == compiled->version) {
    program.failed = false;
    return spdlog::info("{}: as it was, version {}", path, running->version);
  }
  using Constants = CompiledProgram::Constants;
  const auto constants = running ? Constants::kMustHold : Constants::kMayFail;
  Status outcome;
  const bool done = on_engine(
      [programs = programs_, start = std::move(compiled->start), constants]() -> Status {
        KENAZ_ASSIGN(auto loaded, start(constants));
        programs->put(std::move(loaded));
        programs->free_unused();
        return {};
      },
      outcome);
  if (!done) return;
  if (!outcome)
    return spdlog::error("{}: not loaded, {}: {}", path, instead, outcome.error().text());
  program.failed = false;
  spdlog::info("{}: loaded{}, version {}", path, running ? " anew" : "", compiled->version);
}

bool ProgramFiles::on_engine(std::function<Status()> body, Status& outcome) {
  struct Errand {
    std::mutex mutex;
    std::condition_variable_any ended;
    std::optional<Status> outcome;
  };
  auto errand = std::make_shared<Errand>();
  post_([errand, body = std::move(body)] {
    Status status;
    try {
      status = body();
    } catch (const std::exception& e) {
      status = fail(ErrorKind::kOutOfMemory, e.what());
    }
    const std::lock_guard lock(errand->mutex);
    errand->outcome = std::move(status);
    errand->ended.notify_all();
  });
  std::unique_lock lock(errand->mutex);
  const bool done = errand->ended.wait(lock, wakeup_.stop.get_token(),
                                       [&] { return errand->outcome.has_value(); });
  if (done) outcome = std::move(*errand->outcome);
  return done;
}

}  // namespace kenaz
