#include "server/option_values.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

#include "protocol/base/whole_number.h"

namespace kenaz {
namespace {

/// Null: it is no number.
std::optional<double> as_seconds(std::string_view text) {
  double seconds = 0;
  const char* const all = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), all, seconds);
  return error == std::errc() && end == all ? std::optional(seconds) : std::nullopt;
}

Status set_limit(const std::string& limit, const std::string& value, ProgramLimits& limits) {
  const auto complaint = [](const std::string& wrong) -> Status {
    return wrong.empty() ? Status() : bad_request(wrong);
  };
  if (limit == "call-timeout") {
    KENAZ_TRY(complaint(is_time(value)));
    limits.call_seconds = as_seconds(value);
  } else if (limit == "call-memory") {
    const auto bytes = size_in_bytes(value);
    if (!bytes) return bad_request(value + " is no number of bytes, such as 4096 or 4gib");
    limits.call_bytes = static_cast<int64_t>(*bytes);
  } else if (limit == "calls" || limit == "sessions") {
    KENAZ_TRY(complaint(is_count(value)));
    (limit == "calls" ? limits.calls : limits.sessions) = whole_number<int>(value).value_or(0);
  } else {
    return bad_request(fmt::format(
        "there is no limit {}, but call-timeout, call-memory, calls and sessions", limit));
  }
  return {};
}

}  // namespace

std::string is_count(const std::string& text) {
  constexpr uint64_t kMost = 1'000'000'000;
  const auto n = whole_number<uint64_t>(text);
  return n && *n <= kMost ? "" : fmt::format("{} is no number from 0 to {}", text, kMost);
}

std::string is_time(const std::string& text) {
  constexpr double kLeast = 1e-6;
  const auto seconds = as_seconds(text);
  if (!seconds || !(*seconds >= 0)) return text + " is no number of seconds";
  return *seconds == 0 || *seconds >= kLeast ? "" : text + " seconds are less than a microsecond";
}

std::optional<uint64_t> size_in_bytes(std::string_view text) {
  constexpr uint64_t kMost = uint64_t{1} << 60;
  uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || n > kMost) return std::nullopt;
  std::string unit;
  for (const char* c = end; c != text.data() + text.size(); ++c) {
    if (*c != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  }
  if (unit.empty() || unit == "b") return n;
  constexpr std::string_view kPrefixes = "kmgtpe";
  const size_t prefix = kPrefixes.find(unit[0]);
  const std::string rest = unit.substr(1);
  if (prefix == std::string_view::npos ||
      !(rest.empty() || rest == "b" || rest == "i" || rest == "ib")) {
    return std::nullopt;
  }
  const size_t shift = 10 * (prefix + 1);
  return n > kMost >> shift ? std::nullopt : std::optional(n << shift);
}

Result<LimitsByProgram> program_limits(const std::vector<std::string>& words) {
  LimitsByProgram limits;
  for (const auto& word : words) {
    // A program's name may have dots in it, a limit's has none.
    const size_t equals = word.find('='), dot = word.rfind('.', equals);
    if (equals == std::string::npos || dot == std::string::npos || dot == 0) {
      return bad_request(
          fmt::format("--program-limit {}: expected PROGRAM.LIMIT=VALUE, such as "
                      "main.call-timeout=5",
                      word));
    }
    const Status set = set_limit(word.substr(dot + 1, equals - dot - 1), word.substr(equals + 1),
                                 limits[word.substr(0, dot)]);
    if (!set) {
      return bad_request(fmt::format("--program-limit {}: {}", word, set.error().message));
    }
  }
  return limits;
}

}  // namespace kenaz
