// The simplifier: one forward walk over each body that knows what the variables in scope are.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/passes/algebra.h"
#include "kernels/passes/passes.h"
#include "protocol/base/overloaded.h"

namespace kenaz::passes {
namespace {

using namespace ir;

class Simplify {
 public:
  explicit Simplify(Program& p) : p_(p) {}

  void program() {
    body(p_.constants);
    for (Function& f : p_.functions) {
      for (const VarId v : f.params) sizes_are_nonnegative(p_.type_of(v));
      body(f.body);
      for (Type& t : f.ret) apply(t);
    }
  }

 private:
  // ---- what is known
  struct Facts {
    bool nonnegative = false;
    std::vector<Atom> below;  // var < each of these
  };

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

  void sizes_are_nonnegative(const Type& t) {
    for (const Atom& d : t.dims) {
      if (!d.is_const()) facts_[d.var()].nonnegative = true;
    }
  }

  bool nonnegative(const Atom& a) {
    if (a.is_const()) return a.constant().as_i64() >= 0;
    const auto it = facts_.find(a.var());
    return it != facts_.end() && it->second.nonnegative;
  }
  bool below(const Atom& a, const Atom& bound) {
    if (a.is_const()) return false;
    const auto it = facts_.find(a.var());
    if (it == facts_.end()) return false;
    return std::find(it->second.below.begin(), it->second.below.end(), bound) !=
           it->second.below.end();
  }

  // ---- walking
  void body(Body& b) {
    const auto outer_seen = seen_;
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      prepare(s);
      enter(s);
      visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      if (auto* soac = std::get_if<ESoac>(&s.exp)) simplify_inputs(*soac);
      if (!rewrite(s, out)) {
        remember(s);
        out.push_back(std::move(s));
      }
    }
    b.stms = std::move(out);
    for (Atom& r : b.results) apply(r);
    seen_ = outer_seen;
  }

  /// Applies the substitution to everything in the statement except its bodies.
  void prepare(Stm& s) {
    std::vector<VarId> certs;
    for (VarId c : s.certs) {
      const auto it = subst_.find(c);
      if (it != subst_.end() && it->second.is_const()) continue;  // holds
      apply(c);
      if (std::find(certs.begin(), certs.end(), c) == certs.end()) certs.push_back(c);
    }
    s.certs = std::move(certs);
    visit_operands(s.exp, [&](auto& a) { apply(a); });
    visit_types(s.exp, [&](Type& t) { apply(t); });
    visit_binders(s.exp, [&](VarId v) { apply(p_.vars[v.index].type); });
    for (const VarId v : s.pat) {
      apply(p_.vars[v.index].type);
      sizes_are_nonnegative(p_.type_of(v));
    }
  }

  /// Facts about what the statement binds for its bodies.
  void enter(Stm& s) {
    if (auto* l = std::get_if<ELoop>(&s.exp)) {
      if (auto* f = std::get_if<LoopFor>(&l->form)) {
        facts_[f->index] = {true, {f->bound}};
      }
      invariant_params(*l, s);
    }
    const auto rows = [&](const std::vector<VarId>& inputs, Lambda& map) {
      for (size_t k = 0; k < inputs.size(); k++) {
        const auto it = defs_.find(inputs[k]);
        if (it == defs_.end()) continue;
        if (const auto* iota = std::get_if<EIota>(&it->second)) {
          if (iota->start == Atom(PrimValue::of_int(iota->type, 0)) &&
              iota->stride == Atom(PrimValue::of_int(iota->type, 1)) &&
              iota->type == PrimType::kI64) {
            facts_[map.params[k]] = {true, {iota->n}};
          }
        } else if (const auto* rep = std::get_if<EReplicate>(&it->second)) {
          if (rep->dims.size() == 1) subst_[map.params[k]] = rep->value;
        }
      }
    };
    if (auto* e = std::get_if<ESoac>(&s.exp)) rows(e->inputs, e->map);
    if (auto* e = std::get_if<EScatter>(&s.exp)) rows(e->inputs, e->map);
    if (auto* e = std::get_if<EHist>(&s.exp)) rows(e->inputs, e->map);
  }

  /// Scalar params of a loop that every iteration hands on unchanged are their inits.
  void invariant_params(ELoop& l, const Stm& s) {
    for (size_t k = 0; k < l.params.size(); k++) {
      const auto& param = l.params[k];
      if (l.body.results[k] != Atom(param.var) || !p_.type_of(param.var).is_scalar()) continue;
      const auto* w = std::get_if<LoopWhile>(&l.form);
      if (w && w->cond == param.var) continue;
      subst_[param.var] = param.init;
      subst_[s.pat[k]] = param.init;
    }
  }

