#include "client/lib/temp_dir.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace kenaz::client {

Result<TempDir> TempDir::make() {
  std::error_code error;
  const auto base = std::filesystem::temp_directory_path(error);
  std::string path = (error ? std::string("/tmp") : base.string()) + "/kenaz-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return internal_error(
        fmt::format("cannot make a temporary directory {}: {}", path, strerror(errno)));
  }
  return TempDir(path);
}

TempDir::~TempDir() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
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
