#include <algorithm>
#include <functional>

#include "kernels/mfg/check/walk.h"
#include "kernels/mfg/lower/lowerer.h"

namespace kenaz::mfg {

namespace {

/// The local tensors that statements change, those that they define among them.
void changed_by(const CStm& s, std::set<uint32_t>& tensors) {
  if (const auto* u = std::get_if<CUpdate>(&s.node)) tensors.insert(u->tensor.index);
  if (const auto* t = std::get_if<CSort>(&s.node)) tensors.insert(t->tensor.index);
  if (const auto* a = std::get_if<CAccumulate>(&s.node)) tensors.insert(a->tensor.index);
  if (const auto* f = std::get_if<CForEach>(&s.node)) {
    for (const CStm& inner : f->body.stms) changed_by(inner, tensors);
  }
}

/// The tensors that statements define.
void defined_by(const CStm& s, std::set<uint32_t>& tensors) {
  if (const auto* d = std::get_if<CDef>(&s.node)) tensors.insert(d->tensor.index);
  if (const auto* f = std::get_if<CForEach>(&s.node)) {
    for (const CStm& inner : f->body.stms) defined_by(inner, tensors);
  }
}

bool is_literal(const CExp& e) {
  if (const auto* c = std::get_if<CConvert>(&e.node)) return is_literal(*c->value);
  const auto* t = std::get_if<CTuple>(&e.node);
  if (t == nullptr) return std::holds_alternative<CConst>(e.node);
  return std::all_of(t->parts.begin(), t->parts.end(),
                     [](const CExpPtr& p) { return is_literal(*p); });
}

Atom i32(int32_t v) { return PrimValue::i32(v); }

}  // namespace

void Lowerer::statement(const CStm& s, Builder& b) {
  set_place(b, s.range);
  std::visit([&](const auto& node) { on(node, b); }, s.node);
}

void Lowerer::on(const CLet& l, Builder& b) {
  vars_.insert_or_assign(l.var.index, eval(*l.value, b));
}

void Lowerer::on(const CDef& d, Builder& b) {
  if (filter_.tensors[d.tensor.index].kind == TensorInfo::kLocal) {
    local_tensor(d, b);
  } else {
    global_tensor(d, b);
  }
}

std::vector<ir::VarId> Lowerer::over_pixels(
    Builder& b, const Placed& p, const std::function<Atoms(Builder&, Atom, Atom)>& pixel) {
  const ir::Type index{PrimType::kI64, {}};
  const auto row = [&](Builder& outer, const Atom& y) {
    const ir::VarId xs = outer.iota(p.width, "xs");
    ir::Lambda one = outer.lambda({index}, [&](Builder& at, const std::vector<ir::VarId>& v) {
      const Atom x32 = at.convert(v[0], PrimType::kI32), y32 = at.convert(y, PrimType::kI32);
      note_range(x32, v[0], p.width);
      note_range(y32, y, p.height);
      const auto was_random = std::exchange(random_, {x32, y32});
      const bool was_in_thread = std::exchange(in_thread_, true);
      Atoms values = pixel(at, x32, y32);
      in_thread_ = was_in_thread;
      random_ = was_random;
      return values;
    });
    return outer.map(p.width, {xs}, std::move(one), "row");
  };
  if (p.rank == 1) return row(b, ir::i64(0));
  const ir::VarId ys = b.iota(p.height, "ys");
  ir::Lambda rows = b.lambda({index}, [&](Builder& outer, const std::vector<ir::VarId>& v) {
    Atoms arrays;
    for (const ir::VarId a : row(outer, v[0])) arrays.emplace_back(a);
    return arrays;
  });
  return b.map(p.height, {ys}, std::move(rows), "pixels");
}

void Lowerer::global_tensor(const CDef& d, Builder& b) {
  const TensorInfo& info = filter_.tensors[d.tensor.index];
  const bool result = d.tensor == filter_.result;
  Placed p;
  p.rank = static_cast<int>(d.bounds.size());
  p.width = wide(b, eval1(*d.bounds[0], b));
  if (p.rank == 2) p.height = wide(b, eval1(*d.bounds[1], b));
  if (!result) {
    const Atom some = b.logical_and(b.le(ir::i64(1), p.width), b.le(ir::i64(1), p.height));
    require(b, some,
            {"Tensor " + info.name + " has ", p.width, " x ", p.height,
             " elements; its bounds must be at least 1."});
  }
  tensors_.insert_or_assign(d.tensor.index, p);
  hoist_sums(d.body, b);
  const auto arrays = over_pixels(b, p, [&](Builder& at, const Atom& x, const Atom& y) {
    bind_indices(d.indices, x, y);
    Atoms values = body(d.body, at);
    if (!result) return values;
    const ir::Type prim{info.elem.prim(), {}};
    const ir::VarId pixel = at.emit(ir::EArrayLit{values, prim}, {prim.prim, {ir::i64(4)}}, "bgra");
    return Atoms{pixel};
  });
  for (const ir::VarId a : arrays) {
    p.arrays.push_back(a);
    if (!result) {
      p.flats.push_back(p.rank == 1 ? a : b.reshape({b.mul(p.width, p.height)}, a, info.name));
    }
  }
  tensors_.insert_or_assign(d.tensor.index, std::move(p));
}

void Lowerer::on(const CLiteral& l, Builder& b) {
  Placed p;
  p.rank = filter_.tensors[l.tensor.index].rank;
  p.width = ir::i64(l.width);
  p.height = ir::i64(l.height);
  p.values = l.values;
  const PrimType prim = l.values[0].type;
  ir::EArrayLit array{{}, {prim, {}}};
  for (const PrimValue& v : l.values) array.elems.emplace_back(v);
  const auto n = ir::i64(static_cast<int64_t>(l.values.size()));
  p.flats = {b.emit(std::move(array), {prim, {n}}, filter_.tensors[l.tensor.index].name)};
  tensors_.insert_or_assign(l.tensor.index, std::move(p));
}

void Lowerer::changing_loop(Builder& b, const std::set<uint32_t>& tensors, const Atom& count,
                            const std::function<void(Builder&, const Atom& index)>& step) {
  Atoms init;
  const auto arrays_now = [&] {
    Atoms all;
    for (const uint32_t t : tensors) {
      for (const ir::VarId a : tensors_.at(t).flats) all.emplace_back(a);
    }
    return all;
  };
  const auto set_arrays = [&](const Atoms& all) {
    size_t k = 0;
    for (const uint32_t t : tensors) {
      for (ir::VarId& a : tensors_.at(t).flats) a = all[k++].var();
    }
  };
  set_arrays(
      loop(b, i32(0), count, arrays_now(), [&](Builder& at, const Atom& index, const Atoms& state) {
        set_arrays(state);
        step(at, index);
        return arrays_now();
      }));
}

void Lowerer::set_flat(Builder& b, Placed& p, const Atom& place, const Atoms& values) {
  p.values.clear();
  for (size_t k = 0; k < p.flats.size(); ++k) {
    p.flats[k] = b.update(p.flats[k], {ir::DimFix{place}}, values[k]);
  }
}

void Lowerer::local_tensor(const CDef& d, Builder& b) {
  const TensorInfo& info = filter_.tensors[d.tensor.index];
  Placed p;
  p.rank = info.rank;
  p.width = ir::i64(info.sizes[0]);
  if (p.rank == 2) p.height = ir::i64(info.sizes[1]);
  const Atom count = b.mul(p.width, p.height);
  // The same number everywhere, in most programs.
  Atoms same;
  if (d.body.stms.empty() && is_literal(*d.body.result)) same = eval(*d.body.result, b);
  for (size_t k = 0; k < info.elem.size(); ++k) {
    const PrimType prim = info.elem.elems[k];
    p.flats.push_back(same.empty() ? b.emit(ir::EScratch{prim, {count}}, {prim, {count}}, info.name)
                                   : b.replicate({count}, same[k], info.name));
  }
  tensors_.insert_or_assign(d.tensor.index, p);
  if (!same.empty()) return;
  changing_loop(b, {d.tensor.index}, narrow(b, count), [&](Builder& at, const Atom& index) {
    const Atom width = narrow(at, p.width);
    const Atom x = p.rank == 1 ? index : at.rem(index, width);
    const Atom y = p.rank == 1 ? i32(0) : at.quot(index, width);
    note_range(x, at.convert(x, PrimType::kI64), p.width);
    note_range(y, at.convert(y, PrimType::kI64), p.height);
    bind_indices(d.indices, x, y);
    const Atoms values = body(d.body, at);
    set_flat(at, tensors_.at(d.tensor.index), at.convert(index, PrimType::kI64), values);
  });
}

void Lowerer::on(const CReduceTo& r, Builder& b) {
  const Placed source = tensors_.at(r.reduce.source.index);
  const TensorInfo& info = filter_.tensors[r.tensor.index];
  Placed p;
  p.rank = 1;
  p.width = r.dim == 0 ? source.height : source.width;
  if (info.kind != TensorInfo::kLocal) {
    p.arrays = p.flats = over_pixels(b, p, [&](Builder& at, const Atom& x, const Atom&) {
      return reduce(r.reduce, at, x, r.dim);
    });
    tensors_.insert_or_assign(r.tensor.index, std::move(p));
    return;
  }
  for (const PrimType prim : info.elem.elems) {
    p.flats.push_back(b.emit(ir::EScratch{prim, {p.width}}, {prim, {p.width}}, info.name));
  }
  tensors_.insert_or_assign(r.tensor.index, p);
  changing_loop(b, {r.tensor.index}, narrow(b, p.width), [&](Builder& at, const Atom& index) {
    note_range(index, wide(at, index), p.width);
    const Atoms values = reduce(r.reduce, at, index, r.dim);
    set_flat(at, tensors_.at(r.tensor.index), wide(at, index), values);
  });
}

/// What is outside of the tensor changes nothing.
void Lowerer::on(const CUpdate& u, Builder& b) {
  const Placed p = tensors_.at(u.tensor.index);
  const Atom x = eval1(*u.at[0], b);
  const Atom y = u.at.size() > 1 ? eval1(*u.at[1], b) : i32(0);
  Atom inside = PrimValue::of_bool(true);
  const bool sure = in_range(x, p.width) && in_range(y, p.height);
  const Atom place = flat_place(b, p, x, y, sure ? nullptr : &inside);
  const Atoms values = eval(*u.value, b);
  const Atoms before = flat_element(b, p, place);
  Atoms after = u.add ? sum_up(b, before, values) : values;
  for (size_t k = 0; k < after.size(); ++k) after[k] = b.select(inside, after[k], before[k]);
  set_flat(b, tensors_.at(u.tensor.index), place, after);
}

void Lowerer::on(const CForEach& f, Builder& b) {
  const Placed p = tensors_.at(f.tensor.index);
  // Not those of the block itself, which tensors_ has from an earlier turn if one is unrolled.
  std::set<uint32_t> changed, defined, known;
  for (const CStm& s : f.body.stms) {
    changed_by(s, changed);
    defined_by(s, defined);
  }
  for (const uint32_t t : changed) {
    if (defined.count(t) == 0) known.insert(t);
  }
  for (const uint32_t t : known) tensors_.at(t).values.clear();
  const auto one = [&](Builder& at, const Atom& x, const Atom& y) {
    note_range(x, wide(at, x), p.width);
    note_range(y, wide(at, y), p.height);
    bind_indices(f.indices, x, y);
    // As the block has left it: it may change the tensor that it walks over.
    const Placed& now = tensors_.at(f.tensor.index);
    vars_.insert_or_assign(f.value.index, element(at, now, wide(at, x), wide(at, y)));
    body(f.body, at);
  };
  changing_loop(b, known, narrow(b, p.width), [&](Builder& outer, const Atom& x) {
    if (p.rank == 1) return one(outer, x, i32(0));
    changing_loop(outer, known, narrow(outer, p.height),
                  [&](Builder& at, const Atom& y) { one(at, x, y); });
  });
}

void Lowerer::on(const CAccumulate& a, Builder& b) {
  const Placed p = tensors_.at(a.tensor.index);
  tensors_.at(a.tensor.index).values.clear();
  const Atom along = narrow(b, a.dim == 0 ? p.width : p.height);
  const Atom lines = p.rank == 1 ? i32(1) : narrow(b, a.dim == 0 ? p.height : p.width);
  const Atom steps = b.sub(along, i32(1));
  changing_loop(b, {a.tensor.index}, lines, [&](Builder& outer, const Atom& other) {
    changing_loop(outer, {a.tensor.index}, steps, [&](Builder& at, const Atom& step) {
      Placed& now = tensors_.at(a.tensor.index);
      const Atom index = at.add(step, i32(1));
      const auto place = [&](const Atom& k) {
        const Atom x = at.convert(a.dim == 0 ? k : other, PrimType::kI64);
        const Atom y = at.convert(a.dim == 0 ? other : k, PrimType::kI64);
        return at.add(at.mul(y, p.width), x);
      };
      bind_indices(a.indices, a.dim == 0 ? index : other, a.dim == 0 ? other : index);
      vars_.insert_or_assign(a.value.index, flat_element(at, now, place(index)));
      vars_.insert_or_assign(a.acc.index, flat_element(at, now, place(step)));
      const Atoms values = body(a.body, at);
      set_flat(at, now, place(index), values);
    });
  });
}

/// Odd and even neighbours are exchanged in turn, as often as there are elements: of equal length
/// for all threads.
void Lowerer::on(const CSort& s, Builder& b) {
  const int64_t n = tensors_.at(s.tensor.index).width.constant().as_i64();
  tensors_.at(s.tensor.index).values.clear();
  const Atom half = i32(static_cast<int32_t>(n / 2));
  changing_loop(
      b, {s.tensor.index}, i32(static_cast<int32_t>(n)), [&](Builder& outer, const Atom& round) {
        const Atom odd = outer.prim(ScalarOp::kAnd, {round, i32(1)});
        changing_loop(outer, {s.tensor.index}, half, [&](Builder& at, const Atom& pair) {
          Placed& p = tensors_.at(s.tensor.index);
          const Atom first = at.add(at.mul(pair, i32(2)), odd);
          const Atom second = at.min(at.add(first, i32(1)), i32(static_cast<int32_t>(n - 1)));
          const Atom low = at.convert(first, PrimType::kI64),
                     high = at.convert(second, PrimType::kI64);
          const Atoms a = flat_element(at, p, low), c = flat_element(at, p, high);
          Atoms lows, highs;
          for (size_t k = 0; k < a.size(); ++k) {
            const Atom swap = at.lt(c[k], a[k]);
            lows.push_back(at.select(swap, c[k], a[k]));
            highs.push_back(at.select(swap, a[k], c[k]));
          }
          set_flat(at, p, low, lows);
          set_flat(at, p, high, highs);
        });
      });
}

}  // namespace kenaz::mfg
