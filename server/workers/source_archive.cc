#include "server/workers/source_archive.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "protocol/base/utf8.h"
#include "protocol/base/whole_number.h"
#include "protocol/command.h"

namespace kenaz {
namespace {

constexpr size_t kLongestPath = 1024;

Status check_path(const std::string& path) {
  const std::filesystem::path p(path);
  if (path.empty() || path.size() > kLongestPath || !is_utf8(path) ||
      path.find('\0') != std::string::npos) {
    return bad_request("A file's path has 1 to 1024 bytes, in UTF-8.");
  }
  const bool inside = p.is_relative() && *p.begin() != "..";
  if (!inside || p.lexically_normal().string() != path || !p.has_filename()) {
    return bad_request(
        fmt::format("{}: a file's path is relative, and written without `.` and `..`.", path));
  }
  return {};
}

}  // namespace

Result<SourceArchive> read_source_archive(std::string_view bytes) {
  SourceArchive archive;
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const auto words = protocol::split_line(bytes.substr(0, end));
    const bool is_head = end != std::string_view::npos && words.size() == 3 && words[0] == "file";
    const auto size = is_head ? whole_number<size_t>(words[2]) : std::nullopt;
    if (!size) {
      return bad_request(
          "The sources are lines `file PATH BYTES`, each followed by so many bytes.");
    }
    bytes.remove_prefix(end + 1);
    KENAZ_TRY(check_path(words[1]));
    if (*size > bytes.size()) {
      return bad_request(fmt::format("{}: the sources end before this file does.", words[1]));
    }
    if (archive.files.empty()) archive.main = words[1];
    if (!archive.files.emplace(words[1], bytes.substr(0, *size)).second) {
      return bad_request(fmt::format("{}: the file comes twice.", words[1]));
    }
    bytes.remove_prefix(*size);
  }
  if (archive.files.empty()) return bad_request("There is no file among the sources.");
  return archive;
}

}  // namespace kenaz
