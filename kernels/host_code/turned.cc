#include "kernels/host_code/turned.h"

#include <variant>

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"

namespace kenaz::host_code {

namespace {

using namespace ir;

class Turned {
 public:
  Turned(const Program& p, const StoresByElements& stores_by_elements)
      : p_(p), stores_by_elements_(stores_by_elements) {
    visit_bodies(p, [&](const Body& b) { find_rows(b); });
    visit_bodies(p, [&](const Body& b) { look(b); });
  }

  std::unordered_map<VarId, std::vector<int>> take() const {
    std::unordered_map<VarId, std::vector<int>> out;
    for (const auto& [v, rows] : rows_) {
      if (!rows.fine || !(rows.wanted || (rows.is_read && rows.by_elements))) continue;
      out.emplace(
          v, rows.perm.empty() ? points_last(p_.type_of(v).dims.size(), rows.outer) : rows.perm);
    }
    return out;
  }

 private:
  struct Rows {
    size_t outer;           // so many dims are the map's
    bool by_elements;       // how they are stored
    bool fine = true;       // no use of them wants another order
    bool wanted = false;    // somebody would copy what lies otherwise
    bool is_read = false;   // by kernels
    std::vector<int> perm;  // empty: nobody has rearranged them yet
  };

  static bool is_host_level(const Stm& s) { return !std::holds_alternative<ESeg>(s.exp); }

  void find_rows(const Body& b) {
    for (const Stm& s : b.stms) {
      if (is_host_level(s)) {
        visit_bodies(s.exp, [&](const Body& inner) { find_rows(inner); });
        continue;
      }
      const auto& e = std::get<ESeg>(s.exp);
      const size_t outer = dims_of_rows(e);
      if (outer == 0) continue;
      for (size_t n = 0; n < s.pat.size(); n++) {
        const VarInfo& info = p_.vars[s.pat[n].index];
        if (info.type.dims.size() <= outer || info.place) continue;
        rows_.emplace(s.pat[n], Rows{outer, stores_by_elements_(e, n)});
      }
    }
  }

  void look(const Body& b) {
    for (const Stm& s : b.stms) {
      if (const auto* e = std::get_if<ESeg>(&s.exp)) {
        look(s, *e);
      } else if (const auto* view = std::get_if<ERearrange>(&s.exp)) {
        rearranges(s.pat[0], *view);
      } else {
        visit_operands(s.exp, [&](const auto& a) { use(a); });
        visit_bodies(s.exp, [&](const Body& inner) { look(inner); });
      }
      note_places(s);
    }
    for (const Atom& r : b.results) use(r);
  }

  /// At host level, as it is, or turned.
  void use(const Atom& a) {
    if (!a.is_const()) use(a.var());
  }
  void use(VarId v) {
    if (const auto it = rows_.find(v); it != rows_.end()) it->second.fine = false;
    if (const auto it = views_.find(v); it != views_.end()) rows_.at(it->second).wanted = true;
  }

  void rearranges(VarId view, const ERearrange& e) {
    const auto it = rows_.find(e.array);
    if (it == rows_.end()) return use(e.array);
    Rows& rows = it->second;
    // The threads' own order stays the one in which neighbours lie side by side.
    const bool keeps_neighbours = static_cast<size_t>(e.perm.back()) == rows.outer - 1;
    rows.fine = rows.fine && keeps_neighbours && (rows.perm.empty() || rows.perm == e.perm);
    rows.perm = e.perm;
    views_.emplace(view, e.array);
  }

  void look(const Stm& s, const ESeg& e) {
    visit_operands(s.exp, [&](const auto& a) { use(a); });
    std::unordered_map<VarId, int> uses;
    for_each_use(p_, s, [&](VarId v) {
      if (rows_.contains(v)) uses[v]++;
    });
    if (uses.empty()) return;
    if (!e.space.dims.empty()) count_reads(e.body, e.space.dims.back().index, uses);
    for (const auto& [v, others] : uses) {
      if (others != 0) rows_.at(v).fine = false;
    }
  }

  /// Takes those away where neighbouring threads, whose index is `thread`, read neighbouring rows.
  void count_reads(const Body& b, VarId thread, std::unordered_map<VarId, int>& uses) {
    for (const Stm& s : b.stms) {
      if (const auto* read = std::get_if<EIndex>(&s.exp)) {
        const auto it = rows_.find(read->array);
        if (it == rows_.end()) continue;
        const auto* row = std::get_if<DimFix>(&read->dims[it->second.outer - 1]);
        if (row == nullptr || row->index != Atom(thread)) continue;
        uses[read->array]--;
        it->second.is_read = true;
      }
      visit_bodies(s.exp, [&](const Body& inner) { count_reads(inner, thread, uses); });
    }
  }

  void note_places(const Stm& s) {
    for (const VarId v : s.pat) {
      if (const auto& place = p_.vars[v.index].place) use(place->memory);
    }
  }

  const Program& p_;
  const StoresByElements& stores_by_elements_;
  std::unordered_map<VarId, Rows> rows_;
  std::unordered_map<VarId, VarId> views_;  // of which rows they are the transposes
};

}  // namespace

size_t dims_of_rows(const ESeg& e) {
  const bool is_map = e.kind == SegKind::kMap && e.level == SegLevel::kDevice && e.writes.empty();
  return is_map ? e.space.dims.size() : 0;
}

std::vector<int> points_last(size_t rank, size_t outer) {
  std::vector<int> perm;
  for (size_t d = 0; d < rank; d++) perm.push_back(static_cast<int>((outer + d) % rank));
  return perm;
}

std::unordered_map<VarId, std::vector<int>> turned_results(
    const Program& p, const StoresByElements& stores_by_elements) {
  return Turned(p, stores_by_elements).take();
}

}  // namespace kenaz::host_code
