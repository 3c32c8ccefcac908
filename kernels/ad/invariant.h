// Values that are the same for all elements of a map although its body computes them.
#pragma once

#include <optional>
#include <unordered_map>

#include "kernels/ad/counters.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"

namespace kenaz::ad {

class Invariants {
 public:
  /// `body` of a map with such params, which may grow meanwhile; what `counters` knew `by` then, is
  /// known outside.
  Invariants(ir::Program& p, const ir::Body& body, const std::vector<ir::VarId>& params,
             const Counters& counters, Counters::Mark by)
      : p_(p), body_(body), counters_(counters), by_(by), bound_(params.begin(), params.end()) {}

  bool is_outside(const ir::Atom& a);
  /// Whether that is known outside, and of all of them that they are not negative.
  bool are_sizes_outside(const std::vector<ir::Atom>& dims);
  /// Whether it comes from outside, or is made of what does by code that can run there: code that
  /// cannot fail.
  bool is_same(const ir::Atom& a);
  bool are_same(const std::vector<ir::Atom>& atoms);
  /// The value, which is the same for all elements, made outside of the map.
  ir::Atom outside(ir::Builder& b, const ir::Atom& a);

 private:
  struct Place {
    size_t stm, position;
  };
  void look();
  std::optional<ir::Stm> code(ir::VarId v);
  bool is_total(const ir::Stm& s) const;

  ir::Program& p_;
  const ir::Body& body_;
  const Counters& counters_;
  const Counters::Mark by_;
  ir::VarSet bound_;  // in the body and the bodies inside, params included
  size_t seen_ = 0;   // statements
  std::unordered_map<ir::VarId, Place> places_;
  std::unordered_map<ir::VarId, bool> same_;
  std::unordered_map<ir::VarId, ir::Atom> made_;
};

/// Moves iotas that only combinators read, and arithmetic, out of the body of a map with such
/// params where they are the same for all elements.
void move_out(ir::Program& p, const std::vector<ir::VarId>& params, ir::Body& body, ir::Body& to);

}  // namespace kenaz::ad
