#include "client/bench/value_bytes.h"

#include <sstream>

#include "client/lib/values.h"

namespace kenaz::bench {

namespace {

Result<int64_t> array_bytes(client::Connection& server, const std::string& variable,
                            const LeafType& leaf) {
  int64_t bytes = prim_size(leaf.prim);
  if (leaf.rank == 0) return bytes;
  KENAZ_ASSIGN(const auto line, server.request_line({"shape", variable}));
  std::istringstream sizes(line);
  for (int d = 0; d < leaf.rank; ++d) {
    int64_t size = 0;
    if (!(sizes >> size)) return internal_error("the server tells no shape: " + line);
    bytes *= size;
  }
  return bytes;
}

}  // namespace

Result<std::optional<int64_t>> value_bytes(client::Connection& server, const std::string& variable,
                                           const std::string& type) {
  if (const auto leaf = client::transparent_leaf(type)) {
    auto bytes = array_bytes(server, variable, *leaf);
    // Servers of before Futhark 0.26 know no shapes.
    if (!bytes && !server.broken()) return std::optional<int64_t>();
    KENAZ_ASSIGN(const int64_t known, std::move(bytes));
    return std::optional(known);
  }
  KENAZ_ASSIGN(const auto fields, server.fields(type));
  if (!fields) return std::optional<int64_t>();
  int64_t sum = 0;
  for (const auto& [name, field_type] : *fields) {
    const std::string part = variable + "_" + name;
    KENAZ_TRY(server.request({"project", part, variable, name}));
    const auto bytes = value_bytes(server, part, field_type);
    KENAZ_TRY(server.request({"free", part}));
    KENAZ_ASSIGN(const auto known, bytes);
    if (!known) return std::optional<int64_t>();
    sum += *known;
  }
  return std::optional(sum);
}

}  // namespace kenaz::bench
