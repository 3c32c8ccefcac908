#include "server/editor/positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace kenaz::editor {

namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// A line without its end.
std::string_view line_at(std::string_view text, int64_t line, size_t* begin = nullptr) {
  size_t at = 0;
  for (; line > 0; --line) {
    const size_t end = text.find('\n', at);
    if (end == std::string_view::npos) {
      at = text.size();
      break;
    }
    at = end + 1;
  }
  if (begin) *begin = at;
  std::string_view found = text.substr(at, text.find('\n', at) - at);
  if (found.ends_with('\r')) found.remove_suffix(1);
  return found;
}

size_t character_bytes(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && continues(text[end])) ++end;
  return end - at;
}

int64_t units_of(std::string_view character, Units units) {
  if (units == Units::kUtf8) return static_cast<int64_t>(character.size());
  return static_cast<unsigned char>(character[0]) >= 0xf0 ? 2 : 1;
}

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

size_t byte_of(std::string_view text, Place place, Units units) {
  size_t begin = 0;
  const std::string_view line = line_at(text, place.line, &begin);
  int64_t column = 0;
  size_t at = 0;
  while (at < line.size() && column < place.column) {
    const size_t bytes = character_bytes(line, at);
    column += units_of(line.substr(at, bytes), units);
    at += bytes;
  }
  return begin + at;
}

Place to_place(std::string_view text, SourcePos pos, Units units) {
  const std::string_view line = line_at(text, pos.line - 1);
  Place place{std::max(pos.line - 1, 0), 0};
  size_t at = 0;
  for (int column = 1; column < pos.column; ++column) {
    if (at >= line.size()) {
      ++place.column;
      continue;
    }
    const size_t bytes = character_bytes(line, at);
    place.column += units_of(line.substr(at, bytes), units);
    at += bytes;
  }
  return place;
}

SourcePos to_position(std::string_view text, Place place, Units units) {
  size_t begin = 0;
  line_at(text, place.line, &begin);
  const size_t byte = byte_of(text, place, units);
  const auto before = text.substr(begin, byte - begin);
  const auto characters =
      std::count_if(before.begin(), before.end(), [](char c) { return !continues(c); });
  const auto lines = std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(begin), '\n');
  return {static_cast<int>(lines) + 1, static_cast<int>(characters) + 1};
}

std::string path_of_uri(std::string_view uri) {
  constexpr std::string_view kFile = "file://";
  if (!uri.starts_with(kFile)) return std::filesystem::path(uri).lexically_normal().string();
  std::string_view rest = uri.substr(kFile.size());
  rest.remove_prefix(std::min(rest.find('/'), rest.size()));  // the host: this one
  std::string path;
  for (size_t i = 0; i < rest.size(); ++i) {
    const int high = i + 2 < rest.size() ? hex(rest[i + 1]) : -1;
    const int low = i + 2 < rest.size() ? hex(rest[i + 2]) : -1;
    if (rest[i] == '%' && high >= 0 && low >= 0) {
      path += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      path += rest[i];
    }
  }
  return std::filesystem::path(path).lexically_normal().string();
}

std::string uri_of_path(std::string_view path) {
  if (path.empty() || path[0] != '/') return std::string(path);
  std::string uri = "file://";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/-._~").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

}  // namespace kenaz::editor
