// The text form of values: 42i32, -f32.inf, [[1, 2], [3, 4]], empty([0][2]i32), "a string".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/data/byte_source.h"
#include "protocol/data/value.h"
#include "protocol/value_type.h"

namespace kenaz::data {

/// In characters: a longer word is no value.
inline constexpr size_t kLongestToken = 4096;

/// Prints as Futhark does: always with suffixes; f32 by %.9g, f64 by %.17g.
std::string scalar_text(PrimValue value);
std::string to_text(const Value& value);

/// Skips white space and `--` comments.
void skip_space(ByteSource& source);

/// Reads one value. With `expected`, an element without a suffix has that type, a suffix must
/// agree with it, and [] and [[], []] are understood; without it the first element fixes the type
/// (no suffix: i32, or f64 if it has a point or an exponent). A string is a []u8.
/// Messages start with the position: "line 1, column 4: ...".
Result<Value> read_text(ByteSource& source, std::optional<LeafType> expected = {});

/// Parses one number or truth value without white space around it ("-0x1p3f32").
Result<PrimValue> parse_scalar(std::string_view token, std::optional<PrimType> expected = {});

}  // namespace kenaz::data
