#include "kernels/ir/analysis/offsets.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "kernels/ir/analysis/uses.h"

namespace kenaz::ir {

namespace {

class Guesses {
 public:
  Guesses(const Program& p, const ESeg& e, std::optional<VarId> fixed) : p_(p), e_(e) {
    if (fixed) others_.insert(*fixed);
    known_[e.space.dims.back().index] = 0;
    for (size_t n = 0; n < e.body.stms.size(); n++) look(n);
  }

  std::optional<int64_t> of(const Atom& a) const {
    if (a.is_const()) return {};
    const auto it = known_.find(a.var());
    if (it == known_.end()) return {};
    return it->second;
  }

  /// The statements that make it.
  Body made(VarId index) const {
    VarSet needed{index};
    Body out;
    for (size_t n = e_.body.stms.size(); n-- > 0;) {
      const Stm& s = e_.body.stms[n];
      if (s.pat.empty() || !needed.contains(s.pat[0])) continue;
      visit_args(s, [&](const Atom& a) {
        if (!a.is_const()) needed.insert(a.var());
      });
      out.stms.push_back(s);
    }
    std::reverse(out.stms.begin(), out.stms.end());
    return out;
  }

 private:
  template <class F>
  static void visit_args(const Stm& s, const F& f) {
    if (const auto* copy = std::get_if<EAtom>(&s.exp)) f(copy->atom);
    if (const auto* e = std::get_if<EPrim>(&s.exp)) {
      for (const Atom& a : e->args) f(a);
    }
  }

  void look(size_t n) {
    const Stm& s = e_.body.stms[n];
    bool plain = std::holds_alternative<EAtom>(s.exp) || std::holds_alternative<EPrim>(s.exp);
    plain = plain && p_.type_of(s.pat[0]).is_scalar();
    visit_args(
        s, [&](const Atom& a) { plain = plain && (a.is_const() || !others_.contains(a.var())); });
    if (!plain) {
      others_.insert(s.pat.begin(), s.pat.end());
    } else if (const auto guess = of(s.exp)) {
      known_[s.pat[0]] = *guess;
    }
  }
  std::optional<int64_t> of(const Exp& exp) const {
    if (const auto* copy = std::get_if<EAtom>(&exp)) return of(copy->atom);
    const auto& e = std::get<EPrim>(exp);
    switch (e.op) {
      case ScalarOp::kConvert:
        return is_integer(e.type) && is_integer(e.to) ? of(e.args[0]) : std::nullopt;
      case ScalarOp::kAdd: return sum(e.args, 1);
      case ScalarOp::kSub: return e.args[1].is_const() ? sum(e.args, -1) : std::nullopt;
      case ScalarOp::kMin:
      case ScalarOp::kMax: return only(e.args[0], e.args[1]);
      case ScalarOp::kSelect: return only(e.args[1], e.args[2]);
      default: return {};
    }
  }
  /// One of them is a constant.
  std::optional<int64_t> sum(const std::vector<Atom>& args, int64_t sign) const {
    constexpr int64_t kFar = 1 << 20;
    const size_t n = args[0].is_const() ? 0 : 1;
    const auto rest = of(args[1 - n]);
    if (!rest || !args[n].is_const() || !is_integer(args[n].constant().type)) return {};
    const int64_t more = args[n].constant().as_i64();
    if (std::max(more, *rest) > kFar || std::min(more, *rest) < -kFar) return {};
    return *rest + sign * more;
  }
  /// The other one is at the edges: it has nothing to do with the point.
  std::optional<int64_t> only(const Atom& a, const Atom& b) const {
    const auto x = of(a), y = of(b);
    if (x && y && *x != *y) return {};
    return x ? x : y;
  }

