// The commands store and restore on files of the client, for servers that do not see them.
#pragma once

#include <string>
#include <vector>

#include "client/lib/connection.h"
#include "protocol/reply.h"

namespace kenaz::client {

/// `store PATH VAR..` by way of `download`. The reply is what a server executable would say; an
/// error means that the connection is broken.
Result<protocol::Reply> store_here(Connection& server, const std::string& path,
                                   const std::vector<std::string>& variables);

/// `restore PATH VAR TYPE ..` by way of `upload`, also of files with values as text. Variables
/// before one that fails stay, and say so. Text in
/// and after a value of an opaque type that is no record needs suffixes unless it is i32 or f64.
Result<protocol::Reply> restore_here(Connection& server, const std::string& path,
                                     const std::vector<std::string>& names_and_types);

}  // namespace kenaz::client
