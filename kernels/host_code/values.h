// What host code is generated with: body's values of IR variables at host level, and sizes.
#pragma once

#include <utility>

#include "kernels/body/analysis.h"
#include "kernels/body/host.h"
#include "kernels/body/views.h"
#include "kernels/program/program.h"

namespace kenaz::host_code {

using body::any_exp;
using body::ArrayKind;
using body::bodies_of;
using body::consumed_in;
using body::DeviceScalar;
using body::HostArray;
using body::HostScalar;
using body::HostValue;
using body::kMaxCallDepth;
using body::Layout;
using body::LayoutMath;
using body::size_variables;
using body::SliceDims;
using body::SliceRange;
using body::updates_in_place;
using body::ViewMath;
using program::BlockReg;
using program::KernelId;
using program::Operand;
using program::ScalarReg;

/// Scalars that a kernel leaves for kernels and for the host (cells.h).
struct Cells {
  BlockReg words;  // kBytes apart
  BlockReg told;   // if valid, what the kernel tells the host
  static constexpr int kBytes = program::kPartAlignment;
  static_assert(kBytes == program::kCellBytes);

  /// The n-th.
  HostScalar scalar(PrimType type, size_t n) const {
    const auto i = static_cast<int64_t>(n);
    return {type, DeviceScalar{words, PrimValue::i64(kBytes * i), false, told, kBytes * i}};
  }
};

/// A number of elements, bytes or threads that host code computes. Only HostCode makes them, by
/// checked arithmetic (kernels/scalar/size.h), and memory is allocated by nothing else: a product
/// that may wrap is no size.
class HostSize {
 public:
  const Operand& operand() const { return n_; }

 private:
  friend class HostCode;
  explicit HostSize(Operand n) : n_(std::move(n)) {}
  Operand n_;
};

}  // namespace kenaz::host_code
