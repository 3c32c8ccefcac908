#include "kernels/primitives/blocks/boxes.h"

namespace kenaz::primitives::blocks {

void scan_boxes(Team& t, Combiner& c, Mailboxes& boxes, const Value& count) {
  Builder& k = t.k;
  const Value share = k.div_up(count, t.group_size_i64());
  const Value from = k.mul(k.to_i64(k.local()), share);
  const Value to = k.min(k.add(from, share), count);
  const kir::Vars acc = k.declare(c.op().neutral);
  boxes.for_each(from, to,
                 [&](const Value&, const Values& x) { k.assign(acc, c.combine(k.read(acc), x)); });
  k.assign(acc, c.scan(k.read(acc)).before);
  boxes.for_each(from, to, [&](const Value& n, const Values& x) {
    const Values before = k.read(acc);
    boxes.store(n, before);
    k.assign(acc, c.combine(before, x));
  });
}

}  // namespace kenaz::primitives::blocks
