// Segmented scans as one scan: elements in a row, each with a flag that is set at the start of a
// segment, and an operator that does not combine across one.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::scan {

/// The one scan that stands for the scan of all segments. Must outlive its `bind`.
class Flat {
 public:
  Flat(const plan::Facts& facts, const plan::Bind& bind);
  Flat(const Flat&) = delete;
  Flat& operator=(const Flat&) = delete;

  /// Of one segment.
  const plan::Facts& facts() const { return facts_; }
  const plan::Bind& bind() const { return flat_bind_; }

  /// To be called at the start of each kernel: `length` is that of the segments, i64.
  void set_length(const kir::Value& length) { length_ = length; }
  /// To be called, in each kernel, before elements from `from` on are made or put, and in the same
  /// block or around: one division here saves one per element.
  void begin(kir::Builder& k, const kir::Value& from);

 private:
  plan::Problem wrap(kir::Builder& k);
  plan::Place place(kir::Builder& k, const kir::Value& flat) const;

  plan::Facts facts_;
  const plan::Bind& bind_;
  plan::Bind flat_bind_;
  bool one_;  // one segment: nothing to do
  plan::Problem inner_;
  /// i64: the segments' length; where the elements start that are being made.
  kir::Value length_, from_, segment_, position_;
};

}  // namespace kenaz::primitives::scan