  const Program& p_;
  const ESeg& e_;
  VarSet others_;  // not made by scalar operations, or not fixed
  std::unordered_map<VarId, int64_t> known_;
};

/// An array and the indices that say which of its rows it is.
struct Row {
  VarId array;
  std::vector<std::pair<bool, uint64_t>> indices;  // constants and variables
  friend auto operator<=>(const Row&, const Row&) = default;
};

/// The row that is read, and the offset in it; null if what neighbours read is not side by side.
std::optional<std::pair<Row, int64_t>> place_of(const EIndex& read, const ESeg& e,
                                                const std::vector<Offset>& offsets,
                                                const VarSet& along) {
  Row row{read.array, {}};
  std::optional<int64_t> at;
  for (const Dim& d : read.dims) {
    const auto* fix = std::get_if<DimFix>(&d);
    if (fix == nullptr) return {};
    const Atom& index = fix->index;
    const auto offset = std::find_if(offsets.begin(), offsets.end(),
                                     [&](const Offset& o) { return index == Atom(o.index); });
    if (offset != offsets.end() || index == Atom(e.space.dims.back().index)) {
      if (at) return {};
      at = offset == offsets.end() ? 0 : offset->constant;
    } else if (index.is_const()) {
      row.indices.emplace_back(true, index.constant().bits);
    } else if (at || along.contains(index.var())) {
      return {};
    } else {
      row.indices.emplace_back(false, index.var().index);
    }
  }
  if (!at) return {};
  return std::pair(std::move(row), *at);
}

/// How many vectors of `lanes`, and elements that are in none, they take.
int64_t loads_of(const std::set<int64_t>& at, int64_t lanes) {
  auto loads = static_cast<int64_t>(at.size());
  for (const int64_t first : at) {
    if (first % lanes != 0) continue;
    bool whole = true;
    for (int64_t n = 0; n < lanes; n++) whole = whole && at.contains(first + n);
    if (whole) loads -= lanes - 1;
  }
  return loads;
}

}  // namespace

std::vector<Offset> offsets_of(const Program& p, const ESeg& e, std::optional<VarId> fixed) {
  const Guesses guesses(p, e, fixed);
  const VarId own = e.space.dims.back().index;
  std::vector<Offset> out;
  for (const Stm& s : e.body.stms) {
    const auto* read = std::get_if<EIndex>(&s.exp);
    if (read == nullptr) continue;
    for (const Dim& d : read->dims) {
      const auto* fix = std::get_if<DimFix>(&d);
      const auto guess = fix == nullptr ? std::nullopt : guesses.of(fix->index);
      if (!guess || fix->index == Atom(own)) continue;
      const VarId index = fix->index.var();
      const auto is_it = [&](const Offset& o) { return o.index == index; };
      if (std::none_of(out.begin(), out.end(), is_it)) {
        out.push_back({index, *guess, guesses.made(index)});
      }
    }
  }
  return out;
}

bool neighbours_share(const Program& p, const ESeg& e, const std::vector<Offset>& offsets,
                      int64_t count) {
  VarSet along{e.space.dims.back().index};  // what differs between neighbours
  std::map<Row, std::set<int64_t>> rows;
  int64_t loads = 0, made = 0;
  for (const Stm& s : e.body.stms) {
    bool differs = false;
    for_each_use(p, s, [&](VarId v) { differs = differs || along.contains(v); });
    if (differs) along.insert(s.pat.begin(), s.pat.end());
    const auto* read = std::get_if<EIndex>(&s.exp);
    if (read == nullptr) continue;
    loads += count;
    const auto place = place_of(*read, e, offsets, along);
    if (!place) {
      made += differs ? count : 1;
      continue;
    }
    for (int64_t n = 0; n < count; n++) rows[place->first].insert(place->second + n);
  }
  bool overlap = false;
  for (const auto& [row, at] : rows) {
    overlap = overlap || static_cast<int64_t>(at.size()) > count;
    made += loads_of(at, count);
  }
  return overlap && 2 * made <= loads;
}

}  // namespace kenaz::ir
