// Rows that something adds up are made where they are added, out of scalars, and not before:
//
//   let (at, rows) = map (\x -> let k = f x in (k, map (\e -> g (x[e]) (ys[k, e])) (iota d))) xs
//   in hist (+) .. at rows
//
// becomes a map that makes k alone, and behind it a map of rows out of xs and the k. The second one
// has nothing around the elements but arithmetic, so fuse_segs puts it into the histogram or
// reduction: no rows are stored, and the threads beside each other read the elements of a row.
// Derivatives are like this, and f is a loop over much more than a row.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/passes/merge.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

/// Statements of an element, and scalars that are passed on to make it.
constexpr size_t kMaxStatements = 24;
constexpr std::ptrdiff_t kMaxPassed = 4;

/// The code of one element of a row that a combinator's lambda makes.
class Element {
 public:
  Element(Program& p, const Lambda& map) : p_(p) {
    params_.insert(map.params.begin(), map.params.end());
    known_ = params_;
    for (const Stm& s : map.body.stms) known_.insert(s.pat.begin(), s.pat.end());
    inside_ = params_;
    for_each_bound(map.body, [&](VarId v) { inside_.insert(v); });
    define(map.body);
  }

  /// The element of `row` at `e`; null: its code is not as simple as that. `names` has what the
  /// variables of the lambda are called in the new code.
  std::optional<Atom> at(Builder& b, VarId row, const Atom& e) {
    if (++size_ > kMaxStatements) return std::nullopt;
    if (params_.contains(row)) return b.index(known(row).var(), std::span(&e, 1));
    if (!inside_.contains(row)) return b.index(row, std::span(&e, 1));
    const auto def = rows_.find(row);
    if (def == rows_.end() || !def->second->attrs.empty()) return std::nullopt;
    const Stm& s = *def->second;
    if (std::any_of(s.certs.begin(), s.certs.end(), [&](VarId c) { return inside_.contains(c); })) {
      return std::nullopt;
    }
    const std::vector<VarId> certs = b.certs();
    b.certs().insert(b.certs().end(), s.certs.begin(), s.certs.end());
    const std::optional<Atom> made = of(b, s, row, e);
    b.certs() = certs;
    return made;
  }

  /// Whether all that the code needs can be passed on.
  bool is_possible() const { return possible_; }
  /// The scalars and rows of the lambda that the code needs, and their names in it.
  const std::vector<VarId>& needed() const { return needed_; }
  const Subst& names() const { return names_; }

 private:
  void define(const Body& b) {
    for (const Stm& s : b.stms) {
      for (const VarId v : s.pat) rows_[v] = &s;
      if (const auto* e = std::get_if<EIf>(&s.exp)) {
        define(e->then_body);
        define(e->else_body);
      }
    }
  }

  Atom known(VarId v) {
    if (!inside_.contains(v)) return v;
    const auto it = names_.find(v);
    if (it != names_.end()) return it->second;
    needed_.push_back(v);
    possible_ =
        possible_ && known_.contains(v) && (params_.contains(v) || p_.type_of(v).is_scalar());
    const VarId name = p_.new_var(p_.type_of(v), p_.vars[v.index].name);
    names_[v] = name;
    return name;
  }
  Atom known(const Atom& a) { return a.is_const() ? a : known(a.var()); }

  std::optional<Atom> of(Builder& b, const Stm& s, VarId row, const Atom& e) {
    if (const auto* slice = std::get_if<EIndex>(&s.exp)) return of_slice(b, *slice, e);
    if (const auto* same = std::get_if<EReplicate>(&s.exp)) {
      if (same->dims.size() != 1 || !p_.type_of(same->value).is_scalar()) return std::nullopt;
      return known(same->value);
    }
    const size_t result =
        static_cast<size_t>(std::find(s.pat.begin(), s.pat.end(), row) - s.pat.begin());
    if (const auto* map = std::get_if<ESoac>(&s.exp)) return of_map(b, *map, result, e);
    if (const auto* branch = std::get_if<EIf>(&s.exp)) return of_branch(b, *branch, result, e);
    return std::nullopt;
  }

