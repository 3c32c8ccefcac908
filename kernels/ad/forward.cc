#include "kernels/ad/forward.h"

#include <optional>
#include <unordered_map>

#include "kernels/ad/activity.h"
#include "kernels/ad/derivatives.h"
#include "kernels/ad/values.h"
#include "kernels/ir/visit.h"

namespace kenaz::ad {
namespace {

using namespace ir;

class Forward {
 public:
  explicit Forward(Program& p) : p_(p) {}

  std::vector<Atom> run(Builder& b, const Lambda& f, const std::vector<Atom>& args,
                        const std::vector<Atom>& tangents) {
    return dual(b, f, args, tangents);
  }

 private:
  using Tangent = std::optional<Atom>;  // null: zero, and there is no code for it

  std::vector<Atom> dual(Builder& b, const Lambda& f, const std::vector<Atom>& args,
                         const std::vector<Tangent>& tangents) {
    Subst s;
    const auto vars = bind_arguments(b, f, args, s);
    for (size_t k = 0; k < vars.size(); ++k) {
      if (tangents[k]) set(vars[k], *tangents[k]);
    }
    Body copy = copy_renamed(p_, f.body, s);
    activity_.mark(copy);
    const std::vector<Atom> results = copy.results;
    stms(b, std::move(copy.stms));
    std::vector<Atom> out = results;
    for (const Atom& r : results) out.push_back(value_of(b, r));
    return out;
  }
  std::vector<Atom> dual(Builder& b, const Lambda& f, const std::vector<Atom>& args,
                         const std::vector<Atom>& tangents) {
    return dual(b, f, args, std::vector<Tangent>(tangents.begin(), tangents.end()));
  }

  void set(VarId v, const Atom& tangent) {
    tangents_[v] = tangent;
    activity_.add(v);
  }
  Tangent tangent(const Atom& a) const {
    if (a.is_const()) return std::nullopt;
    const auto it = tangents_.find(a.var());
    return it == tangents_.end() ? std::nullopt : Tangent(it->second);
  }
  Atom value_of(Builder& b, const Atom& a) {
    const Tangent t = tangent(a);
    return t ? *t : zero_of(b, p_.type_of(a));
  }
  bool any(const std::vector<VarId>& l) const {
    for (const VarId v : l) {
      if (tangents_.contains(v)) return true;
    }
    return false;
  }

  void stms(Builder& b, std::vector<Stm> list) {
    for (Stm& s : list) {
      Builder here(p_, b.body(), s.prov);
      here.certs() = s.certs;
      stm(here, std::move(s));
    }
  }
  /// As the last statement, but of tangents.
  void also(Builder& b, VarId of, Exp e) { set(of, b.emit(std::move(e), p_.type_of(of), "d")); }

  void stm(Builder& b, Stm s) {
    if (auto* e = std::get_if<EIf>(&s.exp)) return branches(b, s, std::move(*e));
    if (auto* e = std::get_if<ELoop>(&s.exp)) return loop(b, s, std::move(*e));
    if (auto* e = std::get_if<ESoac>(&s.exp)) return soac(b, s, std::move(*e));
    if (auto* e = std::get_if<EScatter>(&s.exp)) return scatter(b, s, std::move(*e));
    if (auto* e = std::get_if<EHist>(&s.exp)) return hist(b, s, std::move(*e));
    if (auto* e = std::get_if<EWithVjp>(&s.exp)) {
      std::vector<Tangent> t;
      for (const Atom& a : e->args) t.push_back(tangent(a));
      const auto results = dual(b, e->fun, e->args, t);
      for (size_t k = 0; k < s.pat.size(); ++k) {
        b.emit_to({s.pat[k]}, EAtom{results[k]});
        set(s.pat[k], results[s.pat.size() + k]);
      }
      return;
    }
    const Exp e = s.exp;
    const std::vector<VarId> pat = s.pat;
    b.body().stms.push_back(std::move(s));
    if (pat.size() == 1) std::visit([&](const auto& x) { linear(b, pat[0], x); }, e);
  }

