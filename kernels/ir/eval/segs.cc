// Segmented operations.
#include "kernels/ir/eval/machine.h"

namespace kenaz::ir::eval {

bool Machine::seg(const ESeg& e, const Stm& s) {
  if (is_single(e)) return run(e.body) && bind_results(e.body, s.pat);
  return internal("an ESeg with dims");
}

bool Machine::versions(const EVersions& e, const Stm& s) {
  for (const auto& v : e.versions) {
    if (bits(v.test) != 0) return run(v.body) && bind_results(v.body, s.pat);
  }
  return internal("no version's test holds");
}

}  // namespace kenaz::ir::eval
