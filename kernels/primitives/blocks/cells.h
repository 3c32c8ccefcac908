// Values in memory that any thread may combine something with, at any time: each scalar in a word
// of its own where the operator works on scalars by themselves, else the whole value in one word.
// A word is changed by an atomic operation or by compare-and-swap.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::blocks {

class Cells {
 public:
  enum class Kind : uint8_t { kNone, kScalars, kPacked };
  /// Whether and how values of this operator can be cells of shared or device memory. The operator
  /// must commute: nobody knows in which order values are combined.
  static Kind kind(const plan::OpFacts& op, const program::Target& target, bool shared);
  /// Whether a cell's words are the value's scalars as they stand in arrays.
  static bool in_place(const plan::OpFacts& op, const program::Target& target);
  /// Whether each scalar is combined by one atomic operation. What is combined by compare-and-swap
  /// takes long where many threads change one cell at a time.
  static bool native(const plan::OpFacts& op, const program::Target& target, bool shared);
  /// The types of a cell's words; the kind is not kNone.
  static std::vector<PrimType> words(const plan::OpFacts& op, const program::Target& target,
                                     bool shared);

  /// Where the words of a cell are: index `index` behind each base.
  using Bases = std::vector<decltype(kir::Address::base)>;
  Cells(plan::Team& team, const plan::Operator& op, bool shared, Bases bases);

  /// Combines the cell with x; any thread, any time.
  void update(const kir::Value& index, const kir::Values& x);
  /// While no other thread touches the cell.
  void store(const kir::Value& index, const kir::Values& x);
  kir::Values load(const kir::Value& index);

 private:
  /// Of kScalars: whether one atomic operation combines the n-th scalar.
  bool is_native(size_t n) const;
  kir::Values encode(const kir::Values& x);
  kir::Values decode(const kir::Values& words);
  void update_scalar(size_t n, const kir::Value& index, const kir::Value& x);
  void swap_in(size_t word, const kir::Value& index,
               const std::function<kir::Value(const kir::Value& old)>& next);

  plan::Team& t_;
  plan::Operator op_;
  bool shared_;
  Kind kind_;
  std::vector<PrimType> words_;
  Bases bases_;
};

}  // namespace kenaz::primitives::blocks
