// The simplifier: one forward walk over each body that knows what the variables in scope are.
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kernels/ir/algebra.h"
#include "kernels/ir/analysis/plain.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/passes/algebra.h"
#include "kernels/passes/cse.h"
#include "kernels/passes/differences.h"
#include "kernels/passes/loop_facts.h"
#include "kernels/passes/merge.h"
#include "kernels/passes/passes.h"
#include "kernels/passes/ranges.h"
#include "kernels/passes/views.h"
#include "kernels/scalar/quick.h"

namespace kenaz::passes {
namespace {

using namespace ir;

/// Rewritings of one statement one after the other; more would be a cycle.
constexpr int kMaxRounds = 16;
/// Parts of a condition that are looked at: it may be made of itself many times over.
constexpr int kMostParts = 64;
/// Of an array of one dimension that lies in memory.
constexpr int64_t kMostElements = int64_t{1} << 56;
/// Statements of a branch that are computed rather than branched over.
constexpr size_t kCheapBranch = 4;

class Simplify {
 public:
  explicit Simplify(Program& p) : p_(p), uses_(count_uses(p)) {
    find_plain_uses(p.constants);
    for (const Function& f : p.functions) {
      find_plain_uses(f.body);
      for (const Type& t : f.ret) plain_type(t);
    }
  }

  void program() {
    body(p_.constants);
    std::unordered_set<uint32_t> entries;
    for (const Entry& e : p_.entries) entries.insert(e.fun.index);
    for (size_t n = 0; n < p_.functions.size(); n++) {
      Function& f = p_.functions[n];
      for (const VarId v : f.params) {
        const std::vector<Atom>& dims = p_.type_of(v).dims;
        for (const Atom& d : dims) {
          if (!d.is_const()) ranges_.nonnegative(d.var());
        }
        // What a client has sent lies in memory: no sum of a size and a small number wraps.
        const bool is_there = entries.contains(static_cast<uint32_t>(n)) && dims.size() == 1;
        if (is_there && !dims[0].is_const()) ranges_.index(dims[0].var(), i64(kMostElements));
      }
      body(f.body);
      for (Type& t : f.ret) apply(t);
    }
  }

 private:
  // ---- uses that cannot carry certificates: results of bodies, dims of types
  void plain_type(const Type& t) {
    for (const Atom& d : t.dims) plain(d);
  }
  void plain(const Atom& a) {
    if (!a.is_const()) plainly_used_.insert(a.var());
  }
  void find_plain_uses(const Body& b) {
    for (const Stm& s : b.stms) {
      for (const VarId v : s.pat) plain_type(p_.type_of(v));
      visit_binders(s.exp, [&](VarId v) { plain_type(p_.type_of(v)); });
      visit_types(s.exp, [&](const Type& t) { plain_type(t); });
      visit_bodies(s.exp, [&](const Body& inner) { find_plain_uses(inner); });
    }
    for (const Atom& r : b.results) plain(r);
  }

  // ---- substitution
  void apply(Atom& a) {
    if (a.is_const()) return;
    const auto it = subst_.find(a.var());
    if (it != subst_.end()) a = it->second;
  }
  void apply(VarId& v) {
    const auto it = subst_.find(v);
    if (it != subst_.end() && !it->second.is_const()) v = it->second.var();
  }
  void apply(Type& t) {
    for (Atom& d : t.dims) apply(d);
  }
  /// `by` is in normal form: nothing is substituted for it.
  void replace(VarId v, const Atom& by) {
    subst_[v] = by;
    if (by.is_const()) return;
    if (uses_.size() < p_.vars.size()) uses_.resize(p_.vars.size(), 1);
    uses_[by.var().index] += uses_[v.index];
    if (plainly_used_.contains(v)) plainly_used_.insert(by.var());
  }
  /// As replace, but whoever uses it needs the certificates too.
  void replace_with_certs(VarId v, const Atom& by, const std::vector<VarId>& certs) {
    certified_[v] = {by, certs};
    if (!by.is_const() && by.var().index < uses_.size()) uses_[by.var().index] += 2;
  }

