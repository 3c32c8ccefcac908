#include "server/transport/connection.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace kenaz {

namespace {
constexpr size_t kReadBytes = size_t{16} << 10;
constexpr size_t kMaxUnsent = size_t{256} << 10;  // of replies, before commands wait
constexpr size_t kLineBeforeAuth = 4096;
constexpr int kMaxWrongTokens = 3;
constexpr std::chrono::seconds kAuthTime{10};
// After so many steps, or bytes of data, others get their turn.
constexpr int kStepsAtATime = 64;
constexpr size_t kBytesAtATime = size_t{1} << 20;

bool same_token(const std::string& given, const std::string& wanted) {
  return given.size() == wanted.size() &&
         CRYPTO_memcmp(given.data(), wanted.data(), wanted.size()) == 0;
}

}  // namespace

Connection::~Connection() { leave_session(); }

void Connection::leave_session() {
  if (!session_name_.empty()) hub_.named.leave(session_name_, std::chrono::steady_clock::now());
  session_name_.clear();
  session_.reset();
}

void Connection::start() {
  socket_->prepare([self = shared_from_this()](std::error_code error, size_t) {
    if (error) return self->close(error.message().c_str());
    self->ready_ = true;
    self->reply({});
    self->pump();
  });
}

void Connection::close(const char* why) {
  if (closed_) return;
  closed_ = true;
  spdlog::debug("{}: closed: {}", peer_, why);
  socket_->close();
  if (!busy_) hub_.gone(*this);
}

void Connection::settled() {
  busy_ = false;
  if (closed_) hub_.gone(*this);
}

void Connection::guarded(const std::function<void()>& step) {
  try {
    step();
  } catch (const std::exception& e) {  // no memory for what this client wants
    spdlog::error("{}: {}", peer_, e.what());
    close(e.what());
    if (busy_) settled();
  }
}

void Connection::drop_waiting() {
  if (const auto session = session_) session->drop_waiting();
}

void Connection::drain() {
  closing_ = true;
  if (ready_) {
    pump();
  } else {
    close("the server ends");
  }
}

void Connection::check_time(SteadyTime now) {
  if (closed_ || busy_) return;
  const auto seconds = [](auto t) { return std::chrono::duration<double>(t).count(); };
  if ((!ready_ || !authenticated_) && now - begun_ > kAuthTime) return close("no token in time");
  if (hub_.limits.idle_seconds > 0 && seconds(now - active_) > hub_.limits.idle_seconds) {
    close("idle for too long");
  }
}

// ---- the loop

void Connection::pump() {
  if (pumping_ || closed_ || !ready_) return;
  pumping_ = true;
  active_ = std::chrono::steady_clock::now();
  int steps = 0;
  try {
    while (!closed_ && !busy_ && steps < kStepsAtATime && pump_once()) ++steps;
  } catch (const std::exception& e) {  // no memory for what this client wants
    spdlog::error("{}: {}", peer_, e.what());
    close(e.what());
  }
  pumping_ = false;
  if (closed_) return;
  const bool held_up = !stream_ && !closing_ && !busy_ && unsent() > kMaxUnsent;
  const bool sent = writing_ ? false : flush();
  if (closed_ || busy_) return;
  if (steps == kStepsAtATime || (held_up && unsent() <= kMaxUnsent)) {
    asio::post(hub_.io, [self = shared_from_this()] { self->pump(); });
    return;
  }
  // What follows the last newline is half a command.
  const bool done = closing_ || (ended_ && !held_up);
  if (done && !stream_ && sent) return close("it has ended");
  read();
}

