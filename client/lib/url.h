// Where a server listens: tcp://HOST:PORT, tls://HOST:PORT, unix://PATH.
#pragma once

#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace kenaz::client {

struct Url {
  enum class Scheme { kTcp, kTls, kUnix };
  Scheme scheme = Scheme::kTcp;
  std::string host;  // a name or an address, an IPv6 address without its brackets
  std::string port;  // a number or the name of a service
  std::string path;  // kUnix
};

/// Whether the text is meant as a URL: it has "://".
inline bool looks_like_url(std::string_view text) {
  return text.find("://") != std::string_view::npos;
}
Result<Url> parse_url(std::string_view text);

}  // namespace kenaz::client
