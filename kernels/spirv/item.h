// What an <id> of the module stands for while kernel IR is made: a value, or a place in memory.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/kir/builder.h"
#include "kernels/spirv/read.h"
#include "kernels/spirv/refused.h"
#include "kernels/spirv/types.h"

namespace kenaz::spirv {

/// A signed index, i64, and what one of it makes up, in bytes.
struct Term {
  kir::Value index;
  uint64_t stride = 0;
};

/// Where a pointer of the kernel points to.
struct Place {
  enum Kind : uint8_t {
    kVars,    // variables of the thread
    kLocal,   // part of a thread's array
    kShared,  // part of a workgroup's array
    kDevice,  // device memory
    kPush,    // push constants
    kInput    // what a thread knows of itself
  };
  Kind kind = kVars;
  Ident type = 0;      // of what is there
  kir::Vars vars;      // kVars: one per scalar
  uint32_t array = 0;  // kLocal, kShared: the array's number
  /// kLocal, kShared: of scalars of several types: what the array holds, their bits.
  std::optional<PrimType> bits;
  /// kLocal, kShared: the number of the first scalar, i64. kDevice: an address, u64, from which
  /// the place is `offset` bytes and the `terms` away.
  kir::Value at;
  std::optional<Input> buffer;  // kDevice: instead of `at`, where a storage buffer begins
  std::vector<Term> terms;
  /// kLocal, kShared: a number of scalars that `at` is a multiple of.
  uint64_t multiple = 0;
  uint64_t offset = 0;                // kPush, kDevice: in bytes
  MatrixLayout matrices;              // kPush, kDevice: of those that are in it
  uint64_t component_stride = 0;      // .. of a matrix's column: in bytes, if it has gaps; or 0
  uint32_t input = spv::BuiltInMax;   // kInput
  std::optional<uint32_t> component;  // kInput: of a vector
  bool coherent = false, is_volatile = false;
};

struct Item {
  Ident type = 0;
  kir::Values scalars;               // of a value
  std::optional<Place> place;        // a pointer, but for those to device memory, which are values
  std::optional<kir::Value> ballot;  // of OpGroupNonUniformBallot: what the thread said
};

/// By <id>: what is known in the module, and in the function that is being read.
class Items {
 public:
  void define(Ident id, Item item) {
    (frames_.empty() ? globals_ : frames_.back()).insert_or_assign(id, std::move(item));
  }
  const Item& at(Ident id) const {
    if (!frames_.empty()) {
      if (const auto it = frames_.back().find(id); it != frames_.back().end()) return it->second;
    }
    const auto it = globals_.find(id);
    if (it == globals_.end()) refuse("%{} is used where it has no value", id);
    return it->second;
  }
  /// A value's scalars.
  const kir::Values& values(Ident id) const {
    const Item& item = at(id);
    if (item.scalars.empty()) refuse("%{} is no value that is read", id);
    return item.scalars;
  }
  const kir::Value& scalar(Ident id) const {
    const kir::Values& all = values(id);
    if (all.size() != 1) refuse("%{} is no scalar", id);
    return all[0];
  }
  /// Refuses what is not known before the kernel runs.
  PrimValue constant(Ident id) const {
    const kir::Value& v = scalar(id);
    if (!v.is_const()) refuse("%{} is no constant", id);
    return v.constant();
  }
  /// A function's own <id>s begin, and end.
  void enter() { frames_.emplace_back(); }
  void leave() { frames_.pop_back(); }

 private:
  std::unordered_map<Ident, Item> globals_;
  std::vector<std::unordered_map<Ident, Item>> frames_;
};

}  // namespace kenaz::spirv
