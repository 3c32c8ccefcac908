// What is said of programs that are right, but hardly mean what they say.
#pragma once

#include <string>
#include <vector>

#include "kernels/diagnostics/diagnostic.h"
#include "kernels/futhark/core/type.h"

namespace kenaz::check {

enum class Warning : uint8_t {
#define WARNING(kind, text) kind,
#include "kernels/futhark/check/warnings.def"
#undef WARNING
};

class Warnings {
 public:
  /// `part` is the part of the program that the text names, where it names one. Of warnings of one
  /// kind about the same place only the first counts: bodies of parametric modules are checked more
  /// than once. Beyond a limit nothing is added.
  void add(Warning kind, const SourceRange& range, const std::string& part = "");
  /// In the order of the text, file by file as the files were met.
  std::vector<Diagnostic> sorted() const;

 private:
  struct Entry {
    Warning kind;
    Diagnostic diagnostic;
  };
  std::vector<Entry> entries_;
};

/// Whether a value of this type may have an array inside, so that it can be unique.
bool may_contain_array(const core::TypePtr& t);

}  // namespace kenaz::check
