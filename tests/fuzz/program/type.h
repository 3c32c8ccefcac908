// Types of generated programs. Sizes are names of variables or decimal numbers.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "protocol/prim_type.h"

namespace kenaz::fuzz {

struct Type {
  enum Kind { kPrim, kArray, kTuple, kRecord, kSum };
  Kind kind = kPrim;
  PrimType prim = PrimType::kI32;
  std::string size;         // kArray: the outer one
  std::vector<Type> parts;  // kArray: its element; kTuple, kRecord: components; kSum: payloads
  std::vector<std::string> names;  // kRecord: fields, sorted; kSum: constructors
  std::string alias;               // kSum: its declared name

  static Type of(PrimType p);
  static Type i64() { return of(PrimType::kI64); }
  static Type boolean() { return of(PrimType::kBool); }
  static Type array(std::string size, Type element);
  static Type tuple(std::vector<Type> parts);
  /// Each payload is a tuple of the constructor's arguments.
  static Type sum(std::string alias, std::vector<std::string> names, std::vector<Type> payloads);

  bool is(PrimType p) const { return kind == kPrim && prim == p; }
  bool is_array() const { return kind == kArray; }
  const Type& element() const { return parts.at(0); }
  int rank() const { return is_array() ? 1 + element().rank() : 0; }
  /// What remains of an array without its dimensions.
  const Type& base() const { return is_array() ? element().base() : *this; }
  bool is_number() const { return kind == kPrim && prim != PrimType::kBool; }
  bool is_int() const { return kind == kPrim && is_integer(prim); }
  bool is_float() const { return kind == kPrim && kenaz::is_float(prim); }
  bool has_arrays() const;
  /// A scalar or an array of scalars: what a test block can show.
  bool is_transparent() const { return base().kind == kPrim; }
  friend bool operator==(const Type&, const Type&) = default;
};

std::string text_of(const Type& type);
/// The declaration of a sum.
std::string declaration(const Type& sum);
void collect_sizes(const Type& type, std::set<std::string>& sizes);
bool is_size_name(const std::string& size);

}  // namespace kenaz::fuzz
