#include "kernels/diagnostics/excerpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "protocol/base/utf8.h"

namespace kenaz {
namespace {

constexpr int kTab = 4;        // columns that a tab takes
constexpr int kMaxLines = 4;   // a range of so many lines is shown whole
constexpr int kColumns = 100;  // a longer line is cut on both sides
constexpr int kContext = 40;   // columns to be seen before the range, in a line that is cut

/// A line as it is shown: one string per character of the program's text.
using Characters = std::vector<std::string>;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

Characters characters(std::string_view line) {
  Characters all;
  for (const char c : line) {
    if (continues(c) && !all.empty()) {
      all.back() += c;
    } else if (c == '\t') {
      all.emplace_back(kTab, ' ');
    } else {
      all.emplace_back(1, is_control(c) || continues(c) ? '?' : c);
    }
  }
  for (std::string& c : all) {  // U+0080 to U+009F: control characters, too
    if (c.size() == 2 && c[0] == '\xc2' && static_cast<unsigned char>(c[1]) < 0xa0) c = "?";
  }
  return all;
}

/// How many columns it takes; a character that is no tab takes one.
int width(const std::string& character) {
  return character[0] == ' ' ? static_cast<int>(character.size()) : 1;
}

/// Columns of program text: from `begin` up to, not including, `end`; 1-based.
struct Columns {
  int begin = 1, end = 1;
};

/// The line and the one that underlines it, `number` before the first.
std::string show(const std::string& number, const Characters& line, Columns marked) {
  const int size = static_cast<int>(line.size());
  const int begin = std::clamp(marked.begin, 1, size + 1);
  const int end = std::clamp(marked.end, begin + 1, std::max(size + 1, begin + 1));
  int first = 1, last = size;
  if (size > kColumns) {
    first = std::max(1, std::min(begin - kContext, size - kColumns + 1));
    last = std::min(size, first + kColumns - 1);
  }
  std::string text = first > 1 ? "..." : "";
  std::string marks(text.size(), ' ');
  for (int i = first; i <= last; ++i) {
    const std::string& c = line[static_cast<size_t>(i) - 1];
    text += c;
    marks += std::string(static_cast<size_t>(width(c)), i >= begin && i < end ? '^' : ' ');
  }
  if (begin > size) marks += '^';  // behind the line's end
  if (last < size) text += "...";
  marks.resize(marks.find_last_not_of(' ') + 1);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  const std::string empty(number.size(), ' ');
  return fmt::format("{} |{}{}\n{} | {}\n", number, text.empty() ? "" : " ", text, empty, marks);
}

/// The lines of a text from `first` to `last`, 1-based, as far as there are such.
std::vector<std::string_view> lines_of(std::string_view text, int first, int last) {
  std::vector<std::string_view> lines;
  for (int number = 1; number <= last; ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (number >= first) lines.push_back(line);
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// The first column with something in it.
int indentation(const Characters& line) {
  const auto solid = std::find_if(line.begin(), line.end(), [](const std::string& c) {
    return c.find_first_not_of(' ') != std::string::npos;
  });
  return static_cast<int>(solid - line.begin()) + 1;
}

}  // namespace

std::string excerpt(const SourceRange& range) {
  if (!range.file || range.file->text.empty() || range.begin.line < 1) return "";
  const int begin = range.begin.line, end = std::max(begin, range.end.line);
  const auto lines = lines_of(range.file->text, begin, end);
  const size_t digits = std::to_string(end).size();
  const bool all = static_cast<int>(lines.size()) <= kMaxLines;
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool last = i + 1 == lines.size();
    if (!all && i > 1 && !last) {
      if (i == 2) text += std::string(digits + 3, ' ') + "...\n";
      continue;
    }
    const Characters line = characters(lines[i]);
    if (line.empty()) continue;
    const Columns marked{i == 0 ? range.begin.column : indentation(line),
                         last && begin + static_cast<int>(i) == end
                             ? range.end.column
                             : static_cast<int>(line.size()) + 1};
    if (i > 0 && marked.end <= marked.begin) continue;  // the range ends before this line's text
    text += show(fmt::format("  {:>{}}", begin + static_cast<int>(i), digits), line, marked);
  }
  return text;
}

}  // namespace kenaz
