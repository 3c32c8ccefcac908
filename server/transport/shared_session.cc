#include "server/transport/shared_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "protocol/base/check.h"
#include "protocol/command.h"
#include "server/transport/openssl.h"

namespace kenaz {

namespace {

/// Hard to guess: who has it may cancel the session's calls.
std::string new_token() {
  std::array<unsigned char, 16> bytes;
  CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

/// A word that was one of a command's before, or is made of such.
std::string as_word(const std::string& text) {
  const auto word = protocol::join_words({&text, 1});
  return word ? *word : "?";
}

}  // namespace

// ---- all sessions

uint64_t SessionList::add(const std::string& token, SharedSession& session) {
  by_token_.emplace(token, &session);
  return ++added_;
}

void SessionList::remove(const std::string& token) { by_token_.erase(token); }

SharedSession* SessionList::find(const std::string& token) const {
  const auto it = by_token_.find(token);
  return it == by_token_.end() ? nullptr : it->second;
}

std::vector<SharedSession*> SessionList::all() const {
  std::vector<SharedSession*> sessions;
  for (const auto& [token, session] : by_token_) sessions.push_back(session);
  std::sort(sessions.begin(), sessions.end(),
            [](const auto* a, const auto* b) { return a->number() < b->number(); });
  return sessions;
}

// ---- one

SharedSession::SharedSession(const std::shared_ptr<DevicePool>& pool, SessionOptions options,
                             SessionList& list)
    : metrics_(options.metrics),
      session_(pool, std::move(options)),
      list_(list),
      token_(new_token()),
      number_(list.add(token_, *this)) {
  if (metrics_) metrics_->sessions(1);
}

SharedSession::~SharedSession() {
  list_.remove(token_);
  if (metrics_) metrics_->sessions(-1);
}

void SharedSession::look_at_variables() {
  variables_ = session_.variables().count();
  bytes_ = session_.variables().bytes();
}

Status SharedSession::call_begins(const std::string& entry, SteadyTime now) {
  session_.next_call();
  KENAZ_TRY(session_.call_begins());
  entry_ = entry;
  call_began_ = now;
  cancelled_ = false;
  return {};
}

bool SharedSession::cancel_call() {
  if (!entry_) return false;
  cancelled_ = true;
  session_.cancel_call();
  return true;
}

std::string SharedSession::on_device() const {
  return session_.devices() == 1 ? "" : " on " + DevicePool::name_of(session_.device());
}

std::string SharedSession::describe(SteadyTime now) const {
  const auto time = std::chrono::duration_cast<std::chrono::microseconds>(now - call_began_);
  return fmt::format("{} {} {} {} {} {} {} {}", number_, token_, as_word(name_), as_word(peer_),
                     variables_, bytes_, as_word(entry_.value_or("")), entry_ ? time.count() : 0);
}

// ---- those with names

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
                                             const MakeSession& make) {
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
    it = by_name_.emplace(name, Entry{make(peer), peer, std::move(share), 0, {}}).first;
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
