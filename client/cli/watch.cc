#include "client/cli/watch.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "client/cli/check_json.h"
#include "client/cli/subcommands.h"
#include "client/lib/file_watch.h"
#include "client/testing/suite.h"
#include "protocol/base/diagnostic_text.h"

namespace kenaz::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kQuiet = 0.05;  // seconds without a change, after which what is there is whole

int stop_fd = -1;  // readable once a signal has come; a signal handler can reach nothing else

void on_signal(int) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(stop_fd, &one, sizeof one);
}

std::string normal(const std::string& path) { return fs::path(path).lexically_normal().string(); }

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

class Watcher {
 public:
  Watcher(const CheckOptions& options, const std::vector<std::string>& paths, bool as_json)
      : options_(options), paths_(paths), json_(as_json) {}

  Status run() {
    KENAZ_ASSIGN(client::FileWatch files, client::FileWatch::create());
    std::set<std::string> changed = {""};
    while (!changed.empty()) {
      files.watch(folders());  // before the check: what changes meanwhile is checked again
      if (check(changed)) KENAZ_TRY(print());
      files.watch(folders());
      KENAZ_ASSIGN(changed, files.wait(stop_fd, kQuiet));
    }
    return {};
  }

 private:
  struct Checked {
    json document = empty_document();
    std::set<std::string> files;  // that it consists of
    std::string problem;          // why there is no document
  };

  /// Of all files, and the folders that were named, with those inside.
  std::set<std::string> folders() const {
    std::set<std::string> all;
    for (const auto& path : paths_) {
      all.insert(folder_of(path));
      std::error_code error;
      if (!fs::is_directory(path, error)) continue;
      all.insert(path);
      fs::recursive_directory_iterator it(path, error), end;
      for (; !error && it != end; it.increment(error)) {
        if (it->is_directory(error)) all.insert(it->path().string());
      }
    }
    for (const auto& [program, checked] : checked_) {
      for (const auto& file : checked.files) all.insert(folder_of(file));
    }
    return all;
  }

  /// Returns whether there is anything new to print.
  bool check(const std::set<std::string>& changed) {
    const auto programs = testing::collect_programs(paths_);
    const std::string before =
        std::exchange(problem_, programs ? std::string() : programs.error().text());
    std::map<std::string, Checked> now;
    // What is printed into a watched folder is a change, too: said again, it would never end.
    bool any = problem_ != before || changed.count("") > 0;
    for (const auto& program : programs ? *programs : std::vector<std::string>()) {
      const auto known = checked_.find(program);
      const bool fresh = known != checked_.end() && changed.count("") == 0 &&
                         std::none_of(known->second.files.begin(), known->second.files.end(),
                                      [&](const auto& file) { return changed.count(file) > 0; });
      now[program] = fresh ? std::move(known->second) : check_one(program);
      any = any || !fresh;
    }
    any = any || now.size() != checked_.size();
    checked_ = std::move(now);
    return any;
  }

  Checked check_one(const std::string& program) const {
    Checked out;
    out.files.insert(normal(program));
    auto document = check_document(options_, program);
    if (!document) {
      out.problem = program + ": " + document.error().text();
      return out;
    }
    out.document = std::move(*document);
    for (const json& p : out.document["programs"]) {
      for (const json& file : p.value("files", json::array())) {
        if (file.is_string()) out.files.insert(normal(file.get<std::string>()));
      }
    }
    return out;
  }

  Status print() const {
    json all = empty_document();
    std::set<std::string> files;
    for (const auto& [program, checked] : checked_) {
      add_document(all, checked.document);
      files.insert(checked.files.begin(), checked.files.end());
    }
    if (json_) {
      if (!problem_.empty()) add_problem(all, problem_);
      KENAZ_TRY(print_text(text_of(all) + "\n"));
      return flush_output();
    }
    std::string text = ::isatty(STDERR_FILENO) != 0 ? "\x1b[H\x1b[2J\x1b[3J" : "";
    const bool colours = colours_on(STDERR_FILENO);
    for (const json& d : all["diagnostics"]) {
      const std::string rendered = d.value("rendered", "");
      text += (colours ? colour_diagnostics(rendered) : rendered) + "\n";
    }
    if (!problem_.empty()) text += "kenaz: " + problem_ + "\n";
    for (const auto& [program, checked] : checked_) {
      if (!checked.problem.empty()) text += "kenaz: " + checked.problem + "\n";
    }
    const size_t rejected = rejected_programs(all);
    text += fmt::format("kenaz: {} of {} programs {} rejected; watching {} files\n", rejected,
                        checked_.size(), rejected == 1 ? "is" : "are", files.size());
    fmt::print(stderr, "{}", text);
    return {};
  }

  const CheckOptions& options_;
  const std::vector<std::string>& paths_;
  bool json_;
  std::map<std::string, Checked> checked_;
  std::string problem_;  // with the paths themselves
};

}  // namespace

int watch_programs(const CheckOptions& options, const std::vector<std::string>& paths, bool json) {
  stop_fd = ::eventfd(0, EFD_CLOEXEC);
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  const Status ran = Watcher(options, paths, json).run();
  return ran ? kOk : complain(ran.error());
}

}  // namespace kenaz::cli
