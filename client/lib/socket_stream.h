// Streams over sockets.
#pragma once

#include <memory>
#include <string>

#include "client/lib/stream.h"
#include "client/lib/url.h"

namespace kenaz::client {

/// Connects. With tls:// the server must show a certificate for the URL's host that leads to an
/// authority in `ca_file` (PEM), or, if that is empty, to one that the system trusts.
Result<std::unique_ptr<Stream>> connect_stream(const Url& url, const std::string& ca_file,
                                               Deadline deadline);

}  // namespace kenaz::client