  /// Applies the substitution to everything in the statement except its bodies.
  void prepare(Stm& s) {
    visit_operands(s.exp, [&](auto& a) { apply(a); });
    visit_operands(s.exp, [&](auto& a) { add_certs_of(a, s.certs); });
    std::vector<VarId> certs;
    const auto add = [&](VarId c) {
      const auto it = subst_.find(c);
      if (it != subst_.end() && it->second.is_const()) return;  // holds
      apply(c);
      if (std::find(certs.begin(), certs.end(), c) == certs.end()) certs.push_back(c);
    };
    for (const VarId c : s.certs) {
      const auto it = certified_.find(c);
      if (it == certified_.end()) {
        add(c);
      } else {
        for (const VarId inner : it->second.second) add(inner);
      }
    }
    s.certs = std::move(certs);
    visit_types(s.exp, [&](Type& t) { apply(t); });
    visit_binders(s.exp, [&](VarId v) { apply(p_.vars[v.index].type); });
    for (const VarId v : s.pat) apply(p_.vars[v.index].type);
  }
  void add_certs_of(Atom& a, std::vector<VarId>& certs) {
    if (a.is_const()) return;
    const auto it = certified_.find(a.var());
    if (it == certified_.end()) return;
    certs.insert(certs.end(), it->second.second.begin(), it->second.second.end());
    a = it->second.first;
  }
  void add_certs_of(VarId& v, std::vector<VarId>& certs) {
    Atom a = v;
    add_certs_of(a, certs);
    if (!a.is_const()) v = a.var();
  }

  // ---- walking
  void body(Body& b) {
    const uint32_t outer = std::exchange(place_, ++places_);
    const size_t mark = seen_.mark();
    std::vector<Stm> out;
    for (Stm& s : b.stms) process(std::move(s), out);
    b.stms = std::move(out);
    for (Atom& r : b.results) apply(r);
    seen_.back_to(mark);
    place_ = outer;
  }

  void process(Stm s, std::vector<Stm>& out) {
    prepare(s);
    if (auto* e = std::get_if<EIf>(&s.exp); e && e->cond.is_const()) {
      return take_branch(s, e->cond.constant().as_bool() ? e->then_body : e->else_body, out);
    }
    if (auto* e = std::get_if<ELoop>(&s.exp)) {
      if (unroll(s, *e, out)) return;
      invariant_params(*e, s);
    }
    const size_t mark = differences_.mark();
    if (const auto c = combinator(s)) enter_rows(*c);
    const LoopFacts facts = facts_of(s);
    for (const EPrim& e : facts.inside) differences_.assume(e, true);
    inner_bodies(s);
    differences_.back_to(mark);
    for (const EPrim& e : facts.behind) differences_.assume(e, true);
    if (auto* e = std::get_if<ESoac>(&s.exp)) {
      if (soac(s, *e, out)) return;
    }
    for (int round = 0; round < kMaxRounds; round++) {
      if (const auto* e = std::get_if<EAtom>(&s.exp)) {
        if (atom(s, e->atom)) return;
        break;
      }
      if (!rewrite(s, out)) break;
    }
    if (s.pat.empty()) return;
    if (auto* e = std::get_if<EIf>(&s.exp)) {
      if (branches(s, *e, out)) return;
    }
    if (const auto same = seen_.find_or_add(p_, s)) return replace(s.pat[0], *same);
    remember(s);
    out.push_back(std::move(s));
  }

