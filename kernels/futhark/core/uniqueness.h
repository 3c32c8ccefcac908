// What `*` in types says: which arguments a function consumes, which results share no memory.
#pragma once

#include "kernels/futhark/core/type.h"

namespace kenaz::core {

/// Whether a value of this type has a unique part; the insides of functions do not count.
bool has_unique(const TypePtr& t);
/// The same type with nothing unique but inside functions.
TypePtr without_unique(const TypePtr& t);
/// Whether the function consumes its first argument, or a part of it.
bool consumes(const TArrow& f);
/// `to`, with what is unique in `flags`. Both are the same but for types that stand for parameters.
TypePtr copy_uniqueness(const TypePtr& to, const TypePtr& flags);

enum class UniquenessError : uint8_t {
  kNone,
  kConsumes,  // a function consumes an argument that its type must leave alone
  kShares,    // a function's result may share memory, while its type calls it unique
};
/// Why a value of type `actual` cannot be used as one of type `expected`. Compares functions only,
/// and uniqueness only.
UniquenessError uniqueness_error(const TypePtr& expected, const TypePtr& actual);
/// Lines for the end of a message, each with a line end before it. Empty for kNone.
const char* describe(UniquenessError error);

}  // namespace kenaz::core
