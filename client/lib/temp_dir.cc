#include "client/lib/temp_dir.h"

#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

namespace kenaz::client {

namespace {

/// The directories that there are. A signal ends the whole process, whoever owns them.
struct Existing {
  std::mutex mutex;
  std::set<std::string> paths;
};

/// Never destroyed: a signal may come while the process exits.
Existing& existing() {
  static auto& all = *new Existing;
  return all;
}

[[noreturn]] void end_by_signal(const sigset_t& signals) {
  int signal = SIGTERM;
  sigwait(&signals, &signal);
  // Held to the end, so that no new one is made.
  const std::lock_guard lock(existing().mutex);
  for (const auto& path : existing().paths) {
    // A server may still be writing a file there.
    constexpr int kTries = 10;
    std::error_code error;
    for (int i = 0; i == 0 || (error && i < kTries); ++i) {
      std::filesystem::remove_all(path, error);
    }
  }
  std::signal(signal, SIG_DFL);
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  std::raise(signal);
  std::abort();  // not reached
}

}  // namespace

void remove_temp_dirs_when_killed() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&signals, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  try {
    std::thread([signals] { end_by_signal(signals); }).detach();
  } catch (const std::system_error&) {  // no thread can be had: they end it as ever
    ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  }
}

Result<TempDir> TempDir::make() {
  std::error_code error;
  const auto base = std::filesystem::temp_directory_path(error);
  std::string path = (error ? std::string("/tmp") : base.string()) + "/kenaz-XXXXXX";
  const std::lock_guard lock(existing().mutex);
  if (::mkdtemp(path.data()) == nullptr) {
    return internal_error(
        fmt::format("cannot make a temporary directory {}: {}", path, strerror(errno)));
  }
  existing().paths.insert(path);
  return TempDir(path);
}

TempDir::~TempDir() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  const std::lock_guard lock(existing().mutex);
  existing().paths.erase(path_);
}

Result<std::string> read_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return bad_request(fmt::format("{}: {}", path, strerror(errno)));
  std::string text;
  char chunk[65536];
  size_t n;
  while ((n = std::fread(chunk, 1, sizeof chunk, file)) > 0) text.append(chunk, n);
  const bool failed = std::ferror(file) != 0;
  const int error = errno;
  std::fclose(file);
  if (failed) return bad_request(fmt::format("{}: {}", path, strerror(error)));
  return text;
}

Status write_file(const std::string& path, const std::string& contents) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return internal_error(fmt::format("{}: {}", path, strerror(errno)));
  const bool written = std::fwrite(contents.data(), 1, contents.size(), file) == contents.size();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed) return internal_error(fmt::format("{}: {}", path, strerror(errno)));
  return {};
}

Result<std::string> read_maybe_gz(const std::string& path) {
  if (!path.ends_with(".gz")) return read_file(path);
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return bad_request(fmt::format("{}: {}", path, strerror(errno)));
  std::string text;
  char chunk[65536];
  int n;
  while ((n = gzread(file, chunk, sizeof chunk)) > 0) text.append(chunk, static_cast<size_t>(n));
  int code = Z_OK;
  const std::string message = gzerror(file, &code);
  const bool failed = n < 0 || gzclose(file) != Z_OK;
  if (n < 0) gzclose(file);
  if (failed) return bad_request(fmt::format("{}: {}", path, message));
  return text;
}

std::string tail(const std::string& text, size_t limit) {
  if (text.size() <= limit) return text;
  std::string end = text.substr(text.size() - limit);
  const auto newline = end.find('\n');
  return newline == std::string::npos || newline + 1 == end.size() ? end : end.substr(newline + 1);
}

}  // namespace kenaz::client
