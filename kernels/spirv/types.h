// The types of a module. A value of any of them is a list of scalars: of a vector, an array or a
// structure its parts, one behind the other. A pointer into device memory is a u64.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/spirv/module.h"
#include "protocol/prim_type.h"

namespace kenaz::spirv {

struct TypeInfo {
  enum Kind : uint8_t {
    kVoid,
    kScalar,
    kVector,
    kMatrix,  // `count` columns, vectors
    kArray,
    kRuntimeArray,
    kStruct,
    kDevicePointer,
    kPointer,  // a place of the kernel, no value
    kFunction
  };
  Kind kind = kVoid;
  PrimType prim = PrimType::kU64;           // of scalars and device pointers
  Ident element = 0;                        // of vectors, matrices, arrays and pointers
  uint32_t count = 0;                       // of vectors, matrices and arrays
  std::vector<Ident> members;               // of structures
  uint32_t storage = spv::StorageClassMax;  // a spv::StorageClass, if it is one
  uint64_t scalars = 0;                     // that a value consists of; 0: it has no values
  int depth = 0;                            // of types inside of types
  bool is_forward = false;                  // a pointer of which nothing else is known yet
};

/// One part of a composite: its type, and behind how many scalars it begins.
struct Part {
  Ident type = 0;
  uint64_t first = 0;
};

/// How matrices lie in memory, in bytes: between columns, or if row_major between rows.
struct MatrixLayout {
  uint64_t stride = 0;
  bool row_major = false;
};

class Types {
 public:
  static constexpr uint64_t kMostScalars = 1 << 22;

  explicit Types(const Decorations& decorations) : decorations_(decorations) {}

  /// An OpType..; `length` is that of an array.
  void add(const Instruction& in, uint32_t length);
  /// Refuses what is no type.
  const TypeInfo& at(Ident type) const;
  bool is_type(Ident id) const { return all_.contains(id); }
  bool is_device_pointer(Ident type) const { return at(type).kind == TypeInfo::kDevicePointer; }

  /// The type of a scalar or device pointer; refuses others.
  PrimType scalar(Ident type) const;
  /// Those of a value's scalars; refuses types without values, and large ones.
  std::vector<PrimType> scalars(Ident type) const;
  /// How many there are.
  uint64_t count(Ident type) const;
  /// If all scalars of a value have one type: that.
  std::optional<PrimType> only_scalar(Ident type) const;
  Part part(Ident composite, uint32_t index) const;
  /// The type of a part that is the same whatever the index: of arrays and vectors.
  Ident element(Ident composite) const;

  // In memory with a layout, in bytes.
  uint64_t offset(Ident structure, uint32_t member) const;
  uint64_t stride(Ident array_or_vector) const;
  /// Of the matrices in a member; refuses one that has none.
  MatrixLayout matrix_layout(Ident structure, uint32_t member) const;
  /// Whether there is a matrix in the type, in arrays at most.
  bool is_of_matrices(Ident type) const;

 private:
  void add_scalar(const Instruction& in, TypeInfo& t) const;
  void add_pointer(const Instruction& in, TypeInfo& t) const;
  void gather(Ident type, std::vector<PrimType>& out) const;

  const Decorations& decorations_;
  std::unordered_map<Ident, TypeInfo> all_;
};

}  // namespace kenaz::spirv
