#include "server/device/vulkan/quiet_processors.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

namespace kenaz::device::vulkan {
namespace {

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

std::optional<uint64_t> as_number(std::string_view word) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::string read_proc_interrupts() {
  std::ostringstream text;
  text << std::ifstream("/proc/interrupts").rdbuf();
  return std::move(text).str();
}

cpu_set_t allowed_now() {
  cpu_set_t set;
  CPU_ZERO(&set);
  (void)sched_getaffinity(0, sizeof set,
                          &set);  // more processors than fit: none, so nothing is done
  return set;
}

}  // namespace

std::vector<uint64_t> interrupts_of(std::string_view text) {
  std::vector<size_t> processors;  // of each column
  size_t count = 0;
  std::string_view head = take_line(text);
  for (auto word = take_word(head); !word.empty(); word = take_word(head)) {
    if (word.substr(0, 3) != "CPU") return {};
    const auto number = as_number(word.substr(3));
    if (!number || *number >= CPU_SETSIZE) return {};
    processors.push_back(*number);
    count = std::max(count, size_t{*number} + 1);
  }
  std::vector<uint64_t> sums(count);
  while (!text.empty()) {
    std::string_view line = take_line(text);
    (void)take_word(line);  // the interrupt's name
    for (const size_t processor : processors) {
      const auto number = as_number(take_word(line));
      if (!number) break;  // a line of one count for the whole machine
      sums[processor] += *number;
    }
  }
  return sums;
}

QuietProcessors::QuietProcessors()
    : QuietProcessors(
          read_proc_interrupts,
          [](const cpu_set_t& set) { (void)sched_setaffinity(0, sizeof set, &set); }, cpu_set_t()) {
  CPU_ZERO(&allowed_);
}

void QuietProcessors::look(Clock::time_point now, const std::function<bool()>& wait) {
  due_ = now + kAgain;
  if (CPU_COUNT(&allowed_) == 0) quiet_ = allowed_ = allowed_now();
  const std::vector<uint64_t> before = interrupts_of(read_());
  for (int i = 0; i < kWaits; ++i) {
    if (!wait()) return;
    // Submissions close behind each other share an interrupt.
    const auto until = Clock::now() + kPause;
    while (Clock::now() < until) {
    }
  }
  const std::vector<uint64_t> after = interrupts_of(read_());
  if (after.size() != before.size()) return;
  cpu_set_t quiet = allowed_;
  for (size_t i = 0; i < after.size(); ++i) {
    if (after[i] - before[i] >= kWaits / 2) CPU_CLR(i, &quiet);
  }
  if (CPU_COUNT(&quiet) == 0 || CPU_EQUAL(&quiet, &quiet_)) return;
  quiet_ = quiet;
  allow_(quiet);
}

}  // namespace kenaz::device::vulkan
