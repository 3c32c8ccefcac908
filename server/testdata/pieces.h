// For tests: a whole array through an engine's writer and reader, and whether it came back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "server/host/engine.h"

namespace kenaz::host {

/// One comparison of all: the library compares std::byte one at a time, and tests are compiled
/// without optimisation for the sanitizers, where that took longer than everything else.
inline bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

inline Result<LeafPtr> write_in_pieces(Engine& engine, const data::Value& value) {
  KENAZ_ASSIGN(auto writer, engine.writer(value.type, value.shape));
  std::span<const std::byte> left = value.bytes;
  while (!left.empty()) {
    const auto to = writer->window();
    const size_t n = std::min(to.size(), left.size());
    std::copy_n(left.begin(), n, to.begin());
    writer->advance(n);
    left = left.subspan(n);
    KENAZ_TRY(writer->work());
  }
  return writer->finish();
}

inline Result<std::vector<std::byte>> read_in_pieces(Engine& engine, const LeafPtr& leaf) {
  const auto bytes = static_cast<size_t>(leaf->bytes());
  KENAZ_ASSIGN(auto reader, engine.reader(leaf));
  std::vector<std::byte> out;
  while (out.size() < bytes) {
    KENAZ_TRY(reader->work());
    const auto from = reader->window();
    out.insert(out.end(), from.begin(), from.end());
    reader->advance(from.size());
  }
  return out;
}

}  // namespace kenaz::host