/// One step; false if there is nothing to do before more comes or goes.
bool Connection::pump_once() {
  if (reading_) return false;  // what is there was looked at before
  if (stream_) return pump_stream();
  if (closing_ || unsent() > kMaxUnsent) return false;
  const size_t most =
      authenticated_ ? hub_.limits.line_bytes : std::min(kLineBeforeAuth, hub_.limits.line_bytes);
  std::string line;
  const auto what = in_.take_line(most, false, line);
  if (what == InputBuffer::Line::kNone) return false;
  hub_.metrics->commanded(1);
  if (what == InputBuffer::Line::kTooLong) {
    hub_.metrics->failed(ErrorKind::kBadRequest);
    reply({{}, fmt::format("Line too long: more than {} bytes.", most)});
    if (!authenticated_) counts_as_mistake();
    return true;
  }
  handle(line);
  return true;
}

void Connection::reply(const protocol::Reply& reply) { out_ += protocol::render(reply); }

void Connection::on_device(std::function<void()> job, std::function<void()> then) {
  busy_ = true;
  // The connection's last reference must not go on the device's thread: the socket lives here.
  hub_.device.post(
      [self = shared_from_this(), job = std::move(job), then = std::move(then)]() mutable {
        if (!self->closed_) job();
        job = {};
        auto& io = self->hub_.io;
        asio::post(io, [self = std::move(self), then = std::move(then)]() mutable {
          self->guarded([&] {
            self->settled();
            then();
            then = {};
            self->pump();
          });
        });
      });
}

// ---- commands

void Connection::handle(const std::string& line) {
  auto request = protocol::parse_request(line);
  if (!authenticated_) return handle_auth(request);
  if (!request) {
    hub_.metrics->failed(request.error().kind);
    return reply({{}, request.error().text()});
  }
  if (request->command->where != protocol::Where::kConnection) {
    return run(std::make_shared<const protocol::Request>(std::move(*request)));
  }
  if (request->command->id == protocol::CommandId::kAttach) return attach(request->args[0]);
  // Whoever is in already may show a token again.
  const bool right = hub_.token.empty() || same_token(request->args[0], hub_.token);
  reply({{}, right ? std::nullopt : std::optional<std::string>("Wrong token")});
}

void Connection::handle_auth(const Result<protocol::Request>& request) {
  if (request && request->command->id == protocol::CommandId::kAuth &&
      same_token(request->args[0], hub_.token)) {
    authenticated_ = true;
    return reply({});
  }
  hub_.metrics->failed(ErrorKind::kBadRequest);
  const bool tried = request && request->command->id == protocol::CommandId::kAuth;
  reply({{}, tried ? "Wrong token" : "This server asks for a token first: auth TOKEN"});
  counts_as_mistake();
}

void Connection::counts_as_mistake() {
  if (++wrong_tokens_ < kMaxWrongTokens) return;
  spdlog::warn("{}: no right token in {} attempts", peer_, wrong_tokens_);
  closing_ = true;
}

void Connection::attach(const std::string& name) {
  const auto session = hub_.named.join(name, hub_.new_session);
  if (!session) {
    hub_.metrics->failed(ErrorKind::kOutOfMemory);
    return reply({{}, "There are too many named sessions; one must expire first."});
  }
  leave_session();
  session_ = session;
  session_name_ = name;
  reply({});
}

void Connection::take_turn(std::function<void(Session&, const TurnPtr&)> use) {
  busy_ = true;
  session_->take_turn([self = shared_from_this(), turn = std::make_shared<Turn>(session_),
                       use = std::move(use)](Session& s) mutable {
    turn->begin();
    self->guarded([&] {
      if (self->closed_) {
        self->settled();
      } else {
        use(s, turn);
      }
      turn.reset();  // unless `use` has kept it
      self->pump();  // does nothing if it is what called
    });
  });
}

void Connection::run(const std::shared_ptr<const protocol::Request>& request) {
  if (!session_) session_ = hub_.new_session();
  take_turn([this, request](Session& s, const TurnPtr& turn) {
    const auto where = request->command->where;
    if (where == protocol::Where::kDevice) {
      const auto answer = std::make_shared<protocol::Reply>();
      on_device([&s, answer, request] { *answer = s.execute(*request); },
                [this, turn, answer] { reply(*answer); });
      return;
    }
    if (where == protocol::Where::kStream || where == protocol::Where::kFile) {
      begin_stream(*request, s);
    } else {
      reply(s.execute(*request));
    }
    settled();
  });
}

