// The GLSL functions that kernels may call: what GLSL lacks or leaves loose (integer division by
// zero, NaN-aware minimum, f64 transcendentals). A kernel contains only those it uses.
#pragma once

#include <set>
#include <string>

namespace kenaz::glsl {

struct LibraryOptions {
  bool quick_divisions = false;  // see PrintOptions
  /// Floats may be contracted (PrintOptions::contract): then functions of floats are made of fused
  /// operations, and those of f32 and f16 go without f64. They differ in the last bits from the
  /// others, which give the same bits on every device.
  bool fused_floats = false;
};

class Library {
 public:
  explicit Library(LibraryOptions options = {}) : options_(options) {}
  bool quick_divisions() const { return options_.quick_divisions; }
  bool fused_floats() const { return options_.fused_floats; }
  /// Notes that a function is used, and everything it calls; gives its name back. `name` is
  /// OPERATION_TYPE ("div_i32", "exp_f64"). If there is no such function, nothing is noted, and a
  /// kernel that calls it does not compile (compile_glsl's error names it).
  std::string need(const std::string& name);
  /// The definitions, callees first.
  const std::string& text() const { return text_; }

 private:
  bool need_fused(const std::string& name);

  LibraryOptions options_;
  std::set<std::string> present_;
  std::string text_;
};

}  // namespace kenaz::glsl
