#include "kernels/spirv/module.h"

#include <algorithm>
#include <utility>

#include "kernels/spirv/debug.h"
#include "kernels/spirv/refused.h"

namespace kenaz::spirv {
namespace {

constexpr size_t kHeaderWords = 5;

bool ends_block(spv::Op op) {
  switch (op) {
    case spv::OpBranch:
    case spv::OpBranchConditional:
    case spv::OpSwitch:
    case spv::OpReturn:
    case spv::OpReturnValue:
    case spv::OpKill:
    case spv::OpUnreachable: return true;
    default: return false;
  }
}

class Parser {
 public:
  Parser(std::span<const uint32_t> words, const std::string& entry)
      : words_(words), wanted_(entry) {}

  Module run() {
    if (words_.size() < kHeaderWords) refuse("{} words are no SPIR-V", words_.size());
    if (words_[0] != spv::MagicNumber) refuse("no SPIR-V: it begins with {:#x}", words_[0]);
    for (size_t at = kHeaderWords; at < words_.size();) at += next(at);
    if (in_function_) refuse("the module ends inside of a function");
    debug_.finish();
    m_.main = main();
    if (!m_.functions.contains(m_.main)) refuse("the entry point's function is missing");
    for (const Instruction& mode : modes_) execution_mode(mode);
    return std::move(m_);
  }

 private:
  /// One instruction, from word `at`; the number of its words.
  size_t next(size_t at) {
    const size_t count = words_[at] >> 16;
    if (count == 0 || count > words_.size() - at) refuse("word {} ends no instruction", at);
    Instruction in;
    in.op = static_cast<spv::Op>(words_[at] & 0xffff);
    in.operands = words_.subspan(at + 1, count - 1);
    in.number = ++count_;
    bool has_result = false, has_type = false;
    spv::HasResultAndType(in.op, &has_result, &has_type);
    if (in.operands.size() < size_t{has_result} + size_t{has_type}) {
      refuse("{} of {} words", name_of(in.op), count);
    }
    if (has_type) in.type = take(in.operands);
    if (has_result) {
      in.result = take(in.operands);
      if (in.result == 0 || in.result >= words_[3]) refuse("%{} is beyond the bound", in.result);
      if (!results_.insert(in.result).second) refuse("%{} is defined twice", in.result);
    }
    if (!debug_.take(in)) {
      in.line = debug_.line();
      instruction(in);
    }
    return count;
  }
  static uint32_t take(std::span<const uint32_t>& words) {
    const uint32_t word = words.front();
    words = words.subspan(1);
    return word;
  }

  void instruction(const Instruction& in) {
    if (in.op == spv::OpFunction) return begin_function(in);
    if (in_function_) return inside(in);
    switch (in.op) {
      case spv::OpCapability:
      case spv::OpExtension: return;
      case spv::OpMemoryModel: return memory_model(in);
      case spv::OpExtInstImport:
        if (literal_string(in.operands) == "GLSL.std.450") m_.glsl_sets.insert(in.result);
        return;
      case spv::OpEntryPoint: return entry_point(in);
      case spv::OpExecutionMode:
      case spv::OpExecutionModeId: modes_.push_back(in); return;
      case spv::OpName:
        if (in.operands.empty()) refuse("OpName: of nothing");
        m_.names[in.at(0)] = literal_string(in.operands.subspan(1));
        return;
      case spv::OpDecorate:
        return m_.decorations.add(in.at(0), Decorations::kWhole, in.at(1), in.at(2));
      case spv::OpMemberDecorate: return m_.decorations.add(in.at(0), in.at(1), in.at(2), in.at(3));
      default:
        debug_.note_constant(in);
        globals_.insert(in.result);
        m_.globals.push_back(in);
    }
  }

