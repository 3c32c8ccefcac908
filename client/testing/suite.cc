#include "client/testing/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "client/testing/spec.h"

namespace kenaz::testing {

namespace fs = std::filesystem;

Result<std::vector<std::string>> collect_programs(const std::vector<std::string>& paths) {
  std::vector<std::string> programs;
  std::set<std::string> seen;
  auto add = [&](const std::string& path) {
    if (seen.insert(fs::path(path).lexically_normal().string()).second) programs.push_back(path);
  };
  for (const auto& path : paths) {
    std::error_code error;
    const auto status = fs::status(path, error);
    if (!fs::exists(status)) return bad_request(fmt::format("{}: no such file or folder", path));
    if (!fs::is_directory(status)) {
      add(path);
      continue;
    }
    std::vector<std::string> inside;
    fs::recursive_directory_iterator it(path, error), end;
    for (; !error && it != end; it.increment(error)) {
      if (is_program(it->path().string())) inside.push_back(it->path().string());
    }
    if (error) return bad_request(fmt::format("{}: {}", path, error.message()));
    std::sort(inside.begin(), inside.end());
    for (const auto& program : inside) add(program);
  }
  return programs;
}

std::vector<ProgramResult> test_programs(const std::vector<std::string>& programs,
                                         const TestOptions& options, int workers,
                                         const std::function<bool(const ProgramResult&)>& done) {
  std::vector<ProgramResult> results(programs.size());
  std::atomic<size_t> next = 0;
  std::mutex done_mutex;
  auto work = [&] {
    for (size_t i; (i = next++) < programs.size();) {
      results[i] = test_program(programs[i], options);
      const std::lock_guard lock(done_mutex);
      if (!done(results[i])) next = programs.size();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < workers; ++i) threads.emplace_back(work);
  work();
  for (auto& thread : threads) thread.join();
  return results;
}

}  // namespace kenaz::testing
