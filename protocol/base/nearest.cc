#include "protocol/base/nearest.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace kenaz {
namespace {

constexpr size_t kLongest = 64;  // characters; the time grows with the square

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// Mistakes that are plausible in a word of this length.
size_t allowed(size_t length) { return length < 3 ? 0 : std::max<size_t>(1, length / 3); }

/// The optimal string alignment distance; upper and lower case are the same.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const char x = lower(a[i - 1]), y = lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (x == y ? 0 : 1)});
      const bool exchanged =
          i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2]) && !before.empty();
      if (exchanged) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  if (word.empty() || word.size() > kLongest) return "";
  std::string found;
  size_t least = allowed(word.size()) + 1;
  for (const std::string& candidate : candidates) {
    const size_t longer = std::max(word.size(), candidate.size());
    if (longer - std::min(word.size(), candidate.size()) >= least || candidate == word) continue;
    const size_t d = distance(word, candidate);
    if (d >= least) continue;
    least = d;
    found = candidate;
    if (d == 0) break;
  }
  return found;
}

}  // namespace kenaz