  // ---- what has no bodies
  template <class E>
  void linear(Builder&, VarId, const E&) {}  // zero
  void linear(Builder&, VarId v, const EAtom& e) {
    if (const Tangent t = tangent(e.atom)) set(v, *t);
  }
  void linear(Builder& b, VarId v, const EPrim& e) {
    std::vector<char> wanted;
    for (const Atom& a : e.args) wanted.push_back(tangent(a).has_value());
    const auto factors = partial_derivatives(b, e, v, wanted);
    Tangent sum;
    for (size_t k = 0; k < factors.size(); ++k) {
      if (factors[k].kind == Factor::Kind::kZero) continue;
      Atom t = *tangent(e.args[k]);
      t = factors[k].kind == Factor::Kind::kConvert
              ? Atom(b.emit(EPrim{e.op, e.type, e.to, {t}}, p_.type_of(v), "d"))
              : times(b, factors[k], t);
      sum = sum ? add_values(b, *sum, t) : t;
    }
    if (sum) set(v, *sum);
  }
  void linear(Builder& b, VarId v, const EIndex& e) {
    if (const Tangent t = tangent(e.array)) also(b, v, EIndex{t->var(), e.dims});
  }
  void linear(Builder& b, VarId v, const EUpdate& e) {
    if (!tangent(e.array) && !tangent(e.value)) return;
    const Atom array = value_of_update(b, v, e), value = value_of(b, e.value);
    also(b, v, EUpdate{array.var(), e.dims, value});
  }
  /// The array itself is consumed: its type still tells the shape.
  Atom value_of_update(Builder& b, VarId v, const EUpdate& e) {
    const Tangent t = tangent(e.array);
    return t ? *t : zero_of(b, p_.type_of(v));
  }
  /// Integers that were floats carry tangents, but a range from one to another is as long as it is
  /// for both: what the start brings, the length takes away in reverse mode.
  void linear(Builder& /*b*/, VarId /*v*/, const EIota& /*e*/) {}
  void linear(Builder& b, VarId v, const EReplicate& e) {
    if (const Tangent t = tangent(e.value)) also(b, v, EReplicate{e.dims, *t});
  }
  void linear(Builder& b, VarId v, const EArrayLit& e) {
    bool zero = true;
    for (const Atom& a : e.elems) zero = zero && !tangent(a);
    if (zero) return;
    EArrayLit t = e;
    for (Atom& a : t.elems) a = value_of(b, a);
    also(b, v, std::move(t));
  }
  void linear(Builder& b, VarId v, const EConcat& e) {
    if (!any(e.arrays)) return;
    EConcat t = e;
    for (VarId& a : t.arrays) a = value_of(b, a).var();
    also(b, v, std::move(t));
  }
  void linear(Builder& b, VarId v, const ERearrange& e) {
    if (const Tangent t = tangent(e.array)) also(b, v, ERearrange{e.perm, t->var()});
  }
  void linear(Builder& b, VarId v, const EReshape& e) {
    if (const Tangent t = tangent(e.array)) also(b, v, EReshape{e.dims, t->var()});
  }
  void linear(Builder& b, VarId v, const ECopy& e) {
    if (const Tangent t = tangent(e.array)) also(b, v, ECopy{t->var()});
  }

  // ---- control
  void body(Body& b) {
    std::vector<Stm> old = std::exchange(b.stms, {});
    Builder in(p_, b);
    stms(in, std::move(old));
  }
  void append_tangent(Body& b, size_t result, ProvId prov) {
    Builder in(p_, b, prov);
    const Atom r = b.results[result];
    b.results.push_back(value_of(in, r));
  }
  /// Adds tangents of the first `pat.size()` variables, where `varied`, to the pattern. Their types
  /// may mention others of the pattern.
  void extend(Stm& s, size_t k) {
    const VarId v = s.pat[k];
    s.pat.push_back(p_.new_var(p_.type_of(v), p_.vars[v.index].name + "'"));
  }
  void branches(Builder& b, Stm& s, EIf e) {
    body(e.then_body);
    body(e.else_body);
    const size_t n = s.pat.size();
    std::vector<size_t> varied;
    for (size_t k = 0; k < n; ++k) {
      if (!tangent(e.then_body.results[k]) && !tangent(e.else_body.results[k])) continue;
      append_tangent(e.then_body, k, s.prov);
      append_tangent(e.else_body, k, s.prov);
      extend(s, k);
      varied.push_back(k);
    }
    s.exp = std::move(e);
    const auto pat = s.pat;
    b.body().stms.push_back(std::move(s));
    for (size_t k = 0; k < varied.size(); ++k) set(pat[varied[k]], pat[n + k]);
  }
  void loop(Builder& b, Stm& s, ELoop e) {
    const size_t n = s.pat.size();
    std::vector<size_t> varied;
    for (size_t k = 0; k < n; ++k) {
      if (!activity_.has(e.params[k].var)) continue;
      varied.push_back(k);
      const VarId v = e.params[k].var;
      const Atom init = value_of(b, e.params[k].init);
      const VarId t = p_.new_var(p_.type_of(v), p_.vars[v.index].name + "'");
      e.params.push_back({t, init});
      set(v, t);
    }
    body(e.body);
    for (const size_t k : varied) {
      append_tangent(e.body, k, s.prov);
      extend(s, k);
    }
    s.exp = std::move(e);
    const auto pat = s.pat;
    b.body().stms.push_back(std::move(s));
    for (size_t k = 0; k < varied.size(); ++k) set(pat[varied[k]], pat[n + k]);
  }

