// Types of values as clients see them: primitives, arrays of primitives, and opaque types that are
// records, sums or arrays of those. A program brings a table of them; the server answers `types`,
// `kind`, `fields`, `rank`, ... from it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "protocol/prim_type.h"

namespace kenaz {

enum class TypeKind : uint8_t { kPrimitive, kArray, kRecord, kSum, kOpaque };

/// One leaf of a value: a value of any type is a sequence of leaves, each a scalar or an array of a
/// primitive type. Tuples and records contribute their fields' leaves in field order; an array of
/// records has one array per leaf of the record, of higher rank; a sum has an i8 tag (unless it has
/// one constructor) and then its payload slots. What has no leaves (an empty record, a sum of one
/// constructor without payload) is, inside of arrays, the sizes of those arrays: one i64 each. So
/// the leaves of an array of records are always those of its fields' arrays, in order.
struct LeafType {
  PrimType prim = PrimType::kI32;
  int rank = 0;
  int dim = -1;  // not negative: the size of this dimension, of an array without data
  friend bool operator==(const LeafType&, const LeafType&) = default;
};

struct ValueType {
  struct Field {
    std::string name;  // "0", "1", .. for tuples
    std::string type;  // name of a type in the same table
  };
  struct Variant {
    std::string name;
    std::vector<std::string> payload;              // type names
    std::vector<std::vector<int>> payload_leaves;  // for each payload: indices into `leaves`
  };

  std::string name;  // as the protocol prints it: "i32", "[][]f32", "(i32, bool)"
  TypeKind kind = TypeKind::kPrimitive;
  std::vector<LeafType> leaves;
  int rank = 0;                   // kArray: number of dimensions, else 0
  std::string elemtype;           // kArray: type name of an element
  std::vector<Field> fields;      // kRecord; also kArray of records (then field types are arrays)
  std::vector<Variant> variants;  // kSum
};

/// All types of a program, by name. Primitive types are always in it.
using TypeTable = std::map<std::string, ValueType>;

/// An entry point of a program as clients see it; the types are names in the program's table.
struct EntryPoint {
  struct Param {
    std::string name;  // "" if the pattern has none
    std::string type;
    bool unique = false;  // consumed by the call
  };
  std::string name;
  std::vector<Param> params;
  std::string result;
  bool result_unique = false;
  std::vector<std::string> attrs;  // printed without brackets
  std::string doc;                 // its documentation comment without the dashes, or ""
};

}  // namespace kenaz
