// What kind of error a diagnostic is, and which of its words say what to do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/diagnostics/diagnostic.h"

namespace kenaz {

/// A row of codes.def: `d.code` if its maker has said it, else by the message's words. Never empty.
std::string_view code_of(const Diagnostic& d);

/// All codes, in the order of codes.def.
std::vector<std::string_view> all_codes();

/// A message in two parts.
struct Words {
  std::string message;             // what is wrong; several lines, perhaps
  std::vector<std::string> hints;  // what to do: whole lines, without line ends
};
Words words_of(const Diagnostic& d);

}  // namespace kenaz
