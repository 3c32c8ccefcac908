#include "kernels/ir/analysis/places.h"

namespace kenaz::ir {

SourceRange own_place(const Program& p, ProvId at) {
  SourceRange range;
  for (; at.valid(); at = p.provenances[at.index].caller) {
    range = p.provenances[at.index].range;
    if (range.file != nullptr && !range.file->name.starts_with("/prelude/")) break;
  }
  return range;
}

}  // namespace kenaz::ir
