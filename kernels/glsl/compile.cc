#include "kernels/glsl/compile.h"

#include <fmt/format.h>
#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>
#include <glslang/SPIRV/spirv.hpp>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

namespace kenaz::glsl {
namespace {

/// glslang keeps its symbol tables from the first to the last user; rebuilding them for every
/// kernel costs more than most kernels do.
class GlslangProcess {
 public:
  GlslangProcess() { glslang::InitializeProcess(); }
  ~GlslangProcess() { glslang::FinalizeProcess(); }
};

constexpr uint32_t kHeaderWords = 5;

struct Instruction {
  spv::Op op;
  std::span<const uint32_t> words;
};

/// Calls f for each instruction of a module.
template <class F>
void each_instruction(std::span<const uint32_t> module, F f) {
  for (size_t at = kHeaderWords; at < module.size();) {
    const uint32_t count = module[at] >> 16;
    if (count == 0 || at + count > module.size()) return;
    f(Instruction{static_cast<spv::Op>(module[at] & 0xffff), module.subspan(at, count)});
    at += count;
  }
}

bool is_float_arithmetic(spv::Op op) {
  switch (op) {
    case spv::OpFAdd:
    case spv::OpFSub:
    case spv::OpFMul:
    case spv::OpFDiv: return true;
    default: return false;
  }
}

uint32_t word0(spv::Op op, uint32_t count) { return (count << 16) | static_cast<uint32_t>(op); }

/// By name, as glslang writes it: with the types of the parameters behind the first parenthesis.
bool is_of_the_program(std::string_view function) {
  const std::string_view name = function.substr(0, function.find('('));
  return name.ends_with('_') || name == "main" || name == "work";
}

struct ModuleFacts {
  std::vector<uint32_t> strict;  // results of float arithmetic that must not be contracted
  std::vector<uint32_t> float_widths;
  uint32_t entry_point = 0;
};

ModuleFacts inspect(std::span<const uint32_t> module, bool contract) {
  ModuleFacts facts;
  std::set<uint32_t> free;  // functions
  bool strict = true;
  each_instruction(module, [&](const Instruction& in) {
    if (in.op == spv::OpName && contract) {
      const std::string_view name(reinterpret_cast<const char*>(&in.words[2]));
      if (is_of_the_program(name)) free.insert(in.words[1]);
    }
    if (in.op == spv::OpFunction) strict = !free.contains(in.words[2]);
    if (is_float_arithmetic(in.op) && strict) facts.strict.push_back(in.words[2]);
    if (in.op == spv::OpTypeFloat) facts.float_widths.push_back(in.words[2]);
    if (in.op == spv::OpEntryPoint) facts.entry_point = in.words[2];
  });
  std::sort(facts.float_widths.begin(), facts.float_widths.end());
  facts.float_widths.erase(std::unique(facts.float_widths.begin(), facts.float_widths.end()),
                           facts.float_widths.end());
  return facts;
}

/// Adds what glslang cannot be asked for: capability and execution modes of float controls, and
/// NoContraction. Names go.
std::vector<uint32_t> make_float_strict(const std::vector<uint32_t>& module, bool contract) {
  const ModuleFacts facts = inspect(module, contract);
  std::vector<uint32_t> out(module.begin(), module.begin() + kHeaderWords);
  out.reserve(module.size() + 3 * facts.strict.size() + 32);
  bool capability = false, modes = false, decorations = false;
  each_instruction(module, [&](const Instruction& in) {
    if (in.op == spv::OpName || in.op == spv::OpMemberName || in.op == spv::OpSource ||
        in.op == spv::OpSourceExtension) {
      return;
    }
    if (!capability && !facts.float_widths.empty()) {
      capability = true;
      out.insert(out.end(), {word0(spv::OpCapability, 2), spv::CapabilitySignedZeroInfNanPreserve});
    }
    const bool entry = in.op == spv::OpMemoryModel || in.op == spv::OpEntryPoint;
    const bool before_annotations = in.op == spv::OpCapability || in.op == spv::OpExtension ||
                                    in.op == spv::OpExtInstImport || entry ||
                                    in.op == spv::OpExecutionMode || in.op == spv::OpString ||
                                    in.op == spv::OpModuleProcessed;
    if (!modes && in.op == spv::OpExecutionMode) {
      modes = true;
      for (uint32_t width : facts.float_widths) {
        out.insert(out.end(), {word0(spv::OpExecutionMode, 4), facts.entry_point,
                               spv::ExecutionModeSignedZeroInfNanPreserve, width});
      }
    }
    if (!decorations && !before_annotations) {
      decorations = true;
      for (uint32_t id : facts.strict) {
        out.insert(out.end(), {word0(spv::OpDecorate, 3), id, spv::DecorationNoContraction});
      }
    }
    const size_t at = out.size();
    out.insert(out.end(), in.words.begin(), in.words.end());
    if (in.op == spv::OpFOrdNotEqual) {
      out[at] = word0(spv::OpFUnordNotEqual, static_cast<uint32_t>(in.words.size()));
    }
  });
  return out;
}

}  // namespace

std::string for_any_launch(std::string text) {
  if (const size_t at = text.find(kSmallLaunches); at != std::string::npos) {
    text.replace(at, kSmallLaunches.size(), "#define small_or_any(small, any) (any)");
  }
  return text;
}

Result<std::vector<uint32_t>> compile_glsl(const std::string& name, const std::string& text) {
  static const GlslangProcess process;
  glslang::TShader shader(EShLangCompute);
  const char* source = text.c_str();
  const int length = static_cast<int>(text.size());
  shader.setStringsWithLengths(&source, &length, 1);
  shader.setEnvInput(glslang::EShSourceGlsl, EShLangCompute, glslang::EShClientVulkan, 460);
  shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_2);
  shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_5);
  const auto messages = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules);
  if (!shader.parse(GetDefaultResources(), 460, false, messages)) {
    return internal_error(
        fmt::format("kernel {} does not compile:\n{}", name, shader.getInfoLog()));
  }
  glslang::TProgram program;
  program.addShader(&shader);
  if (!program.link(messages)) {
    return internal_error(fmt::format("kernel {} does not link:\n{}", name, program.getInfoLog()));
  }
  glslang::SpvOptions options;
  options.disableOptimizer = true;
  options.stripDebugInfo = false;  // names of functions are needed below
  std::vector<unsigned int> words;
  spv::SpvBuildLogger logger;
  glslang::GlslangToSpv(*program.getIntermediate(EShLangCompute), words, &logger, &options);
  if (words.size() <= kHeaderWords) {
    return internal_error(
        fmt::format("kernel {} gave no SPIR-V:\n{}", name, logger.getAllMessages()));
  }
  return make_float_strict(words, text.find(kContract) != std::string::npos);
}

}  // namespace kenaz::glsl
