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
  if (it->second.users == 0 && it->second.session->is_empty()) by_name_.erase(it);
}

void NamedSessions::drop_waiting() {
  std::vector<SharedSessionPtr> sessions;  // kept: connections that go leave by_name_
  for (const auto& [name, entry] : by_name_) sessions.push_back(entry.session);
  for (const auto& session : sessions) session->drop_waiting();
}

void NamedSessions::expire(SteadyTime before) {
  std::erase_if(by_name_,
                [&](const auto& e) { return e.second.users == 0 && e.second.left < before; });
}

}  // namespace kenaz
