// A session that several connections may use, one command at a time, in the order they ask. Used
// by the I/O thread, but for the session itself: that belongs to whoever has the turn.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/client_memory.h"
#include "server/session/session.h"

namespace kenaz {

using SteadyTime = std::chrono::steady_clock::time_point;

class SharedSession;

/// All sessions, by the tokens that they are known to their clients by.
class SessionList {
 public:
  /// Gives the new session's number, from 1.
  uint64_t add(const std::string& token, SharedSession& session);
  void remove(const std::string& token);
  /// Null: there is none.
  SharedSession* find(const std::string& token) const;
  /// In the order of their numbers.
  std::vector<SharedSession*> all() const;

 private:
  std::unordered_map<std::string, SharedSession*> by_token_;
  uint64_t added_ = 0;
};

class SharedSession {
 public:
  /// `list` must outlive it.
  SharedSession(const std::shared_ptr<DevicePool>& pool, SessionOptions options, SessionList& list);
  ~SharedSession();
  SharedSession(const SharedSession&) = delete;
  SharedSession& operator=(const SharedSession&) = delete;

  /// `use` gets the turn, now or when those before have given it back.
  void take_turn(std::function<void(Session&)> use) {
    if (taken_) {
      waiting_.push_back(std::move(use));
      return;
    }
    taken_ = true;
    use(session_);
  }
  void give_back() {
    taken_ = false;
    look_at_variables();
    if (giving_) return;  // by one of those below, at once
    giving_ = true;
    while (!taken_ && !waiting_.empty()) {
      const auto next = std::move(waiting_.front());
      waiting_.pop_front();
      taken_ = true;
      next(session_);
    }
    giving_ = false;
  }
  /// The session, for whoever has the turn and keeps it.
  Session& with_turn() { return session_; }
  /// Those who wait never get the turn. What they hold may hold the session.
  void drop_waiting() { std::exchange(waiting_, {}).clear(); }
  /// Nobody has the turn, and there is nothing to keep.
  bool is_empty() const { return !taken_ && session_.variables().count() == 0; }

  uint64_t number() const { return number_; }
  /// The file of the program that its last command was about. By whoever has the turn.
  const std::string& program_path() const { return session_.program_path(); }
  /// " on #1", for the log; "" where there is one device only. By whoever has the turn.
  std::string on_device() const;
  const std::string& token() const { return token_; }
  /// Who used it last, and as which named session; for describe().
  void used_by(const std::string& peer, const std::string& name) {
    peer_ = peer;
    name_ = name;
  }
  /// A call of `entry` is at hand, on its way to the device or there; then it is not any more.
  /// Fails if there may be none.
  Status call_begins(const std::string& entry, SteadyTime now);
  void call_ended() {
    entry_.reset();
    session_.call_ended();
  }
  /// Ends the call at hand. False: there is none.
  bool cancel_call();
  /// To be called now and then, as long as the call goes on.
  void cancel_again() {
    if (entry_ && cancelled_) session_.cancel_call();
  }
  /// NUMBER TOKEN NAME PEER VARIABLES BYTES ENTRY MICROSECONDS, as words; the variables are those
  /// of when nothing was done last.
  std::string describe(SteadyTime now) const;

 private:
  void look_at_variables();

  const std::shared_ptr<Metrics> metrics_;
  Session session_;
  SessionList& list_;
  const std::string token_;
  const uint64_t number_;
  std::string peer_, name_;
  size_t variables_ = 0;
  int64_t bytes_ = 0;
  std::optional<std::string> entry_;  // of the call at hand
  SteadyTime call_began_;
  bool cancelled_ = false;
  bool taken_ = false, giving_ = false;
  std::deque<std::function<void(Session&)>> waiting_;
};
using SharedSessionPtr = std::shared_ptr<SharedSession>;

/// Makes a session for the client of that key; see Peer.
using MakeSession = std::function<SharedSessionPtr(const std::string& peer)>;

/// The turn, once begin() was called, until it goes.
class Turn {
 public:
  explicit Turn(SharedSessionPtr session) : session_(std::move(session)) {}
  ~Turn() {
    if (begun_) session_->give_back();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  void begin() { begun_ = true; }

 private:
  const SharedSessionPtr session_;
  bool begun_ = false;
};
using TurnPtr = std::shared_ptr<Turn>;

/// Sessions with names: they outlive their connections for a while.
class NamedSessions {
 public:
  static constexpr size_t kMaxName = 1024;  // bytes; at least one

  /// `memory`: where names and sessions count; may be null.
  NamedSessions(size_t most, std::shared_ptr<ClientMemory> memory)
      : most_(most), memory_(std::move(memory)) {}

  /// The session of that name, made by `make` for `peer` if there is none. Fails if there are too
  /// many, or half of what there may be are this peer's.
  Result<SharedSessionPtr> join(const std::string& name, const std::string& peer,
                                const MakeSession& make);
  /// A session without variables goes with its last user.
  void leave(const std::string& name, SteadyTime now);
  void drop_waiting();
  /// Drops those that nobody has used since `before`.
  void expire(SteadyTime before);

 private:
  struct Entry {
    SharedSessionPtr session;
    std::string peer;  // who began it
    MemoryShare share;
    int users = 0;
    SteadyTime left;
  };
  Status check_room(const std::string& peer) const;

  const size_t most_;
  const std::shared_ptr<ClientMemory> memory_;
  std::unordered_map<std::string, Entry> by_name_;
};

}  // namespace kenaz
