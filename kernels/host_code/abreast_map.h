// Maps whose threads each make points next to each other, which read the same in part.
#pragma once

#include <optional>

#include "kernels/host_code/abreast.h"
#include "kernels/host_code/seg_element.h"
#include "kernels/host_code/small_rows.h"

namespace kenaz::host_code {

class AbreastMap {
 public:
  /// `e` is what `s` binds; both must outlive this.
  AbreastMap(HostArrays& host, const ir::Stm& s, const ir::ESeg& e);
  AbreastMap(const AbreastMap&) = delete;
  AbreastMap& operator=(const AbreastMap&) = delete;

  /// Whether points share anything.
  bool any() const { return abreast_.has_value(); }
  /// Whether the space is made of so many points at once, and still fills the device; a bool.
  Operand worthwhile() const;
  /// Emits the launch. `parts`: the results' arrays, dense.
  void launch(const SegParts& parts) const;

 private:
  std::vector<Operand> strips() const;

  HostArrays& host_;
  const ir::Stm& s_;
  const std::optional<ScalarResults> scalars_;
  std::optional<Abreast> abreast_;
};

}  // namespace kenaz::host_code
