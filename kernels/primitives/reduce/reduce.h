// Reduction in one dispatch: each workgroup reduces its share and writes a partial result; the one
// that finishes last reduces those. Order is kept unless the operator commutes.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/primitives/monoids.h"

namespace kenaz::primitives {

inline constexpr int kReduceWorkgroup = 256;
inline constexpr int kReducePerThread = 8;  // at least, before another workgroup is worth it
inline constexpr int kReduceMaxGroups = 1024;

struct ReduceSpec {
  Monoids monoids;
  bool commutative = false;
  kir::FunctionId elem;  // (i64) -> the values of an element
  kir::Value width;      // i64
  kir::Value result;     // address: values 8 bytes apart
  /// Address of reduce_partial_bytes, whose first 4 bytes are zero; null if there is one
  /// workgroup.
  std::optional<kir::Value> partial;
};

int64_t reduce_partial_bytes(size_t values);
/// Builds the kernel's main: workgroups of kReduceWorkgroup, at most kReduceMaxGroups.
void build_reduce(kir::Builder& k, const ReduceSpec& spec);

}  // namespace kenaz::primitives
