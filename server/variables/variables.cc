#include "server/variables/variables.h"

#include <fmt/format.h>

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

Status Variables::check_room(int64_t more) const {
  if (limits_.bytes == 0 || more <= limits_.bytes - bytes_) return {};
  return fail(ErrorKind::kOutOfMemory,
              fmt::format("The session's variables would take {} bytes; {} are allowed.",
                          bytes_ + more, limits_.bytes));
}

void Variables::hold(const Variable& variable) {
  for (const auto& leaf : variable.leaves) {
    if (uses_[leaf.get()]++ == 0) bytes_ += leaf->bytes();
  }
}

void Variables::let_go(const Variable& variable) {
  for (const auto& leaf : variable.leaves) {
    const auto it = uses_.find(leaf.get());
    CHECK(it != uses_.end());
    if (--it->second > 0) continue;
    bytes_ -= leaf->bytes();
    uses_.erase(it);
  }
}

Status Variables::add(const std::string& name, Variable variable) {
  if (limits_.variables != 0 && by_name_.size() >= limits_.variables) {
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("The session has {} variables; more are not allowed.", count()));
  }
  CHECK(!by_name_.contains(name));
  hold(variable);
  if (auto room = check_room(0); !room) {
    let_go(variable);
    return room;
  }
  by_name_.emplace(name, std::move(variable));
  return {};
}

Status Variables::replace(const std::string& name, Variable variable) {
  const auto it = by_name_.find(name);
  CHECK(it != by_name_.end());
  let_go(it->second);
  hold(variable);
  if (auto room = check_room(0); !room) {
    let_go(variable);
    hold(it->second);
    return room;
  }
  it->second = std::move(variable);
  return {};
}

Status Variables::remove(const std::string& name) {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return bad_request("Unknown variable: " + name);
  let_go(it->second);
  by_name_.erase(it);
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

void Variables::clear() {
  by_name_.clear();
  uses_.clear();
  bytes_ = 0;
}

}  // namespace kenaz
