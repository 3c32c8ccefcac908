// The phis of a function are variables of kernel IR, which are assigned on the way to their block.
#pragma once

#include <algorithm>
#include <unordered_map>

#include "kernels/spirv/reader.h"

namespace kenaz::spirv {

/// Assigns a value of an instruction's to variables of the same types; refuses others.
inline void assign(Reader& reader, const Instruction& in, const kir::Vars& vars,
                   const kir::Values& values) {
  const bool fits = std::equal(vars.begin(), vars.end(), values.begin(), values.end(),
                               [](auto& x, auto& v) { return x.type == v.type; });
  if (!fits) refuse("{}: a value of another type", name_of(in.op));
  reader.count(vars.size());
  reader.builder().assign(vars, values);
}

class Phis {
 public:
  explicit Phis(Reader& reader) : r_(reader) {}

  /// Where the function begins, for each of its blocks.
  void declare(const BasicBlock& b) {
    r_.count(1);
    for (const Instruction& in : b.body) {
      if (in.op != spv::OpPhi) break;
      kir::Vars& vars = vars_[in.result];
      const std::vector<PrimType> types = r_.types().scalars(in.type);
      r_.count(types.size());
      for (const PrimType t : types) {
        vars.push_back(r_.builder().declare(kir::Type{t}));
      }
    }
  }
  /// At the end of block `from`.
  void assign_from(Ident from, const BasicBlock& to) {
    for (const Instruction& in : to.body) {
      if (in.op != spv::OpPhi) break;
      for (size_t n = 0; n + 1 < in.operands.size(); n += 2) {
        if (in.at(n + 1) != from) continue;
        assign(r_, in, vars_.at(in.result), r_.items().values(in.at(n)));
      }
    }
  }
  /// At the begin of its block.
  void define(const Instruction& in) {
    r_.items().define(in.result, {in.type, r_.builder().read(vars_.at(in.result)), {}, {}});
  }

 private:
  Reader& r_;
  std::unordered_map<Ident, kir::Vars> vars_;
};

}  // namespace kenaz::spirv
