#include "kernels/host_code/walks.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "kernels/host_code/indices.h"
#include "kernels/host_code/launch.h"

namespace kenaz::host_code {

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
/// Where neighbours read the same, a thread walks down so many columns at once, unless it carries
/// so much that registers may be too few.
constexpr int64_t kColumnsOfThread = 4;
constexpr size_t kMostCarriedOfColumn = 10;
/// .. or so many, if rows have no multiple of that: loads and stores go by no vectors then.
constexpr int64_t kColumnsOfOddRows = 2;
/// Then walks are shorter, because fewer threads find room at once.
constexpr int64_t kLongestOfMany = 16;
/// For every thread that it takes to fill the device: some wait for memory longer than others.
constexpr int64_t kThreads = 2, kThreadsOfMany = 4;

/// Along the last dim, threads take short strips: each reads the whole first window, but what
/// threads read should be near to each other. What they make goes by shared memory, so that
/// neighbours store neighbours. A strip has a multiple of kStep points.
constexpr int kStrip = 8;
constexpr int kStripGroup = 64;
constexpr int64_t kLeastWindowOfStrip = 8;
/// Threads that store a strip's points at once must not wait for the same bank of shared memory: a
/// place in 32 is left out.
constexpr int kBanks = 32;
constexpr int kStripPlaces = kStrip * kStripGroup * (kBanks + 1) / kBanks;

}  // namespace

Walks::Walks(HostArrays& host, const ir::Stm& s, const ir::ESeg& e)
    : host_(host),
      s_(s),
      scalars_(e.kind == ir::SegKind::kMap && e.writes.empty() ? scalar_results(host.ir(), e)
                                                               : std::nullopt),
      walk_(scalars_ ? ir::walk_of(host.ir(), scalars_->seg) : std::nullopt) {
  if (walk_ && are_strips() && !fits_shared_memory()) walk_.reset();
}

bool Walks::fits_shared_memory() const {
  int bytes = 0;
  for (const ir::Atom& r : walk_->rest.results) bytes += prim_size(host_.ir().type_of(r).prim);
  constexpr int kPlaces = kStripGroup * 12;
  return bytes * kStripPlaces + kPlaces <= host_.target().shared_bytes;
}

std::vector<Operand> Walks::sizes() const {
  return host_.dims_of(ir::sizes_of(scalars_->seg.space.dims));
}

Operand Walks::op(ScalarOp o, const Operand& a, const Operand& b) const {
  return host_.emit_op(o, PrimType::kI64, PrimType::kI64, {a, b});
}

Operand Walks::test(ScalarOp o, PrimType type, const Operand& a, const Operand& b) const {
  return host_.emit_op(o, type, PrimType::kBool, {a, b});
}

/// How many columns a thread takes, if rows have a multiple of that.
int64_t Walks::columns() const {
  const bool many = !are_strips() && walk_->neighbours_share && walk_->slides.empty() &&
                    walk_->carried.size() <= kMostCarriedOfColumn;
  return many ? kColumnsOfThread : 1;
}

/// How many points of a column a thread takes: not so many that threads are too few, then less than
/// kStep.
Operand Walks::length() const {
  const bool many = columns() > 1;
  const int64_t threads = (many ? kThreadsOfMany : kThreads) * host_.target().threads;
  const Operand points =
      op(ScalarOp::kQuot, host_.count(sizes()).operand(), PrimValue::i64(threads));
  const int64_t longest = are_strips() ? kStrip : many ? kLongestOfMany : kLongest;
  const Operand most = host_.konst(longest), step = host_.konst(kStep);
  return host_.mul(op(ScalarOp::kQuot, host_.min(points, most), step), step);
}

Operand Walks::worthwhile() const {
  const PrimType i64 = PrimType::kI64;
  const Operand points = length(), size = host_.scalar(dim().size);
  Operand all = test(ScalarOp::kLe, i64, host_.konst(are_strips() ? kStrip : kStep), points);
  const auto also = [&](const Operand& more) {
    all = host_.emit_op(ScalarOp::kAnd, PrimType::kBool, PrimType::kBool, {all, more});
  };
  also(test(ScalarOp::kLe, i64, points, size));
  for (const auto& s : walk_->slides) {
    const auto& loop = std::get<ir::ELoop>(walk_->rest.stms[s.at].exp);
    const ir::Atom& bound = std::get<ir::LoopFor>(loop.form).bound;
    const PrimType type = host_.ir().type_of(bound).prim;
    const int64_t least = are_strips() ? kLeastWindowOfStrip : kLeastWindow;
    also(test(ScalarOp::kLe, type, PrimValue::of_int(type, least), host_.scalar(bound)));
  }
  return all;
}

