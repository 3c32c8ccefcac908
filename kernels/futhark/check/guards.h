// Objects that hold something for as long as they live.
#pragma once

namespace kenaz::check {

inline constexpr int kMaxDepth = 2000;  // nesting of expressions, patterns, types, modules

/// Sets a variable for as long as it lives.
template <class T>
class Restore {
 public:
  Restore(T& variable, T value) : variable_(variable), before_(variable) { variable = value; }
  ~Restore() { variable_ = before_; }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& variable_;
  T before_;
};

/// Counts nesting; `ok` is false (and an error reported by the caller) when it gets too deep.
class DepthGuard {
 public:
  explicit DepthGuard(int& depth) : depth_(depth) { ++depth_; }
  ~DepthGuard() { --depth_; }
  bool ok() const { return depth_ < kMaxDepth; }

 private:
  int& depth_;
};

}  // namespace kenaz::check