  void inner_bodies(Stm& s) {
    if (auto* e = std::get_if<EIf>(&s.exp)) {
      for (const bool taken : {true, false}) {
        // Inside a branch the condition is known.
        const bool is_var = !e->cond.is_const();
        const VarId c = is_var ? e->cond.var() : VarId{};
        if (is_var) subst_[c] = PrimValue::of_bool(taken);
        const size_t mark = differences_.mark();
        assume(e->cond, taken);
        body(taken ? e->then_body : e->else_body);
        differences_.back_to(mark);
        if (is_var) subst_.erase(c);
      }
      return;
    }
    if (auto* e = std::get_if<ELoop>(&s.exp)) {
      if (auto* f = std::get_if<LoopFor>(&e->form)) enter_index(f->index, f->bound);
    }
    if (const auto* seg = std::get_if<ESeg>(&s.exp)) {
      for (const SegDim& d : seg->space.dims) enter_index(d.index, d.size);
    }
    visit_bodies(s.exp, [&](Body& inner) { body(inner); });
    visit_types(s.exp, [&](Type& t) { apply(t); });
  }

  LoopFacts facts_of(const Stm& s) {
    const auto* e = std::get_if<ELoop>(&s.exp);
    if (e == nullptr) return {};
    return loop_facts(s, [&](const EPrim& comparison, bool enters) {
      const size_t mark = differences_.mark();
      if (const auto* form = std::get_if<LoopWhile>(&e->form); form != nullptr && enters) {
        for (const auto& param : e->params) {
          if (param.var == form->cond) assume(param.init, true);
        }
      }
      auto known = ranges_.compare(comparison);
      if (!known) known = differences_.compare(comparison);
      differences_.back_to(mark);
      return known == true;
    });
  }

  void enter_index(VarId index, const Atom& bound) {
    ranges_.index(index, bound);
    if (!bound.is_const()) differences_.assume_positive(bound.var());
  }

  /// The condition has this value from here on.
  void assume(const Atom& cond, bool value) {
    int left = kMostParts;
    assume(cond, value, left);
  }
  void assume(const Atom& cond, bool value, int& left) {
    if (cond.is_const() || left-- <= 0) return;
    const auto branch = branches_.find(cond.var());
    if (value && branch != branches_.end()) return assume(branch->second, true, left);
    const EPrim* e = prim_of(cond.var());
    if (e == nullptr) return;
    if (e->op == ScalarOp::kNot) return assume(e->args[0], !value, left);
    if (e->op == (value ? ScalarOp::kAnd : ScalarOp::kOr)) {
      for (const Atom& a : e->args) assume(a, value, left);
    } else {
      differences_.assume(*e, value);
    }
  }
  /// Whether a condition that was computed elsewhere has this value here.
  bool follows(const Atom& cond, bool value) const {
    int left = kMostParts;
    return follows(cond, value, left);
  }
  bool follows(const Atom& cond, bool value, int& left) const {
    if (cond.is_const()) return cond.is_bool(value);
    const EPrim* e = left-- <= 0 ? nullptr : prim_of(cond.var());
    if (e == nullptr) return false;
    if (e->op == ScalarOp::kNot) return follows(e->args[0], !value, left);
    if (e->op == (value ? ScalarOp::kAnd : ScalarOp::kOr)) {
      return std::all_of(e->args.begin(), e->args.end(),
                         [&](const Atom& a) { return follows(a, value, left); });
    }
    return differences_.compare(*e) == value;
  }
  const EPrim* prim_of(VarId v) const {
    const auto it = prims_.find(v);
    return it == prims_.end() ? nullptr : &it->second;
  }

