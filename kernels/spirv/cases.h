// Where an OpSwitch goes.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/spirv/module.h"
#include "protocol/prim_type.h"

namespace kenaz::spirv {

/// The block for these values of the selector.
struct Case {
  Ident label;
  std::vector<uint64_t> values;
};

/// By label, in the order in which they stand; the default is no case. `type` is the selector's.
inline std::vector<Case> cases_of(const Instruction& in, PrimType type) {
  std::vector<Case> all;
  const size_t words = prim_size(type) == 8 ? 2 : 1;
  for (size_t n = 2; n + words < in.operands.size(); n += words + 1) {
    uint64_t value = in.at(n);
    if (words == 2) value |= static_cast<uint64_t>(in.at(n + 1)) << 32;
    if (prim_size(type) < 4) value &= (uint64_t{1} << 8 * prim_size(type)) - 1;
    const Ident label = in.at(n + words);
    auto it = std::find_if(all.begin(), all.end(), [&](auto& c) { return c.label == label; });
    if (it == all.end()) it = all.insert(all.end(), Case{label, {}});
    it->values.push_back(value);
  }
  return all;
}

}  // namespace kenaz::spirv
