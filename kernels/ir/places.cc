#include "kernels/ir/places.h"

namespace kenaz::ir {

bool makes(const Program& p, const Stm& s, size_t k) {
  if (p.type_of(s.pat[k]).is_scalar()) return false;
  if (const auto* e = std::get_if<ESeg>(&s.exp)) {
    const size_t dests = operands_of(*e);
    return !is_single(*e) && (k < dests || k >= dests + dests_of(*e));
  }
  return std::holds_alternative<EConcat>(s.exp) || std::holds_alternative<EArrayLit>(s.exp) ||
         std::holds_alternative<ECopy>(s.exp);
}

}  // namespace kenaz::ir
