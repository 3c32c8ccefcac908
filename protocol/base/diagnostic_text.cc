#include "protocol/base/diagnostic_text.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace kenaz {
namespace {

constexpr std::string_view kRed = "\x1b[1;31m", kYellow = "\x1b[1;33m", kBlue = "\x1b[34m",
                           kPlain = "\x1b[0m";

std::string painted(std::string_view colour, std::string_view text) {
  return text.empty() ? "" : std::string(colour) + std::string(text) + std::string(kPlain);
}

/// "  12 | let x = y" is one; gives how long the part up to the bar is, or 0.
size_t gutter(std::string_view line) {
  size_t end = line.find_first_not_of(' ');
  if (end == std::string_view::npos || end < 2) return 0;
  end = line.find_first_not_of("0123456789", end);
  if (end == std::string_view::npos) return 0;
  if (line[end] == ' ') ++end;
  return end < line.size() && line[end] == '|' ? end + 1 : 0;
}

std::string coloured_line(std::string_view line) {
  for (const auto& [word, colour] :
       {std::pair<std::string_view, std::string_view>{"Error", kRed}, {"Warning", kYellow}}) {
    const std::string_view rest = line.substr(std::min(word.size(), line.size()));
    if (line.starts_with(word) && (rest.starts_with(" at ") || rest == ":")) {
      return painted(colour, word) + std::string(rest);
    }
  }
  const size_t bar = gutter(line);
  if (bar == 0) return std::string(line);
  const std::string_view rest = line.substr(bar);
  const bool marks = rest.find_first_not_of(" ^") == std::string_view::npos;
  return painted(kBlue, line.substr(0, bar)) + (marks ? painted(kRed, rest) : std::string(rest));
}

/// `body` gets each line and its end.
template <class Body>
void for_each_line(std::string_view text, Body body) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const size_t next = std::min(end + 1, text.size());
    body(text.substr(0, end), text.substr(end, next - end));
    text.remove_prefix(next);
  }
}

}  // namespace

bool wants_colour(int descriptor, const char* no_color, const char* term) {
  if (no_color != nullptr && *no_color != '\0') return false;
  if (term != nullptr && std::string_view(term) == "dumb") return false;
  return ::isatty(descriptor) != 0;
}

std::string colour_diagnostics(std::string_view text) {
  std::string out;
  for_each_line(text, [&](std::string_view line, std::string_view end) {
    out += coloured_line(line);
    out += end;
  });
  return out;
}

std::string without_excerpts(std::string_view text) {
  std::string out;
  for_each_line(text, [&](std::string_view line, std::string_view end) {
    const size_t text_start = line.find_first_not_of(' ');
    const bool left_out =
        text_start != 0 && text_start != std::string_view::npos && line.substr(text_start) == "...";
    if (gutter(line) > 0 || left_out) return;
    out += line;
    out += end;
  });
  return out;
}

}  // namespace kenaz