  std::optional<Atom> of_slice(Builder& b, const EIndex& slice, const Atom& e) {
    if (inside_.contains(slice.array) && !params_.contains(slice.array)) return std::nullopt;
    std::vector<Atom> at;
    for (const Dim& d : slice.dims) {
      if (const auto* fix = std::get_if<DimFix>(&d)) {
        at.push_back(known(fix->index));
        continue;
      }
      const auto& range = std::get<DimRange>(d);
      at.push_back(b.add(known(range.start), b.mul(e, known(range.stride))));
    }
    return b.index(known(slice.array).var(), at);
  }

  std::optional<Atom> of_map(Builder& b, const ESoac& map, size_t result, const Atom& e) {
    if (!map.scans.empty() || !map.reduces.empty()) return std::nullopt;
    Subst names;
    for (size_t k = 0; k < map.inputs.size(); k++) {
      const auto x = p_.type_of(map.inputs[k]).rank() == 1 ? at(b, map.inputs[k], e) : std::nullopt;
      if (!x) return std::nullopt;
      names[map.map.params[k]] = *x;
    }
    for (const VarId v : free_vars(p_, map.map)) {
      names[v] = known(v);
    }
    for (const Stm& s : map.map.body.stms) {
      const bool simple =
          std::holds_alternative<EPrim>(s.exp) ||
          (std::holds_alternative<EIndex>(s.exp) && p_.type_of(s.pat[0]).is_scalar());
      if (!simple || ++size_ > kMaxStatements) return std::nullopt;
      b.body().stms.push_back(copy_renamed(p_, s, &names));
    }
    Atom r = map.map.body.results[result];
    substitute(r, names);
    return r;
  }

  std::optional<Atom> of_branch(Builder& b, const EIf& branch, size_t result, const Atom& e) {
    bool done = true;
    const auto side = [&](const Body& body) {
      return [&, result](Builder& in) -> std::vector<Atom> {
        const Atom& row = body.results[result];
        const auto x = row.is_const() ? std::nullopt : at(in, row.var(), e);
        done = done && x;
        return {x.value_or(Atom())};
      };
    };
    const PrimType t = p_.type_of(branch.then_body.results[result]).prim;
    const auto made = b.if_(known(branch.cond), side(branch.then_body), side(branch.else_body),
                            {Type{t, {}}}, "x");
    return done ? std::optional<Atom>(made[0]) : std::nullopt;
  }

  Program& p_;
  VarSet params_, known_, inside_;  // of the lambda: also outside of branches, also in these
  std::unordered_map<VarId, const Stm*> rows_;
  std::vector<VarId> needed_;
  Subst names_;
  bool possible_ = true;
  size_t size_ = 0;
};

class SplitRows {
 public:
  explicit SplitRows(Program& p) : p_(p), uses_(count_uses(p)) {}

