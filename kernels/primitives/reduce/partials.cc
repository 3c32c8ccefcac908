#include "kernels/primitives/reduce/partials.h"

namespace kenaz::primitives::reduce {

Values fold_partials(Team& t, Combiner& c, blocks::Mailboxes& boxes, const Value& first,
                     const Value& count) {
  Builder& k = t.k;
  const Value share = k.div_up(count, t.group_size_i64());
  const Value from = k.mul(k.to_i64(k.local()), share);
  const Value to = k.min(k.add(from, share), count);
  const kir::Vars acc = k.declare(c.op().neutral);
  boxes.for_each(k.add(first, from), k.add(first, to),
                 [&](const Value&, const Values& x) { k.assign(acc, c.combine(k.read(acc), x)); });
  return c.reduce(k.read(acc));
}

}  // namespace kenaz::primitives::reduce
