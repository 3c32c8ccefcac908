// Reads sequences of values in either form: the contents of data files and test blocks.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "protocol/data/byte_source.h"
#include "protocol/data/value.h"
#include "protocol/value_type.h"

namespace kenaz::data {

/// Reads the next value, binary (it starts with 'b') or text. Returns nullopt at the end of the
/// source, or if the next character is `stop` ('}' ends the values of a test block).
/// With `expected`, a value of another type or rank is an error.
Result<std::optional<Value>> read_value(ByteSource& source, std::optional<LeafType> expected = {},
                                        char stop = '\0');

/// Reads all values up to the end of the source.
Result<std::vector<Value>> read_values(ByteSource& source);
Result<std::vector<Value>> read_values(std::string_view bytes);

}  // namespace kenaz::data
