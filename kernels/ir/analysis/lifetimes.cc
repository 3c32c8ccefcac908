#include "kernels/ir/analysis/lifetimes.h"

#include "kernels/ir/analysis/uses.h"

namespace kenaz::ir {

std::unordered_map<uint32_t, size_t> last_uses(const Program& p, const Aliases& aliases,
                                               const Body& b) {
  std::unordered_map<uint32_t, size_t> last;
  for (size_t n = 0; n < b.stms.size(); n++) {
    const auto note = [&](VarId v) {
      if (!p.type_of(v).is_scalar()) last[aliases.of(v)] = n;
    };
    for_each_use(p, b.stms[n], note);
    for_each_bound(b.stms[n], note);
  }
  for (const Atom& r : b.results) {
    if (!p.type_of(r).is_scalar()) last[aliases.of(r.var())] = b.stms.size();
  }
  return last;
}

}  // namespace kenaz::ir
