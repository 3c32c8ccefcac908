#include "kernels/gpu/walks.h"

#include <algorithm>
#include <utility>

#include "kernels/gpu/indices.h"
#include "kernels/gpu/launch.h"

namespace kenaz::gpu {

using body::Thread;
using kir::Value;
using kir::Values;

namespace {

/// Points that are made one after the other without a loop; a walk has so many, or a multiple.
constexpr int64_t kStep = 4;
constexpr int64_t kLongest = 64;
/// Of fewer elements, a window is as quickly read anew.
constexpr int64_t kLeastWindow = 5;
/// Where points take more statements, each has a turn of the loop.
constexpr size_t kFewStatements = 200;
/// For every thread that it takes to fill the device: some wait for memory longer than others.
constexpr int64_t kThreads = 2;

}  // namespace

Walks::Walks(HostGen& host, const ir::Stm& s, const ir::ESeg& e)
    : host_(host),
      s_(s),
      scalars_(e.kind == ir::SegKind::kMap && e.writes.empty() ? scalar_results(host.ir(), e)
                                                               : std::nullopt),
      walk_(scalars_ ? ir::walk_of(host.ir(), scalars_->seg) : std::nullopt) {}

std::vector<Operand> Walks::sizes() const {
  std::vector<Operand> out;
  for (const ir::SegDim& d : scalars_->seg.space.dims) out.push_back(host_.scalar(d.size));
  return out;
}

Operand Walks::op(ScalarOp o, const Operand& a, const Operand& b) const {
  return host_.emit_op(o, PrimType::kI64, PrimType::kI64, {a, b});
}

Operand Walks::test(ScalarOp o, PrimType type, const Operand& a, const Operand& b) const {
  return host_.emit_op(o, type, PrimType::kBool, {a, b});
}

/// How many points a thread takes: not so many that threads are too few, then less than kStep.
Operand Walks::length() const {
  const int64_t threads = kThreads * host_.target().threads;
  const Operand points =
      op(ScalarOp::kQuot, host_.count(sizes()).operand(), PrimValue::i64(threads));
  const Operand most = host_.konst(kLongest), step = host_.konst(kStep);
  return host_.mul(op(ScalarOp::kQuot, host_.min(points, most), step), step);
}

Operand Walks::worthwhile() const {
  const PrimType i64 = PrimType::kI64;
  const Operand points = length(), size = host_.scalar(dim().size);
  Operand all = test(ScalarOp::kLe, i64, host_.konst(kStep), points);
  const auto also = [&](const Operand& more) {
    all = host_.emit_op(ScalarOp::kAnd, PrimType::kBool, PrimType::kBool, {all, more});
  };
  also(test(ScalarOp::kLe, i64, points, size));
  for (const auto& s : walk_->slides) {
    const auto& loop = std::get<ir::ELoop>(walk_->rest.stms[s.at].exp);
    const ir::Atom& bound = std::get<ir::LoopFor>(loop.form).bound;
    const PrimType type = host_.ir().type_of(bound).prim;
    also(test(ScalarOp::kLe, type, PrimValue::of_int(type, kLeastWindow), host_.scalar(bound)));
  }
  return all;
}

void Walks::launch(const SegParts& parts) const {
  const std::vector<Operand> whole = sizes();
  const Operand points = length();
  std::vector<Operand> strips = whole;
  strips[walk_->dim] =
      op(ScalarOp::kQuot, host_.add(whole[walk_->dim], host_.add(points, host_.konst(-1))), points);
  Thread t(host_, host_.kernel_name("walk"), s_.prov);
  kir::Builder& k = t.k;
  const auto elem = body::function(t, "walk", {{PrimType::kI64}}, [&](const Values& args) {
    const Values at = indices_of(host_, t, strips, args[0]);
    const Value taken = t.args.operand(points), size = t.args.operand(whole[walk_->dim]);
    // The last walk begins where all its points are inside; those of the walk before are not its.
    const Value own = k.mul(at[walk_->dim], taken);
    const Value first = k.min(own, k.sub(size, taken));
    Value place = kir::i64(0), apart = kir::i64(1);
    for (size_t d = 0; d < whole.size(); d++) {
      const Value n = t.args.operand(whole[d]);
      place = k.add(k.mul(place, n), d == walk_->dim ? first : at[d]);
      if (d > walk_->dim) apart = k.mul(apart, n);
      if (d != walk_->dim) t.env.bind_param(scalars_->seg.space.dims[d].index, at[d]);
    }
    walk(t, first, taken, [&](const Value& number, const Values& results) {
      k.if_(k.le(own, k.add(first, number)),
            [&] { store(t, parts, k.add(place, k.mul(number, apart)), results); });
    });
    return Values{};
  });
  launch_elements(host_, t, elem, host_.count(strips).operand());
}

/// `length` points from the first one on.
void Walks::walk(Thread& t, const Value& first, const Value& length, const Use& use) const {
  kir::Builder& k = t.k;
  t.env.bind_param(dim().index, first);
  t.env.forget(scalars_->seg.body);
  const auto made = body::translate(t, walk_->start);
  if (host_.failed()) return;
  Values known;
  for (const body::KernelValue& x : made) known.push_back(std::get<Value>(x));
  const auto carried = static_cast<std::ptrdiff_t>(walk_->carried.size());
  const auto state_of = [&](const Values& all) {
    return State{{all.begin(), all.begin() + carried}, {all.begin() + carried, all.end()}};
  };
  const int64_t step = walk_->rest.stms.size() <= kFewStatements ? kStep : 1;
  const auto take = [&](State& state, const Value& turn) {
    for (int64_t j = 0; j < step && !host_.failed(); j++) {
      const Value number = k.add(k.mul(turn, step), j);
      t.env.bind_param(dim().index, k.add(first, number));
      const Value follows = j > 0 ? kir::boolean(true) : k.lt(kir::i64(0), turn);
      const Values results = point(t, state, follows);
      if (!host_.failed()) use(number, results);
    }
  };
  const kir::Vars vars = k.declare(known);
  k.for_(k.quot(length, Value(PrimValue::i64(step))), [&](const Value& turn) {
    State state = state_of(k.read(vars));
    take(state, turn);
    if (host_.failed()) return;
    Values next = state.carried;
    next.insert(next.end(), state.sums.begin(), state.sums.end());
    k.assign(vars, next);
  });
}

/// The results of the point whose index is bound. `state` is that of the point before, or, unless
/// it `follows` one, what `start` made; it becomes this point's.
Values Walks::point(Thread& t, State& state, const Value& follows) const {
  const ir::Body& rest = walk_->rest;
  t.env.forget(rest);
  for (size_t c = 0; c < walk_->carried.size(); c++) {
    t.env.bind(walk_->carried[c].value, state.carried[c]);
  }
  auto slide = walk_->slides.begin();
  auto sum = state.sums.begin();
  for (size_t n = 0; n < rest.stms.size() && !host_.failed(); n++) {
    const ir::Stm& s = rest.stms[n];
    if (slide == walk_->slides.end() || slide->at != n) {
      body::translate(t, s);
      continue;
    }
    const Values old(sum, sum + static_cast<std::ptrdiff_t>(s.pat.size()));
    const Values now = t.k.if_values(
        follows, [&] { return next_sums(t, s, *slide, old); }, [&] { return old; });
    for (size_t v = 0; v < s.pat.size(); v++) {
      t.env.bind(s.pat[v], now[v]);
      *sum++ = now[v];
    }
    slide++;
  }
  Values out;
  for (size_t n = 0; n < rest.results.size() && !host_.failed(); n++) {
    out.push_back(t.env.scalar(rest.results[n]));
  }
  for (size_t c = 0; c < walk_->carried.size() && !host_.failed(); c++) {
    state.carried[c] = t.env.scalar(ir::Atom(walk_->carried[c].from));
  }
  return out;
}

/// The sums of the loop `s` at this point, out of those at the point before.
Values Walks::next_sums(Thread& t, const ir::Stm& s, const ir::Walk::Slide& slide,
                        const Values& sums) const {
  const auto& form = std::get<ir::LoopFor>(std::get<ir::ELoop>(s.exp).form);
  const Value bound = t.env.scalar(form.bound);
  const auto added = [&](const ir::Body& b, const Value& iteration) {
    t.env.bind_param(form.index, iteration);
    t.env.forget(b);
    Values out;
    for (const auto& x : body::translate(t, b)) out.push_back(std::get<Value>(x));
    return out;
  };
  const Values gone = added(slide.first, kir::Builder::same_type(bound, -1));
  const Values come = added(slide.last, t.k.sub(bound, 1));
  Values out;
  for (size_t n = 0; n < sums.size(); n++) {
    out.push_back(t.k.add(t.k.sub(sums[n], gone[n]), come[n]));
  }
  return out;
}

/// Stores the scalars of the space's point `place`.
void Walks::store(Thread& t, const SegParts& parts, const Value& place,
                  const Values& results) const {
  size_t next = 0;
  for (size_t n = 0; n < parts.stored.size(); n++) {
    const int length = scalars_->lengths[n];
    const Value base = t.args.block(parts.stored[n].block), first = t.k.mul(place, length);
    for (int j = 0; j < length; j++) t.k.store(base, t.k.add(first, j), results[next++]);
  }
}

}  // namespace kenaz::gpu
