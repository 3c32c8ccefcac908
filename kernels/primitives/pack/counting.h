// Packing as a scan: each element counts one for its class, so the sums up to it say where it goes.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::pack {

/// The scan that stands for a packing. Must outlive its `bind`.
class Counting {
 public:
  /// `type` counts: i32 or i64.
  Counting(const plan::Facts& facts, const plan::Bind& bind, PrimType type);
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

  const plan::Facts& facts() const { return facts_; }
  const plan::Bind& bind() const { return scan_bind_; }
  /// Adds the step that gives the counts where there are no elements, and so no scan.
  plan::Work with_empty(plan::Work work, const program::Target& target) const;

 private:
  plan::Problem wrap(plan::Team& t);
  void put(kir::Builder& k, const plan::Place& at, const kir::Values& x) const;

  const plan::Facts& of_pack_;
  const plan::Bind& bind_;
  PrimType type_;
  plan::Facts facts_;
  plan::Bind scan_bind_;
  plan::Problem inner_;
  kir::Value length_;
};

}  // namespace kenaz::primitives::pack
