#include "kernels/memory/short_circuit.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "kernels/ir/analysis/plain.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/places.h"
#include "kernels/ir/visit.h"
#include "kernels/memory/candidates.h"
#include "kernels/program/program.h"

namespace kenaz::memory {
namespace {

using namespace ir;

/// What a statement puts together: arrays that lie one behind the other.
std::vector<VarId> parts_of(const Stm& s) {
  if (const auto* e = std::get_if<EConcat>(&s.exp)) return e->arrays;
  const auto* e = std::get_if<EArrayLit>(&s.exp);
  if (e == nullptr || e->elem_type.is_scalar()) return {};
  std::vector<VarId> rows;
  for (const Atom& a : e->elems) rows.push_back(a.var());
  return rows;
}

bool contains(const std::vector<VarId>& list, VarId v) {
  return std::find(list.begin(), list.end(), v) != list.end();
}

/// Whether code makes arrays that a thread would need memory for.
bool makes_arrays(const Program& p, const Body& b) {
  return std::any_of(b.stms.begin(), b.stms.end(), [&](const Stm& s) {
    bool inside = !binds_scalars(p, s) && !viewed(s.exp);
    visit_binders(s.exp, [&](VarId v) { inside = inside || !p.type_of(v).is_scalar(); });
    visit_bodies(s.exp, [&](const Body& inner) { inside = inside || makes_arrays(p, inner); });
    return inside;
  });
}

/// A map that takes no memory but that of its results.
bool is_simple_map(const Program& p, const ESeg& e) {
  return e.kind == SegKind::kMap && e.level == SegLevel::kDevice && !is_single(e) &&
         e.writes.empty() && !makes_arrays(p, e.body);
}

class ShortCircuit {
 public:
  explicit ShortCircuit(Program& p) : p_(p), aliases_(p) {
    for (const Atom& r : p.constants.results) lend(r);
    for (const Entry& e : p.entries) {
      const Function& f = p.functions[e.fun.index];
      for (size_t k = 0; k < f.params.size(); k++) {
        if (!f.consumed[k]) lend(f.params[k]);
      }
    }
    for (uint32_t v = 0; v < p.vars.size(); v++) {
      if (p.vars[v].type.is_scalar()) continue;
      const auto [it, is_new] = types_.emplace(aliases_.of(VarId{v}), p.vars[v].type);
      if (!is_new && it->second && *it->second != p.vars[v].type) it->second.reset();
    }
  }

  void run() {
    visit_bodies(p_, [&](Body& b) { body(b); });
    p_.stage = Stage::kMem;
  }

 private:
  void lend(const Atom& a) {
    if (!a.is_const()) lent_.insert(aliases_.of(a.var()));
  }

  void body(Body& b) {
    for (Stm& s : b.stms) {
      const bool is_control = std::holds_alternative<EIf>(s.exp) ||
                              std::holds_alternative<ELoop>(s.exp) ||
                              std::holds_alternative<EVersions>(s.exp);
      if (is_control) visit_bodies(s.exp, [&](Body& inner) { body(inner); });
    }
    for (size_t n = b.stms.size(); n-- > 0;) {
      const size_t behind = b.stms.size() - n;
      if (!parts_of(b.stms[n]).empty()) {
        gather(b, n);
      } else if (std::holds_alternative<EUpdate>(b.stms[n].exp)) {
        put(b, n);
      }
      n = b.stms.size() - behind;  // statements may have been added before it
    }
  }

  // ---- parts of a whole

  using Makers = std::map<size_t, std::vector<VarId>>;  // by statement, what of it is a part

  void gather(Body& b, size_t n) {
    if (p_.vars[b.stms[n].pat[0].index].place) return;
    const Candidates candidates(p_, aliases_, b);
    Makers makers;
    surely_.clear();
    occurs_.clear();
    count_parts(b, n, candidates);
    find_makers(b, n, 0, candidates, makers);
    for (; !makers.empty(); makers.erase(makers.begin())) {
      std::set<size_t> raised;
      if (!fits(b, n, makers, candidates, raised)) continue;
      allocate_ahead(b, n, makers, candidates, raised);
      return;
    }
  }

  /// How often each array is a part, also of parts: one that is so twice, if only of a part that
  /// itself lies in the whole, would be taken to be at home at both places.
  void count_parts(const Body& b, size_t n, const Candidates& candidates) {
    for (const VarId v : parts_of(b.stms[n])) {
      if (++occurs_[v] > 1) continue;
      if (const auto at = candidates.definition(v)) count_parts(b, *at, candidates);
    }
  }

