// What a connection does with a line: the commands that are its own, and those of its session.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "protocol/base/utf8.h"
#include "server/transport/connection.h"
#include "server/transport/openssl.h"

namespace kenaz {

namespace {

constexpr int kMaxMistakes = 3;                    // before the token
constexpr size_t kBytesAtATime = size_t{1} << 20;  // of data; then others get their turn
// Each send wakes the client, so few bytes wait for what follows. Every connection has memory for
// these.
constexpr size_t kSentTogether = size_t{4} << 10;

bool same_token(const std::string& given, const std::string& wanted) {
  return given.size() == wanted.size() &&
         CRYPTO_memcmp(given.data(), wanted.data(), wanted.size()) == 0;
}

/// A line of few bytes can be many words. Few words are among what every connection has.
int64_t bytes_of(const protocol::Request& request) {
  constexpr size_t kUncounted = size_t{4} << 10;
  size_t bytes = 0;
  for (const auto& word : request.args) bytes += sizeof(std::string) + word.capacity();
  return bytes <= kUncounted ? 0 : static_cast<int64_t>(bytes);
}

}  // namespace

void Connection::handle(const std::string& line) {
  auto request = protocol::parse_request(line);
  if (!authenticated_) return handle_auth(request);
  if (!request) return refuse(request.error());
  if (draining_ && request->command->id == protocol::CommandId::kCall) {
    return refuse({ErrorKind::kBadRequest, "The server ends; no more calls are begun.", {}});
  }
  if (request->command->where != protocol::Where::kConnection) return run(std::move(*request));
  switch (request->command->id) {
    case protocol::CommandId::kAttach: return attach(request->args[0]);
    case protocol::CommandId::kSessions: return list_sessions();
    case protocol::CommandId::kCancel: return cancel(request->args[0]);
    default: break;
  }
  // Whoever is in already may show a token again.
  if (hub_.token.empty() || same_token(request->args[0], hub_.token)) return reply({});
  refuse_later("Wrong token");
}

// ---- tokens

void Connection::handle_auth(const Result<protocol::Request>& request) {
  const bool tried = request && request->command->id == protocol::CommandId::kAuth;
  if (tried && same_token(request->args[0], hub_.token)) {
    if (hub_.admit()) {
      authenticated_ = true;
      return reply({});
    }
    hub_.metrics->refused();
    closing_ = true;
    return refuse({ErrorKind::kOutOfMemory, too_many_connections(hub_.limits), {}});
  }
  if (tried) {
    ++wrong_tokens_;
    return refuse_later("Wrong token");
  }
  refuse({ErrorKind::kBadRequest, "This server asks for a token first: auth TOKEN", {}});
  counts_as_mistake();
}

/// So that nobody tries many tokens.
void Connection::refuse_later(std::string why) {
  const auto timer = std::make_shared<asio::steady_timer>(hub_.io, hub_.wrong_token_delay);
  timer->async_wait([self = shared_from_this(), timer, why = std::move(why)](std::error_code) {
    self->away_ = false;
    self->guarded([&] {
      self->settled();
      self->refuse({ErrorKind::kBadRequest, why, {}});
      if (!self->authenticated_) self->counts_as_mistake();
      self->pump();
    });
  });
  busy_ = away_ = true;
}

void Connection::counts_as_mistake() {
  if (++mistakes_ < kMaxMistakes) return;
  spdlog::warn("{}: closed after {} wrong tokens and {} other mistakes", peer_.name, wrong_tokens_,
               mistakes_ - wrong_tokens_);
  closing_ = true;
}

// ---- sessions

void Connection::attach(const std::string& name) {
  std::string own = name;  // made first: what joins must leave
  auto session = hub_.named.join(name, peer_.key, hub_.new_session);
  if (!session) return refuse(session.error());
  leave_session();
  use_session(std::move(*session), std::move(own));
  reply({});
}

void Connection::use_session(SharedSessionPtr session, std::string name) {
  session_ = std::move(session);
  session_name_ = std::move(name);
  session_->used_by(peer_.name, session_name_);
}

/// Names and tokens are for those whose sessions they are, and for operators.
void Connection::list_sessions() {
  if (!session_) use_session(hub_.new_session(peer_.key), "");
  const auto now = std::chrono::steady_clock::now();
  protocol::Reply list;
  for (const SharedSession* session : hub_.sessions.all()) {
    if (peer_.is_operator || session == session_.get()) {
      list.output.push_back(session->describe(now));
    }
  }
  reply(list);
}

void Connection::cancel(const std::string& token) {
  SharedSession* session = hub_.sessions.find(token);
  if (session == nullptr) return refuse({ErrorKind::kBadRequest, "No session has this token.", {}});
  if (!session->cancel_call()) {
    return refuse({ErrorKind::kBadRequest, "The session runs no call.", {}});
  }
  spdlog::info("{}: cancels the call of session {}", peer_.name, session->number());
  reply({});
}

void Connection::take_turn(std::function<void(Session&, const TurnPtr&)> use) {
  busy_ = true;
  std::function<void(Session&)> with_turn = [self = shared_from_this(),
                                             turn = std::make_shared<Turn>(session_),
                                             use = std::move(use)](Session& s) mutable {
    turn->begin();
    self->away_ = false;
    self->guarded([&] {
      if (self->closed_) {
        self->settled();
      } else {
        use(s, turn);
      }
    });
    turn.reset();                          // unless `use` has kept it
    self->guarded([&] { self->pump(); });  // does nothing if it is what called
  };
  away_ = true;
  try {
    session_->take_turn(std::move(with_turn));
  } catch (...) {
    away_ = false;
    throw;
  }
}

void Connection::run(protocol::Request request) {
  if (!session_) use_session(hub_.new_session(peer_.key), "");
  MemoryShare share(hub_.memory, ClientMemory::Use::kPassing);
  if (!share.set(bytes_of(request))) {
    // After an upload nobody knows where the next command starts.
    closing_ = protocol::bytes_that_follow(request) != nullptr;
    return refuse(no_client_memory().value());
  }
  const auto held = std::make_shared<const Held>(Held{std::move(request), std::move(share)});
  take_turn([this, held](Session& s, const TurnPtr& turn) {
    switch (held->request.command->where) {
      case protocol::Where::kDevice: return carry_out(hub_.devices.of(s.device()), s, held, turn);
      case protocol::Where::kAside: return carry_out(hub_.aside, s, held, turn);
      case protocol::Where::kStream:
      case protocol::Where::kFile: begin_stream(held->request, s, turn); break;
      default: reply(s.execute(held->request));
    }
    settled();
  });
}

void Connection::carry_out(JobQueue& queue, Session& session,
                           const std::shared_ptr<const Held>& held, const TurnPtr& turn) {
  const auto answer = std::make_shared<protocol::Reply>();
  const bool is_call = held->request.command->id == protocol::CommandId::kCall;
  if (is_call) {
    const auto now = std::chrono::steady_clock::now();
    if (const Status begun = session_->call_begins(held->request.args[0], now); !begun) {
      refuse(begun.error());
      if (hub_.log_calls) log_call(held->request, {{}, begun.error().text()});
      return settled();
    }
  }
  run_job(
      queue, &queue == &hub_.aside ? nullptr : &quick_command_,
      [&session, answer, held] { *answer = session.execute(held->request); },
      [this, turn, answer, held, is_call] {
        if (is_call) session_->call_ended();
        reply(*answer);
        if (!is_call || !hub_.log_calls) return;
        if (!writing_ && !closed_) flush();  // the client need not wait for the log
        log_call(held->request, *answer);
      });
}

/// What comes from the client, or from the program's messages, is made one short line.
void Connection::log_call(const protocol::Request& call, const protocol::Reply& reply) const {
  const auto short_line = [](std::string text) {
    constexpr size_t kMost = 200;
    text.resize(std::min({text.size(), text.find('\n'), kMost}));
    return printable(std::move(text));
  };
  std::string time = "not run";
  for (const auto& line : reply.output) {
    constexpr std::string_view kRuntime = "runtime: ";
    if (line.starts_with(kRuntime)) time = line.substr(kRuntime.size()) + " us";
  }
  spdlog::info("{}: session {}{}: {}: call {}: {}, {}", peer_.name, session_->number(),
               session_->on_device(), session_->program_path(), short_line(call.args[0]), time,
               reply.failure ? "failed: " + short_line(*reply.failure) : "ok");
}

// ---- streams

void Connection::begin_stream(const protocol::Request& request, Session& session,
                              const TurnPtr& turn) {
  auto stream = session.begin(request);
  if (stream) {
    stream_ = std::move(*stream);
    stream_bytes_ = -1;
    if (stream_->needs_session()) stream_turn_ = turn;
    return;
  }
  refuse(stream.error());
  // After an upload that was refused nobody knows where the next command starts.
  if (protocol::bytes_that_follow(request) != nullptr) closing_ = true;
}

bool Connection::pump_stream() {
  switch (stream_->want()) {
    case Stream::Want::kDone: end_stream(); return true;
    case Stream::Want::kWork:
      run_job(
          hub_.devices.of(stream_->device()), &quick_piece_, [this] { stream_->work(); }, [] {});
      return true;
    case Stream::Want::kAside:
      run_job(
          hub_.aside, nullptr,
          [this] {
            if (!stream_->only_waits()) return stream_->aside();
            hub_.aside.step_aside([this] { stream_->aside(); });
          },
          [] {});
      return true;
    case Stream::Want::kInput: return give_input();
    case Stream::Want::kOutput: return send_output();
  }
  return false;
}

void Connection::end_stream() {
  const auto end = [this](Session& s) {
    reply(s.end(*stream_));
    stream_.reset();
  };
  if (stream_turn_) {
    end(session_->with_turn());
    stream_turn_.reset();
    return;
  }
  take_turn([this, end](Session& s, const TurnPtr&) {
    end(s);
    settled();
  });
}

/// What was received already; what comes later is read where it belongs.
bool Connection::give_input() {
  if (in_.size() == 0) {
    if (ended_) close("it ended within its data");
    return false;
  }
  stream_->advance(in_.take(stream_->input()));
  return true;
}

bool Connection::send_output() {
  auto from = stream_->output();
  from = from.first(std::min(from.size(), kBytesAtATime));
  if (unsent() + from.size() <= kSentTogether) {
    out_.append(reinterpret_cast<const char*>(from.data()), from.size());
    stream_->advance(from.size());
    return true;
  }
  if (writing_ || !flush()) return false;
  const size_t n = socket_->try_write(from);
  if (n > 0) {
    hub_.metrics->sent(static_cast<int64_t>(n));
    stream_->advance(n);
    return true;
  }
  writing_ = true;
  socket_->write_some(from, [self = shared_from_this()](std::error_code e, size_t m) {
    self->guarded([&] { self->was_written(e, m, true); });
  });
  return false;
}

}  // namespace kenaz
