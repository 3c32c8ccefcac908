// What a module says of the text that it was compiled from: OpSource and OpLine, or the
// instructions of NonSemantic.Shader.DebugInfo.100. What is wrong with it is left out, never
// refused: it does not change what a kernel does.
#pragma once

#include "kernels/spirv/module.h"

namespace kenaz::spirv {

class DebugReader {
 public:
  explicit DebugReader(Module& module) : m_(module) {}

  /// Takes the instruction if it says nothing of what a kernel does.
  bool take(const Instruction& in);
  /// Notes constants, which debug information names lines by.
  void note_constant(const Instruction& in);
  /// A function ends. By the specification each block's end also ends what OpLine has said, but
  /// where the two ways of an expression meet again, glslang does not say the line another time.
  void end_function() { line_ = {}; }
  /// That of the instructions that follow.
  SourceLine line() const { return line_; }
  /// The texts are complete.
  void finish();

 private:
  void source(const Instruction& in);
  void extended(const Instruction& in);
  std::string text_of(Ident string) const;

  Module& m_;
  SourceLine line_;
  Ident file_ = 0;                          // of the last text, which may be continued
  std::set<Ident> sets_, other_sets_;       // debug information that is read, and that is not
  std::unordered_map<Ident, Ident> files_;  // by DebugSource
  std::unordered_map<Ident, uint32_t> constants_;
};

}  // namespace kenaz::spirv
