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

/// What there is to be served, and files that cannot be: why not.
struct Listing {
  std::vector<ProgramFile> files;
  std::vector<std::string> refused;
};

/// Programs stand in the folder itself; what they import may be below it.
Result<Listing> files_of_folder(const std::string& folder) {
  Listing all;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::path& path = it->path();
    const bool is_program = path.extension() == ".fut" || path.extension() == ".mfg";
    if (!is_program || path.filename().string().starts_with('.')) continue;
    if (auto file = program_file(path)) {
      all.files.push_back(std::move(*file));
    } else {
      all.refused.push_back(file.error().text());
    }
  }
  if (error) return bad_request(fmt::format("{}: {}", folder, error.message()));
  std::sort(all.files.begin(), all.files.end(), [](const auto& a, const auto& b) {
    return std::tie(a.name, a.path) < std::tie(b.name, b.path);
  });
  return all;
}

Result<Listing> all_files(const std::vector<std::string>& paths, const std::string& folder) {
  Listing all;
  for (const auto& path : paths) {
    KENAZ_ASSIGN(auto file, program_file(path));
    all.files.push_back(std::move(file));
  }
  if (folder.empty()) return all;
  KENAZ_ASSIGN(auto more, files_of_folder(folder));
  all.files.insert(all.files.end(), more.files.begin(), more.files.end());
  all.refused = std::move(more.refused);
  return all;
}

std::string both_have_the_name(const std::string& a, const ProgramFile& b) {
  return fmt::format("{} and {}: both programs would have the name {}", a, b.path, b.name);
}

}  // namespace

Result<std::vector<ProgramFile>> program_files(const std::vector<std::string>& paths,
                                               const std::string& folder) {
  KENAZ_ASSIGN(Listing all, all_files(paths, folder));
  if (!all.refused.empty()) return bad_request(all.refused[0]);
  std::map<std::string, std::string> paths_by_name;
  for (const auto& file : all.files) {
    const auto [other, is_new] = paths_by_name.emplace(file.name, file.path);
    if (!is_new) return bad_request(both_have_the_name(other->second, file));
  }
  return std::move(all.files);
}

ProgramFiles::ProgramFiles(What what, Sources::Read read, Compile compile, size_t devices)
    : what_(std::move(what)),
      read_(std::move(read)),
      compile_(std::move(compile)),
      devices_([devices] {
        std::vector<OnDevice> all;
        for (size_t k = 0; k < devices; ++k) all.emplace_back();
        return all;
      }()) {}

ProgramFiles::~ProgramFiles() {
  wakeup_.stop.request_stop();
  thread_.reset();
}

ProgramFiles::Watched ProgramFiles::watched(ProgramFile file) const {
  return {std::move(file), Sources(read_)};
}