void Walks::launch(const SegParts& parts) const {
  if (are_strips()) {
    launch_strips(parts);
    return;
  }
  if (columns() == 1) {
    launch_columns(parts, abreast(1, Abreast::Rows::kAny));
    return;
  }
  const Abreast many = abreast(columns(), Abreast::Rows::kWhole);
  choose(
      host_, many.fits(), [&] { launch_columns(parts, many); },
      [&] { launch_columns(parts, abreast(kColumnsOfOddRows, Abreast::Rows::kAny)); });
}

Abreast Walks::abreast(int64_t columns, Abreast::Rows rows) const {
  return Abreast(host_, scalars_->seg, columns, rows, dim().index);
}

void Walks::launch_columns(const SegParts& parts, Abreast abreast) const {
  const std::vector<Operand> whole = sizes();
  const Operand points = length();
  std::vector<Operand> strips = whole;
  strips[walk_->dim] =
      op(ScalarOp::kQuot, host_.add(whole[walk_->dim], host_.add(points, host_.konst(-1))), points);
  strips.back() = abreast.threads();
  Thread t(host_, host_.kernel_name("walk"), s_.prov);
  kir::Builder& k = t.k;
  const auto elem = body::function(t, "walk", {{PrimType::kI64}}, [&](const Values& args) {
    const Values at = indices_of(host_, t, strips, args[0]);
    const Value taken = t.args.operand(points), size = t.args.operand(whole[walk_->dim]);
    // The last walk begins where all its points are inside; those of the walk before are not its.
    const Value own = k.mul(at[walk_->dim], taken), first = k.min(own, k.sub(size, taken));
    const Value others = k.to_i32(k.sub(own, first));
    // Before the columns, whose indices may depend on them.
    for (size_t d = 0; d + 1 < whole.size(); d++) {
      if (d != walk_->dim) t.env.bind_param(scalars_->seg.space.dims[d].index, at[d]);
    }
    abreast.points(t, k.mul(at.back(), abreast.count()), [&](const Value& column, int64_t count) {
      Value place = kir::i64(0), apart = kir::i64(1);
      for (size_t d = 0; d < whole.size(); d++) {
        const Value n = t.args.operand(whole[d]);
        const bool is_last = d + 1 == whole.size();
        place = k.add(k.mul(place, n), d == walk_->dim ? first : is_last ? column : at[d]);
        if (d > walk_->dim) apart = k.mul(apart, n);
      }
      const Lanes lanes{abreast, column, count};
      walk(t, lanes, first, taken, [&](const Point& p, const std::vector<Values>& results) {
        // What is multiplied by a constant does not change from turn to turn.
        const Value row = k.add(k.add(place, k.mul(p.turn, apart)), k.mul(apart, p.j));
        k.if_(k.le(others, k.add(k.to_i32(p.turn), p.j)),
              [&] { store_points(t, *scalars_, parts, row, results); });
      });
    });
    return Values{};
  });
  launch_elements(host_, t, elem, host_.count(strips).operand());
}

void Walks::launch_strips(const SegParts& parts) const {
  const std::vector<Operand> whole = sizes();
  std::vector<Operand> strips = whole;
  strips.back() =
      op(ScalarOp::kQuot, host_.add(whole.back(), host_.konst(kStrip - 1)), host_.konst(kStrip));
  const Operand count = host_.count(strips).operand();
  Thread t(host_, host_.kernel_name("strips"), s_.prov);
  kir::Builder& k = t.k;
  std::vector<kir::SharedId> made;
  for (const ir::Atom& r : walk_->rest.results) {
    made.push_back(k.shared("made", host_.ir().type_of(r).prim, {kStripPlaces}));
  }
  // Of each strip where its first point is stored, and how many points are not its own.
  const kir::SharedId firsts = k.shared("first", PrimType::kI64, {kStripGroup});
  const kir::SharedId others = k.shared("others", PrimType::kI32, {kStripGroup});
  const auto place_of = [&](const Value& point) {
    return k.add(point, k.lshr(point, kir::i32(std::countr_zero(unsigned{kBanks}))));
  };
  const auto elem =
      body::function(t, "strip", {{PrimType::kI64}, {PrimType::kI32}}, [&](const Values& args) {
        const Values at = indices_of(host_, t, strips, args[0]);
        const Value own = k.mul(at.back(), kStrip);
        // As of walks, the last one in a row begins where all its points are inside.
        const Value first = k.min(own, k.sub(t.args.operand(whole.back()), kStrip));
        Value place = kir::i64(0);
        for (size_t d = 0; d < whole.size(); d++) {
          const bool is_last = d + 1 == whole.size();
          place = k.add(k.mul(place, t.args.operand(whole[d])), is_last ? first : at[d]);
          if (!is_last) t.env.bind_param(scalars_->seg.space.dims[d].index, at[d]);
        }
        const Abreast one = abreast(1, Abreast::Rows::kAny);
        const auto keep = [&](const Point& p, const std::vector<Values>& results) {
          const Value to = place_of(k.add(k.mul(args[1], kStrip), k.add(k.to_i32(p.turn), p.j)));
          for (size_t n = 0; n < made.size(); n++) k.store(made[n], to, results[0][n]);
        };
        walk(t, {one, first, 1}, first, kir::i64(kStrip), keep);
        k.store(firsts, args[1], place);
        k.store(others, args[1], k.to_i32(k.sub(own, first)));
        return Values{};
      });
  if (host_.failed()) return;
  k.set_prov(t.kernel.prov);
  const Value local = k.local();
  k.store(others, local, kir::i32(kStrip));  // also of a thread that fails
  k.if_(k.lt(k.global(), t.args.operand(count)), [&] { k.call(elem, {k.global(), local}); });
  k.barrier();
  k.repeat(kStrip, [&](int turn) {
    const Value point = k.add(local, turn * kStripGroup),
                number = k.and_(point, kir::i32(kStrip - 1));
    const Value strip = k.lshr(point, kir::i32(std::countr_zero(unsigned{kStrip})));
    k.if_(k.le(k.load(others, strip), number), [&] {
      Values results;
      for (const kir::SharedId m : made) results.push_back(k.load(m, place_of(point)));
      store_points(t, *scalars_, parts, k.add(k.load(firsts, strip), k.to_i64(number)), {results});
    });
  });
  t.kernel.group_size = {kStripGroup};
  const Operand groups =
      op(ScalarOp::kQuot, host_.add(count, host_.konst(kStripGroup - 1)), host_.konst(kStripGroup));
  launch_kernel(host_, t, t.kernel, kStripGroup, groups);
}

