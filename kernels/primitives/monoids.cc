#include "kernels/primitives/monoids.h"

#include <fmt/format.h>

namespace kenaz::primitives {

using kir::Builder;
using kir::Value;
using kir::Values;

Monoids::Monoids(std::vector<Monoid> monoids) : monoids_(std::move(monoids)) {
  for (const auto& m : monoids_) types_.insert(types_.end(), m.types.begin(), m.types.end());
}

Values Monoids::neutral() const {
  Values all;
  for (const auto& m : monoids_) {
    for (const Value& v : m.neutral()) all.push_back(v);
  }
  return all;
}

Values Monoids::combine(Builder& k, const Values& a, const Values& b) const {
  Values all;
  for (const auto& m : monoids_) {
    const auto at = static_cast<long>(all.size()), n = static_cast<long>(m.types.size());
    Values args(a.begin() + at, a.begin() + at + n);
    args.insert(args.end(), b.begin() + at, b.begin() + at + n);
    for (const Value& v : k.call(m.function, std::move(args))) all.push_back(v);
  }
  return all;
}

SharedValues::SharedValues(Builder& k, const Monoids& m, int length) {
  for (PrimType t : m.types()) {
    arrays.push_back(k.shared(fmt::format("sh{}", arrays.size()), t, {length}));
  }
}

Values SharedValues::load(Builder& k, const Value& at) const {
  Values out;
  for (kir::SharedId a : arrays) out.push_back(k.load(a, at));
  return out;
}

void SharedValues::store(Builder& k, const Value& at, const Values& values) const {
  for (size_t n = 0; n < arrays.size(); n++) k.store(arrays[n], at, values[n]);
}

void for_share(Builder& k, const Value& first, const Value& length, const Value& n,
               const std::function<void(const Value&)>& body) {
  k.for_(
      length,
      [&](const Value& offset) {
        const Value i = k.add(first, offset);
        k.if_(k.lt(i, n), [&] { body(i); });
      },
      true);
}

kir::Address word(Builder& k, const Value& base, const Value& n, PrimType type) {
  return {base, k.mul(n, 8 / prim_size(type))};
}

}  // namespace kenaz::primitives