  // ---- combinators
  void soac(Builder& b, Stm& s, ESoac e) {
    if (!e.scans.empty() || !e.reduces.empty()) return combine(b, s, std::move(e));
    const size_t n = s.pat.size();
    for (size_t k = 0, inputs = e.inputs.size(); k < inputs; ++k) {
      const Tangent t = tangent(e.inputs[k]);
      if (!t) continue;
      const VarId row = p_.new_var(p_.type_of(e.map.params[k]), "d");
      e.inputs.push_back(t->var());
      e.map.params.push_back(row);
      set(e.map.params[k], row);
    }
    body(e.map.body);
    std::vector<size_t> varied;
    for (size_t k = 0; k < n; ++k) {
      const Tangent t = tangent(e.map.body.results[k]);
      if (!t) continue;
      varied.push_back(k);
      e.map.body.results.push_back(*t);
      e.map.ret.push_back(Type(e.map.ret[k]));
      extend(s, k);
    }
    s.exp = std::move(e);
    const auto pat = s.pat;
    b.body().stms.push_back(std::move(s));
    for (size_t k = 0; k < varied.size(); ++k) set(pat[varied[k]], pat[n + k]);
  }

  /// The operator on values and tangents: takes and returns all values, then all tangents.
  Monoid dual_monoid(Builder& b, const Monoid& m) {
    const size_t n = m.neutral.size();
    std::vector<Type> types;
    for (int i = 0; i < 4; ++i) types.insert(types.end(), m.op.ret.begin(), m.op.ret.end());
    Monoid out;
    out.commutative = m.commutative && !is_extreme(m);  // of equals, the first one's tangent
    out.neutral = m.neutral;
    for (const Type& t : m.op.ret) out.neutral.push_back(zero_of(b, t));
    std::vector<Type> ret = m.op.ret;
    ret.insert(ret.end(), m.op.ret.begin(), m.op.ret.end());
    out.op = b.lambda(
        types,
        [&](Builder& in, const std::vector<VarId>& v) {
          std::vector<Atom> args, directions;
          for (size_t side = 0; side < 2; ++side) {
            for (size_t k = 0; k < n; ++k) {
              args.emplace_back(v[2 * n * side + k]);
              directions.emplace_back(v[2 * n * side + n + k]);
            }
          }
          return dual(in, m.op, args, directions);
        },
        ret);
    return out;
  }
  bool op_varies(const Monoid& m) const { return activity_.has_result(m.op.body); }

  void combine(Builder& b, Stm& s, ESoac e) {
    const bool scan = !e.scans.empty();
    const Monoid m = scan ? e.scans[0] : e.reduces[0];
    if (!any(e.inputs) && !op_varies(m)) {
      s.exp = std::move(e);
      b.body().stms.push_back(std::move(s));
      return;
    }
    std::vector<VarId> in = e.inputs, pat = s.pat;
    for (const VarId v : e.inputs) in.push_back(value_of(b, v).var());
    for (size_t k = 0; k < pat.size(); ++k) extend(s, k);
    if (is_addition(m)) {
      const VarId t = s.pat[1];
      s.pat.pop_back();
      s.exp = std::move(e);
      b.body().stms.push_back(s);
      Subst names;
      Stm of_tangents = copy_renamed(p_, s, &names);
      of_tangents.pat = {t};
      std::get<ESoac>(of_tangents.exp).inputs = {in[1]};
      b.body().stms.push_back(std::move(of_tangents));
      return set(pat[0], t);
    }
    std::vector<Type> rows;
    for (const VarId v : in) rows.push_back(row_type(p_.type_of(v)));
    ESoac both{e.width, in, identity_lambda(p_, rows), {}, {}};
    (scan ? both.scans : both.reduces).push_back(dual_monoid(b, m));
    const auto all = s.pat;
    b.emit_to(all, std::move(both));
    for (size_t k = 0; k < pat.size(); ++k) set(pat[k], all[pat.size() + k]);
  }

