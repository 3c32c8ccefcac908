#include "kernels/primitives/hist/bins.h"
#include "kernels/primitives/hist/plan_functions.h"

namespace kenaz::primitives::hist::copies {

namespace {

using kir::AtomicOp;

Value u32_value(uint32_t n) { return PrimValue{PrimType::kU32, n}; }

// Threads of a workgroup that have the same bin take turns: in each round, all that still have an
// element write their number to the bin's slot, and whose number stays there goes ahead. Different
// bins may share a slot.
class Rounds {
 public:
  /// At the start of the kernel.
  explicit Rounds(Team& t)
      : t_(t),
        slots_(t.shared_per_thread("slots", PrimType::kU32, 2)),
        left_(t.shared_scalar("left", PrimType::kU32)),
        going_(t.shared_scalar("going", PrimType::kU32)) {}

  /// Whether no thread of the workgroup has stopped; the same for all. Contains barriers.
  Value all_go() {
    Builder& k = t_.k;
    reset();
    k.barrier();
    k.atomic(AtomicOp::kAdd, PrimType::kU32, {going_, kir::i32(0)}, u32_value(1));
    k.barrier();
    const Value all = count_is_full();
    k.barrier();
    return all;
  }

  /// `body` once for each thread of the workgroup with an element; those with the same bin (i64)
  /// one after the other, with a barrier between. Uniform; contains barriers.
  void run(const Value& has, const Value& bin, const kir::Builder::Do& body) {
    Builder& k = t_.k;
    const Value slots = k.mul(t_.group_size_i64(), 2);
    const Value slot = k.to_i32(k.rem(bin, slots));
    const Value own = k.convert(k.local(), PrimType::kU32);
    const kir::Var waits = k.declare(has), more = k.declare(kir::boolean(true));
    k.while_([&] { return k.read(more); }, [&] { round(slot, own, waits, more, body); }, true);
  }

 private:
  void round(const Value& slot, const Value& own, const kir::Var& waits, const kir::Var& more,
             const kir::Builder::Do& body) {
    Builder& k = t_.k;
    const kir::Address at{slots_, slot}, left{left_, kir::i32(0)};
    reset();
    k.if_(k.read(waits), [&] { k.atomic(AtomicOp::kStore, PrimType::kU32, at, own); });
    k.barrier();
    k.if_(k.read(waits), [&] {
      const Value winner = k.atomic(AtomicOp::kLoad, PrimType::kU32, at);
      k.if_(
          k.eq(winner, own),
          [&] {
            body();
            k.assign(waits, kir::boolean(false));
          },
          [&] { k.atomic(AtomicOp::kStore, PrimType::kU32, left, u32_value(1)); });
    });
    k.atomic(AtomicOp::kAdd, PrimType::kU32, {going_, kir::i32(0)}, u32_value(1));
    k.barrier();
    const Value waiting = k.eq(k.atomic(AtomicOp::kLoad, PrimType::kU32, left), 1);
    k.assign(more, k.and_(count_is_full(), waiting));
    k.barrier();  // before the next round begins
  }

  // A thread that has stopped reads 0, so it must be false for all if there is one.
  Value count_is_full() {
    Builder& k = t_.k;
    return k.eq(k.atomic(AtomicOp::kLoad, PrimType::kU32, {going_, kir::i32(0)}),
                k.convert(t_.group_size(), PrimType::kU32));
  }

  // By every thread: any of them may have stopped.
  void reset() {
    for (const kir::SharedId s : {left_, going_}) {
      t_.k.atomic(AtomicOp::kStore, PrimType::kU32, {s, kir::i32(0)}, u32_value(0));
    }
  }

  Team& t_;
  kir::SharedId slots_;
  kir::SharedId left_, going_;  // whether a thread waits; how many have not stopped
};

HostExpr parts_for(const Facts& f, const Target& target) {
  const HostExpr group = plan::Maker::group_size();
  const HostExpr wanted = div_up(plan::groups_to_fill(target), max(f.segments, 1));
  const HostExpr worth = div_up(f.length, f.bins + group * 4);
  // In the worst case, all elements have the same bin.
  const int64_t rounds = 2 * plan::group_size_for(f, target);
  const int64_t tiles = std::max<int64_t>(plan::turn_budget(target) / rounds, 1);
  return max(max(min(wanted, worth), div_up(f.length, group * tiles)), 1);
}

}  // namespace

bool applies(const Facts&, const Target&) { return true; }

HostExpr when(const Facts&, const Target&) { return HostExpr::boolean(true); }

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  const Copies c = make_copies(m, f, parts_for(f, target));
  m.step("_copies", f.segments * c.parts, [&](Team& t) {
    Builder& k = t.k;
    Rounds rounds(t);
    const Value segment = k.quot(k.group(), t.host(c.parts));
    const Value part = k.sub(k.group(), k.mul(segment, t.host(c.parts)));
    const Value bins = t.host(f.bins), length = t.host(f.length), local = k.to_i64(k.local());
    const Value base = first_box(t, c, segment, part), size = t.group_size_i64();
    blocks::Mailboxes boxes = boxes_of(t, c);
    k.for_(local, bins, size,
           [&](const Value& bin) { boxes.store(k.add(base, bin), t.problem.op.neutral); });
    // A thread that has stopped in there has left bins undefined.
    const Value all_go = rounds.all_go();
    const Value share = k.mul(k.div_up(k.div_up(length, size), t.host(c.parts)), size);
    const Value from = k.min(k.mul(part, share), length);
    const Value to = k.min(k.add(from, share), length);
    k.for_(
        from, k.select(all_go, to, from), size,
        [&](const Value& tile) {
          const Value at = k.add(tile, local);
          Values none{kir::i64(-1)};
          none.insert(none.end(), t.problem.op.neutral.begin(), t.problem.op.neutral.end());
          const Values element = k.if_values(
              k.lt(at, to),
              [&] {
                return t.problem.elements.at(k, {segment, at});
              },
              [&] { return none; });
          const Item item = item_of(element);
          const Value has = k.le(kir::i64(0), item.bin);
          rounds.run(has, k.select(has, item.bin, kir::i64(0)), [&] {
            const Value box = k.add(base, item.bin);
            boxes.store(box, t.problem.op.combine(k, boxes.load(box), item.x));
          });
        },
        true);
  });
  merge_step(m, f, target, c);
  return m.take();
}

}  // namespace kenaz::primitives::hist::copies
