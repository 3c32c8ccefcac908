#include "kernels/primitives/blocks/places.h"

namespace kenaz::primitives::blocks {

using kir::Value;
using kir::Values;

void Places::begin(kir::Builder& k, const Value& from) {
  from_ = from;
  segment_ = k.quot(from, length_);
  position_ = k.sub(from, k.mul(segment_, length_));
}

plan::Place Places::at(kir::Builder& k, const Value& flat) const {
  const Value r = k.add(position_, k.sub(flat, from_));
  const auto further = [&](const Value& segments) {
    return Values{k.add(segment_, segments), k.sub(r, k.mul(segments, length_))};
  };
  const Values where = k.if_values(
      k.lt(r, length_),
      [&] {
        return Values{segment_, r};
      },
      [&] {
        return k.if_values(
            k.lt(r, k.mul(length_, 2)), [&] { return further(kir::i64(1)); },
            [&] {
              // Devices divide 32 bits several times as fast.
              const Value narrow = k.lt(r, kir::i64(0x7fffffff));
              const Values n = k.if_values(
                  narrow, [&] { return Values{k.to_i64(k.quot(k.to_i32(r), k.to_i32(length_)))}; },
                  [&] { return Values{k.quot(r, length_)}; });
              return further(n[0]);
            });
      });
  return {where[0], where[1]};
}

}  // namespace kenaz::primitives::blocks
