// Memory traffic of an element's code.
#pragma once

#include <unordered_map>

#include "kernels/explain/report.h"
#include "kernels/ir/ir.h"

namespace kenaz::explain {

/// Sizes by their names in --dump seg.
class Sizes {
 public:
  explicit Sizes(const ir::Program& p);
  /// A product of what is not computed by multiplying sizes.
  Size size(const ir::Atom& a) const;
  /// Of the comparison of a tuning parameter with a size.
  struct Test {
    ir::TuneId param;
    Size size;
  };
  /// Null: the variable is no such comparison.
  std::optional<Test> test(const ir::Atom& a) const;

 private:
  const ir::Stm* definition(const ir::Atom& a) const;
  const ir::Program& p_;
  std::unordered_map<ir::VarId, const ir::Stm*> definitions_;
};

Size operator*(const Size& a, const Size& b);
/// Sizes with the same names are added.
void add(Bytes& to, const Size& size);

struct Traffic {
  Bytes reads, writes;
};
/// What the body of an operation reads and writes at one point: of arrays from outside, each access
/// counted, those in loops as often as they are run. A loop whose iterations are not known and a
/// branch count once, of a branch the side with more statements. What the combining of a reduction
/// writes is not counted.
Traffic traffic_of(const ir::Program& p, const Sizes& sizes, const ir::ESeg& e);

}  // namespace kenaz::explain
