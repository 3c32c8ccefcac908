#include "kernels/ir/analysis/calls.h"

#include <algorithm>

namespace kenaz::ir {

bool has_calls(const Exp& exp) {
  bool found = std::holds_alternative<ECall>(exp);
  visit_bodies(exp, [&](const Body& b) {
    found = found || std::any_of(b.stms.begin(), b.stms.end(),
                                 [](const Stm& s) { return has_calls(s.exp); });
  });
  return found;
}

std::vector<bool> recursive_functions(const Program& p) {
  const size_t n = p.functions.size();
  std::vector<std::vector<uint32_t>> callees(n);
  for (size_t i = 0; i < n; ++i) {
    for_each_call(p.functions[i].body,
                  [&](const ECall& call) { callees[i].push_back(call.fun.index); });
  }
  std::vector<bool> recursive(n);
  for (size_t start = 0; start < n; ++start) {
    std::vector<bool> seen(n);
    std::vector<uint32_t> ahead = callees[start];
    while (!ahead.empty() && !recursive[start]) {
      const uint32_t next = ahead.back();
      ahead.pop_back();
      recursive[start] = next == start;
      if (seen[next]) continue;
      seen[next] = true;
      ahead.insert(ahead.end(), callees[next].begin(), callees[next].end());
    }
  }
  return recursive;
}

}  // namespace kenaz::ir