  /// Inputs that are replicates became values; the simplified lambda needs them no more.
  void simplify_inputs(ESoac& e) {
    std::vector<VarId> inputs;
    std::vector<VarId> params;
    for (size_t k = 0; k < e.inputs.size(); k++) {
      if (subst_.contains(e.map.params[k])) continue;
      inputs.push_back(e.inputs[k]);
      params.push_back(e.map.params[k]);
    }
    e.inputs = std::move(inputs);
    e.map.params = std::move(params);
  }

  // ---- rewriting one statement; true: it is gone
  bool replace(Stm& s, const Atom& by) {
    subst_[s.pat[0]] = by;
    return true;
  }

  bool rewrite(Stm& s, std::vector<Stm>& out) {
    if (auto* e = std::get_if<EAtom>(&s.exp)) {
      return s.certs.empty() && replace(s, e->atom);
    }
    if (auto* e = std::get_if<EPrim>(&s.exp)) {
      if (const auto a = simplify_prim(*e)) return s.certs.empty() && replace(s, *a);
      if (in_range(*e)) return replace(s, PrimValue::of_bool(true));
    }
    if (auto* e = std::get_if<EAssert>(&s.exp)) {
      if (e->cond == Atom(PrimValue::of_bool(true))) return replace(s, PrimValue::of_bool(true));
    }
    if (auto* e = std::get_if<EIndex>(&s.exp)) {
      if (index(*e, s)) return true;
    }
    if (std::holds_alternative<EIf>(s.exp)) {
      if (branch(s, out)) return true;
    }
    return known(s);
  }

  /// Comparisons that hold because of the ranges of indices.
  bool in_range(const EPrim& e) {
    if (!is_integer(e.type)) return false;
    if (e.op == ScalarOp::kLe && e.args[0] == Atom(PrimValue::of_int(e.type, 0))) {
      return nonnegative(e.args[1]);
    }
    if (e.op == ScalarOp::kLt || e.op == ScalarOp::kLe) return below(e.args[0], e.args[1]);
    return false;
  }

  /// Elements of arrays that need not exist. True if the statement is gone; it may also have
  /// become another one.
  bool index(EIndex& e, Stm& s) {
    for (int round = 0; round < 8; round++) {
      if (!std::all_of(e.dims.begin(), e.dims.end(),
                       [](const Dim& d) { return std::holds_alternative<DimFix>(d); })) {
        return false;
      }
      const auto it = defs_.find(e.array);
      if (it == defs_.end()) return false;
      if (const auto* rep = std::get_if<EReplicate>(&it->second)) {
        if (rep->dims.size() != e.dims.size() || !s.certs.empty()) return false;
        return p_.type_of(rep->value).is_scalar() && replace(s, rep->value);
      }
      if (const auto* iota = std::get_if<EIota>(&it->second)) {
        if (iota->type != PrimType::kI64 || iota->start != Atom(PrimValue::i64(0)) ||
            iota->stride != Atom(PrimValue::i64(1))) {
          return false;
        }
        const Atom at = std::get<DimFix>(e.dims[0]).index;
        if (s.certs.empty()) return replace(s, at);
        s.exp = EAtom{at};
        return false;
      }
      const auto* perm = std::get_if<ERearrange>(&it->second);
      if (!perm) return false;
      std::vector<Dim> dims(e.dims.size(), DimFix{});
      for (size_t d = 0; d < dims.size(); d++) {
        dims[static_cast<size_t>(perm->perm[d])] = e.dims[d];
      }
      e.array = perm->array;
      e.dims = std::move(dims);
    }
    return false;
  }

  static bool is_cheap(const Body& b) {
    return b.stms.size() <= 4 && std::all_of(b.stms.begin(), b.stms.end(), [](const Stm& s) {
             const auto* e = std::get_if<EPrim>(&s.exp);
             return e && s.certs.empty() && e->op < ScalarOp::kSqrt && e->op != ScalarOp::kDiv &&
                    e->op != ScalarOp::kMod && e->op != ScalarOp::kPow;
           });
  }