  static void memory_model(const Instruction& in) {
    if (in.at(0) != spv::AddressingModelLogical &&
        in.at(0) != spv::AddressingModelPhysicalStorageBuffer64) {
      refuse("OpMemoryModel: addressing model {}", in.at(0));
    }
  }
  void entry_point(const Instruction& in) {
    if (in.operands.size() < 2) refuse("OpEntryPoint: of nothing");
    const std::string name = literal_string(in.operands.subspan(2));
    if (in.at(0) == spv::ExecutionModelGLCompute) shaders_.emplace_back(name, in.at(1));
  }
  /// The function of the shader that is to be read.
  Ident main() const {
    std::string names;
    Ident found = 0;
    for (const auto& [name, function] : shaders_) {
      names += (names.empty() ? "" : ", ") + name;
      if (wanted_.empty() ? shaders_.size() == 1 : name == wanted_) found = function;
    }
    if (shaders_.empty()) refuse("there is no compute shader in it");
    if (found == 0 && wanted_.empty()) refuse("there are several shaders in it: {}", names);
    if (found == 0) refuse("there is no compute shader {} in it, but {}", wanted_, names);
    return found;
  }
  void execution_mode(const Instruction& in) {
    const bool ids = in.at(1) == spv::ExecutionModeLocalSizeId;
    if (in.at(0) != m_.main || (!ids && in.at(1) != spv::ExecutionModeLocalSize)) return;
    for (size_t k = 0; k < 3; k++) (ids ? m_.local_size_ids : m_.local_size)[k] = in.at(2 + k);
  }

  // ---- functions
  void begin_function(const Instruction& in) {
    if (in_function_) refuse("OpFunction: inside of a function");
    in_function_ = true;
    function_ = {};
    function_.result = in.result;
    function_.result_type = in.type;
    in_block_ = false;
  }
  void inside(const Instruction& in) {
    if (in.op == spv::OpFunctionEnd) return end_function();
    if (in.op == spv::OpFunctionParameter) return function_.params.push_back(in.result);
    if (in.op == spv::OpLabel) {
      if (in_block_) refuse("OpLabel: the block before has no end");
      in_block_ = true;
      function_.by_label[in.result] = function_.blocks.size();
      function_.blocks.emplace_back().label = in.result;
      return;
    }
    if (!in_block_) refuse("{}: in no block", name_of(in.op));
    BasicBlock& block = function_.blocks.back();
    if (in.op == spv::OpSelectionMerge) {
      block.merge = in.at(0);
    } else if (in.op == spv::OpLoopMerge) {
      block.merge = in.at(0);
      block.continues = in.at(1);
    } else if (ends_block(in.op)) {
      block.end = in;
      in_block_ = false;
    } else {
      note_indices(in);
      block.body.push_back(in);
    }
  }
  void note_indices(const Instruction& in) {
    if (in.op != spv::OpAccessChain && in.op != spv::OpInBoundsAccessChain) return;
    for (size_t n = 1; n < in.operands.size(); n++) {
      if (!globals_.contains(in.at(n))) m_.indexed.insert(in.at(0));
    }
  }
  void end_function() {
    if (in_block_) refuse("OpFunctionEnd: the block before has no end");
    in_function_ = false;
    debug_.end_function();
    const Ident result = function_.result;
    m_.functions[result] = std::move(function_);
  }

  std::span<const uint32_t> words_;
  const std::string wanted_;
  Module m_;
  DebugReader debug_{m_};
  std::vector<std::pair<std::string, Ident>> shaders_;  // entry points: names and functions
  std::vector<Instruction> modes_;
  uint32_t count_ = 0;
  std::set<Ident> results_, globals_;
  Function function_;
  bool in_function_ = false, in_block_ = false;
};

}  // namespace

std::string literal_string(std::span<const uint32_t> words) {
  std::string text;
  for (uint32_t word : words) {
    for (int k = 0; k < 4; k++, word >>= 8) {
      if ((word & 0xff) == 0) return text;
      text += static_cast<char>(word & 0xff);
    }
  }
  refuse("a string that does not end");
}

Module parse(std::span<const uint32_t> words, const std::string& entry) {
  return Parser(words, entry).run();
}

}  // namespace kenaz::spirv