  void body(Body& b) {
    std::unordered_set<VarId> summed;
    for (Stm& s : b.stms) {
      if (std::holds_alternative<EIf>(s.exp) || std::holds_alternative<ELoop>(s.exp)) {
        visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      }
      if (!adds_up(s.exp)) continue;
      const auto& inputs = *combinator(s)->inputs;
      summed.insert(inputs.begin(), inputs.end());
    }
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      std::vector<Stm> rows;
      if (std::holds_alternative<ESoac>(s.exp) && s.attrs.empty()) split(s, summed, rows);
      out.push_back(std::move(s));
      for (Stm& made : rows) out.push_back(std::move(made));
    }
    b.stms = std::move(out);
  }

 private:
  static bool adds_up(const Exp& e) {
    const auto* soac = std::get_if<ESoac>(&e);
    return std::holds_alternative<EHist>(e) || (soac != nullptr && !soac->reduces.empty());
  }

  /// Whether more is done for a row than to make it: else there is nothing to split.
  static bool has_work_beside(const Body& b, const std::vector<VarId>& rows) {
    return std::any_of(b.stms.begin(), b.stms.end(), [&](const Stm& s) {
      bool bodies = false;
      visit_bodies(s.exp, [&](const Body&) { bodies = true; });
      return bodies && std::none_of(s.pat.begin(), s.pat.end(), [&](VarId v) {
               return std::find(rows.begin(), rows.end(), v) != rows.end();
             });
    });
  }

  void split(Stm& s, const std::unordered_set<VarId>& summed, std::vector<Stm>& out) {
    auto& e = std::get<ESoac>(s.exp);
    std::vector<size_t> places;
    std::vector<VarId> rows;
    for (size_t k = values_of(e.scans) + values_of(e.reduces); k < s.pat.size(); k++) {
      const Atom& r = e.map.body.results[k];
      const VarId v = s.pat[k];
      if (p_.type_of(v).rank() != 2 || r.is_const() || uses_[v.index] != 1) continue;
      // Somebody else in the lambda who needs the row, too, must see the same bits.
      if (!summed.contains(v) || uses_[r.var().index] != 1) continue;
      places.push_back(k);
      rows.push_back(r.var());
    }
    if (places.empty() || !has_work_beside(e.map.body, rows)) return;
    for (size_t k = places.size(); k-- > 0;) take_out(s, places[k], out);
  }

  void take_out(Stm& s, size_t place, std::vector<Stm>& out) {
    auto& e = std::get<ESoac>(s.exp);
    const VarId array = s.pat[place];
    Element element(p_, e.map);
    Lambda of_row;
    std::optional<Atom> made;
    const Type row = e.map.ret[place];
    Builder b(p_, of_row.body, s.prov);
    const VarId numbers = b.iota(row.dims[0]);
    Lambda of_element = b.lambda({Type{PrimType::kI64, {}}},
                                 [&](Builder& in, const std::vector<VarId>& v) {
                                   made = element.at(in, e.map.body.results[place].var(), v[0]);
                                   return std::vector<Atom>{made.value_or(Atom(i64(0)))};
                                 },
                                 {Type{row.prim, {}}});
    const auto& params = e.map.params;
    const auto param_of = [&](VarId v) { return std::find(params.begin(), params.end(), v); };
    const auto& needed = element.needed();
    const auto passed = std::count_if(needed.begin(), needed.end(),
                                      [&](VarId v) { return param_of(v) == params.end(); });
    if (!made || !element.is_possible() || passed > kMaxPassed) return;
    ESoac map{e.width, {}, {}, {}, {}};
    for (const VarId v : needed) {
      const auto param = param_of(v);
      map.inputs.push_back(param == params.end()
                               ? pass_on(s, v)
                               : e.inputs[static_cast<size_t>(param - params.begin())]);
      of_row.params.push_back(element.names().at(v).var());
    }
    of_row.body.results = {b.map(row.dims[0], {numbers}, std::move(of_element))[0]};
    of_row.ret = {row};
    map.map = std::move(of_row);
    // The array has the name that it had; the combinator loses this result.
    out.push_back(Stm{{array}, std::move(map), s.certs, s.prov, {}});
    const auto at = static_cast<std::ptrdiff_t>(place);
    s.pat.erase(s.pat.begin() + at);
    e.map.body.results.erase(e.map.body.results.begin() + at);
    e.map.ret.erase(e.map.ret.begin() + at);
  }

  /// An array of what the variable is for every element.
  VarId pass_on(Stm& s, VarId v) {
    auto& e = std::get<ESoac>(s.exp);
    for (size_t k = values_of(e.scans) + values_of(e.reduces); k < s.pat.size(); k++) {
      if (e.map.body.results[k] == Atom(v)) return s.pat[k];
    }
    const Type t = p_.type_of(v);
    s.pat.push_back(p_.new_var(array_of(e.width, t), p_.vars[v.index].name));
    e.map.body.results.emplace_back(v);
    e.map.ret.push_back(t);
    return s.pat.back();
  }

  Program& p_;
  std::vector<int> uses_;
};

}  // namespace

void split_rows(Program& p) {
  SplitRows pass(p);
  visit_bodies(p, [&](Body& b) { pass.body(b); });
  remove_dead_code(p);
}

}  // namespace kenaz::passes