  /// Facts about the rows that a lambda gets, and inputs that are the same or need not be arrays.
  void enter_rows(const Combinator& c) {
    std::vector<VarId> inputs, params;
    for (size_t k = 0; k < c.inputs->size(); k++) {
      const VarId input = (*c.inputs)[k], param = c.map->params[k];
      size_t same = 0;
      while (same < inputs.size() && !same_rows(inputs[same], input)) same++;
      if (same < inputs.size()) {
        replace(param, params[same]);
        continue;
      }
      const Stm* def = definition(input);
      const auto* rep = def ? std::get_if<EReplicate>(&def->exp) : nullptr;
      if (rep && def->certs.empty() && rep->dims.size() == 1 &&
          p_.type_of(rep->value).is_scalar()) {
        replace(param, rep->value);
        continue;
      }
      const auto* iota = def ? std::get_if<EIota>(&def->exp) : nullptr;
      if (iota && iota->type == PrimType::kI64 && iota->start.is_int(0) && iota->stride.is_int(1)) {
        enter_index(param, iota->n);
        if (*c.width != iota->n) ranges_.index(param, *c.width);
      }
      inputs.push_back(input);
      params.push_back(param);
    }
    *c.inputs = std::move(inputs);
    c.map->params = std::move(params);
  }
  bool same_rows(VarId a, VarId b) {
    if (a == b) return true;
    const Stm *da = definition(a), *db = definition(b);
    if (!da || !db) return false;
    const auto *x = std::get_if<EIota>(&da->exp), *y = std::get_if<EIota>(&db->exp);
    return x && y && x->type == y->type && x->start == y->start && x->stride == y->stride;
  }

  // ---- statements that become something else
  /// Another name. True: the statement is gone.
  bool atom(const Stm& s, const Atom& a) {
    if (!s.attrs.empty()) return false;  // "opaque" stops optimisation
    if (s.certs.empty()) {
      replace(s.pat[0], a);
      return true;
    }
    if (plainly_used_.contains(s.pat[0])) return false;
    replace_with_certs(s.pat[0], a, s.certs);
    return true;
  }

  /// One step; true: the statement's expression is another one now.
  bool rewrite(Stm& s, std::vector<Stm>& out) {
    if (auto* e = std::get_if<EPrim>(&s.exp)) return scalar(s, *e);
    if (auto* e = std::get_if<EAssert>(&s.exp)) {
      if (!follows(e->cond, true)) return false;
      s.exp = EAtom{PrimValue::of_bool(true)};
      return true;
    }
    if (auto* e = std::get_if<ECopy>(&s.exp)) {
      const auto it = fresh_.find(e->array);
      const size_t at = e->array.index;
      if (it == fresh_.end() || it->second != place_ || at >= uses_.size() || uses_[at] != 1) {
        return false;
      }
      s.exp = EAtom{e->array};  // nobody else has it
      return true;
    }
    Body pre;
    Builder b(p_, pre, s.prov);
    b.certs() = {};
    const auto next = simplify_view(
        b, s.exp, p_.type_of(s.pat.empty() ? VarId{0} : s.pat[0]),
        [&](VarId v) { return definition(v); }, s.certs);
    if (!next) return false;
    for (Stm& t : pre.stms) process(std::move(t), out);
    s.exp = *next;
    prepare(s);
    return true;
  }

  bool scalar(Stm& s, const EPrim& e) {
    if (const auto a = simplify_prim(e)) {
      s.exp = EAtom{*a};
      return true;
    }
    auto known = ranges_.compare(e);
    if (!known) known = differences_.compare(e);
    if (known) {
      s.exp = EAtom{PrimValue::of_bool(*known)};
      return true;
    }
    if (const auto a = there_and_back(e)) {
      s.exp = EAtom{*a};
      return true;
    }
    if (auto next = simplify_prim_of_prim(e, [&](VarId v) { return prim_of(v); })) {
      s.exp = std::move(*next);
      return true;
    }
    return false;
  }

  /// Of an integer's conversion to its own type from a smaller one, which has its value: the
  /// integer.
  std::optional<Atom> there_and_back(const EPrim& e) const {
    if (e.op != ScalarOp::kConvert || !is_integer(e.type) || e.args[0].is_const()) return {};
    const EPrim* d = prim_of(e.args[0].var());
    if (d == nullptr || d->op != ScalarOp::kConvert || d->type != e.to || !is_integer(e.to)) {
      return {};
    }
    return ranges_.fits(d->args[0], e.type) ? std::optional(d->args[0]) : std::nullopt;
  }

