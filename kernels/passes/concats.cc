// A concatenation of concatenations is one of all their parts: a ++ b ++ c copies each part once.
#include <algorithm>
#include <unordered_map>

#include "kernels/ir/analysis/alias.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

class Concats {
 public:
  explicit Concats(Program& p) : p_(p), aliases_(p), uses_(count_uses(p)) {}

  void body(Body& b) {
    std::unordered_map<VarId, size_t> made;
    for (size_t n = 0; n < b.stms.size(); n++) {
      visit_bodies(b.stms[n].exp, [&](Body& inner) { body(inner); });
      if (!std::holds_alternative<EConcat>(b.stms[n].exp)) continue;
      take_apart(b, n, made);
      made[b.stms[n].pat[0]] = n;
    }
  }

 private:
  /// Those that were made before have no concatenations as parts any more.
  void take_apart(Body& b, size_t n, const std::unordered_map<VarId, size_t>& made) {
    auto& e = std::get<EConcat>(b.stms[n].exp);
    std::vector<VarId> arrays;
    for (const VarId v : e.arrays) {
      const auto it = made.find(v);
      if (it == made.end() || !may_go(b, it->second, n)) {
        arrays.push_back(v);
        continue;
      }
      const Stm& part = b.stms[it->second];
      const auto& inside = std::get<EConcat>(part.exp).arrays;
      arrays.insert(arrays.end(), inside.begin(), inside.end());
      b.stms[n].certs.insert(b.stms[n].certs.end(), part.certs.begin(), part.certs.end());
    }
    e.arrays = std::move(arrays);
  }

  /// Whether nobody else needs the concatenation, and its parts are the same until statement `n`.
  bool may_go(const Body& b, size_t at, size_t n) const {
    const Stm& s = b.stms[at];
    if (uses_[s.pat[0].index] != 1 || !s.attrs.empty()) return false;
    for (size_t k = at + 1; k < n; k++) {
      for (const VarId c : consumed_in(p_, b.stms[k])) {
        for (const VarId v : std::get<EConcat>(s.exp).arrays) {
          if (aliases_.of(c) == aliases_.of(v)) return false;
        }
      }
    }
    return true;
  }

  Program& p_;
  Aliases aliases_;
  std::vector<int> uses_;
};

}  // namespace

void concats(Program& p) {
  Concats pass(p);
  visit_bodies(p, [&](Body& b) { pass.body(b); });
  remove_dead_code(p);
}

}  // namespace kenaz::passes
