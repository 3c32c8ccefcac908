#include "server/variables/variables.h"

#include "protocol/base/check.h"

namespace kenaz {

Result<const Variable*> Variables::find(const std::string& name) const {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return bad_request("Unknown variable: " + name);
  return &it->second;
}

Status Variables::check_free(const std::string& name) const {
  if (by_name_.contains(name)) return bad_request("Variable already exists: " + name);
  return {};
}

void Variables::add(const std::string& name, Variable variable) {
  const bool added = by_name_.emplace(name, std::move(variable)).second;
  CHECK(added);
}

void Variables::replace(const std::string& name, Variable variable) {
  const auto it = by_name_.find(name);
  CHECK(it != by_name_.end());
  it->second = std::move(variable);
}

Status Variables::remove(const std::string& name) {
  if (by_name_.erase(name) == 0) return bad_request("Unknown variable: " + name);
  return {};
}

Status Variables::rename(const std::string& from, const std::string& to) {
  KENAZ_TRY(find(from));
  KENAZ_TRY(check_free(to));
  auto node = by_name_.extract(from);
  node.key() = to;
  by_name_.insert(std::move(node));
  return {};
}

}  // namespace kenaz
