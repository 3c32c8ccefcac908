// Sizes that inference makes and something must determine by the end of the definition.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/diagnostics/diagnostic.h"
#include "kernels/futhark/core/type.h"

namespace kenaz::check {

struct OpenSize {
  /// Why there is such a size.
  enum Kind : uint8_t {
    kInstance,    // of a size parameter of `of`, which is used here
    kAscription,  // an empty [] in a written type
    kCoercion,    // a size of a value that is coerced
    kBinder,      // of `let [n]`
    kLoop,        // of what a loop's body returns, which nothing inside says
    kScope,       // what a type variable has instead of `of`, which is not in scope there
  } kind = kInstance;
  core::VarId size;
  core::VarId of;
  SourceRange range;
};

/// The error for the first of `sizes` that is `open`, with the names of variables; null: all are
/// determined.
std::optional<Diagnostic> first_open(const std::vector<OpenSize>& sizes,
                                     const std::function<bool(const OpenSize&)>& open,
                                     const std::vector<std::string>& names);

}  // namespace kenaz::check
