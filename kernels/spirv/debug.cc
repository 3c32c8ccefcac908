#include "kernels/spirv/debug.h"

#include "kernels/spirv/refused.h"

namespace kenaz::spirv {
namespace {

// Instructions of NonSemantic.Shader.DebugInfo.100.
constexpr uint32_t kDebugSource = 35, kDebugSourceContinued = 102, kDebugLine = 103,
                   kDebugNoLine = 104;

/// glslang puts comments in front of the text, and a line that numbers what follows from 1 on.
std::string without_preamble(const std::string& text) {
  constexpr std::string_view kFirst = "// OpModuleProcessed", kLine = "\n#line 1\n";
  if (!text.starts_with(kFirst)) return text;
  const size_t line = text.find(kLine);
  return line == std::string::npos ? text : text.substr(line + kLine.size());
}

}  // namespace

std::string DebugReader::text_of(Ident string) const {
  const auto it = m_.strings.find(string);
  return it == m_.strings.end() ? "" : it->second;
}

void DebugReader::source(const Instruction& in) {
  file_ = in.at(2);
  if (in.operands.size() > 3) m_.sources[file_] = literal_string(in.operands.subspan(3));
}

void DebugReader::extended(const Instruction& in) {
  switch (in.at(1)) {
    case kDebugSource:
      file_ = files_[in.result] = in.at(2);
      if (in.operands.size() > 3) m_.sources[file_] = text_of(in.at(3));
      break;
    case kDebugSourceContinued: m_.sources[file_] += text_of(in.at(2)); break;
    case kDebugLine: {
      const auto file = files_.find(in.at(2));
      const auto number = constants_.find(in.at(3));
      if (file == files_.end() || number == constants_.end()) break;
      line_ = {file->second, number->second};
      break;
    }
    case kDebugNoLine: line_ = {}; break;
    default: break;  // of variables, types, scopes
  }
}

bool DebugReader::take(const Instruction& in) {
  switch (in.op) {
    case spv::OpNop:
    case spv::OpSourceExtension:
    case spv::OpMemberName:
    case spv::OpModuleProcessed: return true;
    case spv::OpLine: line_ = {in.at(0), in.at(1)}; return true;
    case spv::OpNoLine: line_ = {}; return true;
    case spv::OpString: m_.strings[in.result] = literal_string(in.operands); return true;
    case spv::OpSource: source(in); return true;
    case spv::OpSourceContinued: m_.sources[file_] += literal_string(in.operands); return true;
    case spv::OpExtInstImport: {
      const std::string name = literal_string(in.operands);
      if (name == "NonSemantic.Shader.DebugInfo.100") sets_.insert(in.result);
      if (name.starts_with("NonSemantic.") || name == "OpenCL.DebugInfo.100") {
        other_sets_.insert(in.result);
      }
      return other_sets_.contains(in.result);
    }
    case spv::OpExtInst:
      if (sets_.contains(in.at(0))) extended(in);
      return other_sets_.contains(in.at(0));
    default: return false;
  }
}

void DebugReader::note_constant(const Instruction& in) {
  if (in.op == spv::OpConstant && in.operands.size() == 1) constants_[in.result] = in.at(0);
}

void DebugReader::finish() {
  for (auto& [file, text] : m_.sources) text = without_preamble(text);
}

}  // namespace kenaz::spirv
