// A workgroup takes as many segments as it has threads, or fewer where there would be too few
// workgroups: then their owners stand apart, so that each subgroup has some. An owner enters its
// segment, and leaves it; in between, lanes next to each other take the segments of all of them,
// one after the other. How many lanes that are depends on how long the subgroup's segments are. The
// whole workgroup takes those that would keep one subgroup busy while the others are done.
//
// Which these are is in shared memory, so loops with barriers depend on what is loaded. A thread
// that has stopped loads nothing: so before the first of them, and after the last, all threads of a
// workgroup stop if one has.
#include <fmt/format.h>

#include <deque>
#include <map>

#include "kernels/primitives/blocks/combine.h"
#include "kernels/primitives/uneven/lanes.h"
#include "kernels/primitives/uneven/plan_functions.h"

namespace kenaz::primitives::uneven::together {

namespace {

using blocks::Combiner;
using kir::Builder;
using plan::HostExpr;
using plan::Team;

/// Elements that a lane takes of a segment, roughly.
constexpr int kTurns = 4;
/// The whole workgroup takes a segment of more elements than this, times the lanes of a subgroup;
constexpr int64_t kMostTurns = 128;
/// .. and one that has so much of what each subgroup would have if all had the same.
constexpr int kShare = 2;
/// Of a segment's length, what counts for how long those of a workgroup are.
constexpr int64_t kMostCounted = 1 << 20;
/// What a counter in shared memory begins with: unlike what may be left there if the thread that
/// sets it has stopped.
constexpr uint32_t kBegin = 0x40000000;

Value u32(uint32_t n) { return PrimValue{PrimType::kU32, n}; }

/// The logarithm, rounded down, of a positive i32.
Value log2_below(Builder& k, const Value& x) {
  return k.sub(kir::i32(31), k.op(ScalarOp::kClz, PrimType::kI32, PrimType::kI32, {x}));
}
/// .. rounded up.
Value log2_above(Builder& k, const Value& x) {
  const Value below = k.max(k.sub(x, 1), kir::i32(0));
  return k.sub(kir::i32(32), k.op(ScalarOp::kClz, PrimType::kI32, PrimType::kI32, {below}));
}

/// A u32 in shared memory to which threads add. Set at the start of the kernel.
class Counter {
 public:
  Counter(Team& t, const std::string& name) : k_(t.k), at_(t.shared_scalar(name, PrimType::kU32)) {
    k_.if_(k_.eq(k_.local(), 0), [&] { k_.store(at_, kir::i32(0), u32(kBegin)); });
  }
  /// Gives what it was, i32.
  Value add(const Value& x) {
    const Value old = k_.atomic(kir::AtomicOp::kAdd, PrimType::kU32, {at_, kir::i32(0)},
                                k_.convert(x, PrimType::kU32));
    return k_.to_i32(k_.sub(old, u32(kBegin)));
  }
  Value get() { return k_.to_i32(k_.sub(k_.load(at_, kir::i32(0)), u32(kBegin))); }

 private:
  Builder& k_;
  kir::SharedId at_;
};

/// Shared memory for a value of each thread; stages take the same one after the other.
class Board {
 public:
  explicit Board(Team& t) : t_(t) {}
  void store(const Value& place, const Values& values) {
    std::map<PrimType, size_t> used;
    for (const Value& v : values) t_.k.store(array(v.type.prim, used), place, v);
  }
  Values load(const Value& place, const Values& like) {
    std::map<PrimType, size_t> used;
    Values out;
    for (const Value& v : like) out.push_back(t_.k.load(array(v.type.prim, used), place));
    return out;
  }

 private:
  kir::SharedId array(PrimType type, std::map<PrimType, size_t>& used) {
    std::vector<kir::SharedId>& all = arrays_[type];
    const size_t n = used[type]++;
    if (n == all.size()) {
      all.push_back(t_.shared_per_thread(fmt::format("{}_{}", prim_name(type), n), type));
    }
    return all[n];
  }

