#include "kernels/passes/row_branch.h"

#include <algorithm>
#include <utility>

#include "kernels/ir/analysis/plain.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"
#include "kernels/scalar/quick.h"

namespace kenaz::passes {

using namespace ir;

namespace {

/// Whether the arrays that it makes are to be no more: only their elements.
bool is_by_element(const Stm& s) {
  return std::holds_alternative<ESoac>(s.exp) || std::holds_alternative<EIota>(s.exp) ||
         std::holds_alternative<EReplicate>(s.exp) || std::holds_alternative<ECopy>(s.exp);
}

/// A name for the value that has the builder's certificates, if there are any.
Atom certified(Builder& b, const Atom& a) {
  if (b.certs().empty()) return a;
  return b.emit(EAtom{a}, b.program().type_of(a), "x");
}

}  // namespace

// ---- EmptyGuards

void EmptyGuards::note(const Body& b) {
  for (const Stm& s : b.stms) {
    if (const auto* e = std::get_if<EPrim>(&s.exp)) {
      if (e->op == ScalarOp::kOr) ors_[s.pat[0]] = e->args;
      if (e->op == ScalarOp::kLe && e->args[1].is_int(0)) empty_[s.pat[0]] = e->args[0];
    }
    visit_bodies(s.exp, [&](const Body& inner) { note(inner); });
  }
}

bool EmptyGuards::holds_if_empty(const Atom& cond, const Atom& width) const {
  if (cond.is_const()) return cond.is_bool(true);
  if (const auto it = empty_.find(cond.var()); it != empty_.end()) return it->second == width;
  const auto it = ors_.find(cond.var());
  return it != ors_.end() && std::any_of(it->second.begin(), it->second.end(),
                                         [&](const Atom& a) { return holds_if_empty(a, width); });
}

// ---- RowInputs

VarId RowInputs::element_of(VarId array) {
  const auto at = std::find(arrays_.begin(), arrays_.end(), array);
  if (at != arrays_.end()) return params_[static_cast<size_t>(at - arrays_.begin())];
  Program& p = before_.program();
  arrays_.push_back(array);
  params_.push_back(p.new_var(row_type(p.type_of(array)), p.vars[array.index].name));
  return params_.back();
}

VarId RowInputs::number() {
  if (!numbers_) numbers_ = before_.iota(width_);
  return element_of(*numbers_);
}

// ---- RowBranch: what there is

RowBranch::RowBranch(Program& p, const EmptyGuards& guards, const Body& b,
                     const std::vector<VarId>& pat, Atom width)
    : p_(p), guards_(guards), body_(b), pat_(pat), width_(width) {
  VarSet needed;
  for (const Atom& r : b.results) {
    if (!r.is_const()) needed.insert(r.var());
  }
  for_each_needed(p, b.stms, needed, [&](const Stm& s) { stms_.push_back(&s); });
  std::reverse(stms_.begin(), stms_.end());
  for (const Stm* s : stms_) {
    for (const VarId v : s->pat) made_[v] = s;
  }
}

bool RowBranch::any_map(bool (*holds)(const ESoac&)) const {
  return std::any_of(stms_.begin(), stms_.end(), [&](const Stm* s) {
    const auto* e = std::get_if<ESoac>(&s->exp);
    return e != nullptr && holds(*e);
  });
}

bool RowBranch::has_map() const {
  return any_map([](const ESoac&) { return true; });
}

bool RowBranch::has_map_in_map() const {
  return any_map([](const ESoac& e) {
    return std::any_of(e.map.body.stms.begin(), e.map.body.stms.end(), [](const Stm& s) {
      const auto* inner = std::get_if<ESoac>(&s.exp);
      return inner != nullptr &&
             (!inner->width.is_const() || inner->width.constant().as_i64() > kFewElements);
    });
  });
}

/// The statement of the branch that binds the variable, or null.
const Stm* RowBranch::maker(const Atom& a) const {
  const auto it = a.is_const() ? made_.end() : made_.find(a.var());
  return it == made_.end() ? nullptr : it->second;
}

bool RowBranch::has_already(size_t result) const {
  const Atom& r = body_.results[result];
  const Stm* made = maker(r);
  return !p_.type_of(r).is_scalar() && (made == nullptr || !is_by_element(*made));
}

bool RowBranch::cut() {
  if (!std::all_of(stms_.begin(), stms_.end(), [&](const Stm* s) { return may_be_cut(*s); })) {
    return false;
  }
  for (size_t k = 0; k < pat_.size(); k++) {
    const Type& t = p_.type_of(pat_[k]);
    if (!t.is_scalar() && p_.type_of(body_.results[k]) != t) return false;
  }
  if (!is_used_by_element()) return false;
  find_in_front();
  find_once();
  find_in_map();
  return true;
}

bool RowBranch::may_be_cut(const Stm& s) const {
  if (!s.attrs.empty()) return false;
  for (const VarId v : s.pat) {
    const Type& t = p_.type_of(v);
    if (std::any_of(t.dims.begin(), t.dims.end(),
                    [&](const Atom& d) { return maker(d) != nullptr; })) {
      return false;
    }
    if (is_by_element(s) && (t.is_scalar() || t.dims[0] != width_)) return false;
  }
  if (const auto* e = std::get_if<ESoac>(&s.exp)) {
    return e->scans.empty() && e->reduces.empty() && e->width == width_;
  }
  if (binds_scalars(p_, s)) return is_plain(p_, s);
  // Not what is reshaped: of most of that a thread would make a copy.
  return is_by_element(s) || std::holds_alternative<EAtom>(s.exp) ||
         std::holds_alternative<EIndex>(s.exp) || std::holds_alternative<ERearrange>(s.exp);
}

/// Whether arrays that are to be no more are used as results only; those not made by maps also as
/// inputs of these, and to be copied.
bool RowBranch::is_used_by_element() const {
  std::unordered_map<VarId, int> other_uses;
  for (const Stm* s : stms_) {
    for_each_use(p_, *s, [&](VarId v) { other_uses[v]++; });
    if (!std::holds_alternative<ESoac>(s->exp) && !std::holds_alternative<ECopy>(s->exp)) continue;
    visit_operands(s->exp, [&](const auto& a) {
      const Stm* made = maker(Atom(a));
      if (made != nullptr && !std::holds_alternative<ESoac>(made->exp)) {
        other_uses[Atom(a).var()]--;
      }
    });
  }
  return std::all_of(stms_.begin(), stms_.end(), [&](const Stm* s) {
    return !is_by_element(*s) ||
           std::all_of(s->pat.begin(), s->pat.end(), [&](VarId v) { return other_uses[v] == 0; });
  });
}

// ---- RowBranch: what stands where

void RowBranch::find_in_front() {
  for (const Stm* s : stms_) {
    bool quick = is_quick_arithmetic(*s) && binds_scalars(p_, *s);
    for_each_use(p_, *s, [&](VarId v) {
      quick = quick && (maker(Atom(v)) == nullptr || in_front_.contains(v));
    });
    if (quick) in_front_.insert(s->pat[0]);
  }
}

/// Whether it is not to be done for each element. A check would not be made where there are none,
/// so it must be one that holds then.
bool RowBranch::stays_outside(const Stm& s) const {
  if (const auto* e = std::get_if<EPrim>(&s.exp)) return !scalar_op_is_quick(e->op);
  if (const auto* e = std::get_if<EAssert>(&s.exp)) {
    const bool has_elements = width_.is_const() && width_.constant().as_i64() > 0;
    return !has_elements && !guards_.holds_if_empty(e->cond, width_);
  }
  return std::holds_alternative<EIf>(s.exp);
}

VarSet RowBranch::results(bool scalars) const {
  VarSet found;
  for (const Atom& r : body_.results) {
    if (!r.is_const() && p_.type_of(r).is_scalar() == scalars) found.insert(r.var());
  }
  return found;
}

/// Results that are scalars, what stays outside, and what these need.
void RowBranch::find_once() {
  VarSet wanted = results(true);
  for (size_t k = stms_.size(); k-- > 0;) {
    const Stm& s = *stms_[k];
    const bool is_wanted =
        std::any_of(s.pat.begin(), s.pat.end(), [&](VarId v) { return wanted.contains(v); });
    if (in_front_.contains(s.pat[0]) || (!is_wanted && !stays_outside(s))) continue;
    once_.insert(s.pat[0]);
    for_each_use(p_, s, [&](VarId v) { wanted.insert(v); });
  }
}

void RowBranch::find_in_map() {
  VarSet wanted = results(false);
  for (size_t k = stms_.size(); k-- > 0;) {
    const Stm& s = *stms_[k];
    if (in_front_.contains(s.pat[0])) continue;
    // Views cost nothing, and are taken anew.
    const bool is_given = once_.contains(s.pat[0]) && binds_scalars(p_, s);
    bool is_wanted = false;
    for (const VarId v : s.pat) {
      if (!wanted.contains(v)) continue;
      is_wanted = true;
      if (is_given) passed_on_.push_back(v);
    }
    if (!is_wanted || is_given) continue;
    in_map_.insert(s.pat[0]);
    for_each_use(p_, s, [&](VarId v) { wanted.insert(v); });
  }
}

// ---- RowBranch: code

void RowBranch::emit_in_front(std::vector<Stm>& out) const {
  for (const Stm* s : stms_) {
    if (in_front_.contains(s->pat[0])) out.push_back(*s);
  }
}

Body RowBranch::once() const {
  Body b;
  for (const Stm* s : stms_) {
    if (once_.contains(s->pat[0])) b.stms.push_back(*s);
  }
  return b;
}

void RowBranch::emit_elements(Builder& b, RowInputs& inputs) {
  for (const Stm* s : stms_) {
    if (!in_map_.contains(s->pat[0]) || is_by_element(*s)) continue;
    b.body().stms.push_back(copy_renamed(p_, *s, &subst_));
  }
  for (size_t k = 0; k < pat_.size(); k++) {
    if (p_.type_of(pat_[k]).is_scalar()) continue;
    b.body().results.push_back(element(b, inputs, body_.results[k].var()));
  }
}

Atom RowBranch::known_as(Atom a) const {
  substitute(a, subst_);
  return a;
}

Atom RowBranch::element(Builder& b, RowInputs& inputs, VarId array) {
  const Stm* s = maker(Atom(array));
  if (s == nullptr) return certified(b, inputs.element_of(array));
  if (const auto it = elements_.find(array); it != elements_.end()) return it->second;
  if (!is_by_element(*s)) {
    const Atom i = inputs.number();
    return elements_[array] = b.index(known_as(array).var(), std::span(&i, 1));
  }
  const std::vector<VarId> outer = b.certs();
  for (const VarId v : s->certs) b.certs().push_back(known_as(v).var());
  if (const auto* e = std::get_if<ESoac>(&s->exp)) {
    run_map(b, inputs, *s, *e);
  } else {
    elements_[array] = element_made(b, inputs, *s);
  }
  b.certs() = outer;
  return elements_.at(array);
}

/// Of what the statement makes, which is no map.
Atom RowBranch::element_made(Builder& b, RowInputs& inputs, const Stm& s) {
  if (const auto* e = std::get_if<ECopy>(&s.exp)) return element(b, inputs, e->array);
  if (const auto* e = std::get_if<EIota>(&s.exp)) {
    const Atom i = b.convert(inputs.number(), e->type);
    return certified(b, b.add(known_as(e->start), b.mul(i, known_as(e->stride))));
  }
  const auto& e = std::get<EReplicate>(s.exp);
  std::vector<Atom> dims;
  for (size_t d = 1; d < e.dims.size(); d++) dims.push_back(known_as(e.dims[d]));
  const Atom value = known_as(e.value);
  return dims.empty() ? certified(b, value) : Atom(b.replicate(std::move(dims), value));
}

/// Runs the map's function for one element.
void RowBranch::run_map(Builder& b, RowInputs& inputs, const Stm& s, const ESoac& e) {
  Subst known = subst_;
  for (size_t k = 0; k < e.inputs.size(); k++) {
    Atom x = element(b, inputs, e.inputs[k]);
    // The function may take a bool for a certificate, which is no constant.
    if (x.is_const()) x = b.emit(EAtom{x}, p_.type_of(x), "x");
    known[e.map.params[k]] = x;
  }
  Body made = copy_renamed(p_, e.map.body, known);
  VarSet certain;
  for (Stm& inner : made.stms) {
    inner.certs.insert(inner.certs.end(), b.certs().begin(), b.certs().end());
    certain.insert(inner.pat.begin(), inner.pat.end());
    b.body().stms.push_back(std::move(inner));
  }
  for (size_t k = 0; k < s.pat.size(); k++) {
    const Atom& r = made.results[k];
    elements_[s.pat[k]] = !r.is_const() && certain.contains(r.var()) ? r : certified(b, r);
  }
}

}  // namespace kenaz::passes
