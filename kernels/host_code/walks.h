// Maps whose threads walk along a dim, and make each point from what they know of the one before
// (ir/analysis/walks.h).
#pragma once

#include <optional>
#include <vector>

#include "kernels/host_code/abreast.h"
#include "kernels/host_code/seg_element.h"
#include "kernels/host_code/small_rows.h"
#include "kernels/ir/analysis/walks.h"

namespace kenaz::host_code {

class Walks {
 public:
  /// `e` is what `s` binds; both must outlive this.
  Walks(HostArrays& host, const ir::Stm& s, const ir::ESeg& e);

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
  /// The points of a thread's columns whose number in the walk is `turn` + `j`.
  struct Point {
    kir::Value turn;
    int64_t j = 0;
  };
  /// Columns of a thread.
  struct Lanes {
    const Abreast& abreast;
    kir::Value column;  // the first one's index along the last dim
    int64_t count = 1;
  };
  /// `results`: column by column.
  using Use = std::function<void(const Point& point, const std::vector<kir::Values>& results)>;

  /// Whether walks are along the last dim.
  bool are_strips() const { return walk_->dim + 1 == scalars_->seg.space.dims.size(); }
  bool fits_shared_memory() const;
  void launch_columns(const SegParts& parts, Abreast abreast) const;
  void launch_strips(const SegParts& parts) const;
  const ir::SegDim& dim() const { return scalars_->seg.space.dims[walk_->dim]; }
  std::vector<Operand> sizes() const;
  Operand op(ScalarOp o, const Operand& a, const Operand& b) const;
  Operand test(ScalarOp o, PrimType type, const Operand& a, const Operand& b) const;
  Operand length() const;
  int64_t columns() const;
  Abreast abreast(int64_t columns, Abreast::Rows rows) const;
  void walk(body::Thread& t, const Lanes& lanes, const kir::Value& first, const kir::Value& length,
            const Use& use) const;
  kir::Values point(body::Thread& t, const Abreast& abreast, State& state,
                    const kir::Value& follows) const;
  kir::Values next_sums(body::Thread& t, const ir::Stm& s, const ir::Walk::Slide& slide,
                        const kir::Values& sums) const;

  HostArrays& host_;
  const ir::Stm& s_;
  const std::optional<ScalarResults> scalars_;
  std::optional<ir::Walk> walk_;
};

}  // namespace kenaz::host_code