  void take_branch(const Stm& s, Body& taken, std::vector<Stm>& out) {
    for (Stm& inner : taken.stms) {
      inner.certs.insert(inner.certs.end(), s.certs.begin(), s.certs.end());
      process(std::move(inner), out);
    }
    for (size_t k = 0; k < s.pat.size(); k++) {
      process(Stm{{s.pat[k]}, EAtom{taken.results[k]}, s.certs, s.prov, {}}, out);
    }
  }

  static bool is_cheap(const Body& b) {
    return b.stms.size() <= kCheapBranch &&
           std::all_of(b.stms.begin(), b.stms.end(), [](const Stm& s) {
             const auto* e = std::get_if<EPrim>(&s.exp);
             return e && s.certs.empty() && scalar_op_is_quick(e->op) &&
                    (is_float(e->type) || !scalar_op_divides(e->op));
           });
  }

  /// The scalar that a branch's result consists of, and how many of them: null if it is no such
  /// array, or the branch alone knows its size.
  static const EReplicate* filled(const Body& b, size_t result) {
    const Atom& r = b.results[result];
    const EReplicate* found = nullptr;
    VarSet inside;
    for (const Stm& s : b.stms) {
      inside.insert(s.pat.begin(), s.pat.end());
      if (s.pat.size() == 1 && r == Atom(s.pat[0]) && s.certs.empty()) {
        found = std::get_if<EReplicate>(&s.exp);
      }
    }
    const bool is_known = found != nullptr &&
                          std::none_of(found->dims.begin(), found->dims.end(), [&](const Atom& d) {
                            return !d.is_const() && inside.contains(d.var());
                          });
    return is_known ? found : nullptr;
  }

  /// Arrays of one scalar in either branch are made behind both, out of what the branches choose:
  /// whoever uses an element then needs no array.
  bool fills(Stm& s, EIf& e, std::vector<Stm>& out) {
    std::vector<Stm> behind;
    for (size_t k = 0; k < s.pat.size(); k++) {
      const EReplicate *x = filled(e.then_body, k), *y = filled(e.else_body, k);
      if (x == nullptr || y == nullptr || x->dims != y->dims) continue;
      const Type element = p_.type_of(x->value);
      if (!element.is_scalar()) continue;
      const VarId chosen = p_.new_var(element, p_.vars[s.pat[k].index].name);
      behind.push_back(Stm{{s.pat[k]}, EReplicate{x->dims, chosen}, {}, s.prov, {}});
      s.pat[k] = chosen;
      const Atom value = x->value;
      e.else_body.results[k] = y->value;
      e.then_body.results[k] = value;
    }
    if (behind.empty()) return false;
    process(std::move(s), out);
    for (Stm& made : behind) process(std::move(made), out);
    return true;
  }

  /// Results that do not depend on the branch, and branches that are cheaper taken both.
  bool branches(Stm& s, EIf& e, std::vector<Stm>& out) {
    if (!s.certs.empty() || !s.attrs.empty()) return false;
    if (fills(s, e, out)) return true;
    if (binds_scalars(p_, s) && is_cheap(e.then_body) && is_cheap(e.else_body)) {
      EIf both = std::move(e);
      for (Body* b : {&both.then_body, &both.else_body}) {
        for (Stm& inner : b->stms) process(std::move(inner), out);
        for (Atom& r : b->results) apply(r);
      }
      for (size_t k = 0; k < s.pat.size(); k++) {
        const PrimType t = p_.type_of(s.pat[k]).prim;
        EPrim select{ScalarOp::kSelect,
                     t,
                     t,
                     {both.cond, both.then_body.results[k], both.else_body.results[k]}};
        process(Stm{{s.pat[k]}, std::move(select), {}, s.prov, {}}, out);
      }
      return true;
    }
    std::vector<VarId> pat;
    std::vector<Atom> a, b;
    for (size_t k = 0; k < s.pat.size(); k++) {
      const Atom &x = e.then_body.results[k], &y = e.else_body.results[k];
      if (x == y) {
        replace(s.pat[k], x);
        continue;
      }
      pat.push_back(s.pat[k]);
      a.push_back(x);
      b.push_back(y);
    }
    if (pat.size() == s.pat.size()) return false;
    s.pat = std::move(pat);
    e.then_body.results = std::move(a);
    e.else_body.results = std::move(b);
    for (const VarId v : s.pat) apply(p_.vars[v.index].type);
    return s.pat.empty();
  }