// ---- streams

void Connection::begin_stream(const protocol::Request& request, Session& session) {
  auto stream = session.begin(request);
  if (stream) {
    stream_ = std::move(*stream);
    return;
  }
  hub_.metrics->failed(stream.error().kind);
  reply({{}, stream.error().text()});
  // After an upload that was refused nobody knows where the next command starts.
  if (request.command->id == protocol::CommandId::kUpload) closing_ = true;
}

bool Connection::pump_stream() {
  switch (stream_->want()) {
    case Stream::Want::kDone: end_stream(); return true;
    case Stream::Want::kWork: work_on_stream(); return true;
    case Stream::Want::kAside: on_device([this] { stream_->aside(); }, [] {}); return true;
    case Stream::Want::kInput: return give_input();
    case Stream::Want::kOutput: return send_output();
  }
  return false;
}

void Connection::work_on_stream() {
  on_device([this] { stream_->work(); }, [] {});
}

void Connection::end_stream() {
  take_turn([this](Session& s, const TurnPtr&) {
    reply(s.end(*stream_));
    stream_.reset();
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
  if (writing_ || !flush()) return false;
  auto from = stream_->output();
  from = from.first(std::min(from.size(), kBytesAtATime));
  const size_t n = socket_->try_write(from);
  if (n > 0) {
    hub_.metrics->sent(static_cast<int64_t>(n));
    stream_->advance(n);
    return true;
  }
  writing_ = true;
  socket_->write_some(from, [self = shared_from_this()](std::error_code e, size_t m) {
    self->was_written(e, m, true);
  });
  return false;
}

// ---- bytes

void Connection::read() {
  if (reading_ || closed_ || ended_ || busy_) return;
  std::span<std::byte> to;
  const bool into_stream = stream_ && stream_->want() == Stream::Want::kInput && in_.size() == 0;
  if (into_stream) {
    to = stream_->input();
  } else if (stream_ || closing_ || unsent() > kMaxUnsent) {
    return;  // what is at hand comes first
  } else {
    to = in_.room(kReadBytes);
  }
  reading_ = true;
  socket_->read_some(to, [self = shared_from_this(), into_stream](std::error_code e, size_t n) {
    self->was_read(e, n, into_stream);
  });
}

void Connection::was_read(std::error_code error, size_t n, bool into_stream) {
  reading_ = false;
  if (!into_stream) in_.committed(n);
  if (closed_) return;
  if (error && error != asio::error::eof && error != asio::ssl::error::stream_truncated) {
    return close(error.message().c_str());
  }
  if (error) ended_ = true;
  hub_.metrics->received(static_cast<int64_t>(n));
  if (into_stream && n > 0) stream_->advance(n);
  pump();
}

/// True if all replies have been sent.
bool Connection::flush() {
  while (unsent() > 0) {
    if (sending_at_ == sending_.size()) {
      sending_.clear();
      sending_.swap(out_);
      sending_at_ = 0;
    }
    const auto rest = std::as_bytes(std::span(sending_)).subspan(sending_at_);
    const size_t n = socket_->try_write(rest);
    if (n == 0) {
      writing_ = true;
      socket_->write_some(rest, [self = shared_from_this()](std::error_code e, size_t m) {
        self->was_written(e, m, false);
      });
      return false;
    }
    hub_.metrics->sent(static_cast<int64_t>(n));
    sending_at_ += n;
  }
  return true;
}

void Connection::was_written(std::error_code error, size_t n, bool from_stream) {
  writing_ = false;
  if (closed_) return;
  if (error) return close(error.message().c_str());
  hub_.metrics->sent(static_cast<int64_t>(n));
  if (from_stream) {
    stream_->advance(n);
  } else {
    sending_at_ += n;
  }
  pump();
}

}  // namespace kenaz
