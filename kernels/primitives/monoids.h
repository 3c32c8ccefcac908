// The operators of a reduction or scan as primitives see them.
#pragma once

#include <functional>
#include <vector>

#include "kernels/kir/builder.h"

namespace kenaz::primitives {

/// A function (a.., b..) -> r.. of the kernel that combines tuples of `types`; associative.
/// `neutral` builds its unit.
struct Monoid {
  kir::FunctionId function;
  std::vector<PrimType> types;
  std::function<kir::Values()> neutral;
};

/// All values of several monoids in a row.
class Monoids {
 public:
  explicit Monoids(std::vector<Monoid> monoids);
  const std::vector<PrimType>& types() const { return types_; }
  size_t size() const { return types_.size(); }
  kir::Values neutral() const;
  kir::Values combine(kir::Builder& k, const kir::Values& a, const kir::Values& b) const;

 private:
  std::vector<Monoid> monoids_;
  std::vector<PrimType> types_;
};

/// Shared arrays, one per value, `length` long.
struct SharedValues {
  SharedValues(kir::Builder& k, const Monoids& m, int length);
  kir::Values load(kir::Builder& k, const kir::Value& at) const;
  void store(kir::Builder& k, const kir::Value& at, const kir::Values& values) const;
  std::vector<kir::SharedId> arrays;
};

/// Calls body for a thread's part of 0, .., n - 1: `length` neighbours from `first` on. All
/// threads make all iterations, so that none is stopped between them (in a loop inside of an
/// element it still can be).
void for_share(kir::Builder& k, const kir::Value& first, const kir::Value& length,
               const kir::Value& n, const std::function<void(const kir::Value&)>& body);

/// Values in 8-byte words of device memory: word `n` from `base` on.
kir::Address word(kir::Builder& k, const kir::Value& base, const kir::Value& n, PrimType type);

}  // namespace kenaz::primitives
