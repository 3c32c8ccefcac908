#include "server/transport/shared_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/base/check.h"

namespace kenaz {

Status NamedSessions::check_room(const std::string& peer) const {
  if (by_name_.size() >= most_) {
    return fail(ErrorKind::kOutOfMemory,
                "There are too many named sessions; one must expire first.");
  }
  const auto own =
      static_cast<size_t>(std::count_if(by_name_.begin(), by_name_.end(), [&](const auto& entry) {
        return entry.second.peer == peer;
      }));
  // Two, so that a client can go from one to another where hardly any are allowed.
  if (own < std::max<size_t>(2, (most_ + 1) / 2)) return {};
  return fail(ErrorKind::kOutOfMemory,
              fmt::format("{} of the named sessions were begun from where you are; one must expire "
                          "first.",
                          own));
}

Result<SharedSessionPtr> NamedSessions::join(const std::string& name, const std::string& peer,
                                             const std::function<SharedSessionPtr()>& make) {
  if (name.empty() || name.size() > kMaxName) {
    return bad_request(fmt::format("A session's name has 1 to {} bytes.", kMaxName));
  }
  auto it = by_name_.find(name);
  if (it == by_name_.end()) {
    KENAZ_TRY(check_room(peer));
    constexpr size_t kEntry = 2048;  // with the session
    MemoryShare share(memory_, ClientMemory::Use::kKept);
    if (!share.set(static_cast<int64_t>(kEntry + name.size() + peer.size()))) {
      return no_client_memory();
    }
    it = by_name_.emplace(name, Entry{make(), peer, std::move(share), 0, {}}).first;
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
