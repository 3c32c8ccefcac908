#include "client/lib/url.h"

#include <fmt/format.h>

#include <cstdint>

#include "protocol/base/whole_number.h"

namespace kenaz::client {
namespace {

tl::unexpected<Error> bad_url(std::string_view text, std::string_view why) {
  return bad_request(fmt::format(
      "{}: {} (tcp://HOST:PORT, tls://HOST:PORT and unix://PATH are known)", text, why));
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  const size_t colon = text.find("://");
  if (colon == std::string_view::npos) return bad_url(text, "not a server's address");
  const std::string_view scheme = text.substr(0, colon);
  std::string_view rest = text.substr(colon + 3);
  Url url;
  if (scheme == "unix") {
    if (rest.empty()) return bad_url(text, "the path is missing");
    url.scheme = Url::Scheme::kUnix;
    url.path = rest;
    return url;
  }
  if (scheme != "tcp" && scheme != "tls") return bad_url(text, "unknown scheme");
  url.scheme = scheme == "tcp" ? Url::Scheme::kTcp : Url::Scheme::kTls;
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const size_t port = rest.rfind(':');
  if (port == std::string_view::npos || port + 1 == rest.size() || rest.ends_with(']')) {
    return bad_url(text, "the port is missing");
  }
  url.port = rest.substr(port + 1);
  rest = rest.substr(0, port);
  if (rest.starts_with('[') && rest.ends_with(']')) {
    rest = rest.substr(1, rest.size() - 2);
  } else if (rest.find(':') != std::string_view::npos) {
    return bad_url(text, "an IPv6 address goes in brackets");
  }
  if (rest.empty()) return bad_url(text, "the host is missing");
  if (url.port.find('/') != std::string::npos) return bad_url(text, "a path has no meaning here");
  // The system's resolver takes larger numbers, too, and leaves out their upper bits.
  if (!whole_number<uint16_t>(url.port)) {
    return bad_url(text, "a port is a number up to 65535");
  }
  url.host = rest;
  return url;
}

}  // namespace kenaz::client
