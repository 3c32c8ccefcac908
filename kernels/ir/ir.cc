#include "kernels/ir/ir.h"

#include <fmt/format.h>

namespace kenaz::ir {

VarId Program::new_var(Type t, std::string name) {
  vars.push_back({std::move(t), std::move(name)});
  return VarId{static_cast<uint32_t>(vars.size() - 1)};
}

ProvId Program::new_prov(SourceRange r, ProvId caller) {
  provenances.push_back({std::move(r), caller});
  return ProvId{static_cast<uint32_t>(provenances.size() - 1)};
}

std::string Program::backtrace(ProvId p) const {
  std::string out;
  int frame = 0;
  for (; p.valid(); p = provenances[p.index].caller) {
    if (frame != 0) out += '\n';
    // Numbers stand in a column of their own: two characters wide.
    out += fmt::format("{} #{}{} {}", frame == 0 ? "->" : "  ", frame, frame < 10 ? " " : "",
                       provenances[p.index].range.str());
    ++frame;
  }
  return out;
}

}  // namespace kenaz::ir
