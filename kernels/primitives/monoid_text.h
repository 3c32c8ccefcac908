// A reduction or scan operator as primitives see it: GLSL text around a function that the code
// generator wrote.
#pragma once

#include <string>
#include <vector>

#include "protocol/prim_type.h"

namespace kenaz::primitives {

/// `void FUNCTION(a.., b.., out r..)` combines tuples of `types`; associative, `neutral` its unit
/// (expressions).
struct MonoidText {
  std::string function;
  std::vector<PrimType> types;
  std::vector<std::string> neutral;
};

/// Declarations for the whole shader, and the inside of main. Both see what KernelGen::launch
/// provides (lid, group, groups, gid, threads) and `void elem(int64_t i, out ..)`.
struct PrimitiveText {
  std::string globals, main;
};

/// All values of several monoids in a row, by number.
struct FlatMonoids {
  explicit FlatMonoids(const std::vector<MonoidText>& monoids);
  size_t size() const { return types.size(); }
  std::vector<PrimType> types;
  std::vector<std::string> neutral;
  /// "T NAME0 = neutral; .." for all values.
  std::string declare_neutral(const std::string& name) const;
  /// Declares variables without values.
  std::string declare(const std::string& name) const;
  /// "NAME0, NAME1, .."
  std::string list(const std::string& name) const;
  /// RESULT = op(A, B) for all monoids; a name with "[]" stands for an element of an array:
  /// "sh[lid]" means sh0[lid], sh1[lid], .. RESULT may be A or B.
  std::string combine(const std::string& result, const std::string& a, const std::string& b) const;
  /// TO = FROM for all values, names as in combine.
  std::string assign(const std::string& to, const std::string& from) const;

 private:
  std::string numbered(const std::string& name, size_t k) const;
  const std::vector<MonoidText>& monoids_;
};

}  // namespace kenaz::primitives
