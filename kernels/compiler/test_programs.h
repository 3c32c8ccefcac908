// Programs of tests, from text to optimised array IR.
#pragma once

#include <string>

#include "kernels/compiler.h"

namespace kenaz::compiler::testing {

inline Result<Lowered> lowered(const std::string& text) {
  FrontEndOptions options;
  options.read = [&](const std::string&) -> Result<std::string> { return text; };
  KENAZ_ASSIGN(core::Checked checked, front_end("t.fut", options));
  return lower(checked);
}

inline Result<Lowered> optimised(const std::string& text) {
  KENAZ_ASSIGN(Lowered program, lowered(text));
  KENAZ_TRY(optimise(program.ir));
  return program;
}

}  // namespace kenaz::compiler::testing