  Team& t_;
  std::map<PrimType, std::vector<kir::SharedId>> arrays_;
};

/// Which threads have a segment, and which.
struct Owners {
  Value log2_apart;  // of how far they are from each other, i32
  Value is_owner, segment;
};

Values concat(Values a, const Values& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// One stage, in one kernel.
class Reduction {
 public:
  /// At the start of the kernel.
  Reduction(Team& t, const plan::Uneven::Stage& stage, size_t number, Board& board)
      : t_(t),
        k_(t.k),
        stage_(stage),
        board_(board),
        lanes_(t),
        combiner_(t, stage.op),
        going_(t, fmt::format("going{}", number)),
        total_(t, fmt::format("total{}", number)),
        long_(t, fmt::format("long{}", number)),
        done_(t, fmt::format("done{}", number)) {}

  /// Gives what the owner knows after it: what was shared and kept, then the result.
  Values run(const Owners& owners, const Values& before);

 private:
  plan::Uneven::Entered enter(const Owners& owners, const Values& before);
  /// Leaves only workgroups all of whose threads go.
  void all_or_none(Counter& counter);
  Value is_long(const Owners& owners, const Value& length);
  void by_parts(const Owners& owners, const Value& length, const Values& shared);
  void by_group(const Value& count, const Values& entries);
  /// What the `number`-th of so many threads next to each other takes of a segment: `share`
  /// elements if they must stay in order.
  Values fold(const Values& shared, const Value& length, const Value& number, const Value& threads,
              const Value& share);
  void fold_range(const Values& shared, const Value& from, const Value& to, const Value& step,
                  const kir::Vars& acc);

  Team& t_;
  Builder& k_;
  const plan::Uneven::Stage& stage_;
  Board& board_;
  Lanes lanes_;
  Combiner combiner_;
  Counter going_, total_, long_, done_;
  kir::Vars result_;
};

plan::Uneven::Entered Reduction::enter(const Owners& owners, const Values& before) {
  plan::Uneven::Entered e;
  Values all = k_.if_values(
      owners.is_owner,
      [&] {
        e = stage_.enter(k_, owners.segment, before);
        return concat(concat({e.length}, e.shared), e.kept);
      },
      [&] {
        Values zeros = {kir::i64(0)};
        for (const Value& v : concat(e.shared, e.kept)) zeros.push_back(PrimValue{v.type.prim, 0});
        return zeros;
      });
  const auto kept = all.end() - static_cast<std::ptrdiff_t>(e.kept.size());
  return {all[0], {all.begin() + 1, kept}, {kept, all.end()}};
}

void Reduction::all_or_none(Counter& counter) {
  counter.add(kir::i32(1));
  k_.barrier();
  k_.if_(k_.ne(counter.get(), t_.group_size()), [&] { k_.stop(); });
}

// Segments of one subgroup should not take much longer than those of the others.
Value Reduction::is_long(const Owners& owners, const Value& length) {
  const Value lanes = k_.to_i64(lanes_.size());
  const Value share =
      k_.quot(k_.mul(k_.to_i64(total_.get()), lanes), k_.mul(t_.group_size_i64(), kShare));
  const Value limit = k_.max(k_.min(share, k_.mul(lanes, kMostTurns)), k_.mul(lanes, 2));
  return k_.and_(owners.is_owner, k_.lt(limit, length));
}

void Reduction::fold_range(const Values& shared, const Value& from, const Value& to,
                           const Value& step, const kir::Vars& acc) {
  const auto combine = [&](const Values& x) {
    k_.assign(acc, stage_.op.combine(k_, k_.read(acc), x));
  };
  const kir::Var at = k_.declare(from);
  if (!t_.facts.slow) {
    constexpr size_t kTogether = 4;  // so many loads are under way
    const Value ahead = k_.mul(step, int64_t{kTogether - 1});
    k_.while_([&] { return k_.lt(k_.add(k_.read(at), ahead), to); },
              [&] {
                Values places = {k_.read(at)};
                while (places.size() < kTogether) places.push_back(k_.add(places.back(), step));
                std::vector<Values> read, made;
                for (const Value& i : places) read.push_back(stage_.read(k_, shared, i));
                for (size_t n = 0; n < kTogether; n++) {
                  made.push_back(stage_.at(k_, shared, places[n], read[n]));
                }
                for (const Values& x : made) combine(x);
                k_.assign(at, k_.add(places.back(), step));
              });
  }
  k_.for_(k_.read(at), to, step,
          [&](const Value& i) { combine(stage_.at(k_, shared, i, stage_.read(k_, shared, i))); });
}

Values Reduction::fold(const Values& shared, const Value& length, const Value& number,
                       const Value& threads, const Value& share) {
  const kir::Vars acc = k_.declare(stage_.op.neutral);
  if (stage_.op.facts.commutative) {
    fold_range(shared, number, length, threads, acc);
  } else {
    const Value from = k_.min(k_.mul(number, share), length);
    fold_range(shared, from, k_.min(k_.add(from, share), length), kir::i64(1), acc);
  }
  return k_.read(acc);
}

void Reduction::by_parts(const Owners& owners, const Value& length, const Values& shared) {
  const Value size = lanes_.size(), lane = lanes_.lane();
  const Value owned = k_.max(k_.lshr(size, owners.log2_apart), kir::i32(1));
  const Value wanted = log2_above(k_, k_.div_up(lanes_.sum(length), k_.mul(owned, kTurns)));
  const Value log2_part = k_.min(k_.max(wanted, owners.log2_apart), log2_below(k_, size));
  const Value width = k_.shl(kir::i32(1), log2_part), last = k_.sub(width, 1);
  const Value in_part = k_.and_(lane, last), first = k_.sub(lane, in_part);
  const Value log2_rounds = k_.max(k_.sub(log2_part, owners.log2_apart), kir::i32(0));
  k_.for_(
      k_.shl(kir::i32(1), log2_rounds),
      [&](const Value& round) {
        const Value owner = k_.add(first, k_.shl(round, owners.log2_apart));
        const Value n = lanes_.of(owner, length);
        const Value share = k_.lshr(k_.add(n, last), log2_part);
        Values x = fold(lanes_.of(owner, shared), k_.to_i64(n), k_.to_i64(in_part),
                        k_.to_i64(width), k_.to_i64(share));
        if (lanes_.real()) x = combiner_.part_reduce(x, log2_part);
        k_.if_(k_.eq(lane, owner), [&] { k_.assign(result_, x); });
      },
      lanes_.real());
}

// `entries`: like those of the board: length, number of the owner, what it shares.
void Reduction::by_group(const Value& count, const Values& entries) {
  const Value local = k_.local(), threads = t_.group_size_i64();
  k_.for_(
      count,
      [&](const Value& n) {
        const Values entry = board_.load(n, entries);
        const Value share = k_.div_up(entry[0], threads);
        const Values x = combiner_.reduce(
            fold({entry.begin() + 2, entry.end()}, entry[0], k_.to_i64(local), threads, share));
        k_.if_(k_.eq(entry[1], local), [&] { k_.assign(result_, x); });
      },
      true);
}

Values Reduction::run(const Owners& owners, const Values& before) {
  result_ = k_.declare(stage_.op.neutral);
  k_.barrier();  // counters are set, and nobody reads the board any more
  const plan::Uneven::Entered e = enter(owners, before);
  total_.add(k_.to_i32(k_.min(k_.max(e.length, kir::i64(0)), kir::i64(kMostCounted))));
  all_or_none(going_);
  const Value owns_long = is_long(owners, e.length);
  const Values entry = concat({e.length, k_.local()}, e.shared);
  k_.if_(owns_long, [&] { board_.store(long_.add(kir::i32(1)), entry); });
  k_.barrier();
  const Value count = long_.get();
  by_parts(owners, k_.to_i32(k_.select(owns_long, kir::i64(0), e.length)), e.shared);
  by_group(count, entry);
  if (t_.facts.fails) all_or_none(done_);
  return concat(concat(e.shared, e.kept), k_.read(result_));
}

void build(Team& t, const HostExpr& each) {
  Builder& k = t.k;
  Board board(t);
  const plan::Uneven& uneven = t.problem.uneven;
  std::deque<Reduction> stages;
  for (const auto& stage : uneven.stages) stages.emplace_back(t, stage, stages.size(), board);
  Owners owners;
  const Value all = t.host(each), local = k.local();
  const Value apart = k.quot(t.group_size(), k.to_i32(all));
  owners.log2_apart = log2_below(k, apart);
  const Value number = k.to_i64(k.lshr(local, owners.log2_apart));
  const Value between = k.sub(k.shl(kir::i32(1), owners.log2_apart), 1);
  owners.segment = k.add(k.mul(k.group(), all), number);
  owners.is_owner =
      k.and_(k.eq(k.and_(local, between), 0),
             k.and_(k.lt(number, all), k.lt(owners.segment, t.host(t.facts.segments))));
  Values known;
  for (Reduction& stage : stages) known = stage.run(owners, known);
  k.if_(owners.is_owner, [&] { uneven.leave(k, owners.segment, known); });
}

}  // namespace

bool applies(const plan::Facts&, const program::Target&) { return true; }

HostExpr when(const plan::Facts&, const program::Target&) { return HostExpr::boolean(true); }

plan::Work make(const plan::Facts& f, const program::Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  const HostExpr fair = div_up(f.segments, plan::groups_to_fill(target));
  const HostExpr each = min(max(fair, 1), plan::Maker::group_size());
  m.step("_together", div_up(f.segments, each), [&](Team& t) { build(t, each); });
  return m.take();
}

}  // namespace kenaz::primitives::uneven::together