  /// Params that every iteration hands on unchanged are their inits.
  void invariant_params(ELoop& l, Stm& s) {
    const auto* w = std::get_if<LoopWhile>(&l.form);
    std::vector<ELoop::Param> params;
    std::vector<Atom> results;
    std::vector<VarId> pat;
    for (size_t k = 0; k < l.params.size(); k++) {
      const auto& param = l.params[k];
      const bool unchanged =
          l.body.results[k] == Atom(param.var) || l.body.results[k] == param.init;
      if (unchanged && !(w && w->cond == param.var) && s.certs.empty()) {
        replace(param.var, param.init);
        replace(s.pat[k], param.init);
        continue;
      }
      params.push_back(param);
      results.push_back(l.body.results[k]);
      pat.push_back(s.pat[k]);
    }
    if (params.size() == l.params.size()) return;
    l.params = std::move(params);
    l.body.results = std::move(results);
    s.pat = std::move(pat);
    for (const auto& param : l.params) apply(p_.vars[param.var.index].type);
    for (const VarId v : s.pat) apply(p_.vars[v.index].type);
  }

  /// Loops of no or one iteration. True: the statement is gone.
  bool unroll(const Stm& s, ELoop& l, std::vector<Stm>& out) {
    if (!s.certs.empty() || !s.attrs.empty()) return false;
    if (const auto* w = std::get_if<LoopWhile>(&l.form)) {
      const auto cond = std::find_if(l.params.begin(), l.params.end(),
                                     [&](const auto& param) { return param.var == w->cond; });
      if (!cond->init.is_bool(false)) return false;
      for (size_t k = 0; k < s.pat.size(); k++) replace(s.pat[k], l.params[k].init);
      return true;
    }
    const auto& f = std::get<LoopFor>(l.form);
    if (!f.bound.is_const()) return false;
    const PrimValue n = f.bound.constant();
    const bool none = n.bits == 0 || (prim_kind(n.type) == PrimKind::kSigned && n.as_i64() < 0);
    if (!none && n.bits != 1) return false;
    if (none) {
      for (size_t k = 0; k < s.pat.size(); k++) replace(s.pat[k], l.params[k].init);
      return true;
    }
    for (const auto& param : l.params) replace(param.var, param.init);
    replace(f.index, PrimValue::of_int(n.type, 0));
    for (Stm& inner : l.body.stms) process(std::move(inner), out);
    for (size_t k = 0; k < s.pat.size(); k++) {
      process(Stm{{s.pat[k]}, EAtom{l.body.results[k]}, {}, s.prov, {}}, out);
    }
    return true;
  }

