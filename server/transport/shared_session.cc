#include "server/transport/shared_session.h"

#include "protocol/base/check.h"

namespace kenaz {

SharedSessionPtr NamedSessions::join(const std::string& name,
                                     const std::function<SharedSessionPtr()>& make) {
  auto it = by_name_.find(name);
  if (it == by_name_.end()) {
    if (by_name_.size() >= most_) return nullptr;
    it = by_name_.emplace(name, Entry{make(), 0, {}}).first;
  }
  ++it->second.users;
  return it->second.session;
}

void NamedSessions::leave(const std::string& name, SteadyTime now) {
  const auto it = by_name_.find(name);
  CHECK(it != by_name_.end());
  --it->second.users;
  it->second.left = now;
}

void NamedSessions::expire(SteadyTime before) {
  std::erase_if(by_name_,
                [&](const auto& e) { return e.second.users == 0 && e.second.left < before; });
}

}  // namespace kenaz
