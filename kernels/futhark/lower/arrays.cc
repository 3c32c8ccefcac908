// Indexing, slicing, updates, literals.
#include <limits>
#include <tuple>

#include "kernels/futhark/lower/lowerer.h"

namespace kenaz::lower {

using ir::Atom;

std::vector<Atom> Lowerer::spine_dims(const V& array) {
  std::vector<Atom> dims;
  const Value* v = array.get();
  while (const auto* a = std::get_if<VArr>(&v->node)) {
    dims.push_back(a->dim);
    v = a->elem.get();
  }
  return dims;
}

V Lowerer::index_value(const V& array, const std::vector<ir::Dim>& dims, const Certs& certs) {
  V v = array;
  std::vector<Atom> kept;
  for (const auto& d : dims) {
    const VArr& a = as_array(v);
    if (failed()) return unit();
    if (const auto* r = std::get_if<ir::DimRange>(&d)) kept.push_back(r->len);
    v = a.elem;
  }
  v = map_leaves(v, [&](const Atom& x) -> Atom {
    if (x.is_const()) return x;
    ir::Type t = b_.type_of(x);
    ir::EIndex e{x.var(), dims};
    std::vector<Atom> rest;
    for (size_t i = dims.size(); i < t.dims.size(); ++i) {
      e.dims.push_back(ir::DimRange{ir::i64(0), t.dims[i], ir::i64(1)});
      rest.push_back(t.dims[i]);
    }
    t.dims = kept;
    t.dims.insert(t.dims.end(), rest.begin(), rest.end());
    return b_.let(t, std::move(e), t.dims.empty() ? "elem" : "slice", certs);
  });
  for (size_t i = kept.size(); i-- > 0;) v = make(VArr{kept[i], v});
  return v;
}

V Lowerer::row(const V& array, const Atom& index) {
  return index_value(array, {ir::DimFix{index}}, {});
}

Lowerer::Slice Lowerer::eval_slice(const V& array, const std::vector<core::DimIndex>& dims,
                                   const Env& env) {
  Slice s;
  std::vector<Atom> shape = spine_dims(array);
  if (!failed() && shape.size() < dims.size()) broken("too many indices");
  Atom ok = PrimValue::of_bool(true);
  Message message{"Index ["};
  for (size_t d = 0; d < dims.size() && !failed(); ++d) {
    const core::DimIndex& x = dims[d];
    const Atom& n = shape[d];
    if (d > 0) message.push_back(", ");
    if (x.index != nullptr) {
      Atom i = as_atom(eval(x.index, env));
      ok = b_.both(ok, b_.both(b_.le(ir::i64(0), i), b_.lt(i, n)));
      message.push_back(i);
      s.dims.push_back(ir::DimFix{i});
      continue;
    }
    std::optional<Atom> start, end, stride;
    if (x.start != nullptr) start = as_atom(eval(x.start, env));
    if (x.end != nullptr) end = as_atom(eval(x.end, env));
    if (x.stride != nullptr) stride = as_atom(eval(x.stride, env));
    if (failed()) break;
    if (start) message.push_back(*start);
    message.push_back(":");
    if (end) message.push_back(*end);
    if (stride) {
      message.push_back(":");
      message.push_back(*stride);
    }
    s.dims.push_back(slice_dim(n, start, end, stride, ok));
  }
  if (failed()) return s;
  message.push_back("] out of bounds for array of shape ");
  for (size_t d = 0; d < dims.size(); ++d) {
    message.push_back("[");
    message.push_back(shape[d]);
    message.push_back("]");
  }
  message.push_back(".");
  if (!env.unsafe) check(ok, std::move(message), s.certs);
  return s;
}

ir::DimRange Lowerer::slice_dim(const Atom& n, const std::optional<Atom>& start,
                                const std::optional<Atom>& end, const std::optional<Atom>& stride,
                                Atom& ok) {
  const Atom zero = ir::i64(0), one = ir::i64(1), minus = ir::i64(-1);
  const PrimType t = PrimType::kI64;
  if (!stride || *stride == one) {
    Atom i = start.value_or(zero), j = end.value_or(n);
    Atom len = b_.sub(j, i);
    Atom fine = b_.both(b_.both(b_.le(zero, i), b_.le(i, j)), b_.le(j, n));
    // An empty slice is fine anywhere; with i = 0 or j = n that needs no test of its own.
    if (start && end && !(i == zero) && !(j == n)) fine = b_.either(b_.eq(i, j), fine);
    ok = b_.both(ok, fine);
    return {i, len, one};
  }
  if (*stride == minus && !start && !end) return {b_.sub(n, one), n, minus};
  const Atom& s = *stride;
  Atom sign = b_.prim(ScalarOp::kSgn, t, {s});
  Atom back = b_.lt(s, zero);
  Atom i = start ? *start : b_.select(t, back, b_.sub(n, one), zero);
  Atom j = end ? *end : b_.select(t, back, minus, n);
  // (distance + s - sign) / s, that is, rounded away from zero; but where the distance is in the
  // stride's direction, it must not be added to the stride: the sum of the two may wrap.
  Atom distance = b_.sub(j, i);
  Atom ahead = b_.eq(b_.prim(ScalarOp::kSgn, t, {distance}), sign);
  Atom steps = b_.select(t, ahead, b_.sub(distance, sign), b_.add(distance, b_.sub(s, sign)));
  Atom len = b_.add(b_.prim(ScalarOp::kQuot, t, {steps, s}),
                    b_.convert(ScalarOp::kConvert, PrimType::kBool, t, ahead));
  Atom exact = b_.prim(ScalarOp::kEq, PrimType::kBool, {b_.le(i, j), b_.le(zero, distance)});
  Atom last = b_.add(i, b_.mul(b_.sub(len, one), s));
  auto inside = [&](const Atom& x) { return b_.both(b_.le(zero, x), b_.lt(x, n)); };
  Atom forward = b_.both(b_.both(b_.le(zero, i), b_.le(i, j)), inside(last));
  Atom backward =
      b_.both(b_.both(b_.le(minus, j), b_.le(j, i)), b_.both(inside(last), b_.lt(i, n)));
  Atom fine = b_.either(b_.both(exact, b_.eq(len, zero)),
                        b_.select(PrimType::kBool, back, backward, forward));
  fine = b_.both(fine, b_.prim(ScalarOp::kNe, t, {s, zero}));
  ok = b_.both(ok, fine);
  return {i, len, s};
}

V Lowerer::eval_update(const core::EUpdate& u, const Env& env) {
  V array = eval(u.array, env);
  if (failed()) return unit();
  // The inner update of `x with [i].f[j] = v` works on a view of x, which is updated after it.
  const core::Exp* source = u.array.get();
  while (const auto* p = std::get_if<core::EProject>(&source->node)) source = p->record.get();
  if (std::holds_alternative<core::EIndex>(source->node)) array = copy(array);
  Slice s = eval_slice(array, u.dims, env);
  V value = failed() ? unit() : materialise(eval(u.value, env));
  if (failed()) return unit();
  V elem = array;
  std::vector<Atom> kept;
  for (const auto& d : s.dims) {
    if (const auto* r = std::get_if<ir::DimRange>(&d)) kept.push_back(r->len);
    elem = as_array(elem).elem;
  }
  std::vector<Atom> from, to;
  for (const auto& l : leaves(value)) {
    if (!l.is_dim()) from.push_back(l.atom);
  }
  for (const auto& l : leaves(array)) {
    if (!l.is_dim()) to.push_back(l.atom);
  }
  if (from.size() != to.size()) return broken("an update with a value of another type");
  Certs certs = s.certs;
  std::vector<std::vector<Atom>> wanted;
  Atom ok = PrimValue::of_bool(true);
  for (size_t k = 0; k < from.size(); ++k) {
    std::vector<Atom> want = kept;
    std::vector<Atom> dims = b_.type_of(to[k]).dims;
    want.insert(want.end(), dims.begin() + s.dims.size(), dims.end());
    std::vector<Atom> have = b_.type_of(from[k]).dims;
    if (have.size() != want.size()) return broken("an update with a value of another rank");
    for (size_t d = 0; d < want.size(); ++d) ok = b_.both(ok, b_.eq(want[d], have[d]));
    wanted.push_back(std::move(want));
  }
  if (!env.unsafe) check(ok, {"Shape of slice does not match shape of value."}, certs);
  size_t k = 0;
  V updated = map_leaves(elem, [&](const Atom& x) -> Atom {
    if (x.is_const()) return x;
    const Atom& old = from[k];
    Atom v = wanted[k].empty() ? old : reshape(old, wanted[k], certs);
    ++k;
    ir::EUpdate e{x.var(), s.dims, v};
    ir::Type t = b_.type_of(x);
    for (size_t i = s.dims.size(); i < t.dims.size(); ++i) {
      e.dims.push_back(ir::DimRange{ir::i64(0), t.dims[i], ir::i64(1)});
    }
    // Fields that `x with [i].f = v` leaves alone.
    if (b_.is_view(old, e.array, e.dims)) return x;
    return b_.let(t, std::move(e), "updated", certs);
  });
  std::vector<Atom> spine = spine_dims(array);
  for (size_t i = s.dims.size(); i-- > 0;) updated = make(VArr{spine[i], updated});
  return updated;
}

V Lowerer::eval_array(const core::Exp& e, const core::EArray& a, const Env& env) {
  if (a.elems.empty()) {
    Ty h = head(Ty{e.type, env});
    const auto* t = h.type != nullptr ? std::get_if<core::TArray>(&h.type->node) : nullptr;
    if (failed() || t == nullptr) return broken("the type of an empty array");
    return replicate(ir::i64(0), zero(sub(h, t->elem)));
  }
  std::vector<std::vector<Atom>> elems;
  V first;
  for (const auto& x : a.elems) {
    V v = materialise(eval(x, env));
    if (failed()) return unit();
    if (first == nullptr) first = v;
    std::vector<Atom> row;
    for (const auto& l : leaves(v)) {
      if (!l.is_dim()) row.push_back(l.atom);
    }
    elems.push_back(std::move(row));
  }
  Certs certs;
  for (size_t i = 1; i < elems.size(); ++i) {
    if (elems[i].size() != elems[0].size()) return broken("array elements of different structure");
    Atom ok = PrimValue::of_bool(true);
    for (size_t k = 0; k < elems[0].size(); ++k) {
      std::vector<Atom> want = b_.type_of(elems[0][k]).dims;
      std::vector<Atom> have = b_.type_of(elems[i][k]).dims;
      if (have.size() != want.size()) return broken("array elements of different ranks");
      for (size_t d = 0; d < want.size(); ++d) ok = b_.both(ok, b_.eq(want[d], have[d]));
      if (!want.empty()) elems[i][k] = reshape(elems[i][k], want, {});
    }
    if (!env.unsafe) {
      check(ok, {"shape of element differs from shape of first element"}, certs);
    }
  }
  const Atom n = ir::i64(static_cast<int64_t>(elems.size()));
  size_t k = 0;
  V lifted = map_leaves(first, [&](const Atom& x) -> Atom {
    ir::Type row = b_.type_of(x);
    ir::EArrayLit lit{{}, row};
    for (const auto& r : elems) lit.elems.push_back(r[k]);
    ++k;
    ir::Type t = row;
    t.dims.insert(t.dims.begin(), n);
    return b_.let(t, std::move(lit), "array", certs);
  });
  return make(VArr{n, lifted});
}

V Lowerer::eval_string(const core::EString& s) {
  const Atom n = ir::i64(static_cast<int64_t>(s.bytes.size()));
  ir::Type row{PrimType::kU8, {}};
  ir::EArrayLit lit{{}, row};
  for (unsigned char c : s.bytes) lit.elems.push_back(PrimValue::of_int(PrimType::kU8, c));
  return make(VArr{n, leaf(b_.let({PrimType::kU8, {n}}, std::move(lit), "string"))});
}

// ---- ranges

/// The length of a range that is valid, and whether it is one that an i64 holds. `distance` and
/// `width` (the distance of the first two elements) are bit patterns of unsigned numbers.
std::pair<Atom, Atom> Lowerer::range_length(const Atom& distance, const Atom& width,
                                            bool inclusive) {
  const PrimType i64 = PrimType::kI64, u64 = PrimType::kU64;
  const auto is_unsigned = [&](const Atom& a) {
    return b_.convert(ScalarOp::kConvert, i64, u64, a);
  };
  const Atom zero = PrimValue::of_int(u64, 0), one = PrimValue::of_int(u64, 1);
  const Atom d = is_unsigned(distance), w = is_unsigned(width);
  // Rounded up: the last element of an exclusive range stands before its end, if there is one.
  const Atom any = inclusive ? one
                             : b_.convert(ScalarOp::kConvert, PrimType::kBool, u64,
                                          b_.prim(ScalarOp::kNe, u64, {d, zero}));
  const Atom steps = inclusive ? d : b_.prim(ScalarOp::kSub, u64, {d, any});
  const Atom whole = w == one ? steps : b_.prim(ScalarOp::kQuot, u64, {steps, w});
  const Atom length = b_.prim(ScalarOp::kAdd, u64, {whole, any});
  const Atom most = PrimValue::of_int(u64, std::numeric_limits<int64_t>::max());
  return {b_.convert(ScalarOp::kConvert, u64, i64, length),
          b_.prim(ScalarOp::kLt, u64, {whole, most})};
}

V Lowerer::eval_range(const core::Exp&, const core::ERange& r, const Env& env) {
  Atom start = as_atom(eval(r.start, env));
  std::optional<Atom> second;
  if (r.second != nullptr) second = as_atom(eval(r.second, env));
  Atom end = as_atom(eval(r.end, env));
  if (failed()) return unit();
  const PrimType t = b_.type_of(start).prim;
  const bool down = r.kind == core::ERange::kDownExclusive;
  const bool inclusive = r.kind == core::ERange::kInclusive;
  auto op = [&](ScalarOp o, const Atom& a, const Atom& c) { return b_.prim(o, t, {a, c}); };
  auto wide = [&](const Atom& a) { return b_.convert(ScalarOp::kConvert, t, PrimType::kI64, a); };
  Atom step = second ? op(ScalarOp::kSub, *second, start) : PrimValue::of_int(t, down ? -1 : 1);
  // Whether the step goes downwards; compared, not computed, so that unsigned types work too.
  Atom downwards = second ? op(ScalarOp::kLt, *second, start) : Atom(PrimValue::of_bool(down));
  Atom invalid = second ? op(ScalarOp::kEq, *second, start) : Atom(PrimValue::of_bool(false));
  Atom up_invalid = op(ScalarOp::kLt, end, start);
  Atom down_invalid = op(ScalarOp::kLt, start, end);
  // Differences at 64 bits may be as large as an unsigned number of 64 bits.
  auto apart = [&](const Atom& from, const Atom& to) {
    return b_.select(PrimType::kI64, downwards, b_.sub(wide(from), wide(to)),
                     b_.sub(wide(to), wide(from)));
  };
  if (inclusive) {
    invalid = b_.either(invalid, b_.select(PrimType::kBool, downwards, down_invalid, up_invalid));
  } else if (down) {
    invalid = b_.either(invalid, b_.either(b_.negate(downwards), down_invalid));
  } else {
    invalid = b_.either(invalid, b_.either(downwards, up_invalid));
  }
  const Atom distance = down        ? b_.sub(wide(start), wide(end))
                        : inclusive ? apart(start, end)
                                    : b_.sub(wide(end), wide(start));
  const Atom width = second ? apart(start, *second) : ir::i64(1);
  // From 0 or more up to an i64 it cannot be too far.
  const Atom& low = down ? end : start;
  const bool near = prim_size(t) < 8 || (t == PrimType::kI64 && !inclusive && low.is_const() &&
                                         low.constant().as_i64() >= 0);
  Atom length = inclusive ? b_.add(distance, ir::i64(1)) : distance,
       fits = PrimValue::of_bool(true);
  if (!near || !(width == ir::i64(1))) {
    std::tie(length, fits) = range_length(distance, width, inclusive);
  }
  Certs certs;
  if (env.unsafe) {
    length = b_.prim(ScalarOp::kMax, PrimType::kI64, {length, ir::i64(0)});
  } else {
    const char* dots = inclusive ? "..." : down ? "..>" : "..<";
    const auto complain = [&](const char* what) {
      if (!second) return Message{"Range ", start, dots, end, what};
      return Message{"Range ", start, "..", *second, dots, end, what};
    };
    check(b_.negate(invalid), complain(" is invalid."), certs);
    if (!near) {
      check(fits, complain(" has too many elements."), certs);
      length = checked_size(length, certs);
    }
  }
  ir::VarId v = b_.let({t, {length}}, ir::EIota{length, start, step, t}, "iota", certs);
  return make(VArr{length, leaf(v)});
}

// ---- size coercions

void Lowerer::coerce_checks(const V& v, const Ty& t, Certs& certs) {
  if (const auto* r = std::get_if<VRec>(&v->node)) {
    Ty h = head(t);
    const auto* rt = h.type != nullptr ? std::get_if<core::TRecord>(&h.type->node) : nullptr;
    if (failed() || rt == nullptr || rt->fields.size() != r->fields.size()) return;
    for (size_t i = 0; i < r->fields.size(); ++i) {
      coerce_checks(r->fields[i].second, sub(h, rt->fields[i].second), certs);
    }
    return;
  }
  if (!std::holds_alternative<VArr>(v->node)) return;
  Message message{"Value of (desugared) shape "}, target;
  Atom ok = PrimValue::of_bool(true);
  V inner = v;
  Ty type = t;
  while (const auto* a = std::get_if<VArr>(&inner->node)) {
    type = head(type);
    const auto* at = type.type != nullptr ? std::get_if<core::TArray>(&type.type->node) : nullptr;
    if (failed() || at == nullptr) return;
    message.push_back("[");
    message.push_back(a->dim);
    message.push_back("]");
    auto want = size_atom(at->dim, type.env, true);
    if (want) ok = b_.both(ok, b_.eq(a->dim, *want));
    target.push_back("[");
    if (want) target.push_back(*want);
    target.push_back("]");
    type = sub(type, at->elem);
    V next = a->elem;
    inner = next;
  }
  message.push_back(" cannot match shape of type \"");
  message.insert(message.end(), target.begin(), target.end());
  message.push_back(show(type) + "\".");
  check(ok, std::move(message), certs);
  coerce_checks(inner, type, certs);
}

V Lowerer::eval_coerce(const core::Exp& e, const core::ECoerce& c, const Env& env) {
  V v = eval(c.inner, env);
  if (failed()) return unit();
  Ty t{e.type, env};
  Certs certs;
  v = materialise(v);
  if (!env.unsafe) coerce_checks(v, t, certs);
  return failed() ? unit() : conform(v, t, true, certs);
}

}  // namespace kenaz::lower
