#include "kernels/diagnostics/codes.h"

#include <algorithm>

namespace kenaz {
namespace {

struct Row {
  std::string_view code;
  std::vector<std::string_view> phrases;
};

template <class... Phrases>
Row row(std::string_view code, Phrases... phrases) {
  return {code, {phrases...}};
}

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
#define CODE(...) row(__VA_ARGS__),
#define HINT(start)
#include "kernels/diagnostics/codes.def"
#undef CODE
#undef HINT
  };
  return kRows;
}

constexpr std::string_view kHints[] = {
#define CODE(...)
#define HINT(start) start,
#include "kernels/diagnostics/codes.def"
#undef CODE
#undef HINT
};

constexpr std::string_view kWarning = "warning";

bool is_hint(std::string_view line) {
  return std::any_of(std::begin(kHints), std::end(kHints),
                     [&](std::string_view start) { return line.starts_with(start); });
}

}  // namespace

std::string_view code_of(const Diagnostic& d) {
  for (const Row& row : rows()) {
    if (row.code == d.code) return row.code;
  }
  if (d.severity == Severity::kWarning) return kWarning;
  for (const Row& row : rows()) {
    const bool has = std::any_of(row.phrases.begin(), row.phrases.end(), [&](std::string_view p) {
      return d.message.find(p) != std::string::npos;
    });
    if (has) return row.code;
  }
  return rows().back().code;
}

std::vector<std::string_view> all_codes() {
  std::vector<std::string_view> codes;
  for (const Row& row : rows()) codes.push_back(row.code);
  return codes;
}

Words words_of(const Diagnostic& d) {
  Words words;
  std::string_view rest = d.message;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (is_hint(line) && !words.message.empty()) {
      words.hints.emplace_back(line);
    } else {
      words.message += (words.message.empty() ? "" : "\n") + std::string(line);
    }
  }
  return words;
}

}  // namespace kenaz
