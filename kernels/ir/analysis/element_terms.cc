#include "kernels/ir/analysis/element_terms.h"

#include <algorithm>
#include <array>

#include "kernels/ir/visit.h"
#include "protocol/base/overloaded.h"

namespace kenaz::ir {

namespace {

/// Component by component: results are sums of integers, in their order.
bool is_sum(const Monoid& m) {
  const size_t n = m.neutral.size();
  const Lambda& op = m.op;
  if (op.params.size() != 2 * n || op.body.stms.size() != n || op.body.results.size() != n) {
    return false;
  }
  for (size_t k = 0; k < n; ++k) {
    const auto made = std::find_if(op.body.stms.begin(), op.body.stms.end(), [&](const Stm& s) {
      return op.body.results[k] == Atom(s.pat[0]);
    });
    if (made == op.body.stms.end() || !m.neutral[k].is_int(0)) return false;
    const auto* e = std::get_if<EPrim>(&made->exp);
    if (e == nullptr || e->op != ScalarOp::kAdd || !is_integer(e->type)) return false;
    const Atom x = op.params[k], y = op.params[n + k];
    if (!(e->args[0] == x && e->args[1] == y) && !(e->args[0] == y && e->args[1] == x)) {
      return false;
    }
  }
  return true;
}

bool are_sums(const std::vector<Monoid>& all) {
  return std::all_of(all.begin(), all.end(), is_sum);
}
size_t values_of(const std::vector<Monoid>& all) {
  size_t n = 0;
  for (const Monoid& m : all) n += m.neutral.size();
  return n;
}

}  // namespace

void Terms::add_around(const Body& body) {
  for (const Stm& s : body.stms) {
    for (size_t k = 0; k < s.pat.size(); ++k) {
      definitions_.emplace(s.pat[k], Definition{&s, k, true});
    }
  }
}

void Terms::add(const Body& body, size_t first, size_t last) {
  for (size_t n = 0; n < last; ++n) {
    const Stm& s = body.stms[n];
    for (size_t k = 0; k < s.pat.size(); ++k) {
      definitions_.emplace(s.pat[k], Definition{&s, k, n < first});
    }
  }
}

TermId Terms::add(std::vector<uint64_t> key, Term term) {
  const auto [it, fresh] = ids_.emplace(std::move(key), static_cast<TermId>(terms_.size()));
  if (fresh) terms_.push_back(std::move(term));
  return it->second;
}

void Terms::set(VarId v, const PrimValue& value) {
  set_[v] = constant(value);
  known_ = set_;
}

PrimType Terms::type_of(TermId t) const {
  return std::visit(Overloaded{
                        [](const PrimValue& v) { return v.type; },
                        [&](VarId v) { return p_.type_of(v).prim; },
                        [&](const TermRow& r) { return p_.type_of(r.array).prim; },
                        [](const TermNumber&) { return PrimType::kI64; },
                        [&](const TermUnknown& u) { return p_.type_of(u.var).prim; },
                        [&](const TermPrefix& sum) { return type_of(sum.flag); },
                        [&](const TermTotal& sum) { return type_of(sum.flag); },
                        [](const TermPrim& e) { return scalar_op_result(e.op, e.type, e.to); },
                    },
                    terms_[t]);
}

/// Arithmetic on constants, and truth values of which one is known: what hangs on a number that was
/// set.
std::optional<TermId> Terms::folded(ScalarOp op, PrimType type, PrimType to,
                                    const std::vector<TermId>& args) {
  std::vector<PrimValue> values;
  for (const TermId a : args) {
    if (const auto* v = std::get_if<PrimValue>(&terms_[a])) values.push_back(*v);
  }
  const auto truth = [&](size_t k) -> std::optional<bool> {
    const auto* v = std::get_if<PrimValue>(&terms_[args[k]]);
    return v == nullptr ? std::nullopt : std::optional(v->bits != 0);
  };
  if (op == ScalarOp::kSelect) {
    const auto cond = truth(0);
    return cond ? std::optional(args[*cond ? 1 : 2]) : std::nullopt;
  }
  if (type == PrimType::kBool && (op == ScalarOp::kAnd || op == ScalarOp::kOr)) {
    for (const size_t k : {size_t{0}, size_t{1}}) {
      if (const auto known = truth(k)) return args[*known == (op == ScalarOp::kAnd) ? 1 - k : k];
    }
  }
  const bool simple = op == ScalarOp::kAdd || op == ScalarOp::kSub || op == ScalarOp::kMul ||
                      op == ScalarOp::kConvert || op == ScalarOp::kEq || op == ScalarOp::kLt ||
                      op == ScalarOp::kNot || op == ScalarOp::kShl || op == ScalarOp::kLShr ||
                      op == ScalarOp::kShr;
  if (!simple || is_float(type) || is_float(to) || values.size() != args.size()) return {};
  return constant(eval_scalar(op, type, to, values));
}

/// Comparisons that say the same, or the opposite, are made of one.
TermId Terms::prim(ScalarOp op, PrimType type, PrimType to, std::vector<TermId> args) {
  const auto opposite = [&](ScalarOp of, std::vector<TermId> operands) {
    const TermId other = prim(of, type, to, std::move(operands));
    return prim(ScalarOp::kNot, PrimType::kBool, to, {other});
  };
  if (op == ScalarOp::kNe) return opposite(ScalarOp::kEq, std::move(args));
  if (op == ScalarOp::kLe && is_integer(type)) return opposite(ScalarOp::kLt, {args[1], args[0]});
  if (op == ScalarOp::kEq && args[1] < args[0]) std::swap(args[0], args[1]);
  // Only conversions have a type of their own to go to.
  if (op != ScalarOp::kConvert && op != ScalarOp::kBitcast) to = type;
  if (const auto known = folded(op, type, to, args)) return *known;
  std::vector<uint64_t> key = {7, static_cast<uint64_t>(op), static_cast<uint64_t>(type),
                               static_cast<uint64_t>(to)};
  key.insert(key.end(), args.begin(), args.end());
  return add(std::move(key), TermPrim{op, type, to, std::move(args)});
}

const Terms::Definition* Terms::definition(VarId v) const {
  const auto it = definitions_.find(v);
  return it == definitions_.end() ? nullptr : &it->second;
}

TermId Terms::of(const Atom& a) {
  if (a.is_const()) return constant(a.constant());
  const auto known = known_.find(a.var());
  if (known != known_.end()) return known->second;
  TermId made = add({1, a.var().index}, a.var());
  if (const Definition* d = definition(a.var())) {
    if (const auto sum = total(*d)) {
      made = *sum;
    } else if (const auto* e = std::get_if<EPrim>(&d->stm->exp)) {
      std::vector<TermId> args;
      for (const Atom& arg : e->args) args.push_back(of(arg));
      needs(d->stm->certs);
      made = prim(e->op, e->type, e->to, std::move(args));
    } else if (const auto* copy = std::get_if<EAtom>(&d->stm->exp)) {
      made = of(copy->atom);
    }
  }
  known_.emplace(a.var(), made);
  return made;
}

TermId Terms::of(const Atom& a, Scope& inside) {
  if (a.is_const()) return of(a);
  const auto it = inside.find(a.var());
  return it == inside.end() ? of(a) : it->second;
}

/// Of the last element of a scan.
std::optional<TermId> Terms::last_of(const EIndex& e) {
  const auto* fix = std::get_if<DimFix>(&e.dims[0]);
  const Type& type = p_.type_of(e.array);
  if (fix == nullptr || e.dims.size() != 1 || !is_one_before(fix->index, type.dims[0])) return {};
  const TermId element = this->element(e.array);
  const auto* prefix = std::get_if<TermPrefix>(&terms_[element]);
  if (prefix == nullptr) return {};
  const TermId flag = prefix->flag;
  return add({6, flag}, TermTotal{flag});
}

bool Terms::is_one_before(const Atom& a, const Atom& n) const {
  if (n.is_const()) return a.is_int(n.constant().as_i64() - 1);
  const Definition* d = a.is_const() ? nullptr : definition(a.var());
  const auto* e = d == nullptr ? nullptr : std::get_if<EPrim>(&d->stm->exp);
  if (e == nullptr || e->type != PrimType::kI64) return false;
  if (e->op == ScalarOp::kSub) return e->args[0] == n && e->args[1].is_int(1);
  return e->op == ScalarOp::kAdd &&
         ((e->args[0] == n && e->args[1].is_int(-1)) || (e->args[1] == n && e->args[0].is_int(-1)));
}

std::optional<bool> Terms::holds_if_not_empty(const Atom& cond, VarId of) const {
  const Definition* d = cond.is_const() ? nullptr : definition(cond.var());
  const auto* e = d == nullptr ? nullptr : std::get_if<EPrim>(&d->stm->exp);
  if (e == nullptr || e->type != PrimType::kI64) return {};
  const Atom& n = p_.type_of(of).dims[0];
  const bool left = e->args[0] == n && e->args[1].is_int(0);
  const bool right = e->args[1] == n && e->args[0].is_int(0);
  switch (e->op) {
    case ScalarOp::kEq: return left || right ? std::optional(false) : std::nullopt;
    case ScalarOp::kNe: return left || right ? std::optional(true) : std::nullopt;
    case ScalarOp::kLe: return left ? std::optional(false) : std::nullopt;
    case ScalarOp::kLt: return right ? std::optional(true) : std::nullopt;
    default: return {};
  }
}

std::optional<PrimValue> Terms::constant_if_not_empty(const Atom& a, VarId of) const {
  if (a.is_const()) return a.constant();
  const Definition* d = definition(a.var());
  if (d == nullptr) return {};
  Atom cond;
  std::array<Atom, 2> values;
  if (const auto* e = std::get_if<EPrim>(&d->stm->exp); e && e->op == ScalarOp::kSelect) {
    cond = e->args[0];
    values = {e->args[1], e->args[2]};
  } else if (const auto* branch = std::get_if<EIf>(&d->stm->exp)) {
    cond = branch->cond;
    values = {branch->then_body.results[d->number], branch->else_body.results[d->number]};
  } else {
    return {};
  }
  const auto holds = holds_if_not_empty(cond, of);
  if (!holds || !values[*holds ? 0 : 1].is_const()) return {};
  return values[*holds ? 0 : 1].constant();
}

/// A reduction's sum of flags, the last element of their scan, or that where there are elements.
std::optional<TermId> Terms::total(const Definition& d) {
  if (const auto* e = std::get_if<EIndex>(&d.stm->exp)) {
    const auto last = last_of(*e);
    if (last) needs(d.stm->certs);
    return last;
  }
  if (const auto* e = std::get_if<ESoac>(&d.stm->exp)) {
    const size_t scanned = values_of(e->scans);
    if (d.number < scanned || d.number >= scanned + values_of(e->reduces)) return {};
    if (e->width != width_ || !are_sums(e->reduces)) return {};
    const TermId flag = results(e->map, e->inputs)[d.number];
    needs(d.stm->certs);
    return add({6, flag}, TermTotal{flag});
  }
  const auto* branch = std::get_if<EIf>(&d.stm->exp);
  if (branch == nullptr) return {};
  for (const bool then : {true, false}) {
    const Body& body = then ? branch->then_body : branch->else_body;
    const Atom& a = body.results[d.number];
    const Atom& other = (then ? branch->else_body : branch->then_body).results[d.number];
    if (a.is_const() || !other.is_const()) continue;
    add_around(body);
    const Definition* inner = definition(a.var());
    const auto* index = inner == nullptr ? nullptr : std::get_if<EIndex>(&inner->stm->exp);
    if (index == nullptr || holds_if_not_empty(branch->cond, index->array) != then) continue;
    return last_of(*index);
  }
  return {};
}

TermId Terms::element(VarId array) {
  const Type& type = p_.type_of(array);
  const TermId row = add({2, array.index}, TermRow{array});
  if (type.rank() != 1 || type.dims[0] != width_) return row;
  const Definition* d = definition(array);
  if (d == nullptr) return row;
  if (const auto* e = std::get_if<ESoac>(&d->stm->exp); e != nullptr && !d->around) {
    const size_t scanned = values_of(e->scans), reduced = values_of(e->reduces);
    if (e->width != width_ || (d->number >= scanned && d->number < scanned + reduced)) return row;
    if (d->number < scanned && !are_sums(e->scans)) return row;
    const TermId made = results(e->map, e->inputs)[d->number];
    needs(d->stm->certs);
    return d->number < scanned ? add({5, made}, TermPrefix{made}) : made;
  }
  if (const auto* e = std::get_if<EIota>(&d->stm->exp)) {
    const bool counts = type.prim == PrimType::kI64 && e->start.is_int(0) && e->stride.is_int(1);
    return counts ? add({3}, TermNumber{}) : row;
  }
  if (const auto* e = std::get_if<EReplicate>(&d->stm->exp)) return of(e->value);
  return row;
}

std::vector<TermId> Terms::results(const Lambda& f, const std::vector<VarId>& inputs) {
  Scope inside;
  for (size_t k = 0; k < inputs.size(); ++k) inside.emplace(f.params[k], element(inputs[k]));
  for (const Stm& s : f.body.stms) bind(s, inside);
  std::vector<TermId> out;
  for (const Atom& a : f.body.results) out.push_back(of(a, inside));
  return out;
}

void Terms::needs(const std::vector<VarId>& certs) {
  certs_.insert(certs_.end(), certs.begin(), certs.end());
}

void Terms::bind(const Stm& s, Scope& inside) {
  checks_ = checks_ || !s.certs.empty() || std::holds_alternative<EAssert>(s.exp);
  for (size_t k = 0; k < s.pat.size(); ++k) {
    definitions_.emplace(s.pat[k], Definition{&s, k, true});
  }
  if (const auto* e = std::get_if<EPrim>(&s.exp)) {
    std::vector<TermId> args;
    for (const Atom& a : e->args) args.push_back(of(a, inside));
    inside[s.pat[0]] = prim(e->op, e->type, e->to, std::move(args));
  } else if (const auto* copy = std::get_if<EAtom>(&s.exp)) {
    inside[s.pat[0]] = of(copy->atom, inside);
  } else if (s.pat.size() == 1 && p_.type_of(s.pat[0]).is_scalar() && total({&s, 0, true})) {
    inside[s.pat[0]] = *total({&s, 0, true});
  } else if (const auto* branch = std::get_if<EIf>(&s.exp)) {
    for (const Stm& t : branch->then_body.stms) bind(t, inside);
    for (const Stm& t : branch->else_body.stms) bind(t, inside);
    const TermId cond = of(branch->cond, inside);
    for (size_t k = 0; k < s.pat.size(); ++k) {
      const PrimType type = p_.type_of(s.pat[k]).prim;
      inside[s.pat[k]] = p_.type_of(s.pat[k]).is_scalar()
                             ? prim(ScalarOp::kSelect, type, type,
                                    {cond, of(branch->then_body.results[k], inside),
                                     of(branch->else_body.results[k], inside)})
                             : unknown(s.pat[k]);
    }
  } else {
    for (const VarId v : s.pat) inside[v] = unknown(v);
  }
}

}  // namespace kenaz::ir
