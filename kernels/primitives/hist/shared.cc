#include <fmt/format.h>

#include "kernels/primitives/hist/bins.h"
#include "kernels/primitives/hist/plan_functions.h"

namespace kenaz::primitives::hist::shared {

namespace {

constexpr int64_t kMostWindows = 8;  // all elements are made once for each
constexpr int64_t kMostCopies = 8;   // of the bins, so that fewer threads meet at one

// Cells that shared memory has room for.
int64_t capacity(const Facts& f, const Target& target) {
  const int bytes = plan::bytes_of(Cells::words(f.op, target, true));
  return std::max<int64_t>(target.shared_bytes * 3 / 4 / bytes, 1);
}

// Those that a kernel has: no more than are used, which leaves memory to other workgroups.
int64_t room_for(const Facts& f, const Target& target) {
  const int64_t most = capacity(f, target);
  if (!f.bins.is_const()) return most;
  return std::clamp<int64_t>(f.bins.constant().as_i64(), 1, most / kMostCopies) * kMostCopies;
}

// What the workgroups found is combined by atomics, else in a second step: with as many workgroups
// at the same bins, compare-and-swap would take longer than all the rest.
bool is_direct(const Facts& f, const Target& target) {
  return Cells::in_place(f.op, target) && Cells::native(f.op, target, false);
}

struct Layout {
  HostExpr width;    // bins of a window
  HostExpr windows;  // per segment
  HostExpr copies;   // of the window's bins
  HostExpr parts;    // workgroups per window
  HostExpr share;    // elements of a workgroup
};

Layout layout_for(const Facts& f, const Target& target) {
  Layout l;
  const HostExpr room = room_for(f, target);
  l.width = max(min(f.bins, room), 1);
  l.windows = max(div_up(f.bins, l.width), 1);
  l.copies = min(HostExpr::op(ScalarOp::kQuot, {room, l.width}), kMostCopies);
  const HostExpr group = plan::Maker::group_size();
  const HostExpr tile = group * HostExpr(blocks::items_in_flight(f));
  const HostExpr wanted = div_up(plan::groups_to_fill(target) * 2, max(f.segments * l.windows, 1));
  // Enough elements to be worth the bins' beginning and end.
  const HostExpr worth = div_up(f.length, max(tile * 2, l.width * 2));
  const HostExpr bounded =
      div_up(f.length, group * std::max<int64_t>(plan::turn_budget(target) / 64, 1));
  const HostExpr parts = max(max(min(wanted, worth), bounded), 1);
  l.share = max(div_up(div_up(f.length, tile), parts), 1) * tile;
  l.parts = max(div_up(f.length, l.share), 1);
  return l;
}

// One workgroup's work. All i64 but `copy`.
struct Job {
  Value segment, part, first, bins;  // bins: of the window, from `first` on
  Value copy;                        // i32: index of the first cell of this thread's copy
};

Job job_of(Team& t, const Layout& l) {
  Builder& k = t.k;
  Job j;
  const Value window_and_segment = k.quot(k.group(), t.host(l.parts));
  j.part = k.sub(k.group(), k.mul(window_and_segment, t.host(l.parts)));
  j.segment = k.quot(window_and_segment, t.host(l.windows));
  const Value window = k.sub(window_and_segment, k.mul(j.segment, t.host(l.windows)));
  j.first = k.mul(window, t.host(l.width));
  j.bins = k.min(t.host(l.width), k.sub(t.host(t.facts.bins), j.first));
  const Value crowd = t.has_subgroups() ? k.subgroup() : k.lshr(k.local(), kir::i32(5));
  j.copy = k.to_i32(k.mul(k.rem(k.to_i64(crowd), t.host(l.copies)), t.host(l.width)));
  return j;
}

void fill(Team& t, const Layout& l, Cells& cells) {
  Builder& k = t.k;
  const Value count = k.to_i32(k.mul(t.host(l.width), t.host(l.copies)));
  k.for_(k.local(), count, t.group_size(),
         [&](const Value& i) { cells.store(i, t.problem.op.neutral); });
  k.barrier();
}

void count(Team& t, const Layout& l, const Job& j, Cells& cells) {
  Builder& k = t.k;
  const Value length = t.host(t.facts.length), share = t.host(l.share);
  const Value from = k.min(k.mul(j.part, share), length);
  const Value first = k.to_i32(j.first), bins = k.convert(j.bins, PrimType::kU32);
  const auto update = [&](const Item& item) {
    const Value bin = k.sub(k.to_i32(item.bin), first);
    const Value here = k.lt(k.convert(bin, PrimType::kU32), bins);
    k.if_(here, [&] { cells.update(k.add(j.copy, bin), item.x); });
  };
  blocks::for_striped(t, j.segment, from, k.min(k.add(from, share), length),
                      [&](const Values& element) { update(item_of(element)); });
  k.barrier();
}

// Gives each bin of the window, combined over the copies, to `put`.
void drain(Team& t, const Layout& l, const Job& j, Cells& cells,
           const std::function<void(const Value& bin, const Values& x)>& put) {
  Builder& k = t.k;
  const Value width = k.to_i32(t.host(l.width)), copies = k.to_i32(t.host(l.copies));
  k.for_(k.local(), k.to_i32(j.bins), t.group_size(), [&](const Value& bin) {
    const kir::Vars acc = k.declare(cells.load(bin));
    k.for_(kir::i32(1), copies, kir::i32(1), [&](const Value& c) {
      const Values x = cells.load(k.add(k.mul(c, width), bin));
      k.assign(acc, t.problem.op.combine(k, k.read(acc), x));
    });
    put(k.add(j.first, k.to_i64(bin)), k.read(acc));
  });
}

Cells shared_cells(Team& t) {
  Cells::Bases bases;
  const auto room = static_cast<int32_t>(room_for(t.facts, t.target));
  for (const PrimType word : Cells::words(t.facts.op, t.target, true)) {
    bases.emplace_back(t.k.shared(fmt::format("bins{}", bases.size()), word, {room, -1}));
  }
  return {t, t.problem.op, true, std::move(bases)};
}

}  // namespace

bool applies(const Facts& f, const Target& target) {
  return Cells::kind(f.op, target, true) != Cells::Kind::kNone;
}

HostExpr window(const Facts& f, const Target& target) { return capacity(f, target); }

HostExpr when(const Facts& f, const Target& target) {
  const HostExpr room = HostExpr(capacity(f, target));
  // Bins that seldom change, and by compare-and-swap, had better do so in device memory.
  const int64_t windows = f.op.kept && !is_direct(f, target) ? 1 : kMostWindows;
  const HostExpr fits = and_(le(f.bins, room * HostExpr(windows)), le(f.bins, f.length));
  if (!is_direct(f, target)) return fits;
  // Where several windows have few elements per bin, their beginning and end take longer than that
  // the elements meet at the bins themselves.
  constexpr int kElementsPerBin = 256;
  return and_(fits, or_(le(f.bins, room), le(f.bins * HostExpr(kElementsPerBin), f.length)));
}

void add_steps(plan::Maker& m, const Facts& f, const Target& target) {
  const Layout l = layout_for(f, target);
  const bool direct = is_direct(f, target);
  const Copies c = direct ? Copies{} : make_copies(m, f, l.parts);
  m.step("_shared", f.segments * l.windows * l.parts, [&](Team& t) {
    Builder& k = t.k;
    const Job j = job_of(t, l);
    Cells cells = shared_cells(t);
    fill(t, l, cells);
    count(t, l, j, cells);
    if (direct) {
      Cells out = cells_in_place(t);
      const Value base = k.mul(j.segment, t.host(f.bins));
      drain(t, l, j, cells,
            [&](const Value& bin, const Values& x) { out.update(k.add(base, bin), x); });
      return;
    }
    blocks::Mailboxes boxes = boxes_of(t, c);
    const Value base = first_box(t, c, j.segment, j.part);
    drain(t, l, j, cells,
          [&](const Value& bin, const Values& x) { boxes.store(k.add(base, bin), x); });
  });
  if (!direct) merge_step(m, f, target, c);
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  add_steps(m, f, target);
  return m.take();
}

}  // namespace kenaz::primitives::hist::shared
