// Intrinsic functions on arrays: which is which, and the first-order ones.
#include "kernels/futhark/lower/lowerer.h"
#include "kernels/scalar/size.h"

namespace kenaz::lower {

using core::Intrinsic;
using ir::Atom;

V Lowerer::apply_intrinsic(const VFun& f, const std::vector<V>& args, bool unsafe) {
  bool handled = false;
  V v = apply_scalar(f, args, unsafe || f.env.unsafe, handled);
  if (handled || failed()) return v;
  return apply_array_intrinsic(f, args, unsafe || f.env.unsafe);
}

V Lowerer::apply_array_intrinsic(const VFun& f, const std::vector<V>& args, bool unsafe) {
  switch (f.intrinsic->op) {
    case Intrinsic::kMap: return map(f, args[0], args[1]);
    case Intrinsic::kReduce: return reduce(args[0], args[1], args[2], false, false);
    case Intrinsic::kReduceComm: return reduce(args[0], args[1], args[2], true, false);
    case Intrinsic::kScan: return reduce(args[0], args[1], args[2], false, true);
    case Intrinsic::kScatter: return scatter(args[0], args[1], args[2], 1);
    case Intrinsic::kScatter2d: return scatter(args[0], args[1], args[2], 2);
    case Intrinsic::kScatter3d: return scatter(args[0], args[1], args[2], 3);
    case Intrinsic::kHist1d: return hist(args[0], args[1], args[2], args[3], args[4], 1);
    case Intrinsic::kHist2d: return hist(args[0], args[1], args[2], args[3], args[4], 2);
    case Intrinsic::kHist3d: return hist(args[0], args[1], args[2], args[3], args[4], 3);
    case Intrinsic::kPack: return pack(args[0], args[1], 1, false);
    case Intrinsic::kPackRest: return pack(args[0], args[1], 1, true);
    case Intrinsic::kPackRest2: return pack(args[0], args[1], 2, true);
    case Intrinsic::kSortKeys: return sort_keys(args[0]);
    case Intrinsic::kSortBy: return sort_by(args[0], args[1]);
    case Intrinsic::kZip: return zip(args[0], args[1]);
    case Intrinsic::kUnzip: {
      const VArr& a = as_array(args[0]);
      VRec out;
      for (const auto& x : as_record(a.elem).fields) {
        out.fields.emplace_back(x.first, make(VArr{a.dim, x.second}));
      }
      return make(std::move(out));
    }
    case Intrinsic::kReplicate:
    case Intrinsic::kIota: {
      Atom n = as_atom(args[0]);
      if (failed()) return unit();
      Certs certs;
      if (!unsafe) {
        check(b_.le(ir::i64(0), n), {"Range 0..1..<", n, " is invalid."}, certs);
      } else {
        n = b_.prim(ScalarOp::kMax, PrimType::kI64, {n, ir::i64(0)});
      }
      if (f.intrinsic->op == Intrinsic::kReplicate) return replicate(n, args[1], certs);
      ir::EIota iota{n, ir::i64(0), ir::i64(1), PrimType::kI64};
      return make(VArr{n, leaf(b_.let({PrimType::kI64, {n}}, iota, "iota", certs))});
    }
    case Intrinsic::kConcat: return concat(args[0], args[1]);
    case Intrinsic::kTranspose: return transpose(args[0]);
    case Intrinsic::kFlatten: return flatten(args[0]);
    case Intrinsic::kUnflatten: return unflatten(f, args[0], unsafe);
    case Intrinsic::kManifest:
    case Intrinsic::kCopy: return copy(args[0]);
    case Intrinsic::kOpaque: return args[0];
    case Intrinsic::kFlatIndex2d:
    case Intrinsic::kFlatIndex3d:
    case Intrinsic::kFlatIndex4d: return flat_index(args, unsafe);
    case Intrinsic::kFlatUpdate2d:
    case Intrinsic::kFlatUpdate3d:
    case Intrinsic::kFlatUpdate4d: return flat_update(args, unsafe);
    case Intrinsic::kScatterStream: return scatter_stream(args);
    case Intrinsic::kHistStream: return hist_stream(args);
    case Intrinsic::kAccWrite: return acc_write(args[0], args[1], args[2]);
    case Intrinsic::kFlatmap: return flatmap(args[0], args[1]);
    case Intrinsic::kJvp2: return jvp(f, args[0], args[1], args[2]);
    case Intrinsic::kVjp2: return vjp(f, args[0], args[1], args[2]);
    case Intrinsic::kWithVjp: return with_vjp(f, args[0], args[1], args[2]);
    default: return fail("not supported yet: intrinsics." + intrinsic_text(f.intrinsic->op));
  }
}

V Lowerer::replicate(const Atom& n, const V& value, const Certs& certs) {
  V v = materialise(value);
  if (failed()) return unit();
  return make(VArr{n, map_leaves(v, [&](const Atom& a) -> Atom {
                     ir::Type t = b_.type_of(a);
                     t.dims.insert(t.dims.begin(), n);
                     return b_.let(t, ir::EReplicate{{n}, a}, "replicated", certs);
                   })});
}

V Lowerer::zip(const V& a, const V& c) {
  const Atom n = as_array(a).dim;
  V second = with_outer_dim(c, n);
  if (failed()) return unit();
  VRec r;
  r.fields.emplace_back("0", as_array(a).elem);
  r.fields.emplace_back("1", as_array(second).elem);
  return make(VArr{n, make(std::move(r))});
}

V Lowerer::concat(const V& a, const V& c) {
  const VArr& x = as_array(a);
  const VArr& y = as_array(c);
  if (failed()) return unit();
  // Arrays that need no memory (iota, replicate, rows of nothing) may be as long as they like.
  Atom total = b_.add(x.dim, y.dim);
  Certs certs;
  check(b_.le(ir::i64(0), total),
        {"Arrays of ", x.dim, " and ", y.dim, " elements together have too many."}, certs);
  total = checked_size(total, certs);
  std::vector<Atom> second;
  for (const auto& l : leaves(y.elem)) {
    if (!l.is_dim()) second.push_back(l.atom);
  }
  size_t k = 0;
  V elem = map_leaves(x.elem, [&](const Atom& first) -> Atom {
    if (k >= second.size()) {
      broken("concat of arrays of different structure");
      return first;
    }
    ir::Type t = b_.type_of(first);
    std::vector<Atom> want = t.dims;
    if (want.empty()) return first;
    want[0] = y.dim;
    Atom other = reshape(second[k++], want, {});
    t.dims[0] = total;
    return b_.let(t, ir::EConcat{{array_var(first), array_var(other)}, total}, "concat", certs);
  });
  return make(VArr{total, elem});
}

V Lowerer::transpose(const V& a) {
  const VArr& outer = as_array(a);
  const VArr& inner = as_array(outer.elem);
  if (failed()) return unit();
  V elem = map_leaves(inner.elem, [&](const Atom& x) -> Atom {
    ir::Type t = b_.type_of(x);
    if (t.rank() < 2) return x;
    std::swap(t.dims[0], t.dims[1]);
    ir::ERearrange e{{}, array_var(x)};
    for (int i = 0; i < t.rank(); ++i) e.perm.push_back(i < 2 ? 1 - i : i);
    return b_.let(t, std::move(e), "transposed");
  });
  return make(VArr{inner.dim, make(VArr{outer.dim, elem})});
}

Atom Lowerer::size_product(const Atom& a, const Atom& c) {
  if (a.is_int(1)) return c;
  if (c.is_int(1)) return a;
  return b_.prim(ScalarOp::kSizeMul, PrimType::kI64, {a, c});
}

Atom Lowerer::checked_size(const Atom& size, const Certs& certs) {
  return certs.empty() ? size : b_.let({PrimType::kI64, {}}, ir::EAtom{size}, "size", certs);
}

V Lowerer::flatten(const V& a) {
  const VArr& outer = as_array(a);
  const VArr& inner = as_array(outer.elem);
  if (failed()) return unit();
  Atom n = size_product(outer.dim, inner.dim);
  Certs certs;
  check(b_.eq(n, b_.mul(outer.dim, inner.dim)),
        {"Cannot flatten array of shape [", outer.dim, "][", inner.dim, "]: too many elements."},
        certs);
  n = checked_size(n, certs);
  V elem = map_leaves(inner.elem, [&](const Atom& x) -> Atom {
    std::vector<Atom> dims = b_.type_of(x).dims;
    if (dims.size() < 2) return x;
    dims.erase(dims.begin());
    dims[0] = n;
    return reshape(x, dims, certs);
  });
  return make(VArr{n, elem});
}

V Lowerer::unflatten(const VFun& f, const V& a, bool unsafe) {
  const VArr& x = as_array(a);
  if (failed()) return unit();
  std::optional<Atom> dims[2];
  for (size_t i = 0; i < 2 && i < f.intrinsic->sargs.size(); ++i) {
    dims[i] = size_atom(f.intrinsic->sargs[i], f.env, true);
  }
  if (!dims[0] && !dims[1]) return fail("cannot determine the sizes that unflatten is to make");
  for (int i = 0; i < 2; ++i) {
    if (dims[i]) continue;
    Atom other = b_.prim(ScalarOp::kMax, PrimType::kI64, {*dims[1 - i], ir::i64(1)});
    dims[i] = b_.prim(ScalarOp::kQuot, PrimType::kI64, {x.dim, other});
  }
  Certs certs;
  if (!unsafe) {
    Atom ok = b_.both(b_.le(ir::i64(0), *dims[0]), b_.le(ir::i64(0), *dims[1]));
    ok = b_.both(ok, b_.lt(x.dim, ir::i64(Size::kMaxSize)));
    check(b_.both(ok, b_.eq(size_product(*dims[0], *dims[1]), x.dim)),
          {"Cannot unflatten array of shape [", x.dim, "] to array of shape [", *dims[0], "][",
           *dims[1], "]"},
          certs);
  }
  V elem = map_leaves(x.elem, [&](const Atom& y) -> Atom {
    std::vector<Atom> shape = b_.type_of(y).dims;
    if (shape.empty()) return y;
    shape[0] = *dims[1];
    shape.insert(shape.begin(), *dims[0]);
    return reshape(y, shape, certs);
  });
  return make(VArr{*dims[0], make(VArr{*dims[1], elem})});
}

V Lowerer::copy(const V& v) {
  return map_leaves(materialise(v), [&](const Atom& a) -> Atom {
    ir::Type t = b_.type_of(a);
    if (t.is_scalar()) return a;
    return b_.let(t, ir::ECopy{a.var()}, "copy");
  });
}

}  // namespace kenaz::lower
