// Values to and from a server's variables, through files in the binary format.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/lib/connection.h"
#include "client/lib/temp_dir.h"
#include "protocol/data/value.h"
#include "protocol/value_type.h"

namespace kenaz::client {

/// The scalar or array of scalars that a type's name stands for: "[][]f32". Returns nullopt for an
/// opaque type.
std::optional<LeafType> transparent_leaf(std::string_view type);

/// Makes one variable per value. The types of the values are those that the server is told.
Status put_values(Connection& server, const TempDir& scratch, const std::vector<std::string>& names,
                  const std::vector<data::Value>& values);

/// The values of a variable: one if it is transparent, its leaves if it is opaque.
Result<std::vector<data::Value>> get_values(Connection& server, const TempDir& scratch,
                                            const std::string& name);

/// Whether a record's fields are those of a tuple: 0, 1, ...
bool is_tuple(const std::vector<std::pair<std::string, std::string>>& fields);

/// What a call left in `name`, of type `type`: the components of a tuple, else the value itself.
/// Components must be transparent. Frees the variable.
Result<std::vector<data::Value>> take_results(Connection& server, const TempDir& scratch,
                                              const std::string& name, const std::string& type);

Result<std::vector<data::Value>> read_value_file(const std::string& path);
Status write_value_file(const std::string& path, const std::vector<data::Value>& values);

}  // namespace kenaz::client
