// A SPIR-V module, taken apart into instructions, functions and their blocks. Nothing is known yet
// of types or of what an instruction's operands mean.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "kernels/spirv/names.h"

namespace kenaz::spirv {

/// An <id> of the module. 0 is none.
using Ident = uint32_t;

/// A line of a file that the module names.
struct SourceLine {
  Ident file = 0;  // of an OpString; 0: not known
  uint32_t number = 0;
  friend auto operator<=>(const SourceLine&, const SourceLine&) = default;
};

struct Instruction {
  spv::Op op = spv::OpNop;
  Ident type = 0, result = 0;          // 0 if it has none
  std::span<const uint32_t> operands;  // the words behind type and result
  uint32_t number = 0;                 // in the module, from 1 on
  SourceLine line;                     // what it was made of, if the module says
  /// Operand k; 0 if there are fewer, which is no valid <id>.
  uint32_t at(size_t k) const { return k < operands.size() ? operands[k] : 0; }
};

struct BasicBlock {
  Ident label = 0;
  std::vector<Instruction> body;  // without merge and terminator
  Ident merge = 0;                // of OpSelectionMerge or OpLoopMerge
  Ident continues = 0;            // of OpLoopMerge: it is a loop's header
  Instruction end;                // the terminator
};

struct Function {
  Ident result = 0, result_type = 0;
  std::vector<Ident> params;
  std::vector<BasicBlock> blocks;
  std::unordered_map<Ident, size_t> by_label;
};

class Decorations {
 public:
  static constexpr uint32_t kWhole = UINT32_MAX;
  void add(Ident target, uint32_t member, uint32_t decoration, uint32_t operand) {
    all_[{target, member, decoration}] = operand;
  }
  /// The decoration's first operand, 0 if it has none; nullopt: it is not there.
  std::optional<uint32_t> find(Ident target, uint32_t decoration, uint32_t member = kWhole) const {
    const auto it = all_.find({target, member, decoration});
    return it == all_.end() ? std::nullopt : std::optional(it->second);
  }
  bool has(Ident target, uint32_t decoration, uint32_t member = kWhole) const {
    return find(target, decoration, member).has_value();
  }

 private:
  std::map<std::tuple<Ident, uint32_t, uint32_t>, uint32_t> all_;
};

struct Module {
  std::vector<Instruction> globals;  // types, constants and variables, in their order
  std::unordered_map<Ident, Function> functions;
  Ident main = 0;  // the function of the entry point
  Decorations decorations;
  std::unordered_map<Ident, std::string> names;
  std::set<Ident> glsl_sets;  // imports of GLSL.std.450
  std::set<Ident> indexed;    // pointers of which a part is chosen by what is no constant
  /// What was compiled, as far as the module says: names of files, and their text, by the
  /// OpString that names them.
  std::unordered_map<Ident, std::string> strings, sources;
  uint32_t local_size[3] = {1, 1, 1};
  Ident local_size_ids[3] = {0, 0, 0};  // OpExecutionModeId
};

/// Refuses what is no module with a compute shader of that name; empty: with one compute shader.
/// Instructions point into `words`.
Module parse(std::span<const uint32_t> words, const std::string& entry = "");

/// A literal string; refuses one that does not end.
std::string literal_string(std::span<const uint32_t> words);

}  // namespace kenaz::spirv
