// Arrays in host code, and the statements that make, view and update them.
//
// Arrays are symbolic (values.h): slices, transpositions and reshapes cost nothing. Where control
// flow joins, arrays are dense at the start of a block of their own.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "kernels/host_code/host_uses.h"
#include "kernels/host_code/turned.h"
#include "kernels/host_code/variables.h"

namespace kenaz::host_code {

/// All of host code that what makes kernels and launches knows.
class HostArrays : public HostVariables {
 public:
  using HostVariables::HostVariables;

  /// A new block for a dense array.
  HostArray allocate(PrimType elem, std::vector<Operand> dims);
  /// For an array that a statement makes: at the variable's place, if it has one and kernels can
  /// store there as they do to a block, else in a new block.
  HostArray make(ir::VarId v);
  /// .. and binds the variable to it.
  HostArray make_and_bind(ir::VarId v);
  BlockReg allocate_bytes(const HostSize& bytes);
  void allocate_bytes(BlockReg into, const HostSize& bytes);
  /// The array's elements, which are scalars, stand in these cells as well.
  void note_cells(ir::VarId array, Cells cells) { in_cells_.insert_or_assign(array, cells); }
  /// Whether the host itself needs what a kernel makes.
  bool reads(ir::VarId v);
  /// Dense at offset 0 of its block; the same memory if it is that already.
  HostArray normalised(HostArray a);
  /// Something with memory.
  HostArray in_memory(HostArray a);
  void copy(const HostArray& from, const HostArray& to);
  /// Views.
  HostArray rearranged(const HostArray& a, const std::vector<int>& perm);
  HostArray sliced(const HostArray& a, const SliceDims<Operand>& dims);
  /// Takes borrowed scalars out of their arrays: something is about to be updated in place.
  void settle_borrowed();

 protected:
  void begin_arrays();
  /// From here on copies are for the sake of what stands there.
  void copies_are_for(ir::ProvId place) { place_ = place; }
  /// Dense at the start of the block.
  HostArray block_array(const ir::Type& t, BlockReg block);

  // statements
  void index(const ir::Stm& s, const ir::EIndex& e);
  void update(const ir::Stm& s, const ir::EUpdate& e);
  void array_literal(const ir::Stm& s, const ir::EArrayLit& e);
  void replicate(const ir::Stm& s, const ir::EReplicate& e);
  void scratch(const ir::Stm& s, const ir::EScratch& e);
  void concat(const ir::Stm& s, const ir::EConcat& e);
  void rearrange(const ir::Stm& s, const ir::ERearrange& e);
  void reshape(const ir::Stm& s, const ir::EReshape& e);

  /// A block that begins with the scalar and is never updated.
  BlockReg word_of(const HostScalar& v);

 private:
  SliceDims<Operand> slice_dims(const std::vector<ir::Dim>& dims);
  void store_scalar(const HostArray& to, const Operand& element, const HostScalar& value);
  /// In which permutation of its dims the variable's array is to be dense, if not as it is.
  const std::vector<int>* turned(ir::VarId v);
  // places (places.cc)
  std::optional<HostArray> at_place(ir::VarId v, const ir::Place& place);
  /// Copies the array to `to`, unless it was made there: a part of what statement `whole` makes, or
  /// what it updates the array `whole` with.
  void put_part(ir::VarId v, ir::VarId whole, const HostArray& to);
  void put_update(ir::VarId v, ir::VarId whole, const HostArray& to);
  void copy_unless(const Operand& there, ir::VarId v, const HostArray& to);
  Operand is_at_place(ir::VarId v, ir::VarId memory) const;

  std::set<ir::VarId> scratch_;  // memory that was made to be filled
  std::map<ir::VarId, Cells> in_cells_;
  std::optional<ir::VarSet> host_uses_;  // once they are asked for
  std::optional<std::unordered_map<ir::VarId, std::vector<int>>> turned_;  // the same
  std::map<ir::VarId, Operand> at_their_place_;  // whether they are: bools
  ir::ProvId place_;
};

/// Emits a branch of host code, or only the side that runs where the condition is known.
void choose(HostArrays& host, const Operand& cond, const std::function<void()>& then,
            const std::function<void()>& otherwise);

}  // namespace kenaz::host_code
