#include "kernels/host_code/small_rows.h"

#include <algorithm>

#include "kernels/ir/analysis/uses.h"

namespace kenaz::host_code {

std::optional<ScalarResults> scalar_results(const ir::Program& p, const ir::ESeg& e) {
  constexpr size_t kMost = 4;
  ScalarResults out{e, {}};
  std::vector<ir::Stm>& stms = out.seg.body.stms;
  out.seg.body.results.clear();
  for (const ir::Atom& result : e.body.results) {
    if (p.type_of(result).is_scalar()) {
      out.seg.body.results.push_back(result);
      out.lengths.push_back(1);
      continue;
    }
    const auto made = std::find_if(stms.begin(), stms.end(), [&](const ir::Stm& s) {
      return s.pat.size() == 1 && result == ir::Atom(s.pat[0]);
    });
    if (made == stms.end()) return std::nullopt;
    const auto* literal = std::get_if<ir::EArrayLit>(&made->exp);
    if (literal == nullptr || !literal->elem_type.is_scalar() || literal->elems.empty() ||
        literal->elems.size() > kMost) {
      return std::nullopt;
    }
    out.lengths.push_back(static_cast<int>(literal->elems.size()));
    out.seg.body.results.insert(out.seg.body.results.end(), literal->elems.begin(),
                                literal->elems.end());
  }
  // Literals that are only results are not made at all. (One that is read, too, keeps its memory.)
  for (const ir::Atom& result : e.body.results) {
    if (p.type_of(result).is_scalar()) continue;
    const ir::VarId row = result.var();
    const bool is_read = std::any_of(stms.begin(), stms.end(), [&](const ir::Stm& s) {
      return ir::free_vars(p, s).contains(row);
    });
    if (is_read) continue;
    std::erase_if(
        stms, [&](const ir::Stm& s) { return s.pat.size() == 1 && result == ir::Atom(s.pat[0]); });
  }
  return out;
}

}  // namespace kenaz::host_code
