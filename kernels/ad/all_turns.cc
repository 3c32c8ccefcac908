#include "kernels/ad/all_turns.h"

#include <algorithm>
#include <utility>

#include "kernels/ad/interchange.h"
#include "kernels/ad/values.h"
#include "kernels/ir/visit.h"

namespace kenaz::ad {

using namespace ir;

namespace {

/// So many variables are kept for each type of `types`: memory is a few times that of the states.
constexpr std::ptrdiff_t kMostKept = 4;

bool is_whole(const Dim& d, const Atom& size) {
  const auto* r = std::get_if<DimRange>(&d);
  return r != nullptr && r->start.is_int(0) && r->stride.is_int(1) && r->len == size;
}

}  // namespace

bool is_always_inside(const Type& t, const std::vector<Dim>& dims) {
  for (size_t d = 0; d < dims.size(); ++d) {
    const Atom& size = t.dims[d];
    const auto* fix = std::get_if<DimFix>(&dims[d]);
    if (fix == nullptr && is_whole(dims[d], size)) continue;
    if (fix == nullptr || !fix->index.is_const() || !size.is_const()) return false;
    const int64_t i = fix->index.constant().as_i64();
    if (i < 0 || i >= size.constant().as_i64()) return false;
  }
  return true;
}

bool has_loops(const Body& b) {
  return std::any_of(b.stms.begin(), b.stms.end(), [](const Stm& s) {
    bool found = std::holds_alternative<ELoop>(s.exp);
    visit_bodies(s.exp, [&](const Body& inner) { found = found || has_loops(inner); });
    return found;
  });
}

AllTurns::AllTurns(Program& p, const ELoop& loop, const Atom& at, const Atom& count,
                   const Atom& bound, const std::vector<Type>& types, ProvId prov)
    : p_(p), at_(at), count_(count), bound_by_(bound), types_(types), top_(p, code_, prov) {
  for (const auto& param : loop.params) bound_.insert(param.var);
  bound_.insert(std::get<LoopFor>(loop.form).index);
  for_each_bound(loop.body, [&](VarId v) { bound_.insert(v); });
  for (const Atom& r : loop.body.results) {
    if (!r.is_const()) results_.insert(r.var());
  }
  for_each_needed(p, loop.body.stms, results_, [](const Stm&) {});
  define(loop.body, top_);
}

std::optional<Atom> AllTurns::sum(const Atom& value) {
  const Maybe all = this->value(value);
  if (!all || all->kind != Value::Kind::kSum) return std::nullopt;
  return all->atom;
}

/// The atom behind the loop, if it is the same in all turns.
std::optional<Atom> AllTurns::same(const Atom& a) {
  const Maybe all = value(a);
  if (!all || all->kind != Value::Kind::kSame) return std::nullopt;
  return all->atom;
}

void AllTurns::define(const Body& body, Builder& to) {
  for (const Stm& s : body.stms) {
    for (size_t k = 0; k < s.pat.size(); ++k) {
      definitions_.insert_or_assign(s.pat[k], Definition{&body, &s, k, &to});
    }
  }
}

/// What is bound in the lambda may be made once more, in another place.
void AllTurns::forget(const Lambda& l) {
  const auto forget = [&](VarId v) {
    made_.erase(v);
    same_.erase(v);
    definitions_.erase(v);
  };
  for (const VarId v : l.params) forget(v);
  for_each_bound(l.body, forget);
}

void AllTurns::note(VarId v, const Value& value) {
  made_.insert_or_assign(v, value);
  if (value.kind == Value::Kind::kSame) same_.insert_or_assign(v, value.atom);
}

AllTurns::Maybe AllTurns::value(const Atom& a) {
  if (a.is_const() || !bound_.contains(a.var())) return Value{Value::Kind::kSame, a};
  const auto made = made_.find(a.var());
  if (made != made_.end()) return made->second;
  const auto defined = definitions_.find(a.var());
  if (defined == definitions_.end()) return std::nullopt;
  const Definition d = defined->second;
  const std::vector<VarId> certs = std::exchange(d.to->certs(), d.stm->certs);
  const Maybe all = make(d, a.var());
  d.to->certs() = certs;
  if (all) note(a.var(), *all);
  return all;
}

AllTurns::Maybe AllTurns::make(const Definition& d, VarId v) {
  const Stm& s = *d.stm;
  if (std::any_of(s.certs.begin(), s.certs.end(), [&](VarId c) { return bound_.contains(c); })) {
    return std::nullopt;
  }
  if (d.to != &top_) return copy(d);
  if (auto rows = rows_at_turn(s)) return rows;
  const bool view = std::holds_alternative<ERearrange>(s.exp) ||
                    std::holds_alternative<EIndex>(s.exp) || std::holds_alternative<EPrim>(s.exp);
  Maybe all = view || !results_.contains(v) ? copy(d) : std::nullopt;
  return all || view ? all : keep(d);
}

/// `all` has the values of all turns, of type `t`.
AllTurns::Value AllTurns::rows_of(VarId all, const Type& t) {
  const auto is_known = [&](const auto& total) { return total.first == t.dims[0]; };
  auto total = std::find_if(totals_.begin(), totals_.end(), is_known);
  if (total == totals_.end()) {
    total = totals_.emplace(total, t.dims[0], top_.mul(count_, t.dims[0]));
  }
  std::vector<Atom> dims = t.dims;
  dims[0] = total->second;
  return {Value::Kind::kRows, top_.reshape(dims, all, "all"), 0};
}

/// The element of that number of an array from outside.
AllTurns::Maybe AllTurns::rows_at_turn(const Stm& s) {
  const auto* e = std::get_if<EIndex>(&s.exp);
  if (e == nullptr || bound_.contains(e->array) || e->dims.size() < 2) return std::nullopt;
  const Type t = p_.type_of(e->array);
  const auto* fix = std::get_if<DimFix>(&e->dims[0]);
  if (fix == nullptr || fix->index != at_ || (t.dims[0] != count_ && t.dims[0] != bound_by_)) {
    return std::nullopt;
  }
  for (size_t d = 1; d < e->dims.size(); ++d) {
    if (!is_whole(e->dims[d], t.dims[d])) return std::nullopt;
  }
  return rows_of(e->array, row_type(t));
}

AllTurns::Maybe AllTurns::keep(const Definition& d) {
  const VarId v = d.stm->pat[d.position];
  if (const auto made = made_.find(v); made != made_.end()) return made->second;
  const Type t = p_.type_of(v);
  const auto of_type = [&](VarId other) { return p_.type_of(other) == t; };
  const auto room = kMostKept * std::count(types_.begin(), types_.end(), t);
  const auto used = std::count_if(kept_.begin(), kept_.end(),
                                  [&](const Kept& kept) { return of_type(kept.var); });
  if (t.is_scalar() || used >= room) return std::nullopt;
  kept_.push_back({v, p_.new_var(array_of(count_, t), "tape")});
  const Value all = rows_of(kept_.back().all, t);
  note(v, all);
  return all;
}

AllTurns::Maybe AllTurns::copy(const Definition& d) {
  Builder& b = *d.to;
  const Exp& exp = d.stm->exp;
  if (const auto* e = std::get_if<EAtom>(&exp)) return value(e->atom);
  if (const auto* e = std::get_if<ERearrange>(&exp)) return rearrange(b, *e);
  if (const auto* e = std::get_if<EIndex>(&exp)) return index(b, *e);
  if (const auto* e = std::get_if<ESoac>(&exp)) return soac(d, *e);
  if (const auto* e = std::get_if<EReplicate>(&exp)) return replicate(b, *e);
  const auto* e = std::get_if<EPrim>(&exp);
  if (e == nullptr) return std::nullopt;
  std::vector<Atom> args;
  size_t sums = 0;
  for (const Atom& a : e->args) {
    const Maybe all = value(a);
    if (!all) return std::nullopt;
    args.push_back(all->atom);
    if (all->kind == Value::Kind::kSum) ++sums;
  }
  if (sums != 0 && (sums != args.size() || e->op != ScalarOp::kAdd)) return std::nullopt;
  const Type t = p_.type_of(d.stm->pat[0]);
  const auto kind = sums != 0 ? Value::Kind::kSum : Value::Kind::kSame;
  return Value{kind, b.emit(EPrim{e->op, e->type, e->to, std::move(args)}, t)};
}

AllTurns::Maybe AllTurns::replicate(Builder& b, const EReplicate& e) {
  const auto value = same(e.value);
  if (!value) return std::nullopt;
  std::vector<Atom> dims;
  for (const Atom& d : e.dims) {
    const auto dim = same(d);
    if (!dim) return std::nullopt;
    dims.push_back(*dim);
  }
  return Value{Value::Kind::kSame, b.replicate(dims, *value)};
}

AllTurns::Maybe AllTurns::rearrange(Builder& b, const ERearrange& e) {
  Maybe all = value(e.array);
  if (!all) return std::nullopt;
  all->atom = b.rearrange(e.perm, all->atom.var());
  if (all->kind == Value::Kind::kRows) {
    const auto axis = std::find(e.perm.begin(), e.perm.end(), all->axis);
    all->axis = static_cast<int>(axis - e.perm.begin());
  }
  return all;
}

AllTurns::Maybe AllTurns::index(Builder& b, const EIndex& e) {
  Maybe all = value(e.array);
  // Nothing else is known to be inside if there are no turns.
  if (!all || !is_always_inside(p_.type_of(e.array), e.dims)) return std::nullopt;
  const Type t = p_.type_of(all->atom);
  const bool rows = all->kind == Value::Kind::kRows;
  std::vector<Dim> dims = e.dims;
  int fixed = 0;  // before the axis
  for (int d = 0; d < t.rank(); ++d) {
    Dim& dim = dims[static_cast<size_t>(d)];
    if (std::holds_alternative<DimRange>(dim)) {
      dim = DimRange{i64(0), t.dims[static_cast<size_t>(d)], i64(1)};
    } else if (rows && d == all->axis) {
      return std::nullopt;
    } else if (d < all->axis) {
      ++fixed;
    }
  }
  all->axis -= fixed;
  const Type of_slice{t.prim, slice_dims(dims)};
  all->atom = b.emit(EIndex{all->atom.var(), std::move(dims)}, of_slice, "x");
  return all;
}

AllTurns::Maybe AllTurns::soac(const Definition& d, const ESoac& all) {
  const std::optional<ESoac> one = as_map(*d.stm) != nullptr
                                       ? map_to(p_, *d.body, *d.stm, d.position)
                                       : std::optional<ESoac>(all);
  if (!one) return std::nullopt;
  const ESoac& e = *one;
  std::vector<Value> inputs;
  bool rows = false;
  for (const VarId v : e.inputs) {
    const Maybe input = value(v);
    if (!input) return std::nullopt;
    inputs.push_back(*input);
    rows = rows || (input->kind == Value::Kind::kRows && input->axis == 0);
  }
  return rows ? over_rows(*d.to, e, inputs) : map(*d.to, e, inputs);
}

/// A map or sum of rows, which are those of all turns instead.
AllTurns::Maybe AllTurns::over_rows(Builder& b, const ESoac& e, const std::vector<Value>& inputs) {
  const bool is_sum = !e.reduces.empty();
  if (!e.scans.empty() || e.map.body.results.size() != 1 ||
      (is_sum && !is_addition(e.reduces[0]))) {
    return std::nullopt;
  }
  ESoac out = e;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].kind != Value::Kind::kRows || inputs[k].axis != 0) return std::nullopt;
    out.inputs[k] = inputs[k].atom.var();
  }
  out.width = p_.type_of(out.inputs[0]).dims[0];
  Type t = p_.type_of(e.map.body.results[0]);
  Stm s{{p_.new_var(is_sum ? t : array_of(out.width, t), "all")}, std::move(out), {}, b.prov(), {}};
  for (const VarId v : free_vars(p_, s)) {  // of what is new, nothing is bound in the loop
    if (!same(v)) return std::nullopt;
  }
  Subst names = same_;
  b.body().stms.push_back(copy_renamed(p_, s, &names));
  return Value{is_sum ? Value::Kind::kSum : Value::Kind::kRows, b.last().pat[0]};
}

AllTurns::Maybe AllTurns::map(Builder& b, const ESoac& e, const std::vector<Value>& inputs) {
  if (!e.scans.empty() || !e.reduces.empty() || e.map.body.results.size() != 1) {
    return std::nullopt;
  }
  const auto width = same(e.width);
  if (!width) return std::nullopt;
  ESoac out;
  out.width = *width;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const VarId array = inputs[k].atom.var();
    out.inputs.push_back(array);
    out.map.params.push_back(p_.new_var(row_type(p_.type_of(array)), "row"));
    const bool rows = inputs[k].kind == Value::Kind::kRows;
    note(e.map.params[k], {inputs[k].kind, out.map.params.back(), rows ? inputs[k].axis - 1 : 0});
  }
  Builder in(p_, out.map.body, b.prov());
  define(e.map.body, in);
  const Maybe result = value(e.map.body.results[0]);
  forget(e.map);
  if (!result) return std::nullopt;
  const Type row = p_.type_of(result->atom);
  out.map.body.results = {result->atom};
  out.map.ret = {row};
  Value made = *result;
  if (made.kind == Value::Kind::kRows) ++made.axis;
  made.atom = b.emit(std::move(out), array_of(*width, row), "all");
  return made;
}

}  // namespace kenaz::ad
