// Points next to each other along a map's last dim that a thread makes together: what they read
// and store is side by side then, and goes by vectors. At the edges of arrays, where indices are
// not at the offsets that they have elsewhere (ir/analysis/offsets.h), it makes them one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "kernels/body/thread.h"
#include "kernels/host_code/host_arrays.h"
#include "kernels/ir/analysis/offsets.h"

namespace kenaz::host_code {

class Abreast {
 public:
  /// Rows of whole groups of points, which are as far from each other as vectors must be, or any.
  enum class Rows : uint8_t { kWhole, kAny };
  /// `count` points of `e` at once. A thread looks once if the indices are at their offsets, for
  /// all that the dim `walked` may be, if there is one. `e` must outlive this.
  Abreast(HostArrays& host, const ir::ESeg& e, int64_t count, Rows rows,
          std::optional<ir::VarId> walked = std::nullopt);

  int64_t count() const { return count_; }
  /// Whether there are such rows in the space; a bool.
  Operand fits() const;
  /// How many threads the last dim takes.
  Operand threads() const;

  /// Makes points from `column` on, which is a multiple of `count`, by `make`: a column and how
  /// many columns. Of whole rows the code that follows in the function knows that they are whole.
  using Make = std::function<void(const kir::Value& column, int64_t count)>;
  void points(body::Thread& t, const kir::Value& column, const Make& make);

  /// Binds the last dim's index to that of the n-th of the points from `column` on.
  void bind(body::Thread& t, const kir::Value& column, int64_t n) const;
  /// The body's statements, or some of them.
  void translate(body::Thread& t, const ir::Body& b) const;
  void translate(body::Thread& t, const ir::Stm& s) const;

 private:
  kir::Value at_offsets(body::Thread& t, const kir::Value& column) const;
  std::optional<int64_t> offset(const ir::Atom& index) const;
  bool is_known_check(const ir::Stm& s) const;
  const ir::SegDim& last() const { return e_.space.dims.back(); }

  HostArrays& host_;
  const ir::ESeg& e_;
  const int64_t count_;
  const Rows rows_;
  const std::vector<ir::Offset> offsets_;
  /// The code that is being made is for points whose indices are at offsets, and in the last dim.
  bool inside_ = false;
};

}  // namespace kenaz::host_code