  /// Plain results that are the same for all elements, and maps that only copy.
  bool soac(Stm& s, ESoac& e, std::vector<Stm>& out) {
    if (!s.attrs.empty()) return false;
    VarSet bound(e.map.params.begin(), e.map.params.end());
    for (const Stm& inner : e.map.body.stms) bound.insert(inner.pat.begin(), inner.pat.end());
    const size_t special = values_of(e.scans) + values_of(e.reduces);
    const auto& results = e.map.body.results;
    if (results.size() == 1 && special == 0 && !results[0].is_const()) {
      for (size_t k = 0; k < e.inputs.size(); k++) {
        if (results[0].var() != e.map.params[k]) continue;
        process(Stm{s.pat, ECopy{e.inputs[k]}, s.certs, s.prov, {}}, out);
        return true;
      }
    }
    std::vector<VarId> pat;
    std::vector<Atom> kept;
    std::vector<Type> ret;
    std::vector<Stm> replicates;
    for (size_t k = 0; k < results.size(); k++) {
      const Atom& r = results[k];
      if (k >= special && (r.is_const() || !bound.contains(r.var()))) {
        replicates.push_back(Stm{{s.pat[k]}, EReplicate{{e.width}, r}, s.certs, s.prov, {}});
        continue;
      }
      pat.push_back(s.pat[k]);
      kept.push_back(r);
      ret.push_back(e.map.ret[k]);
    }
    if (replicates.empty()) return false;
    s.pat = std::move(pat);
    e.map.body.results = std::move(kept);
    e.map.ret = std::move(ret);
    for (Stm& t : replicates) process(std::move(t), out);
    return s.pat.empty();
  }

  // ---- what is remembered about statements that stay
  const Stm* definition(VarId v) const {
    const auto it = views_.find(v);
    return it == views_.end() ? nullptr : &it->second;
  }
  void remember(const Stm& s) {
    if (const auto* e = std::get_if<EPrim>(&s.exp)) {
      ranges_.define(s.pat[0], *e);
      differences_.define(s.pat[0], *e);
      if (s.certs.empty()) prims_.emplace(s.pat[0], *e);
      return;
    }
    if (const auto* e = std::get_if<EIf>(&s.exp)) {
      for (size_t k = 0; k < s.pat.size(); k++) {
        if (e->else_body.results[k].is_bool(false)) branches_.emplace(s.pat[k], e->cond);
      }
      return;
    }
    const auto* literal = std::get_if<EArrayLit>(&s.exp);
    if (std::holds_alternative<EIota>(s.exp) || std::holds_alternative<EReplicate>(s.exp) ||
        std::holds_alternative<ERearrange>(s.exp) || std::holds_alternative<EReshape>(s.exp) ||
        std::holds_alternative<EIndex>(s.exp) || (literal && literal->elems.size() <= 64)) {
      if (!p_.type_of(s.pat[0]).is_scalar()) views_.emplace(s.pat[0], s);
    }
    const auto* seg = std::get_if<ESeg>(&s.exp);
    const bool makes =
        (seg && !is_single(*seg) && seg->writes.empty()) || std::holds_alternative<ESoac>(s.exp) ||
        std::holds_alternative<EPack>(s.exp) || std::holds_alternative<ESort>(s.exp) ||
        std::holds_alternative<EIota>(s.exp) || std::holds_alternative<EReplicate>(s.exp) ||
        std::holds_alternative<EScratch>(s.exp) || literal ||
        std::holds_alternative<EConcat>(s.exp) || std::holds_alternative<ECopy>(s.exp);
    if (makes) {
      for (const VarId v : s.pat) fresh_[v] = place_;
    }
  }

  Program& p_;
  std::vector<int> uses_;
  VarSet plainly_used_;
  std::unordered_map<VarId, Atom> branches_;  // bools that are true in the first branch at most
  Subst subst_;
  std::unordered_map<VarId, std::pair<Atom, std::vector<VarId>>> certified_;
  Ranges ranges_;
  Differences differences_{p_, [&](VarId v) { return ranges_.known(v); }};
  CommonExpressions seen_;
  std::unordered_map<VarId, EPrim> prims_;
  std::unordered_map<VarId, Stm> views_;
  std::unordered_map<VarId, uint32_t> fresh_;  // made in the body of that number
  uint32_t place_ = 0, places_ = 0;
};

}  // namespace

void simplify(Program& p) { Simplify(p).program(); }

}  // namespace kenaz::passes
