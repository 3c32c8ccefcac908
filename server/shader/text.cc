#include "server/shader/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "protocol/base/utf8.h"

namespace kenaz::shader {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = split_lines(text);
  for (std::string& line : lines) {
    if (line.ends_with('\r')) line.pop_back();
  }
  return lines;
}

}  // namespace

SourceText::SourceText(const spirv::ReadKernel& read, const std::string& shader,
                       const SourceReader& files)
    : read_(read) {
  for (const spirv::SourceFile& f : read.files) {
    File& file = files_.emplace_back();
    file.name = printable(f.name.empty() ? shader : f.name);  // it stands in a line of its own
    if (file.name.empty()) file.name = "?";
    Result<std::string> text = f.text;
    if (f.text.empty()) {
      text = files(f.name);
      const std::filesystem::path beside = std::filesystem::path(shader).parent_path() / f.name;
      if (!text) text = files(beside.string());
    }
    file.known = text.has_value();
    if (text) file.lines = lines_of(*text);
  }
}

SourceReader SourceText::reader() const {
  std::map<std::string, std::string> texts;
  for (const File& f : files_) {
    if (f.known) texts[f.name] = fmt::format("{}\n", fmt::join(f.lines, "\n"));
  }
  return [texts](const std::string& name) -> Result<std::string> {
    const auto it = texts.find(name);
    if (it == texts.end()) return bad_request(name + " cannot be read");
    return it->second;
  };
}

/// The line without the blanks around it, from its first column to behind the last one.
std::string SourceText::range(const spirv::SourcePlace& place) const {
  const File& file = files_[place.file];
  size_t first = 0, end = 1;
  if (place.line <= file.lines.size() && place.line > 0) {
    const std::string& line = file.lines[place.line - 1];
    constexpr std::string_view kBlanks = " \t";
    const size_t begin = line.find_first_not_of(kBlanks);
    if (begin != std::string::npos) first = begin, end = line.find_last_not_of(kBlanks) + 1;
  }
  return fmt::format("{}:{}:{}-{}", file.name, place.line, first + 1, end + 1);
}

std::vector<std::string> SourceText::places() const {
  std::vector<std::string> out;
  for (const auto& frames : read_.places) {
    std::string& text = out.emplace_back();
    for (size_t n = 0; n < frames.size(); ++n) {
      text += fmt::format("{} #{}  {}{}", n == 0 ? "->" : "  ", n, range(frames[n]),
                          n + 1 < frames.size() ? "\n" : "");
    }
  }
  return out;
}

std::string fault_text(const kir::Fault& fault, const std::vector<std::string>& places) {
  const auto place = [&](ir::ProvId prov) {
    return prov.valid() && prov.index < places.size() ? places[prov.index] : "";
  };
  std::string text = fmt::format("The shader has {}: {}.", kir::describe(fault.kind), fault.text);
  if (const std::string other = place(fault.other); !other.empty()) {
    text += fmt::format("\n\n{}:\n{}", kir::title_of_other(fault.kind), other);
  }
  if (const std::string here = place(fault.prov); !here.empty()) {
    text += "\n\nBacktrace:\n" + here;
  }
  return text;
}

std::string buffers_text(const spirv::ReadKernel& read) {
  std::vector<std::string> all;
  for (size_t k = 0; k < read.inputs.size(); ++k) {
    const spirv::Input& in = read.inputs[k];
    if (in.kind != spirv::Input::kBuffer) continue;
    all.push_back(fmt::format("{},{} ({})", in.set, in.number, read.kernel.args[k].name));
  }
  return all.empty() ? "it has no buffers" : fmt::format("its buffers: {}", fmt::join(all, ", "));
}

std::string constants_text(const spirv::ReadKernel& read) {
  std::vector<std::string> all;
  for (const auto& [id, c] : read.spec_constants) {
    all.push_back(
        fmt::format("{} ({}{}{})", id, c.name, c.name.empty() ? "" : ", ", prim_name(c.type)));
  }
  return all.empty() ? "it has none" : fmt::format("its constants: {}", fmt::join(all, ", "));
}

}  // namespace kenaz::shader
