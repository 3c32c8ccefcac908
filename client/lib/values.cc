#include "client/lib/values.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <cstdio>

#include "protocol/data/binary_format.h"
#include "protocol/data/values.h"

namespace kenaz::client {

std::optional<LeafType> transparent_leaf(std::string_view type) {
  LeafType leaf;
  for (; type.starts_with("[]"); type.remove_prefix(2)) ++leaf.rank;
  const auto prim = prim_from_name(type);
  if (!prim) return std::nullopt;
  leaf.prim = *prim;
  return leaf;
}

Result<std::vector<data::Value>> read_value_file(const std::string& path) {
  if (path.ends_with(".gz")) {
    KENAZ_ASSIGN(const std::string bytes, read_maybe_gz(path));
    return data::read_values(bytes);
  }
  auto source = data::ByteSource::open(path);
  if (!source) return bad_request(fmt::format("{}: {}", path, source.error().message));
  auto values = data::read_values(*source);
  if (!values) return bad_request(fmt::format("{}: {}", path, values.error().message));
  return values;
}

Status write_value_file(const std::string& path, const std::vector<data::Value>& values) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return internal_error(fmt::format("{}: {}", path, strerror(errno)));
  Status status;
  for (const auto& value : values) {
    if (status) status = data::write_binary(file, value);
  }
  if (std::fclose(file) != 0 && status) status = internal_error(strerror(errno));
  if (!status) return internal_error(fmt::format("{}: {}", path, status.error().message));
  return {};
}

Status put_values(Connection& server, const TempDir& scratch, const std::vector<std::string>& names,
                  const std::vector<data::Value>& values) {
  if (values.empty()) return {};
  const std::string path = scratch.file("put.data");
  KENAZ_TRY(write_value_file(path, values));
  std::vector<std::string> words = {"restore", path};
  for (size_t i = 0; i < values.size(); ++i) {
    words.push_back(names[i]);
    words.push_back(values[i].type_name());
  }
  const auto reply = server.request(words);
  ::unlink(path.c_str());
  KENAZ_TRY(reply);
  return {};
}

Result<std::vector<data::Value>> get_values(Connection& server, const TempDir& scratch,
                                            const std::string& name) {
  const std::string path = scratch.file("get.data");
  KENAZ_TRY(server.request({"store", path, name}));
  auto values = read_value_file(path);
  ::unlink(path.c_str());
  return values;
}

bool is_tuple(const std::vector<std::pair<std::string, std::string>>& fields) {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].first != std::to_string(i)) return false;
  }
  return true;
}

namespace {

Result<data::Value> take_transparent(Connection& server, const TempDir& scratch,
                                     const std::string& name, const std::string& type) {
  KENAZ_ASSIGN(auto values, get_values(server, scratch, name));
  KENAZ_TRY(server.request({"free", name}));
  if (values.size() != 1) {
    return bad_request(fmt::format("cannot read a value of the opaque type {}", type));
  }
  return std::move(values[0]);
}

}  // namespace

Result<std::vector<data::Value>> take_results(Connection& server, const TempDir& scratch,
                                              const std::string& name, const std::string& type) {
  std::vector<data::Value> results;
  KENAZ_ASSIGN(const auto fields, server.fields(type));
  if (!fields || !is_tuple(*fields)) {
    KENAZ_ASSIGN(auto value, take_transparent(server, scratch, name, type));
    results.push_back(std::move(value));
    return results;
  }
  auto element = [&](size_t i) { return fmt::format("{}_elem{}", name, i); };
  for (size_t i = 0; i < fields->size(); ++i) {
    KENAZ_TRY(server.request({"project", element(i), name, (*fields)[i].first}));
  }
  for (size_t i = 0; i < fields->size(); ++i) {
    KENAZ_ASSIGN(auto value, take_transparent(server, scratch, element(i), (*fields)[i].second));
    results.push_back(std::move(value));
  }
  KENAZ_TRY(server.request({"free", name}));
  return results;
}

}  // namespace kenaz::client
