// A line on a terminal that says how far a measurement is.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace kenaz::bench {

/// "name  [#####.......]  120 runs", in at most `width` columns. `done` is from 0 to 1.
std::string bar_text(std::string_view name, double done, size_t runs, int width);

/// Writes the bar at most ten times a second, each over the one before, and clears it.
class Progress {
 public:
  /// `write` takes text for the terminal; null: nothing is shown.
  explicit Progress(std::function<void(std::string_view)> write, int width = 80)
      : write_(std::move(write)), width_(width) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `now`: seconds, of any clock.
  void show(std::string_view name, double done, size_t runs, double now);
  /// Before anything else is printed.
  void clear();

 private:
  const std::function<void(std::string_view)> write_;
  const int width_;
  double last_ = 0;
  bool visible_ = false;
};

}  // namespace kenaz::bench
