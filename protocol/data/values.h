// Sequences of values in either form, which is what data files and test blocks hold.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "protocol/data/byte_source.h"
#include "protocol/data/value.h"
#include "protocol/value_type.h"

namespace kenaz::data {

/// The next value, binary (it starts with 'b') or text; nothing at the end of the source, or where
/// the next thing is the character `stop` ('}' ends the values of a test block).
/// With `expected`, a value of another type or rank is an error.
Result<std::optional<Value>> read_value(ByteSource& source, std::optional<LeafType> expected = {},
                                        char stop = '\0');

/// All values up to the end.
Result<std::vector<Value>> read_values(ByteSource& source);
Result<std::vector<Value>> read_values(std::string_view bytes);

}  // namespace kenaz::data
