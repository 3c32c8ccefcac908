#include "kernels/ad/values.h"

namespace kenaz::ad {

using namespace ir;

Atom zero_of(Builder& b, const Type& type) {
  const Atom zero = PrimValue{type.prim, 0};
  if (type.is_scalar()) return zero;
  return b.replicate(type.dims, zero, "zero");
}

Atom add_values(Builder& b, const Atom& x, const Atom& y) {
  const Type t = b.program().type_of(x);
  if (t.is_scalar()) {
    return b.prim(t.prim == PrimType::kBool ? ScalarOp::kOr : ScalarOp::kAdd, {x, y}, "sum");
  }
  const Lambda rows = b.lambda({row_type(t), row_type(t)},
                               [](Builder& in, const std::vector<VarId>& params) {
                                 return std::vector<Atom>{add_values(in, params[0], params[1])};
                               },
                               {row_type(t)});
  return b.map(t.dims[0], {x.var(), y.var()}, rows, "sum")[0];
}

Lambda identity_lambda(Program& p, const std::vector<Type>& types) {
  Lambda l;
  for (const Type& t : types) {
    l.params.push_back(p.new_var(t, "x"));
    l.body.results.emplace_back(l.params.back());
    l.ret.push_back(t);
  }
  return l;
}

Monoid sum_of(Builder& b, const Type& type) {
  Monoid m;
  m.neutral.push_back(zero_of(b, type));
  m.op = b.lambda({type, type},
                  [](Builder& in, const std::vector<VarId>& params) {
                    return std::vector<Atom>{add_values(in, params[0], params[1])};
                  },
                  {type});
  m.commutative = true;
  return m;
}

Atom sum_rows(Builder& b, VarId array) {
  const Type t = b.program().type_of(array), row = row_type(t);
  ESoac e{t.dims[0], {array}, identity_lambda(b.program(), {row}), {}, {sum_of(b, row)}};
  return b.emit(std::move(e), row, "sum");
}

namespace {
bool is_addition(const std::vector<VarId>& params, const Body& body) {
  if (params.size() != 2 || body.stms.size() != 1 || body.results.size() != 1) return false;
  const Stm& s = body.stms[0];
  if (s.pat.size() != 1 || body.results[0] != Atom(s.pat[0])) return false;
  const Atom x = params[0], y = params[1];
  if (const auto* e = std::get_if<EPrim>(&s.exp)) {
    return e->op == ScalarOp::kAdd &&
           ((e->args[0] == x && e->args[1] == y) || (e->args[0] == y && e->args[1] == x));
  }
  const auto* e = std::get_if<ESoac>(&s.exp);
  if (e == nullptr || !e->scans.empty() || !e->reduces.empty() || e->inputs.size() != 2) {
    return false;
  }
  const bool straight = Atom(e->inputs[0]) == x && Atom(e->inputs[1]) == y;
  const bool swapped = Atom(e->inputs[0]) == y && Atom(e->inputs[1]) == x;
  return (straight || swapped) && is_addition(e->map.params, e->map.body);
}
}  // namespace

const ESoac* as_map(const Stm& s) {
  const auto* e = std::get_if<ESoac>(&s.exp);
  return e != nullptr && e->scans.empty() && e->reduces.empty() ? e : nullptr;
}

bool is_addition(const Monoid& m) { return is_addition(m.op.params, m.op.body); }

const EPrim* scalar_operation(const Monoid& m) {
  const Lambda& op = m.op;
  if (op.params.size() != 2 || op.body.stms.size() != 1) return nullptr;
  const Stm& s = op.body.stms[0];
  const auto* e = std::get_if<EPrim>(&s.exp);
  const std::vector<Atom> operands(op.params.begin(), op.params.end());
  const bool is_all = e != nullptr && e->args == operands && op.body.results[0] == Atom(s.pat[0]);
  return is_all ? e : nullptr;
}

bool is_extreme(const Monoid& m) {
  // With its operands exchanged, the last of equals would be the result.
  const EPrim* e = scalar_operation(m);
  return e != nullptr && (e->op == ScalarOp::kMin || e->op == ScalarOp::kMax);
}

bool is_identity(const Lambda& l) {
  if (!l.body.stms.empty() || l.params.size() != l.body.results.size()) return false;
  for (size_t k = 0; k < l.params.size(); ++k) {
    if (l.body.results[k] != Atom(l.params[k])) return false;
  }
  return true;
}

std::vector<Atom> inline_lambda(Builder& b, const Lambda& l, const std::vector<Atom>& args) {
  Subst s;
  for (size_t k = 0; k < args.size(); ++k) s[l.params[k]] = args[k];
  Body copy = copy_renamed(b.program(), l.body, s);
  for (Stm& stm : copy.stms) b.body().stms.push_back(std::move(stm));
  return copy.results;
}

std::vector<VarId> bind_arguments(Builder& b, const Lambda& l, const std::vector<Atom>& args,
                                  Subst& s) {
  std::vector<VarId> out;
  for (size_t k = 0; k < args.size(); ++k) {
    const VarInfo info = b.program().vars[l.params[k].index];
    out.push_back(b.emit(EAtom{args[k]}, info.type, info.name));
    s[l.params[k]] = out.back();
  }
  return out;
}

VarId reversed(Builder& b, VarId array) {
  const Type t = b.program().type_of(array);
  std::vector<Dim> dims = row_dims(t, {});
  dims[0] = DimRange{b.sub(t.dims[0], i64(1)), t.dims[0], i64(-1)};
  return b.slice(array, std::move(dims), "reversed");
}

Atom is_inside(Builder& b, const std::vector<Atom>& index, const Type& t) {
  Atom inside = PrimValue::of_bool(true);
  for (size_t d = 0; d < index.size(); ++d) {
    inside = b.logical_and(inside, b.in_bounds(index[d], t.dims[d]));
  }
  return inside;
}

Atom row_or_zero(Builder& b, VarId array, const std::vector<Atom>& index) {
  const Type t = b.program().type_of(array);
  const Type row{t.prim,
                 {t.dims.begin() + static_cast<std::ptrdiff_t>(index.size()), t.dims.end()}};
  const Atom inside = is_inside(b, index, t);
  return b.if_(
      inside, [&](Builder& in) { return std::vector<Atom>{in.index(array, index)}; },
      [&](Builder& in) { return std::vector<Atom>{zero_of(in, row)}; }, {row}, "row")[0];
}

std::vector<Atom> rows_or(Builder& b, const Atom& exists, const Atom& at,
                          const std::vector<VarId>& arrays, const std::vector<Atom>& otherwise) {
  std::vector<Type> types;
  for (const VarId v : arrays) types.push_back(row_type(b.program().type_of(v)));
  const auto rows = b.if_(
      exists,
      [&](Builder& in) {
        std::vector<Atom> out;
        for (const VarId v : arrays) out.push_back(in.index(v, std::vector<Atom>{at}));
        return out;
      },
      [&](Builder&) { return otherwise; }, types, "row");
  return {rows.begin(), rows.end()};
}

}  // namespace kenaz::ad
