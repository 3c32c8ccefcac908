// How much memory the values of variables take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/lib/connection.h"

namespace kenaz::bench {

/// The bytes of a variable's scalars and arrays. None: the server does not tell what its type is
/// made of, as of sums and arrays of records.
Result<std::optional<int64_t>> value_bytes(client::Connection& server, const std::string& variable,
                                           const std::string& type);

}  // namespace kenaz::bench
