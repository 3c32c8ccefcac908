// Scalar intrinsics, and equality of anything.
#include <string_view>

#include "kernels/futhark/lower/lowerer.h"
#include "protocol/base/overloaded.h"

namespace kenaz::lower {

using core::Intrinsic;
using ir::Atom;

namespace {

std::string_view intrinsic_name(Intrinsic op) {
  static constexpr std::string_view kNames[] = {
#define INTRINSIC(e, name, constraint, type) name,
#include "kernels/futhark/core/intrinsics.def"
#undef INTRINSIC
  };
  return kNames[static_cast<size_t>(op)];
}

std::optional<ScalarOp> scalar_op_of(Intrinsic op) {
  switch (op) {
    case Intrinsic::kAdd: return ScalarOp::kAdd;
    case Intrinsic::kSub: return ScalarOp::kSub;
    case Intrinsic::kMul: return ScalarOp::kMul;
    case Intrinsic::kDiv: return ScalarOp::kDiv;
    case Intrinsic::kMod: return ScalarOp::kMod;
    case Intrinsic::kQuot: return ScalarOp::kQuot;
    case Intrinsic::kRem: return ScalarOp::kRem;
    case Intrinsic::kPow: return ScalarOp::kPow;
    case Intrinsic::kBitAnd: return ScalarOp::kAnd;
    case Intrinsic::kBitOr: return ScalarOp::kOr;
    case Intrinsic::kBitXor: return ScalarOp::kXor;
    case Intrinsic::kShl: return ScalarOp::kShl;
    case Intrinsic::kShr: return ScalarOp::kShr;
    case Intrinsic::kLShr: return ScalarOp::kLShr;
    case Intrinsic::kLt: return ScalarOp::kLt;
    case Intrinsic::kLe: return ScalarOp::kLe;
    case Intrinsic::kNeg: return ScalarOp::kNeg;
    case Intrinsic::kNot: return ScalarOp::kNot;
    default: break;
  }
  // From min on, the table lists scalar functions until the array functions begin.
  if (op >= Intrinsic::kMin && op < Intrinsic::kMap) return scalar_op_from_name(intrinsic_name(op));
  return std::nullopt;
}

bool divides(ScalarOp op) {
  return op == ScalarOp::kDiv || op == ScalarOp::kMod || op == ScalarOp::kQuot ||
         op == ScalarOp::kRem;
}

}  // namespace

std::string Lowerer::intrinsic_text(Intrinsic op) { return std::string(intrinsic_name(op)); }

V Lowerer::apply_scalar(const VFun& f, const std::vector<V>& args, bool unsafe, bool& handled) {
  handled = true;
  const Intrinsic op = f.intrinsic->op;
  if (op == Intrinsic::kEq) return leaf(equal(args[0], args[1]));
  if (op == Intrinsic::kNe) return leaf(b_.negate(equal(args[0], args[1])));
  if (op == Intrinsic::kGt || op == Intrinsic::kGe) {
    Atom a = as_atom(args[0]), c = as_atom(args[1]);
    return leaf(
        b_.prim(op == Intrinsic::kGt ? ScalarOp::kLt : ScalarOp::kLe, b_.type_of(a).prim, {c, a}));
  }
  auto scalar = scalar_op_of(op);
  if (!scalar) {
    handled = false;
    return unit();
  }
  std::vector<Atom> operands;
  for (const auto& a : args) operands.push_back(as_atom(a));
  if (failed()) return unit();
  const PrimType t = b_.type_of(operands[0]).prim;
  if (op == Intrinsic::kConvert || op == Intrinsic::kBitcast) {
    if (f.intrinsic->targs.size() < 2) return broken("a conversion without types");
    return leaf(b_.convert(*scalar, t, prim_of(Ty{f.intrinsic->targs[1], f.env}), operands[0]));
  }
  if (!scalar_op_accepts(*scalar, t)) {
    return broken(std::string(intrinsic_name(op)) + " at type " + std::string(prim_name(t)));
  }
  Certs certs;
  if (!unsafe && is_integer(t)) {
    if (divides(*scalar)) {
      check(b_.prim(ScalarOp::kNe, t, {operands[1], PrimValue::of_int(t, 0)}), {"division by zero"},
            certs);
    } else if (*scalar == ScalarOp::kPow && prim_kind(t) == PrimKind::kSigned) {
      check(b_.prim(ScalarOp::kLe, t, {PrimValue::of_int(t, 0), operands[1]}),
            {"negative exponent"}, certs);
    }
  }
  return leaf(b_.prim(*scalar, t, std::move(operands), certs));
}

// ---- equality

Atom Lowerer::equal(const V& a, const V& c) {
  const Atom yes = PrimValue::of_bool(true);
  if (failed()) return yes;
  if (std::holds_alternative<VConstr>(a->node) && std::holds_alternative<VConstr>(c->node)) {
    const auto& x = std::get<VConstr>(a->node);
    const auto& y = std::get<VConstr>(c->node);
    if (x.index != y.index) return PrimValue::of_bool(false);
    Atom all = yes;
    for (size_t i = 0; i < x.args.size() && i < y.args.size(); ++i) {
      all = b_.both(all, equal(x.args[i], y.args[i]));
    }
    return all;
  }
  V v = materialise(a), w = materialise(c);
  if (failed()) return yes;
  return std::visit(
      Overloaded{
          [&](const VLeaf& l) {
            return b_.prim(ScalarOp::kEq, b_.type_of(l.atom).prim, {l.atom, as_atom(w)});
          },
          [&](const VRec& r) {
            const VRec& s = as_record(w);
            Atom all = yes;
            for (size_t i = 0; i < r.fields.size() && i < s.fields.size(); ++i) {
              all = b_.both(all, equal(r.fields[i].second, s.fields[i].second));
            }
            return all;
          },
          [&](const VArr&) { return equal_arrays(v, w); },
          [&](const VSum& s) {
            const auto* t = std::get_if<VSum>(&w->node);
            if (t == nullptr || t->atoms.size() != s.atoms.size()) {
              broken("equality of a sum");
              return yes;
            }
            return equal_sums(s, *t);
          },
          [&](const auto&) {
            broken("equality of functions");
            return yes;
          },
      },
      v->node);
}

Atom Lowerer::equal_sums(const VSum& a, const VSum& c) {
  Atom all = PrimValue::of_bool(true);
  const bool arrays = std::any_of(a.layout->leaves.slots.begin(), a.layout->leaves.slots.end(),
                                  [](const auto& s) { return s.rank > 0; });
  if (!a.layout->tagged() || !arrays) {
    // Slots that a constructor does not use are zero: values of the same tag differ only in
    // slots that it uses.
    for (size_t i = 0; i < a.atoms.size(); ++i) {
      Atom x = a.atoms[i], y = c.atoms[i];
      V v = leaf(x), w = leaf(y);
      std::vector<Atom> dims = b_.type_of(x).dims, other = b_.type_of(y).dims;
      for (size_t d = dims.size(); d-- > 0;) {
        v = make(VArr{dims[d], v});
        w = make(VArr{other[d], w});
      }
      all = b_.both(all, equal(v, w));
    }
    return all;
  }
  // Only the payload of the constructor that both have.
  std::function<Atom(size_t)> from = [&](size_t k) -> Atom {
    auto payloads = [&] {
      Atom same = PrimValue::of_bool(true);
      for (size_t i = 0; i < a.layout->leaves.payload[k].size(); ++i) {
        same = b_.both(same, equal(payload(a, static_cast<int>(k), static_cast<int>(i)),
                                   payload(c, static_cast<int>(k), static_cast<int>(i))));
      }
      return leaf(same);
    };
    if (k + 1 == a.layout->constructors.size()) return as_atom(payloads());
    Atom here = b_.prim(ScalarOp::kEq, PrimType::kI8,
                        {a.atoms[0], PrimValue::of_int(PrimType::kI8, static_cast<int64_t>(k))});
    return as_atom(branch(
        here, payloads, [&] { return leaf(from(k + 1)); }, nullptr));
  };
  Atom tags = b_.prim(ScalarOp::kEq, PrimType::kI8, {a.atoms[0], c.atoms[0]});
  return as_atom(branch(
      tags, [&] { return leaf(from(0)); }, [&] { return leaf(PrimValue::of_bool(false)); },
      nullptr));
}

Atom Lowerer::equal_arrays(const V& a, const V& c) {
  std::vector<Atom> dims = spine_dims(a), other = spine_dims(c);
  Atom same = PrimValue::of_bool(true);
  if (dims.size() != other.size()) {
    broken("equality of arrays of different ranks");
    return same;
  }
  for (size_t i = 0; i < dims.size(); ++i) same = b_.both(same, b_.eq(dims[i], other[i]));
  auto contents = [&] {
    // All elements in a row, compared and reduced with `and`.
    V x = a, y = c;
    for (size_t i = 1; i < dims.size(); ++i) {
      x = flatten(x);
      y = flatten(y);
    }
    Atom n = as_array(x).dim;
    y = with_outer_dim(y, n);
    if (failed()) return unit();
    ir::ESoac soac;
    soac.width = n;
    b_.open();
    V ex = lambda_row(x, soac.map, soac.inputs);
    V ey = lambda_row(y, soac.map, soac.inputs);
    soac.map.body.results = {equal(ex, ey)};
    soac.map.body.stms = b_.close();
    soac.map.ret = {{PrimType::kBool, {}}};
    ir::Monoid m;
    b_.open();
    ir::VarId p = b_.var({PrimType::kBool, {}}, "x"), q = b_.var({PrimType::kBool, {}}, "y");
    m.op.params = {p, q};
    m.op.body.results = {b_.both(p, q)};
    m.op.body.stms = b_.close();
    m.op.ret = soac.map.ret;
    m.neutral = {PrimValue::of_bool(true)};
    m.commutative = true;
    soac.reduces.push_back(std::move(m));
    return leaf(b_.let({PrimType::kBool, {}}, std::move(soac), "equal"));
  };
  return as_atom(branch(
      same, contents, [&] { return leaf(PrimValue::of_bool(false)); }, nullptr));
}

}  // namespace kenaz::lower
