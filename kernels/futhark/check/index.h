// What the names in a program's text mean, for editors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/diagnostics/source.h"

namespace kenaz::check {

enum class SymbolKind : uint8_t { kValue, kType, kModule, kModuleType, kField };

struct Symbol {
  SymbolKind kind = SymbolKind::kValue;
  std::string name;
  /// A value's: "[n] 'a : [n]a -> i64"; what a type stands for; empty: not known, or none.
  std::string type;
  SourceRange definition;  // the name; no file: built in, or made without a name
  std::string doc;         // the documentation comment, with the spaces that it has
  bool is_function = false;
};

/// A name in the text; definitions are uses, too.
struct Use {
  SourceRange range;
  uint32_t symbol = 0;
};

/// Of all files but the prelude's, as far as the check has come.
struct Index {
  std::vector<Symbol> symbols;
  std::vector<Use> uses;
  /// What could stand where the program has `kWanted` as a name: names in scope or, behind a dot,
  /// in the module or record. Names that hide others come first. Nothing if the check has not come
  /// there.
  std::optional<std::vector<Symbol>> wanted;
};

/// The name that stands in a program where an editor wants to know which names could.
inline constexpr const char* kWanted = "kenaz'wanted'";

}  // namespace kenaz::check
