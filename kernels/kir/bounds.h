// What integers of a kernel are at least and at most, as far as literals and loops tell, in
// launches with the usual specialisation constants: good for what is worth doing, not for what is
// right.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/kir/kir.h"

namespace kenaz::kir {

class Bounds {
 public:
  struct Range {
    int64_t least = 0, most = 0;
  };

  /// kUsual: with the specialisation constants that launches usually have, which is good for what
  /// is worth doing, not for what is right.
  enum class Launch : uint8_t { kAny, kUsual };
  Bounds(const Kernel& kernel, Launch launch);
  /// Nothing: not known.
  std::optional<Range> of(const Value& v) const;

 private:
  void note(const Inst& inst);
  std::optional<Range> of(const IPrim& i) const;
  Range of(BuiltinKind kind) const;

  std::vector<std::optional<Range>> vals_;  // by ValId
  int64_t most_threads_ = INT32_MAX;        // of a workgroup
};

}  // namespace kenaz::kir