  /// An if on a constant is one of its branches; a cheap one of scalars computes both.
  bool branch(Stm& s, std::vector<Stm>& out) {
    auto& e = std::get<EIf>(s.exp);
    if (e.cond.is_const()) {
      Body taken = std::move(e.cond.constant().as_bool() ? e.then_body : e.else_body);
      for (Stm& inner : taken.stms) {
        for (const VarId c : s.certs) inner.certs.push_back(c);
        remember(inner);
        out.push_back(std::move(inner));
      }
      for (size_t k = 0; k < s.pat.size(); k++) {
        if (s.certs.empty()) {
          subst_[s.pat[k]] = taken.results[k];
        } else {
          Stm copy{{s.pat[k]}, EAtom{taken.results[k]}, s.certs, s.prov, s.attrs};
          out.push_back(std::move(copy));
        }
      }
      return true;
    }
    const bool scalars =
        std::all_of(s.pat.begin(), s.pat.end(), [&](VarId v) { return p_.type_of(v).is_scalar(); });
    if (!scalars || !s.certs.empty() || !is_cheap(e.then_body) || !is_cheap(e.else_body)) {
      return false;
    }
    EIf cond = std::move(e);
    for (Body* b : {&cond.then_body, &cond.else_body}) {
      for (Stm& inner : b->stms) {
        remember(inner);
        out.push_back(std::move(inner));
      }
    }
    for (size_t k = 0; k < s.pat.size(); k++) {
      const PrimType t = p_.type_of(s.pat[k]).prim;
      EPrim select{ScalarOp::kSelect,
                   t,
                   t,
                   {cond.cond, cond.then_body.results[k], cond.else_body.results[k]}};
      if (const auto a = simplify_prim(select)) {
        subst_[s.pat[k]] = *a;
      } else {
        out.push_back(Stm{{s.pat[k]}, std::move(select), {}, s.prov, {}});
      }
    }
    return true;
  }

  // ---- common subexpressions
  static void key_atom(const Atom& a, std::string& key) {
    if (a.is_const()) {
      key += 'c' + std::to_string(static_cast<int>(a.constant().type)) + ':' +
             std::to_string(a.constant().bits);
    } else {
      key += 'v' + std::to_string(a.var().index);
    }
    key += ' ';
  }

  /// Only what makes scalars or views: merging arrays that are made is wrong if one is consumed.
  std::optional<std::string> key_of(const Stm& s) {
    std::string key;
    if (const auto* e = std::get_if<EPrim>(&s.exp)) {
      key = "p" + std::to_string(static_cast<int>(e->op)) + ' ' +
            std::to_string(static_cast<int>(e->type)) + ' ' +
            std::to_string(static_cast<int>(e->to)) + ' ';
    } else if (std::holds_alternative<EIndex>(s.exp)) {
      if (!p_.type_of(s.pat[0]).is_scalar()) return std::nullopt;
      key = "i";
    } else if (const auto* a = std::get_if<EAssert>(&s.exp)) {
      key = "a";
      for (const auto& part : a->message) {
        if (const auto* t = std::get_if<std::string>(&part)) key += *t;
      }
    } else {
      return std::nullopt;
    }
    visit_operands(s.exp, [&](const auto& a) { key_atom(Atom(a), key); });
    for (const VarId c : s.certs) key += "," + std::to_string(c.index);
    return key;
  }

  bool known(Stm& s) {
    const auto key = key_of(s);
    if (!key) return false;
    const auto it = seen_.find(*key);
    if (it != seen_.end()) return replace(s, it->second);
    seen_[*key] = s.pat[0];
    return false;
  }

  void remember(const Stm& s) {
    if (const auto* e = std::get_if<EPrim>(&s.exp)) {
      // i + c, i * c, .. of nonnegative values stay so only without overflow, so they are not.
      if (e->op == ScalarOp::kMin && nonnegative(e->args[0]) && nonnegative(e->args[1])) {
        facts_[s.pat[0]].nonnegative = true;
      }
      return;
    }
    if (std::holds_alternative<EIota>(s.exp) || std::holds_alternative<EReplicate>(s.exp) ||
        std::holds_alternative<ERearrange>(s.exp)) {
      if (s.certs.empty()) defs_.emplace(s.pat[0], s.exp);
    }
  }

  Program& p_;
  Subst subst_;
  std::unordered_map<VarId, Facts> facts_;
  std::unordered_map<VarId, Exp> defs_;
  std::map<std::string, VarId> seen_;
};

}  // namespace

void simplify(Program& p) { Simplify(p).program(); }

}  // namespace kenaz::passes
