// A logarithmic axis: its range, and where its ticks are.
#pragma once

#include <string>
#include <vector>

namespace kenaz::bench {

struct Tick {
  double value = 0;
  bool labelled = false;
};

class LogAxis {
 public:
  /// Covers positive values; the range begins and ends at 1, 2 or 5 times a power of ten.
  LogAxis(double least, double greatest);
  double low() const { return low_; }
  double high() const { return high_; }
  /// 0 at the low end, 1 at the high one.
  double share(double value) const;
  /// At 1, 2 and 5 times each power of ten. All have labels if they are few, else the powers, or
  /// some of them.
  std::vector<Tick> ticks() const;

 private:
  double low_, high_;
};

/// The greatest of 1, 2 and 5 times a power of ten that is at most `value`, or the least that is
/// at least that.
double round_down(double value);
double round_up(double value);

}  // namespace kenaz::bench