/// `length` points from the first one on, of each of the columns.
void Walks::walk(Thread& t, const Lanes& lanes, const Value& first, const Value& length,
                 const Use& use) const {
  kir::Builder& k = t.k;
  const auto bind = [&](const Value& at, int64_t n) {
    lanes.abreast.bind(t, lanes.column, n);
    t.env.bind_param(dim().index, at);
  };
  Values known;
  for (int64_t c = 0; c < lanes.count; c++) {
    bind(first, c);
    body::forget(t, scalars_->seg.body);
    lanes.abreast.translate(t, walk_->start);
    if (host_.failed()) return;
    for (const ir::Atom& a : walk_->start.results) known.push_back(t.env.scalar(a));
  }
  const auto carried = static_cast<std::ptrdiff_t>(walk_->carried.size());
  const auto each = static_cast<std::ptrdiff_t>(known.size()) / lanes.count;
  const auto state_of = [&](const Values& all, int64_t c) {
    const auto from = all.begin() + c * each;
    return State{{from, from + carried}, {from + carried, from + each}};
  };
  const int64_t step = walk_->rest.stms.size() <= kFewStatements ? kStep : 1;
  // Stores stand behind all of a turn's loads: these need not wait for one another then.
  const auto take = [&](std::vector<State>& states, const Value& turn) {
    const Value from = k.mul(turn, step);
    std::vector<std::vector<Values>> made;
    for (int64_t j = 0; j < step; j++) {
      std::vector<Values>& row = made.emplace_back();
      for (int64_t c = 0; c < lanes.count && !host_.failed(); c++) {
        bind(k.add(first, k.add(from, j)), c);
        const Value follows = j > 0 ? kir::boolean(true) : k.lt(kir::i64(0), turn);
        row.push_back(point(t, lanes.abreast, states[static_cast<size_t>(c)], follows));
      }
    }
    if (host_.failed()) return;
    for (int64_t j = 0; j < step; j++) use({from, j}, made[static_cast<size_t>(j)]);
  };
  const kir::Vars vars = k.declare(known);
  k.for_(k.quot(length, Value(PrimValue::i64(step))), [&](const Value& turn) {
    const Values before = k.read(vars);
    std::vector<State> states;
    for (int64_t c = 0; c < lanes.count; c++) states.push_back(state_of(before, c));
    take(states, turn);
    if (host_.failed()) return;
    Values next;
    for (const State& s : states) {
      next.insert(next.end(), s.carried.begin(), s.carried.end());
      next.insert(next.end(), s.sums.begin(), s.sums.end());
    }
    k.assign(vars, next);
  });
}

/// The results of the point whose index is bound. `state` is that of the point before, or, unless
/// it `follows` one, what `start` made; it becomes this point's.
Values Walks::point(Thread& t, const Abreast& abreast, State& state, const Value& follows) const {
  const ir::Body& rest = walk_->rest;
  body::forget(t, rest);
  for (size_t c = 0; c < walk_->carried.size(); c++) {
    t.env.bind(walk_->carried[c].value, state.carried[c]);
  }
  auto slide = walk_->slides.begin();
  auto sum = state.sums.begin();
  for (size_t n = 0; n < rest.stms.size() && !host_.failed(); n++) {
    const ir::Stm& s = rest.stms[n];
    if (slide == walk_->slides.end() || slide->at != n) {
      abreast.translate(t, s);
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
    body::forget(t, b);
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

}  // namespace kenaz::host_code
