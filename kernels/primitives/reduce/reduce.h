// Reduction in one dispatch: each workgroup reduces its share and writes a partial result; the one
// that finishes last reduces those. Order is kept unless the operator commutes.
#pragma once

#include <cstdint>

#include "kernels/primitives/monoid_text.h"

namespace kenaz::primitives {

inline constexpr int kReduceWorkgroup = 256;
inline constexpr int kReducePerThread = 8;  // at least, before another workgroup is worth it
inline constexpr int kReduceMaxGroups = 1024;

struct ReduceSpec {
  std::vector<MonoidText> monoids;
  bool commutative = false;
  bool long_elements = false;  // look after each of them whether the call is to stop
  std::string width;           // i64 expression
  std::string result;          // address: values 8 bytes apart
  /// Address of reduce_partial_bytes, whose first 4 bytes are zero; empty if there is one
  /// workgroup.
  std::string partial;
};

int64_t reduce_partial_bytes(size_t values);
PrimitiveText reduce_text(const ReduceSpec& spec);

}  // namespace kenaz::primitives
