// The text of a function while it is printed.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

namespace kenaz::glsl {

class Text {
 public:
  void line(const std::string& text) {
    deepest_ = std::max(deepest_, depth_);
    text_.append(static_cast<size_t>(2 * depth_), ' ');
    text_ += text;
    text_ += '\n';
  }
  /// A line, and what follows is a level deeper.
  void open(const std::string& text) {
    line(text);
    depth_++;
    deepest_ = std::max(deepest_, depth_);
  }
  void close(const std::string& text = "}") {
    depth_--;
    line(text);
  }
  /// Text that was made elsewhere, at this depth.
  void append(const std::string& lines) { text_ += lines; }
  /// What was printed so far; continues with `instead`.
  std::string exchange(std::string instead) { return std::exchange(text_, std::move(instead)); }
  void deeper() { depth_++; }
  void shallower() { depth_--; }
  /// The level of the next line, and the deepest so far.
  int depth() const { return depth_; }
  int deepest() const { return deepest_; }
  /// Forgets how deep it was.
  void forget_deepest() { deepest_ = depth_; }

 private:
  std::string text_;
  int depth_ = 0, deepest_ = 0;
};

}  // namespace kenaz::glsl
