#include "kernels/primitives/blocks/ticket.h"
#include "kernels/primitives/reduce/fold.h"
#include "kernels/primitives/reduce/plan_functions.h"

namespace kenaz::primitives::reduce::column {

namespace {

constexpr int kFewest = 16;     // segments; with fewer, lanes across them would be idle
constexpr int kPerThread = 16;  // elements, before another thread is worth it

// The workgroup is rows of `width` threads. Its columns are neighbouring segments, its rows take
// shares of their length.
struct Strip {
  Value width, row, segment, live;  // i32, i64, i64, bool
  Value first, share;               // of the row: position, elements; i64
};

// What one thread finds of its segment, combined over the rows.
Values fold_column(Team& t, Combiner& c, const Strip& b, const Value& length) {
  Builder& k = t.k;
  const kir::Vars acc = k.declare(t.problem.op.neutral);
  const int n = t.facts.slow ? 1 : 4;
  const Value from = k.min(b.first, length);
  const Value to = k.select(b.live, k.min(k.add(from, b.share), length), from);
  fold_alone(t, b.segment, from, to, n, acc);
  return c.reduce_columns(k.read(acc), b.width);
}

// As fold_partials, for each column; `boxes` is [parts][segments].
Values fold_boxes(Team& t, Combiner& c, const Strip& b, blocks::Mailboxes& boxes,
                  const Value& parts, const Value& segments) {
  Builder& k = t.k;
  const Value rows = k.to_i64(k.quot(t.group_size(), b.width));
  const Value share = k.div_up(parts, rows);
  const Value from = k.mul(b.row, share);
  const Value to = k.select(b.live, k.min(k.add(from, share), parts), from);
  const kir::Vars acc = k.declare(c.op().neutral);
  k.for_(from, to, kir::i64(1), [&](const Value& n) {
    const Values x = boxes.load(k.add(k.mul(n, segments), b.segment));
    k.assign(acc, c.combine(k.read(acc), x));
  });
  return c.reduce_columns(k.read(acc), b.width);
}

}  // namespace

bool applies(const Facts& f, const Target&) { return f.across; }

HostExpr when(const Facts& f, const Target&) { return le(kFewest, f.segments); }

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  const HostExpr width = m.spec("across", std::min(32, plan::group_size_for(f, target)));
  const HostExpr strips = div_up(f.segments, width);
  const HostExpr rows = HostExpr::op(ScalarOp::kQuot, {m.group_size(), width});
  const HostExpr wanted = div_up(plan::groups_to_fill(target) * 2, max(strips, 1));
  const HostExpr worth = div_up(f.length, rows * kPerThread);
  const HostExpr bounded = div_up(f.length, rows * HostExpr(plan::turn_budget(target)));
  const HostExpr parts = max(max(min(worth, wanted), bounded), 1);
  const HostExpr n_boxes = f.segments * parts;
  const plan::ScratchId partials = m.scratch(blocks::Mailboxes::bytes(f.op.types, n_boxes));
  const plan::ScratchId tickets = m.scratch(strips * 4, true);
  m.step("_column", strips * parts, [&](Team& t) {
    Builder& k = t.k;
    Combiner c(t, t.problem.op);
    blocks::LastArrival arrival(t);
    const Value segments = t.host(f.segments), n_parts = t.host(parts), length = t.host(f.length);
    const Value n_strips = t.host(strips);
    const Value part = k.quot(k.group(), n_strips);
    const Value strip = k.sub(k.group(), k.mul(part, n_strips));
    Strip b;
    b.width = t.specs[1];
    const Value row = k.quot(k.local(), b.width);
    b.row = k.to_i64(row);
    const Value column = k.to_i64(k.sub(k.local(), k.mul(row, b.width)));
    b.segment = k.add(k.mul(strip, t.host(width)), column);
    b.live = k.lt(b.segment, segments);
    const Value n_rows = k.to_i64(k.quot(t.group_size(), b.width));
    b.share = k.div_up(length, k.mul(n_parts, n_rows));
    b.first = k.mul(k.add(k.mul(part, n_rows), b.row), b.share);
    const Value writes = k.and_(b.live, k.eq(b.row, 0));
    const auto put = [&](const Values& r) {
      k.if_(writes, [&] { t.problem.sink.put(k, {b.segment, kir::i64(0)}, r); });
    };
    const Values r = fold_column(t, c, b, length);
    k.if_(
        k.eq(n_parts, 1), [&] { put(r); },
        [&] {
          blocks::Mailboxes boxes(t, t.block(partials), f.op.types, t.host(n_boxes));
          k.if_(writes, [&] { boxes.store(k.add(k.mul(part, segments), b.segment), r); });
          const Value last = arrival.arrives({t.block(tickets), strip}, n_parts);
          // The others combine nothing, because there are barriers in it.
          const Value count = k.select(last, n_parts, kir::i64(0));
          const Values total = fold_boxes(t, c, b, boxes, count, segments);
          k.if_(last, [&] { put(total); });
        });
  });
  return m.take();
}

}  // namespace kenaz::primitives::reduce::column
