// Maps whose points reduce rows of different lengths (ir/analysis/uneven.h), as an operation with
// plans of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/host_code/plan_launch.h"
#include "kernels/host_code/seg_element.h"
#include "kernels/ir/analysis/uneven.h"

namespace kenaz::host_code {

class UnevenMap {
 public:
  /// The points of `e`, which `s` binds; all three must outlive this. Of operands that are handed
  /// on there are none.
  UnevenMap(HostArrays& host, const ir::Stm& s, const ir::ESeg& e, const SegParts& parts);

  /// Whether it is one, and its code needs no memory for each thread.
  bool any() const { return request_.has_value(); }
  /// How long its segments are at most, if they have no more than some number of elements that the
  /// host knows.
  std::optional<Operand> longest() const;
  void launch() const;

 private:
  std::optional<Operand> longest(const ir::Atom& length) const;
  PlanRequest request() const;
  plan::Problem bind(body::Thread& t) const;
  plan::Uneven::Stage stage(body::Thread& t, size_t number, size_t first_operator) const;
  kir::FunctionId enter(body::Thread& t, size_t number) const;
  /// Whether what a reduction combines is made of scalars of its inputs: these are read first.
  bool reads_scalars(size_t number) const;
  kir::FunctionId of_element(body::Thread& t, const std::string& name, size_t number,
                             const std::vector<ir::VarId>& more,
                             const std::function<kir::Values(const kir::Value&)>& body) const;
  kir::FunctionId read(body::Thread& t, size_t number) const;
  kir::FunctionId element(body::Thread& t, size_t number) const;
  kir::FunctionId leave(body::Thread& t) const;
  std::vector<kir::Type> types_of(const std::vector<ir::VarId>& scalars) const;

  HostArrays& host_;
  const ir::Stm& s_;
  const ir::ESeg& e_;
  const SegParts& parts_;
  std::optional<ir::Uneven> uneven_;
  ir::ESeg last_;  // what is left behind the reductions
  std::optional<PlanRequest> request_;
};

}  // namespace kenaz::host_code
