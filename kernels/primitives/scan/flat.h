// Segmented scans as one scan: elements in a row, each with a flag that is set at the start of a
// segment, and an operator that does not combine across one.
#pragma once

#include <optional>

#include "kernels/primitives/blocks/places.h"

namespace kenaz::primitives::scan {

/// The operator on pairs of a flag and a value:
/// (f, x) (g, y) -> (f || g, if g then y else x op y)
plan::OpFacts flagged_facts(plan::OpFacts op);
plan::Operator flagged_operator(const plan::Operator& op);

/// The one scan that stands for the scan of all segments. Must outlive its `bind`.
class Flat {
 public:
  Flat(const plan::Facts& facts, const plan::Bind& bind);
  Flat(const Flat&) = delete;
  Flat& operator=(const Flat&) = delete;

  /// Of one segment.
  const plan::Facts& facts() const { return facts_; }
  const plan::Bind& bind() const { return flat_bind_; }

  /// As Places::begin, in each kernel.
  void begin(kir::Builder& k, const kir::Value& from);

 private:
  plan::Problem wrap(plan::Team& t);

  plan::Facts facts_;
  plan::HostExpr length_;  // of a segment
  const plan::Bind& bind_;
  plan::Bind flat_bind_;
  bool one_;  // one segment: nothing to do
  plan::Problem inner_;
  std::optional<blocks::Places> places_;
};

}  // namespace kenaz::primitives::scan
