#include "kernels/mfg/lower/lowerer.h"

namespace kenaz::mfg {

namespace {

constexpr int64_t kMaxUnrolled = 32;

Atom i32(int64_t v) { return PrimValue::i32(static_cast<int32_t>(v)); }

}  // namespace

std::optional<int64_t> Lowerer::turns(const Atom& from, const Atom& to) const {
  if (!from.is_const() || !to.is_const()) return std::nullopt;
  return std::max<int64_t>(0, to.constant().as_i64() - from.constant().as_i64());
}

/// Short loops whose length is known are written out: weights become constants then, and places
/// that are the same for all pixels are computed once.
bool Lowerer::unrolls(const std::vector<std::pair<Atom, Atom>>& ranges) {
  constexpr size_t kMaxVariables = 100'000;
  int64_t total = unrolled_;
  if (out_.ir.vars.size() > kMaxVariables) return false;
  for (const auto& [from, to] : ranges) {
    const auto n = turns(from, to);
    if (!n || *n > kMaxUnrolled) return false;
    total *= std::max<int64_t>(1, *n);
  }
  return total <= kMaxUnrolled;
}

/// How many iterations a range has; none of a length that is no i32.
Atom Lowerer::length(Builder& b, const Atom& from, const Atom& to) const {
  if (const auto known = turns(from, to)) return i32(*known);
  const Atom difference = b.sub(to, from);
  // That of a range which ends before it begins may wrap to a positive number, unless one side is
  // known to be near enough to 0.
  const bool is_exact = (from.is_const() && from.constant().as_i64() <= 0) ||
                        (to.is_const() && to.constant().as_i64() >= 0);
  return is_exact ? difference : b.select(b.lt(from, to), difference, i32(0));
}

Atoms Lowerer::loop(Builder& b, const Atom& from, const Atom& to, const Atoms& init,
                    const Step& step) {
  ir::Program& program = b.program();
  ir::ELoop loop;
  std::vector<ir::Type> types;
  for (const Atom& a : init) {
    types.push_back(program.type_of(a));
    loop.params.push_back({program.new_var(types.back(), "acc"), a});
  }
  const auto known = turns(from, to);
  const Atom bound = length(b, from, to);
  const ir::VarId counter = program.new_var({PrimType::kI32, {}}, "i");
  loop.form = ir::LoopFor{counter, bound};
  Builder inner = b.nested(loop.body);
  const Atom index = inner.add(counter, from);
  if (known && from.constant().as_i64() >= 0 && !index.is_const()) {
    note_range(index, inner.convert(index, PrimType::kI64), ir::i64(to.constant().as_i64()));
  }
  Atoms state;
  for (const auto& p : loop.params) state.emplace_back(p.var);
  random_.push_back(index);
  loop.body.results = step(inner, index, state);
  random_.pop_back();
  Atoms result;
  for (const ir::VarId v : b.emit(std::move(loop), types, "loop")) result.emplace_back(v);
  return result;
}

Atoms Lowerer::zeros(const Type& t) const {
  Atoms all;
  for (const PrimType p : t.elems) {
    all.emplace_back(is_float(p) ? PrimValue::of_float(p, 0) : PrimValue::of_int(p, 0));
  }
  return all;
}

Atoms Lowerer::sum_up(Builder& b, const Atoms& acc, const Atoms& values) {
  Atoms sums;
  for (size_t k = 0; k < acc.size(); ++k) sums.push_back(b.add(acc[k], values[k]));
  return sums;
}

void Lowerer::bind_indices(const std::vector<VarId>& vars, const Atom& x, const Atom& y) {
  vars_.insert_or_assign(vars[0].index, Atoms{x});
  if (vars.size() > 1) vars_.insert_or_assign(vars[1].index, Atoms{y});
}

Atoms Lowerer::on(const CLoop& l, const CExp& e, Builder& b) {
  std::vector<std::pair<Atom, Atom>> ranges;
  for (const CRange& r : l.ranges) {
    const Atom from = eval1(*r.from, b);
    ranges.emplace_back(from, eval1(*r.to, b));
  }
  const auto one = [&](Builder& at, const Atom& x, const Atom& y, const Atoms& acc) {
    bind_indices(l.indices, x, y);
    if (l.sum) return sum_up(at, acc, body(l.body, at));
    vars_.insert_or_assign(l.acc.index, acc);
    return body(l.body, at);
  };
  Atoms acc = l.sum ? zeros(e.type) : eval(*l.init, b);
  const bool two = ranges.size() > 1;
  if (unrolls(ranges)) {
    const auto& [x0, x1] = ranges[0];
    const int64_t y0 = two ? ranges[1].first.constant().as_i64() : 0;
    const int64_t y1 = two ? ranges[1].second.constant().as_i64() : 1;
    const int64_t was = unrolled_;
    unrolled_ *= std::max<int64_t>(1, *turns(x0, x1) * std::max<int64_t>(0, y1 - y0));
    for (int64_t y = y0; y < y1; ++y) {
      for (int64_t x = x0.constant().as_i64(); x < x1.constant().as_i64(); ++x) {
        acc = one(b, i32(x), i32(y), acc);
      }
    }
    unrolled_ = was;
    return acc;
  }
  const auto row = [&](Builder& outer, const Atom& y, const Atoms& before) {
    return loop(
        outer, ranges[0].first, ranges[0].second, before,
        [&](Builder& at, const Atom& x, const Atoms& state) { return one(at, x, y, state); });
  };
  return two ? loop(b, ranges[1].first, ranges[1].second, acc, row) : row(b, i32(0), acc);
}

/// A reduction over all elements, in any order.
Atoms Lowerer::parallel_sum(const CTensorSum& s, const CExp& e, Builder& b) {
  const Placed p = tensors_.at(s.tensor.index);
  const Atom count = b.mul(p.width, p.height);
  ir::ESoac soac;
  soac.width = count;
  soac.inputs = {b.iota(count)};
  const auto element_sum = [&](Builder& at, const std::vector<ir::VarId>& place) {
    const Atom x = p.rank == 1 ? Atom(place[0]) : at.rem(place[0], p.width);
    const Atom y = p.rank == 1 ? ir::i64(0) : at.quot(place[0], p.width);
    const Atom x32 = at.convert(x, PrimType::kI32), y32 = at.convert(y, PrimType::kI32);
    note_range(x32, x, p.width);
    note_range(y32, y, p.height);
    bind_indices(s.indices, x32, y32);
    vars_.insert_or_assign(s.value.index, flat_element(at, p, place[0]));
    random_.push_back(at.convert(place[0], PrimType::kI32));
    Atoms values = body(s.body, at);
    random_.pop_back();
    return values;
  };
  const bool was_in_thread = std::exchange(in_thread_, true);
  soac.map = b.lambda({{PrimType::kI64, {}}}, element_sum);
  in_thread_ = was_in_thread;
  std::vector<ir::Type> types;
  for (const PrimType t : e.type.elems) {
    const ir::Type type{t, {}};
    ir::Monoid m;
    m.op = b.lambda({type, type}, [](Builder& at, const std::vector<ir::VarId>& args) {
      return Atoms{at.add(args[0], args[1])};
    });
    m.neutral = zeros(Type::scalar(t));
    m.commutative = true;
    soac.reduces.push_back(std::move(m));
    types.push_back(type);
  }
  Atoms sums;
  for (const ir::VarId v : b.emit(std::move(soac), types, "sum")) sums.emplace_back(v);
  return sums;
}

Atoms Lowerer::on(const CTensorSum& s, const CExp& e, Builder& b) {
  return in_thread_ ? tensor_sum(s, e, b) : parallel_sum(s, e, b);
}

Atoms Lowerer::tensor_sum(const CTensorSum& s, const CExp& e, Builder& b) {
  const Placed p = tensors_.at(s.tensor.index);
  const Atom width = narrow(b, p.width), height = narrow(b, p.height);
  const auto one = [&](Builder& at, const Atom& x, const Atom& y, const Atoms& acc) {
    note_range(x, wide(at, x), p.width);
    note_range(y, wide(at, y), p.height);
    bind_indices(s.indices, x, y);
    vars_.insert_or_assign(s.value.index, element(at, p, wide(at, x), wide(at, y)));
    return sum_up(at, acc, body(s.body, at));
  };
  const std::vector<std::pair<Atom, Atom>> ranges = {{i32(0), width}, {i32(0), height}};
  Atoms acc = zeros(e.type);
  if (unrolls(ranges)) {
    const int64_t was = unrolled_;
    unrolled_ *= *turns(i32(0), width) * *turns(i32(0), height);
    for (int64_t y = 0; y < height.constant().as_i64(); ++y) {
      for (int64_t x = 0; x < width.constant().as_i64(); ++x) acc = one(b, i32(x), i32(y), acc);
    }
    unrolled_ = was;
    return acc;
  }
  return loop(b, i32(0), height, acc, [&](Builder& outer, const Atom& y, const Atoms& before) {
    return loop(outer, i32(0), width, before, [&](Builder& at, const Atom& x, const Atoms& state) {
      return one(at, x, y, state);
    });
  });
}

/// `other`: the index that stays, of a tensor of two dimensions.
Atoms Lowerer::reduce(const CReduce& r, Builder& b, const Atom& other, int dim) {
  const Placed p = tensors_.at(r.source.index);
  const bool finds = !r.acc.valid();
  const Atom count = narrow(b, dim == 0 ? p.width : p.height);
  const Atom none = i32(-1);
  return loop(b, i32(0), count, eval(*r.init, b),
              [&](Builder& at, const Atom& index, const Atoms& acc) {
                const Atom x = dim == 0 ? index : other, y = dim == 0 ? other : index;
                note_range(index, wide(at, index), dim == 0 ? p.width : p.height);
                bind_indices(r.indices, x, y);
                vars_.insert_or_assign(r.value.index, element(at, p, wide(at, x), wide(at, y)));
                if (!finds) {
                  vars_.insert_or_assign(r.acc.index, acc);
                  return body(r.body, at);
                }
                const Atom here = truth(at, body(r.body, at)[0]);
                const Atom first = at.logical_and(here, at.eq(acc[0], none));
                return Atoms{at.select(first, index, acc[0])};
              });
}

Atoms Lowerer::on(const CReduce& r, const CExp& /*e*/, Builder& b) {
  return reduce(r, b, i32(0), 0);
}

}  // namespace kenaz::mfg
