// For tests: values in the binary format, and streams of a session in pieces.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "protocol/data/binary_format.h"
#include "protocol/data/values.h"
#include "server/session/session.h"

namespace kenaz {

/// Values, given as text.
inline std::string binary(const std::string& text) {
  std::string out;
  data::ByteSource source(text);
  while (auto v = data::read_value(source)) {
    if (!*v) break;
    data::append_binary(**v, out);
  }
  return out;
}

/// Gives a stream the bytes that it wants, in pieces of `piece` at most, and does its work. Says
/// how many it has taken.
inline size_t feed(Stream& stream, std::string_view bytes, size_t piece = std::string_view::npos) {
  size_t at = 0;
  while (stream.want() != Stream::Want::kDone) {
    if (stream.want() == Stream::Want::kWork) {
      stream.work();
      continue;
    }
    const auto to = stream.input();
    EXPECT_FALSE(to.empty());
    const size_t n = std::min({to.size(), piece, bytes.size() - at});
    std::copy_n(std::as_bytes(std::span(bytes)).begin() + static_cast<std::ptrdiff_t>(at), n,
                to.begin());
    stream.advance(n);
    at += n;
  }
  return at;
}

/// Sends `data` in pieces of `piece` bytes; gives the failure, if any.
inline std::string upload(Session& session, const std::string& words, const std::string& data,
                          size_t piece) {
  const auto request = protocol::parse_request(fmt::format("upload {} {}", data.size(), words));
  auto stream = session.begin(*request);
  if (!stream) return "refused: " + stream.error().text();
  const size_t at = feed(**stream, data, piece);
  EXPECT_EQ(at, data.size());  // whatever is wrong with it, all of it is taken
  return session.end(**stream).failure.value_or("");
}

inline std::string download(Session& session, const std::string& words) {
  auto stream = session.begin(*protocol::parse_request("download " + words));
  if (!stream) return "refused: " + stream.error().text();
  std::string all;
  while ((*stream)->want() != Stream::Want::kDone) {
    if ((*stream)->want() == Stream::Want::kWork) {
      (*stream)->work();
      continue;
    }
    const auto from = (*stream)->output();
    const size_t n = std::min<size_t>(from.size(), 5);
    all.append(reinterpret_cast<const char*>(from.data()), n);
    (*stream)->advance(n);
  }
  return all + session.end(**stream).failure.value_or("");
}

}  // namespace kenaz