  void scatter(Builder& b, Stm& s, EScatter e) {
    const VarId value = e.inputs.back(), dest = e.dests[0].array, v = s.pat[0];
    const auto attrs = s.attrs;
    const bool varied = tangent(value) || tangent(dest);
    EScatter t = e;
    if (varied) {
      t.inputs.back() = value_of(b, value).var();
      t.dests[0].array = value_of(b, dest).var();
      std::vector<Type> rows;
      for (const VarId i : t.inputs) rows.push_back(row_type(p_.type_of(i)));
      t.map = identity_lambda(p_, rows);
    }
    s.exp = std::move(e);
    b.body().stms.push_back(std::move(s));
    if (!varied) return;
    also(b, v, std::move(t));
    b.last().attrs = attrs;
  }

  void hist(Builder& b, Stm& s, EHist e) {
    const EHist::Op op = e.ops[0];
    const auto rank = static_cast<size_t>(op.index_rank);
    const std::vector<VarId> index(e.inputs.begin(),
                                   e.inputs.begin() + static_cast<std::ptrdiff_t>(rank));
    const std::vector<VarId> values(e.inputs.begin() + static_cast<std::ptrdiff_t>(rank),
                                    e.inputs.end());
    if (!any(values) && !any(op.dests) && !op_varies(op.monoid)) {
      s.exp = std::move(e);
      b.body().stms.push_back(std::move(s));
      return;
    }
    const std::vector<VarId> pat = s.pat;
    std::vector<VarId> value_tangents, dest_tangents;
    for (const VarId v : values) value_tangents.push_back(value_of(b, v).var());
    for (const VarId v : op.dests) dest_tangents.push_back(value_of(b, v).var());
    for (size_t k = 0; k < pat.size(); ++k) extend(s, k);
    if (is_addition(op.monoid)) {
      const VarId t = s.pat[1];
      s.pat.pop_back();
      s.exp = std::move(e);
      b.body().stms.push_back(s);
      Subst names;
      Stm of_tangents = copy_renamed(p_, s, &names);
      of_tangents.pat = {t};
      auto& h = std::get<EHist>(of_tangents.exp);
      h.inputs.back() = value_tangents[0];
      h.ops[0].dests = dest_tangents;
      b.body().stms.push_back(std::move(of_tangents));
      return set(pat[0], t);
    }
    EHist both{e.width, index, {}, {}};
    both.inputs.insert(both.inputs.end(), values.begin(), values.end());
    both.inputs.insert(both.inputs.end(), value_tangents.begin(), value_tangents.end());
    std::vector<Type> rows;
    for (const VarId v : both.inputs) rows.push_back(row_type(p_.type_of(v)));
    both.map = identity_lambda(p_, rows);
    EHist::Op pairs{op.dests, op.index_rank, dual_monoid(b, op.monoid)};
    pairs.dests.insert(pairs.dests.end(), dest_tangents.begin(), dest_tangents.end());
    both.ops.push_back(std::move(pairs));
    const auto all = s.pat;
    b.emit_to(all, std::move(both));
    for (size_t k = 0; k < pat.size(); ++k) set(pat[k], all[pat.size() + k]);
  }

  Program& p_;
  Activity activity_;
  std::unordered_map<VarId, Atom> tangents_;
};

}  // namespace

Result<std::vector<Atom>> forward_mode(Builder& b, const Lambda& f, const std::vector<Atom>& args,
                                       const std::vector<Atom>& tangents) {
  return Forward(b.program()).run(b, f, args, tangents);
}

}  // namespace kenaz::ad
