#include "server/variables/variables.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/base/check.h"

namespace kenaz {

bool has_type(const Variable& v, const std::string& wanted, const ProgramTypes& types) {
  return v.type == wanted && types_agree(wanted, *v.types, types);
}

/// Two types of one name differ: it says whose the variable's is.
std::string type_text(const Variable& v, const std::string& wanted, const ProgramTypes& types) {
  if (v.type != wanted) return v.type;
  if (v.types->program != types.program) {
    return fmt::format("the {} of the program {}, which is another type", v.type, v.types->program);
  }
  return fmt::format("the {} of the program as it was before it was loaded anew", v.type);
}

namespace {
/// What a variable takes on the host, roughly: the name, the value's type, and its leaves.
int64_t host_bytes(const std::string& name, const Variable& variable) {
  constexpr size_t kEntry = 192, kLeaf = 160;
  return static_cast<int64_t>(kEntry + name.size() + variable.type.size() +
                              kLeaf * variable.leaves.size());
}
}  // namespace

Result<const Variable*> Variables::find(const std::string& name) const {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return bad_request("Unknown variable: " + name);
  return &it->second;
}

Status Variables::check_free(const std::string& name) const {
  if (by_name_.contains(name)) return bad_request("Variable already exists: " + name);
  if (name.size() > kMaxName) {
    return bad_request(fmt::format("A variable's name has at most {} bytes.", kMaxName));
  }
  return {};
}

Status Variables::check_room(int64_t more) {
  end_loans();
  if (limits_.bytes == 0 || more <= limits_.bytes - bytes_) return {};
  return fail(ErrorKind::kOutOfMemory,
              fmt::format("The session's variables would take {} bytes; {} are allowed.",
                          bytes_ + more, limits_.bytes));
}

void Variables::hold(const Variable& variable) {
  end_loans();  // first: a new leaf may have the address of one that is gone
  for (const auto& leaf : variable.leaves) {
    if (uses_[leaf.get()]++ == 0) bytes_ += leaf->bytes();
  }
}

void Variables::let_go(const Variable& variable) {
  for (const auto& leaf : variable.leaves) let_go(leaf.get(), leaf->bytes());
}

void Variables::let_go(const host::Leaf* leaf, int64_t bytes) {
  const auto it = uses_.find(leaf);
  CHECK(it != uses_.end());
  if (--it->second > 0) return;
  bytes_ -= bytes;
  uses_.erase(it);
}

std::shared_ptr<void> Variables::lend(const std::vector<host::LeafPtr>& leaves) {
  hold({{}, leaves, nullptr});
  const auto holder = std::make_shared<char>();
  Loan& loan = loans_.emplace_back(Loan{holder, {}, 0});
  for (const auto& leaf : leaves) loan.leaves.emplace_back(leaf.get(), leaf->bytes());
  return holder;
}

std::shared_ptr<void> Variables::reserve(int64_t bytes) {
  if (const int64_t most = room(); most >= 0) bytes = std::min(bytes, most);
  const auto holder = std::make_shared<char>();
  loans_.push_back({holder, {}, bytes});
  bytes_ += bytes;
  return holder;
}

int64_t Variables::room() {
  end_loans();
  if (limits_.bytes == 0) return -1;
  return std::max<int64_t>(0, limits_.bytes - bytes_);
}

void Variables::end_loans() {
  std::erase_if(loans_, [&](const Loan& loan) {
    if (!loan.holder.expired()) return false;
    for (const auto& [leaf, bytes] : loan.leaves) let_go(leaf, bytes);
    bytes_ -= loan.bytes;
    return true;
  });
}

Status Variables::add(const std::string& name, Variable variable) {
  if (limits_.variables != 0 && by_name_.size() >= limits_.variables) {
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("The session has {} variables; more are not allowed.", count()));
  }
  KENAZ_TRY(check_free(name));
  const int64_t cost = host_bytes(name, variable);
  if (!host_bytes_.add(cost)) return no_client_memory();
  hold(variable);
  if (auto room = check_room(0); !room) {
    let_go(variable);
    host_bytes_.add(-cost);
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

void Variables::exchange(const Exchange& to) {
  for (auto& [name, variable] : by_name_) {
    let_go(variable);
    std::vector<host::LeafPtr> former = variable.leaves;  // until nothing counts them by address
    for (auto& leaf : variable.leaves) leaf = to.at(leaf.get());
    hold(variable);
  }
}

Status Variables::remove(const std::string& name) {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return bad_request("Unknown variable: " + name);
  let_go(it->second);
  host_bytes_.add(-host_bytes(name, it->second));
  by_name_.erase(it);
  return {};
}

Status Variables::rename(const std::string& from, const std::string& to) {
  KENAZ_TRY(find(from));
  KENAZ_TRY(check_free(to));
  if (!host_bytes_.add(static_cast<int64_t>(to.size()) - static_cast<int64_t>(from.size()))) {
    return no_client_memory();
  }
  auto node = by_name_.extract(from);
  node.key() = to;
  by_name_.insert(std::move(node));
  return {};
}

void Variables::clear() {
  end_loans();
  for (const auto& [name, variable] : by_name_) let_go(variable);
  by_name_.clear();
  host_bytes_.set(0);
}

}  // namespace kenaz
