#include "kernels/ir/ir.h"

#include <fmt/format.h>

#include <algorithm>

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
  std::string last;
  for (; p.valid(); p = provenances[p.index].caller) {
    // An operation and the call that it was inlined from may have the same place.
    std::string place = provenances[p.index].range.str();
    if (place == last) continue;
    if (frame != 0) out += '\n';
    // Numbers stand in a column of their own: two characters wide.
    out +=
        fmt::format("{} #{}{} {}", frame == 0 ? "->" : "  ", frame, frame < 10 ? " " : "", place);
    last = std::move(place);
    ++frame;
  }
  return out;
}

void add_note(std::vector<Note>& notes, const Note& note) {
  if (note.place.valid() && std::find(notes.begin(), notes.end(), note) == notes.end()) {
    notes.push_back(note);
  }
}

std::string too_deep(const Function& f, int depth) {
  return "Calls are nested too deeply: more than " + std::to_string(depth) +
         ", the last of them of the recursive function " + f.name + ".";
}

}  // namespace kenaz::ir
