// The GLSL functions that kernels may call: what GLSL lacks or leaves loose (integer division by
// zero, NaN-aware minimum, f64 transcendentals). A kernel contains only those it uses.
#pragma once

#include <set>
#include <string>

namespace kenaz::glsl {

class Library {
 public:
  /// `quick_divisions`: see PrintOptions.
  explicit Library(bool quick_divisions = false) : quick_divisions_(quick_divisions) {}
  bool quick_divisions() const { return quick_divisions_; }
  /// Notes that a function is used, and everything it calls; gives its name back. `name` is
  /// OPERATION_TYPE ("div_i32", "exp_f64"). If there is no such function, nothing is noted, and a
  /// kernel that calls it does not compile (compile_glsl's error names it).
  std::string need(const std::string& name);
  /// The definitions, callees first.
  const std::string& text() const { return text_; }

 private:
  bool quick_divisions_;
  std::set<std::string> present_;
  std::string text_;
};

}  // namespace kenaz::glsl
