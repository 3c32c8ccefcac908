// Why two types are not the same, in words.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/futhark/core/type.h"

namespace kenaz::check {

/// How a type is written.
using TypeText = std::function<std::string(const core::TypePtr&)>;

/// What the last comparison of types has found.
struct Mismatch {
  bool occurs = false;    // a type would contain itself
  bool function = false;  // a function stands where only data may
  std::string why;        // one sentence, or empty
  std::string field;      // where in a record, or empty
  std::string anchor;     // of Futhark's error index, or empty
  /// Keeps the first reason, which is the innermost one.
  void because(std::string reason);
  void in_field(const std::string& name);
  /// Lines for a message, each with a line end before it.
  std::string str() const;
};

/// The lines "Expected: .." and "Actual: .." for a message, each with a line end before it, and
/// under them a line that marks where the types differ, if they are the same elsewhere.
std::string compared(const std::string& expected, const std::string& actual);

/// Of records that have other fields, and of sums that have other constructors or other numbers of
/// arguments. Empty if they have the same.
std::string unshared(const core::TRecord& a, const core::TRecord& b);
std::string unshared(const core::TSum& a, const core::TSum& b);
/// Why the constructor, with this payload, does not belong to `type`.
std::string constructor_mismatch(const core::TypePtr& type, const std::string& name,
                                 const std::vector<core::TypePtr>& payload, const TypeText& text);

}  // namespace kenaz::check
