// Maps whose threads walk along a dim, and make each point from what they know of the one before
// (ir/analysis/walks.h).
#pragma once

#include <optional>
#include <vector>

#include "kernels/gpu/seg_element.h"
#include "kernels/gpu/small_rows.h"
#include "kernels/ir/analysis/walks.h"

namespace kenaz::gpu {

class Walks {
 public:
  /// `e` is what `s` binds; both must outlive this.
  Walks(HostGen& host, const ir::Stm& s, const ir::ESeg& e);

  /// Whether points share anything.
  bool any() const { return walk_.has_value(); }
  /// Whether walks fit into the space, and still fill the device; a bool.
  Operand worthwhile() const;
  /// Emits the launch. `parts`: the results' arrays, dense.
  void launch(const SegParts& parts) const;

 private:
  /// What a thread knows of the point before.
  struct State {
    kir::Values carried, sums;
  };
  /// A point of a thread: its number in the walk is `turn` + `j`, that of its column `column`.
  struct Point {
    kir::Value turn;
    int64_t j = 0, column = 0;
  };
  using Use = std::function<void(const Point& point, const kir::Values& results)>;

  /// Whether walks are along the last dim.
  bool are_strips() const { return walk_->dim + 1 == scalars_->seg.space.dims.size(); }
  bool fits_shared_memory() const;
  void launch_columns(const SegParts& parts) const;
  void launch_strips(const SegParts& parts) const;
  const ir::SegDim& dim() const { return scalars_->seg.space.dims[walk_->dim]; }
  std::vector<Operand> sizes() const;
  Operand op(ScalarOp o, const Operand& a, const Operand& b) const;
  Operand test(ScalarOp o, PrimType type, const Operand& a, const Operand& b) const;
  Operand length() const;
  int64_t columns() const;
  void walk(body::Thread& t, const kir::Value& first, const kir::Value& column,
            const kir::Value& length, const Use& use) const;
  kir::Values point(body::Thread& t, State& state, const kir::Value& follows) const;
  kir::Values next_sums(body::Thread& t, const ir::Stm& s, const ir::Walk::Slide& slide,
                        const kir::Values& sums) const;
  void store(body::Thread& t, const SegParts& parts, const kir::Value& place,
             const kir::Values& results) const;

  HostGen& host_;
  const ir::Stm& s_;
  const std::optional<ScalarResults> scalars_;
  std::optional<ir::Walk> walk_;
};

}  // namespace kenaz::gpu