Result<std::vector<std::shared_ptr<Programs>>> ProgramFiles::load() {
  KENAZ_ASSIGN(const auto files, program_files(what_.paths, what_.folder));
  if (files.empty()) {
    return bad_request(fmt::format("{}: there is no program (.fut, .mfg)", what_.folder));
  }
  for (const auto& file : files) {
    Watched program = watched(file);
    KENAZ_ASSIGN(auto compiled, compile_(file, program.sources));
    for (size_t k = 0; k < devices_.size(); ++k) {
      KENAZ_ASSIGN(auto loaded, compiled.start(k, CompiledProgram::Constants::kMayFail));
      devices_[k].programs->put(std::move(loaded));
    }
    watched_.emplace(file.name, std::move(program));
  }
  std::vector<std::shared_ptr<Programs>> all;
  for (const auto& device : devices_) {
    if (!what_.paths.empty()) device.programs->set_preferred(files[0].name);
    all.push_back(device.programs);
  }
  return all;
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
  } else if (free_later()) {
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

ProgramPtr ProgramFiles::find(const std::string& name) const {
  for (const auto& device : devices_) {
    if (ProgramPtr program = device.programs->find(name)) return program;
  }
  return nullptr;
}

bool ProgramFiles::has_version(const std::string& name, const std::string& version) const {
  return std::all_of(devices_.begin(), devices_.end(), [&](const OnDevice& d) {
    const ProgramPtr program = d.programs->find(name);
    return program && program->version == version;
  });
}

bool ProgramFiles::free_later() const {
  return std::any_of(devices_.begin(), devices_.end(),
                     [](const OnDevice& d) { return d.programs->free_later(); });
}

void ProgramFiles::free_unused() {
  for (size_t k = 0; k < devices_.size(); ++k) {
    const OnDevice& d = devices_[k];
    // A call may last, and one such job is enough.
    if (!d.programs->free_later() || d.sweeping->exchange(true)) continue;
    try {
      post_(k, [programs = d.programs, sweeping = d.sweeping] {
        *sweeping = false;
        programs->free_unused();
      });
    } catch (...) {
      *d.sweeping = false;
      throw;
    }
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

/// What is wrong there; empty: nothing. Said once, as long as it stays so.
void ProgramFiles::complain_of_folder(const std::string& text, bool asked) {
  if (!text.empty() && (asked || text != folder_error_)) spdlog::error("{}", text);
  folder_error_ = text;
}

void ProgramFiles::look_at_folder(bool asked) {
  auto all = all_files(what_.paths, what_.folder);
  if (!all) return complain_of_folder(all.error().text(), asked);
  std::map<std::string, Watched> now;
  // What is served already goes on under its name, whatever else comes to have it.
  const auto is_known = [&](const ProgramFile& file) {
    const auto known = watched_.find(file.name);
    return known != watched_.end() && known->second.file.path == file.path;
  };
  std::stable_partition(all->files.begin(), all->files.end(), is_known);
  for (const auto& file : all->files) {
    if (const auto other = now.find(file.name); other != now.end()) {
      all->refused.push_back(both_have_the_name(other->second.file.path, file));
      continue;
    }
    auto known = watched_.extract(file.name);
    if (known && known.mapped().file.path == file.path) {
      known.mapped().missed = 0;
      now.insert(std::move(known));
    } else {
      now.emplace(file.name, watched(file));
    }
  }
  complain_of_folder(fmt::format("{}", fmt::join(all->refused, "\n")), asked);
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
  if (!find(program.file.name)) return true;
  bool removed = true;  // on all: they have the same programs
  for (const auto& device : devices_) {
    if (device.programs->find(program.file.name)) {
      removed = device.programs->remove(program.file.name) && removed;
    }
  }
  if (removed) {
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
  const ProgramPtr running = find(program.file.name);
  const char* const instead = running ? "it goes on as it was" : "it is not served";
  Sources sources(read_);
  auto compiled = compile_(program.file, sources);
  program.sources = std::move(sources);
  program.failed = true;
  if (!compiled) {
    return spdlog::error("{}: not loaded, {}:\n{}", path, instead, compiled.error().text());
  }
  if (has_version(program.file.name, compiled->version)) {
    program.failed = false;
    return spdlog::info("{}: as it was, version {}", path, compiled->version);
  }
  using Constants = CompiledProgram::Constants;
  const auto constants = running ? Constants::kMustHold : Constants::kMayFail;
  Status outcome;
  const auto started = std::make_shared<Started>(devices_.size());
  if (!start_on_all(*compiled, constants, started, outcome)) return;
  if (!outcome) {
    drop(started);
    return spdlog::error("{}: not loaded, {}: {}", path, instead, outcome.error().text());
  }
  serve(started);
  program.failed = !has_version(program.file.name, compiled->version);
  spdlog::info("{}: loaded{}, version {}", path, running ? " anew" : "", compiled->version);
}

bool ProgramFiles::start_on_all(const CompiledProgram& compiled,
                                CompiledProgram::Constants constants,
                                const std::shared_ptr<Started>& started, Status& outcome) {
  std::optional<Error> lost;
  bool any = false;
  for (size_t k = 0; k < devices_.size(); ++k) {
    const auto start = [k, started, make = compiled.start, constants]() -> Status {
      KENAZ_ASSIGN((*started)[k], make(k, constants));
      return {};
    };
    if (!on_engine(k, start, outcome)) return false;
    any = any || outcome;
    if (outcome) continue;
    // A device that there is not does not keep others from going on.
    if (outcome.error().kind != ErrorKind::kDeviceLost) return true;
    lost = std::move(outcome).error();
    if (devices_.size() > 1) spdlog::warn("on device #{}: {}", k, lost->text());
  }
  outcome = any || !lost ? Status() : Status(tl::make_unexpected(*lost));
  return true;
}

void ProgramFiles::serve(const std::shared_ptr<Started>& started) {
  for (size_t k = 0; k < devices_.size(); ++k) {
    if (auto& program = (*started)[k]) devices_[k].programs->put(std::move(*program));
  }
  free_unused();
}

void ProgramFiles::drop(const std::shared_ptr<Started>& started) {
  for (size_t k = 0; k < devices_.size(); ++k) {
    if ((*started)[k]) post_(k, [k, started] { (*started)[k].reset(); });
  }
}

bool ProgramFiles::on_engine(size_t device, std::function<Status()> body, Status& outcome) {
  struct Errand {
    std::mutex mutex;
    std::condition_variable_any ended;
    std::optional<Status> outcome;
  };
  auto errand = std::make_shared<Errand>();
  post_(device, [errand, body = std::move(body)] {
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
