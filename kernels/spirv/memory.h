// Places in memory: variables, what pointers point to, loads, stores and atomics.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "kernels/spirv/item.h"
#include "kernels/spirv/read.h"

namespace kenaz::spirv {

class Memory {
 public:
  Memory(const Module& module, const Types& types, Items& items, kir::Builder& builder)
      : module_(module), types_(types), items_(items), k_(builder) {}

  /// OpVariable.
  Item variable(const Instruction& in);
  /// OpAccessChain and its kin.
  Item access_chain(const Instruction& in);
  /// OpArrayLength.
  kir::Values array_length(const Instruction& in);
  kir::Values load(const Instruction& in);
  void store(const Instruction& in);
  /// OpAtomic..; no values: it gives none.
  kir::Values atomic(const Instruction& in);

  /// The size of a workgroup by dimension; before any input is read.
  void set_local_size(const std::array<uint32_t, 3>& size) { local_size_ = size; }
  std::vector<Input> take_inputs() { return std::move(inputs_); }

 private:
  Place place_of(Ident pointer) const;
  void step(Place& place, Ident index);
  void step_in_array(Place& place, Ident index);
  void step_in_device(Place& place, Ident index);
  kir::Value wide(const kir::Value& index, uint64_t unit);
  kir::Values load(const Place& place, uint64_t align);
  kir::Values load_device(const Place& place, uint64_t align);
  void store_device(const Place& place, const kir::Values& values, uint64_t align);
  kir::Value load_volatile(const Place& place, PrimType type);
  kir::Values load_push(const Place& place);
  kir::Values load_input(const Place& place);
  kir::Value input_component(uint32_t input, uint32_t dim);
  kir::Value dimension_of_group(uint32_t dim);
  kir::Value argument(const Input& input, PrimType type, bool is_block);
  kir::Address address(const Place& place, uint64_t scalar) const;
  kir::Address device_address(const Place& place, PrimType type, uint64_t bytes);
  std::optional<PrimType> bits_type(Ident type, bool shared) const;
  kir::Value to_bits(const Place& place, const kir::Value& v);
  kir::Value from_bits(const Place& place, const kir::Value& v, PrimType type);
  void initialise(const Place& place, Ident initializer);
  kir::AtomicOrder order(Ident semantics) const;

  const Module& module_;
  const Types& types_;
  Items& items_;
  kir::Builder& k_;
  std::array<uint32_t, 3> local_size_{1, 1, 1};
  std::vector<Input> inputs_;                                          // by Kernel::args
  std::map<std::pair<uint32_t, uint32_t>, std::string> buffer_names_;  // by set and binding
  std::map<Ident, uint32_t> local_arrays_;  // by variable: one for all calls of its function
};

}  // namespace kenaz::spirv
