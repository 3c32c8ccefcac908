#include "kernels/spirv/places.h"

#include "kernels/spirv/refused.h"

namespace kenaz::spirv {
namespace {

bool has_lines(const Module& module) {
  for (const auto& [id, f] : module.functions) {
    for (const BasicBlock& b : f.blocks) {
      for (const Instruction& in : b.body) {
        if (module.strings.contains(in.line.file)) return true;
      }
    }
  }
  return false;
}

/// Where the text among an instruction's operands begins, in words; 0: it has none.
size_t text_at(spv::Op op) {
  switch (op) {
    case spv::OpString:
    case spv::OpExtInstImport:
    case spv::OpName: return 2;
    case spv::OpMemberName:
    case spv::OpEntryPoint: return 3;
    case spv::OpSourceExtension:
    case spv::OpSourceContinued:
    case spv::OpExtension:
    case spv::OpModuleProcessed: return 1;
    case spv::OpSource: return 4;
    default: return 0;
  }
}

}  // namespace

std::string listing(std::span<const uint32_t> words) {
  constexpr size_t kHeaderWords = 5;
  std::string out;
  for (size_t at = kHeaderWords, count = 0; at < words.size(); at += count) {
    const auto op = static_cast<spv::Op>(words[at] & 0xffff);
    count = words[at] >> 16;
    bool has_result = false, has_type = false;
    spv::HasResultAndType(op, &has_result, &has_type);
    const size_t result = has_type ? 2 : 1;
    out += has_result ? fmt::format("{:>8} = ", fmt::format("%{}", words[at + result]))
                      : std::string(11, ' ');
    out += name_of(op);
    for (size_t k = 1; k < count; k++) {
      if (has_result && k == result) continue;
      if (k == text_at(op)) {
        for (const char c : literal_string(words.subspan(at + k, count - k))) {
          out += k == 1 || c >= ' ' ? (c == '\n' ? ' ' : c) : ' ';
        }
        break;
      }
      out += k == 1 && has_type ? fmt::format(" %{}", words[at + k])
                                : fmt::format(" {}", words[at + k]);
    }
    out += '\n';
  }
  return out;
}

Places::Places(std::span<const uint32_t> words, const Module& module) {
  if (!has_lines(module)) {
    files_.push_back({"", listing(words)});
    return;
  }
  for (const auto& [id, name] : std::map(module.strings.begin(), module.strings.end())) {
    const auto text = module.sources.find(id);
    numbers_[id] = files_.size();
    files_.push_back({name, text == module.sources.end() ? "" : text->second});
  }
}

SourcePlace Places::place(const Instruction& in) const {
  if (numbers_.empty()) return {0, in.number};
  const auto file = numbers_.find(in.line.file);
  return file == numbers_.end() ? SourcePlace{} : SourcePlace{file->second, in.line.number};
}

ir::ProvId Places::of(const Instruction& in) {
  std::vector<SourcePlace> all{place(in)};
  all.insert(all.end(), calls_.rbegin(), calls_.rend());
  std::erase_if(all, [](const SourcePlace& p) { return p.line == 0; });
  if (all.empty()) return {};
  std::vector<std::pair<size_t, uint32_t>> key;
  for (const SourcePlace& p : all) key.emplace_back(p.file, p.line);
  const auto next = static_cast<uint32_t>(places_.size());
  const auto [it, fresh] = known_.try_emplace(std::move(key), ir::ProvId{next});
  if (fresh) places_.push_back(std::move(all));
  return it->second;
}

std::string Places::text(const Instruction& in) const {
  const SourcePlace at = place(in);
  if (numbers_.empty() || at.line == 0) return fmt::format(" (instruction {})", in.number);
  return fmt::format(" (instruction {}, {}:{})", in.number, files_[at.file].name, at.line);
}

}  // namespace kenaz::spirv
