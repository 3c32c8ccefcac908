#include <fmt/format.h>

#include <algorithm>

#include "kernels/primitives/hist/bins.h"
#include "kernels/primitives/hist/plan_functions.h"

namespace kenaz::primitives::hist::own {

namespace {

constexpr int kGroupSize = 64;   // threads of a workgroup: the fewer, the more bins they can have
constexpr int kMostBytes = 512;  // of a thread's bins
constexpr int64_t kElementsPerBin = 8;  // of a thread, at least: its bins are made and merged

// For how many bins of threads there is room in a workgroup's memory. No more than are used, which
// leaves memory to other workgroups.
int64_t room_for(const Facts& f, const Target& target) {
  const int64_t bytes = std::min(kMostBytes * kGroupSize, target.shared_bytes * 3 / 4);
  const int64_t most = bytes / plan::bytes_of(f.op.types);
  if (!f.bins.is_const()) return most;
  const int64_t threads = plan::group_size_for(f, target, kGroupSize);
  return std::min(most, std::clamp<int64_t>(f.bins.constant().as_i64(), 1, most) * threads);
}

// Elements of a workgroup.
HostExpr share_for(const Facts& f, const Target& target) {
  const HostExpr group = plan::Maker::group_size();
  const HostExpr tile = group * HostExpr(blocks::items_in_flight(f));
  const HostExpr wanted = div_up(plan::groups_to_fill(target) * 2, max(f.segments, 1));
  const HostExpr worth = div_up(f.length, max(tile, group * max(f.bins, 1) * kElementsPerBin));
  const HostExpr bounded =
      div_up(f.length, group * std::max<int64_t>(plan::turn_budget(target) / 64, 1));
  const HostExpr parts = max(max(min(wanted, worth), bounded), 1);
  return max(div_up(div_up(f.length, tile), parts), 1) * tile;
}

// A thread's bins stand as far apart as there are threads, so that neighbouring threads meet at no
// bank of the memory.
class Own {
 public:
  explicit Own(Team& t) : t_(t) {
    const auto room = static_cast<int32_t>(room_for(t.facts, t.target));
    for (const PrimType type : t.facts.op.types) {
      arrays_.push_back(t.k.shared(fmt::format("own{}", arrays_.size()), type, {room, -1}));
    }
  }

  void fill() {
    Builder& k = t_.k;
    k.for_(kir::i32(0), bins(), kir::i32(1),
           [&](const Value& bin) { store(at(bin, k.local()), t_.problem.op.neutral); });
  }

  void update(const Item& item) {
    Builder& k = t_.k;
    const Value bin = k.to_i32(item.bin);
    const Value fits = k.and_(k.le(kir::i64(0), item.bin), k.lt(item.bin, k.to_i64(bins())));
    k.if_(fits, [&] {
      const Value place = at(bin, k.local());
      store(place, t_.problem.op.combine(k, load(place), item.x));
    });
  }

  // All threads' bins become those of the first one. Uniform; contains barriers.
  void merge() {
    Builder& k = t_.k;
    const kir::Var left = k.declare(t_.group_size());
    k.barrier();
    k.while_([&] { return k.lt(kir::i32(1), k.read(left)); },
             [&] {
               const Value half = k.quot(k.add(k.read(left), kir::i32(1)), kir::i32(2));
               const Value others = k.sub(k.read(left), half);
               k.for_(k.local(), k.mul(bins(), others), t_.group_size(), [&](const Value& i) {
                 const Value bin = k.quot(i, others);
                 const Value thread = k.sub(i, k.mul(bin, others));
                 const Value place = at(bin, thread);
                 const Values other = load(at(bin, k.add(thread, half)));
                 store(place, t_.problem.op.combine(k, load(place), other));
               });
               k.assign(left, half);
               k.barrier();
             },
             true);
  }

  Values of_all(const Value& bin) { return load(at(bin, kir::i32(0))); }
  Value bins() { return t_.k.to_i32(t_.host(t_.facts.bins)); }

 private:
  Value at(const Value& bin, const Value& thread) {
    return t_.k.add(t_.k.mul(bin, t_.group_size()), thread);
  }
  Values load(const Value& place) {
    Values out;
    for (const kir::SharedId array : arrays_) out.push_back(t_.k.load(array, place));
    return out;
  }
  void store(const Value& place, const Values& x) {
    for (size_t n = 0; n < x.size(); n++) t_.k.store(arrays_[n], place, x[n]);
  }

  Team& t_;
  std::vector<kir::SharedId> arrays_;
};

}  // namespace

bool applies(const Facts& f, const Target& target) {
  return Cells::kind(f.op, target, true) == Cells::Kind::kNone;
}

HostExpr when(const Facts& f, const Target& target) {
  return le(f.bins, HostExpr::op(ScalarOp::kQuot,
                                 {HostExpr(room_for(f, target)), plan::Maker::group_size()}));
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind, kGroupSize);
  const HostExpr share = share_for(f, target);
  const Copies c = make_copies(m, f, max(div_up(f.length, share), 1));
  m.step("_own", f.segments * c.parts, [&](Team& t) {
    Builder& k = t.k;
    const Value segment = k.quot(k.group(), t.host(c.parts));
    const Value part = k.sub(k.group(), k.mul(segment, t.host(c.parts)));
    const Value length = t.host(f.length), size = t.host(share);
    const Value from = k.min(k.mul(part, size), length);
    Own own(t);
    own.fill();
    blocks::for_striped(t, segment, from, k.min(k.add(from, size), length),
                        [&](const Values& element) { own.update(item_of(element)); });
    own.merge();
    blocks::Mailboxes boxes = boxes_of(t, c);
    const Value base = first_box(t, c, segment, part);
    k.for_(k.local(), own.bins(), t.group_size(),
           [&](const Value& bin) { boxes.store(k.add(base, k.to_i64(bin)), own.of_all(bin)); });
  });
  merge_step(m, f, target, c);
  return m.take();
}

}  // namespace kenaz::primitives::hist::own