  /// Also of the parts of parts. `start`: of all of them, in elements, if that is known. The device
  /// gives parts that turn out not to be aligned memory of their own: those that certainly are not
  /// have no place.
  void find_makers(const Body& b, size_t n, std::optional<int64_t> start,
                   const Candidates& candidates, Makers& makers) {
    const std::vector<VarId> parts = parts_of(b.stms[n]);
    for (const VarId v : parts) {
      const bool is_aligned = start && is_part_aligned(*start, p_.type_of(v).prim);
      const auto at = candidates.maker(v, n);
      if (at && occurs_.at(v) == 1 && (is_aligned || !start)) {
        makers[*at].push_back(v);
        if (is_aligned) surely_.insert(v);
        find_makers(b, *at, start, candidates, makers);
      }
      const auto size = known_size(p_.type_of(v));
      start = start && size ? std::optional(*start + *size) : std::nullopt;
    }
  }
  static bool is_part_aligned(int64_t start, PrimType t) {
    return start * prim_size(t) % program::kPartAlignment == 0;
  }
  static std::optional<int64_t> known_size(const Type& t) {
    int64_t size = 1;
    for (const Atom& d : t.dims) {
      if (!d.is_const()) return std::nullopt;
      size *= d.constant().as_i64();
    }
    return size;
  }

  /// Calls f(part, whether it is made in its place) for the parts of statement n and for those of
  /// their parts.
  template <class F>
  void visit_parts(const Body& b, size_t n, const Makers& makers, const Candidates& candidates,
                   const F& f) const {
    for (const VarId v : parts_of(b.stms[n])) {
      const bool placed = is_placed(v, makers, candidates);
      f(v, placed);
      if (placed) visit_parts(b, *candidates.definition(v), makers, candidates, f);
    }
  }
  static bool is_placed(VarId v, const Makers& makers, const Candidates& candidates) {
    const auto at = candidates.definition(v);
    const auto found = at ? makers.find(*at) : makers.end();
    return found != makers.end() && contains(found->second, v);
  }

  /// Whether the whole of statement n may be allocated before the first maker.
  bool fits(const Body& b, size_t n, const Makers& makers, const Candidates& candidates,
            std::set<size_t>& raised) const {
    const size_t first = makers.begin()->first;
    bool all_placed = true, sizes_known = true;
    const auto know_sizes = [&](VarId v) {
      for (const Atom& d : p_.type_of(v).dims) {
        sizes_known = sizes_known && candidates.raise(d, first, raised);
      }
    };
    know_sizes(b.stms[n].pat[0]);
    visit_parts(b, n, makers, candidates, [&](VarId v, bool placed) {
      all_placed = all_placed && placed && surely_.contains(v);
      know_sizes(v);
    });
    if (!sizes_known) return false;
    size_t last = first;  // that does not just put parts together
    for (const auto& [at, parts] : makers) {
      if (parts_of(b.stms[at]).empty()) last = at;
    }
    for (size_t k = first; k < n; k++) {
      if (!stays_small(b.stms[k], all_placed && k == last, makers.contains(k)) &&
          !candidates.raise(k, first, raised)) {
        return false;
      }
    }
    return only_likes_die(b, n, makers, candidates);
  }

  /// Whether a statement takes no memory but that of what it binds. One that completes the parts
  /// may do so: the whole is no larger than they are.
  bool stays_small(const Stm& s, bool completes, bool makes_part) const {
    if (const auto* e = std::get_if<ESeg>(&s.exp)) {
      return completes ? !is_single(*e) && e->level == SegLevel::kDevice : is_simple_map(p_, *e);
    }
    if (const auto* e = std::get_if<EReplicate>(&s.exp)) return p_.type_of(e->value).is_scalar();
    const bool is_whole = std::holds_alternative<EConcat>(s.exp) ||
                          std::holds_alternative<EArrayLit>(s.exp) ||
                          std::holds_alternative<ECopy>(s.exp);
    if (is_whole) return makes_part || p_.vars[s.pat[0].index].place.has_value();
    return std::holds_alternative<EAtom>(s.exp) || std::holds_alternative<EIndex>(s.exp) ||
           std::holds_alternative<ERearrange>(s.exp) || std::holds_alternative<EIota>(s.exp) ||
           std::holds_alternative<ETune>(s.exp);
  }

  /// Whether all that dies before statement n is as large as a part that certainly is made in its
  /// place: each as another one.
  bool only_likes_die(const Body& b, size_t n, const Makers& makers,
                      const Candidates& candidates) const {
    std::set<uint32_t> placed;
    for (const auto& [at, arrays] : makers) {
      for (const VarId v : arrays) placed.insert(aliases_.of(v));
    }
    std::vector<Type> parts;
    for (const VarId v : parts_of(b.stms[n])) {
      if (placed.contains(aliases_.of(v)) && surely_.contains(v)) parts.push_back(p_.type_of(v));
    }
    for (const auto& [memory, last] : candidates.last_uses()) {
      if (last < makers.begin()->first || last >= n) continue;
      if (lent_.contains(memory) || placed.contains(memory)) continue;
      const auto type = types_.find(memory);
      if (type == types_.end() || !type->second) return false;
      const auto like = std::find(parts.begin(), parts.end(), *type->second);
      if (like == parts.end()) return false;
      parts.erase(like);
    }
    return true;
  }

