// Branches that differ from point to point of a map and make rows of the same width: the map over
// that width goes around them, and each of its points takes a branch for its element.
//
//   map (\i -> if i == k then row else map2 f old row) is
//     = map (\i -> map2 (\x y -> if i == k then y else f x y) old row) is
//
// Otherwise one thread makes the whole row, because nothing in a branch that only some threads take
// can be spread over others.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/ir/analysis/plain.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"
#include "kernels/passes/row_branch.h"

namespace kenaz::passes {
namespace {

using namespace ir;

class RowIfs {
 public:
  explicit RowIfs(Program& p) : p_(p) {
    visit_bodies(p, [&](const Body& b) {
      guards_.note(b);
      find_consumed(b);
    });
  }

  void program() {
    visit_bodies(p_, [&](Body& b) { body(b, false); });
  }

 private:
  void body(Body& b, bool in_map) {
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      const size_t first = out.size();
      statement(std::move(s), in_map, out);
      if (in_map) note_varying(out, first);
    }
    b.stms = std::move(out);
  }

  void statement(Stm s, bool in_map, std::vector<Stm>& out) {
    const auto one_thread = [](const std::string& attr) { return attr == "sequential"; };
    if (std::any_of(s.attrs.begin(), s.attrs.end(), one_thread)) {
      out.push_back(std::move(s));
      return;
    }
    if (const auto* e = std::get_if<EIf>(&s.exp); e != nullptr && varies(e->cond)) {
      if (differing(s, out)) return;
    } else if (auto* map = std::get_if<ESoac>(&s.exp)) {
      enter(*map);
    } else if (auto* loop = std::get_if<ELoop>(&s.exp)) {
      enter(*loop, in_map);
    } else if (auto* same = std::get_if<EIf>(&s.exp)) {
      body(same->then_body, in_map);
      body(same->else_body, in_map);
    }
    out.push_back(std::move(s));
  }

  void enter(ESoac& e) {
    if (varies(e.width)) return;
    varying_.insert(e.map.params.begin(), e.map.params.end());
    body(e.map.body, true);
  }

  void enter(ELoop& e, bool in_map) {
    const auto* form = std::get_if<LoopFor>(&e.form);
    // Most of these loops stay in their threads.
    if (in_map && (form == nullptr || varies(form->bound))) return;
    for (const auto& param : e.params) {
      if (in_map) varying_.insert(param.var);
    }
    body(e.body, in_map);
  }

  bool varies(const Atom& a) const { return !a.is_const() && varying_.contains(a.var()); }
  /// Of statements in a map, flattening moves out only quick operations on what is the same for all
  /// points.
  void note_varying(const std::vector<Stm>& stms, size_t first) {
    for (size_t k = first; k < stms.size(); k++) {
      bool varying = !is_quick_arithmetic(stms[k]);
      for_each_use(p_, stms[k], [&](VarId v) { varying = varying || varying_.contains(v); });
      if (varying) varying_.insert(stms[k].pat.begin(), stms[k].pat.end());
    }
  }

  /// From the last statement on: what consumes a branch's result stands behind the if.
  void find_consumed(const Body& b) {
    for (auto s = b.stms.rbegin(); s != b.stms.rend(); s++) {
      const std::vector<VarId> here = consumed_by(p_, *s);
      consumed_.insert(here.begin(), here.end());
      const auto consumed = [&](const Atom& a) {
        if (!a.is_const()) consumed_.insert(a.var());
      };
      if (const auto* loop = std::get_if<ELoop>(&s->exp)) {
        const VarSet params = consumed_params(p_, *loop);
        for (size_t k = 0; k < loop->params.size(); k++) {
          if (params.contains(loop->params[k].var)) consumed(loop->body.results[k]);
        }
      }
      if (const auto* e = std::get_if<EIf>(&s->exp)) {
        for (size_t k = 0; k < s->pat.size(); k++) {
          if (!consumed_.contains(s->pat[k])) continue;
          consumed(e->then_body.results[k]);
          consumed(e->else_body.results[k]);
        }
      }
      visit_bodies(s->exp, [&](const Body& inner) { find_consumed(inner); });
    }
  }

  /// Whether a result that takes no time in one of the branches is overwritten: a map would make
  /// a copy first, however little is overwritten.
  bool is_overwritten(const Stm& s, const RowBranch& a, const RowBranch& b) const {
    for (size_t k = 0; k < s.pat.size(); k++) {
      if (consumed_.contains(s.pat[k]) && (a.has_already(k) || b.has_already(k))) return true;
    }
    return false;
  }

  /// An if that a map takes differently from point to point. Ifs inside are rewritten only if it
  /// is, too: else they stay in the thread.
  bool differing(const Stm& s, std::vector<Stm>& out) {
    if (binds_scalars(p_, s) || !s.attrs.empty()) return false;
    Stm inside_first = s;
    visit_bodies(inside_first.exp, [&](Body& b) { body(b, true); });
    return rewrite(inside_first, out);
  }

