// The code of several neighbouring points of a segmented operation at once: what they read and
// store side by side goes by vectors.
#pragma once

#include <functional>
#include <optional>

#include "kernels/host_code/seg_element.h"
#include "kernels/plan/plan.h"

namespace kenaz::host_code {

/// An ESeg whose body is scalar code without loops or checks.
class Neighbours {
 public:
  /// Of several dims, neighbours are those along the last one. The caller sees to it then that its
  /// size is a multiple of how many points are taken at a time; others want one dim.
  enum class Dims : uint8_t { kOne, kAny };
  Neighbours(HostArrays& host, const ir::ESeg& e, Dims dims = Dims::kOne);

  /// How many points to take at a time: 4, or 2 if there are values of 8 bytes; 1: no vectors,
  /// because the body is not of this kind, or there is nothing that goes by vectors. `stores`: the
  /// caller stores results by vectors.
  int count(bool stores) const;

  bool is_possible() const { return possible_; }
  /// The statements that read side by side (their arrays are EIndex's), and the ESeg without them.
  const std::vector<ir::Stm>& loads() const { return loads_; }
  const ir::ESeg& rest() const { return rest_; }

  /// What becomes of plain results.
  enum class Plain : uint8_t { kStored, kDropped, kHandedOn };
  /// A function of the first point, a multiple of `n` (i64), that gives what the points hand on,
  /// point by point. Of several dims it is one of the segment and the position there. This must
  /// outlive the kernel's making.
  kir::FunctionId function(body::Thread& t, int n, const SegParts& parts, Plain plain) const;
  /// What such functions give, by points; they are made when they are called first. The results of
  /// the points are not handed on by this.
  std::function<std::vector<kir::Values>(kir::Builder&, const plan::Place&, int)> many(
      body::Thread& t, const SegParts& parts, Plain plain) const;
  /// A function of a point (i64) and of what its loads have given: all results.
  kir::FunctionId point(body::Thread& t) const;

 private:
  bool has_segments() const { return rest_.space.dims.size() > 1; }
  /// Whether an array, from the start of its block on, is read at the points' own indices, or at
  /// the last of these.
  bool is_side_by_side(const ir::Stm& s) const;
  bool is_at_own_indices(const ir::EIndex& index) const;

  HostArrays& host_;
  bool possible_;
  size_t handed_;
  std::vector<ir::Stm> loads_;
  ir::ESeg rest_;  // without them
};

/// How many statements a body has, if a driver makes a few instructions of each. What it makes more
/// of takes long to compile when it is repeated, and longer to run than the loads and stores that
/// are spared where neighbours are made together.
std::optional<int> short_statements(const ir::Body& body);

/// Stores `values` at `first`, a multiple of their number, and behind it: by vectors.
void store_neighbours(kir::Builder& k, const kir::Value& base, const kir::Value& first,
                      const kir::Values& values);

}  // namespace kenaz::host_code