  void allocate_ahead(Body& b, size_t n, const Makers& makers, const Candidates& candidates,
                      const std::set<size_t>& raised) {
    const VarId whole = b.stms[n].pat[0];
    const Type type = p_.type_of(whole);
    Body ahead = take(b, raised);
    Builder build(p_, ahead, b.stms[n].prov);
    const VarId memory = build.emit(EScratch{type.prim, type.dims}, type, "memory");
    p_.vars[whole.index].place = Place{memory, i64(0)};
    place_parts(build, b, n, makers, candidates);
    insert(b, makers.begin()->first, std::move(ahead), raised);
  }

  /// Of statement n, whose result has a place.
  void place_parts(Builder& build, const Body& b, size_t n, const Makers& makers,
                   const Candidates& candidates) {
    Place place = *p_.vars[b.stms[n].pat[0].index].place;
    const std::vector<VarId> parts = parts_of(b.stms[n]);
    auto left = std::count_if(parts.begin(), parts.end(),
                              [&](VarId v) { return is_placed(v, makers, candidates); });
    for (auto v = parts.begin(); left > 0; ++v) {
      if (is_placed(*v, makers, candidates)) {
        left--;
        p_.vars[v->index].place = place;
        place_parts(build, b, *candidates.definition(*v), makers, candidates);
      }
      Atom size = i64(1);
      for (const Atom& d : p_.type_of(*v).dims) size = build.mul(size, d);
      if (left > 0) place.start = build.add(place.start, size);
    }
  }

  // ---- values of updates

  void put(Body& b, size_t n) {
    const auto& e = std::get<EUpdate>(b.stms[n].exp);
    if (p_.type_of(e.value).is_scalar()) return;
    const VarId value = e.value.var(), array = e.array;
    const Candidates candidates(p_, aliases_, b);
    const auto first = candidates.maker(value, n);
    const auto made = candidates.definition(array);
    if (!first || (made && (*made >= *first || !has_memory(b.stms[*made])))) return;
    if (!are_neighbours(e, p_.type_of(array)) || candidates.uses_memory(array, *first, n)) return;
    std::set<size_t> raised;
    std::vector<Atom> sizes = p_.type_of(array).dims;
    for (const Dim& d : e.dims) {
      const auto* fix = std::get_if<DimFix>(&d);
      sizes.push_back(fix ? fix->index : std::get<DimRange>(d).start);
    }
    // Its checks must have been made before anything is written there.
    sizes.insert(sizes.end(), b.stms[n].certs.begin(), b.stms[n].certs.end());
    for (const Atom& a : sizes) {
      if (!candidates.raise(a, *first, raised)) return;
    }
    const std::vector<Dim> dims = e.dims;
    const ProvId prov = b.stms[n].prov;
    Body ahead = take(b, raised);
    Builder build(p_, ahead, prov);
    Atom start = i64(0);
    for (size_t d = 0; d < dims.size(); d++) {
      const Atom& size = p_.type_of(array).dims[d];
      const auto* fix = std::get_if<DimFix>(&dims[d]);
      start =
          build.add(build.mul(start, size), fix ? fix->index : std::get<DimRange>(dims[d]).start);
    }
    p_.vars[value.index].place = Place{array, start};
    insert(b, *first, std::move(ahead), raised);
  }

  /// Whether what the statement makes lies in memory: others are made when somebody needs that.
  static bool has_memory(const Stm& s) {
    return !std::holds_alternative<EReplicate>(s.exp) && !std::holds_alternative<EIota>(s.exp) &&
           !std::holds_alternative<ECall>(s.exp) && !viewed(s.exp);
  }

  /// Whether the elements that it updates lie beside each other: behind fixed dims there is one
  /// range, and all dims behind that one are whole.
  static bool are_neighbours(const EUpdate& e, const Type& type) {
    bool ranged = false;
    for (size_t d = 0; d < e.dims.size(); d++) {
      const auto* range = std::get_if<DimRange>(&e.dims[d]);
      if (range == nullptr) {
        if (ranged) return false;
        continue;
      }
      if (!range->stride.is_int(1)) return false;
      if (ranged && !(range->start.is_int(0) && range->len == type.dims[d])) return false;
      ranged = true;
    }
    return true;
  }

  // ---- code that moves

  static Body take(Body& b, const std::set<size_t>& raised) {
    Body ahead;
    for (const size_t k : raised) ahead.stms.push_back(b.stms[k]);
    return ahead;
  }
  static void insert(Body& b, size_t first, Body ahead, const std::set<size_t>& raised) {
    std::vector<Stm> stms;
    for (size_t k = 0; k < b.stms.size(); k++) {
      if (k == first) std::move(ahead.stms.begin(), ahead.stms.end(), std::back_inserter(stms));
      if (!raised.contains(k)) stms.push_back(std::move(b.stms[k]));
    }
    b.stms = std::move(stms);
  }

  Program& p_;
  const Aliases aliases_;
  VarSet surely_;                                  // parts that are aligned whatever sizes are
  std::unordered_map<VarId, int> occurs_;          // how often they are parts
  std::set<uint32_t> lent_;                        // classes that outlive every body
  std::map<uint32_t, std::optional<Type>> types_;  // of classes whose arrays have all the same
};

}  // namespace

void short_circuit(Program& p) { ShortCircuit(p).run(); }

}  // namespace kenaz::memory
