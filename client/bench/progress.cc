#include "client/bench/progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace kenaz::bench {

namespace {
constexpr double kBetween = 0.1;  // seconds
constexpr int kBar = 24;
}  // namespace

std::string bar_text(std::string_view name, double done, size_t runs, int width) {
  const int full = std::clamp(static_cast<int>(done * kBar), 0, kBar);
  const std::string bar =
      fmt::format("  [{}{}]  {} runs", std::string(full, '#'), std::string(kBar - full, '.'), runs);
  const int room = std::max(0, width - 1 - static_cast<int>(bar.size()));
  return std::string(name.substr(0, static_cast<size_t>(room))) + bar;
}

void Progress::show(std::string_view name, double done, size_t runs, double now) {
  if (!write_ || (visible_ && now - last_ < kBetween)) return;
  visible_ = true;
  last_ = now;
  write_("\r\x1b[K" + bar_text(name, done, runs, width_));
}

void Progress::clear() {
  if (visible_) write_("\r\x1b[K");
  visible_ = false;
}

}  // namespace kenaz::bench
