// Notes of what names mean, made while a program is checked.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/futhark/check/env.h"
#include "kernels/futhark/check/index.h"

namespace kenaz::check {

/// Of a name, as the checker has it; the first alternative: unknown. Scopes owns them.
using Meaning =
    std::variant<std::monostate, ValBinding*, TypeBinding*, ModBinding*, ModTypeBinding*>;

struct Record {
  struct Seen {
    SourceRange range;
    std::string name;
    Meaning meaning;
  };
  std::vector<Seen> seen;
  /// Where something was seen: the bodies of parametric modules are checked anew for every
  /// application.
  std::set<std::pair<const SourceFile*, SourcePos>> places;
  std::optional<std::vector<Symbol>> wanted;
  Index index;  // made of these when the check ends
  std::set<std::pair<SymbolKind, std::string>> wanted_names;
};

}  // namespace kenaz::check
