// Bytes of clients that stand for no value: truth values besides 0 and 1, and constructor numbers
// that a sum type does not have.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/value_type.h"

namespace kenaz {

/// For each leaf of the type: how many constructors there are, if the leaf says which one a value
/// has, else 0. Where the payloads of several constructors share a leaf, and some have a
/// constructor's number there and others have not, it is 0.
std::vector<int> constructor_counts(const TypeTable& types, const ValueType& type);

/// What is wrong with these elements of a leaf, without its article: "bool in OF is 7, which ..".
/// `constructors`: as above.
std::optional<std::string> wrong_element(PrimType prim, int constructors,
                                         std::span<const std::byte> bytes, const std::string& of);

}  // namespace kenaz
