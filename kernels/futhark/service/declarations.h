// The top-level declarations of a program's text, found by their tokens: for text that need not
// parse.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/diagnostics/source.h"

namespace kenaz::service {

/// From its keyword (or attribute) in the first column up to that of the next one.
struct Declaration {
  size_t begin = 0, end = 0;  // bytes
  size_t body = 0;            // of values: behind the first "=", else `end`
  SourcePos at, name_at, name_end;
  std::string keyword;  // "def", "entry", "let", "type", "module", "module type", "open", "import"
  std::string name;     // empty: none
};
std::vector<Declaration> declarations(std::string_view text);

/// The byte of a place, at most the text's size; places behind a line's end are its end.
size_t offset_of(std::string_view text, SourcePos pos);
SourcePos position_of(std::string_view text, size_t offset);

/// Overwrites what makes the declaration at this place wrong: its body becomes a hole, "???"; a
/// second time, or if it has none that is as long, all of it becomes space. Other text stays where
/// it is. `starts`: the place is the first that cannot follow what stands before it, so that it is
/// the declaration before that lacks something. False if nothing is left to overwrite.
bool hide_declaration(std::string& text, SourcePos pos, bool starts);

/// What to write behind the beginning of a declaration so that it is whole: brackets, and parts of
/// expressions that are holes.
std::string closing(std::string_view beginning);

}  // namespace kenaz::service