  /// The width of all arrays that the if returns, if there is one outside of it.
  std::optional<Atom> width_of(const Stm& s) const {
    std::optional<Atom> width;
    for (const VarId v : s.pat) {
      const Type& t = p_.type_of(v);
      for (const Atom& d : t.dims) {
        if (varies(d) || std::find(s.pat.begin(), s.pat.end(), d) != s.pat.end()) return {};
      }
      if (t.is_scalar()) continue;
      if (width && *width != t.dims[0]) return {};
      width = t.dims[0];
    }
    return width;
  }

  bool rewrite(const Stm& s, std::vector<Stm>& out) {
    const size_t first = out.size();
    const auto& e = std::get<EIf>(s.exp);
    const std::optional<Atom> width = width_of(s);
    if (!width) return false;
    guards_.note(e.then_body);
    guards_.note(e.else_body);
    RowBranch a(p_, guards_, e.then_body, s.pat, *width);
    RowBranch b(p_, guards_, e.else_body, s.pat, *width);
    if (!a.cut() || !b.cut() || (!a.has_map() && !b.has_map())) return false;
    if (is_overwritten(s, a, b)) return false;
    const bool few = width->is_const() && width->constant().as_i64() <= kFewElements;
    if (few && !a.has_map_in_map() && !b.has_map_in_map()) return false;
    a.emit_in_front(out);
    b.emit_in_front(out);
    compute_once(s, a, b, out);
    Stm map = new_map(s, *width, a, b, out);
    note_varying(out, first);
    // Elements may be rows of which branches make one.
    statement(std::move(map), true, out);
    return true;
  }

  /// The if in front of the map. It binds what the elements of either branch need, and scalars that
  /// are results.
  void compute_once(const Stm& s, RowBranch& a, RowBranch& b, std::vector<Stm>& out) {
    const auto& e = std::get<EIf>(s.exp);
    std::vector<VarId> pat;
    EIf both{e.cond, a.once(), b.once()};
    for (size_t k = 0; k < s.pat.size(); k++) {
      if (!p_.type_of(s.pat[k]).is_scalar()) continue;
      pat.push_back(s.pat[k]);
      both.then_body.results.push_back(e.then_body.results[k]);
      both.else_body.results.push_back(e.else_body.results[k]);
    }
    const auto pass_on = [&](RowBranch& branch, Body& own, Body& other) {
      for (const VarId v : branch.passed_on()) {
        const PrimType t = p_.type_of(v).prim;
        pat.push_back(p_.new_var({t, {}}, p_.vars[v.index].name));
        branch.pass_on_as(v, pat.back());
        own.results.emplace_back(v);
        // A check that is not made counts as one that holds.
        const bool is_bool = t == PrimType::kBool;
        other.results.emplace_back(is_bool ? PrimValue::of_bool(true) : PrimValue{t, 0});
      }
    };
    pass_on(a, both.then_body, both.else_body);
    pass_on(b, both.else_body, both.then_body);
    if (!pat.empty()) out.push_back(Stm{std::move(pat), std::move(both), s.certs, s.prov, {}});
  }

  Stm new_map(const Stm& s, const Atom& width, RowBranch& a, RowBranch& b, std::vector<Stm>& out) {
    Body front;
    Builder before(p_, front, s.prov);
    RowInputs inputs(before, width);
    EIf choice{std::get<EIf>(s.exp).cond, {}, {}};
    Builder in_a(p_, choice.then_body, s.prov), in_b(p_, choice.else_body, s.prov);
    a.emit_elements(in_a, inputs);
    b.emit_elements(in_b, inputs);
    if (inputs.arrays().empty()) inputs.number();
    ESoac map{width, inputs.arrays(), {inputs.params(), {}, {}}, {}, {}};
    std::vector<VarId> arrays, elements;
    for (const VarId v : s.pat) {
      if (p_.type_of(v).is_scalar()) continue;
      arrays.push_back(v);
      map.map.ret.push_back(row_type(p_.type_of(v)));
      elements.push_back(p_.new_var(map.map.ret.back(), p_.vars[v.index].name));
      map.map.body.results.emplace_back(elements.back());
    }
    map.map.body.stms.push_back(Stm{std::move(elements), std::move(choice), {}, s.prov, {}});
    guards_.note(map.map.body);
    std::move(front.stms.begin(), front.stms.end(), std::back_inserter(out));
    return Stm{std::move(arrays), std::move(map), s.certs, s.prov, {}};
  }

  Program& p_;
  EmptyGuards guards_;
  VarSet varying_;   // what differs between points of maps
  VarSet consumed_;  // by these names, also by the next iteration of a loop
};

}  // namespace

void row_ifs(Program& p) { RowIfs(p).program(); }

}  // namespace kenaz::passes
