#include "server/transport/connection.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <thread>

namespace kenaz {

namespace {
constexpr size_t kReadBytes = size_t{16} << 10;
constexpr size_t kMaxUnsent = size_t{256} << 10;  // of replies, before commands wait
constexpr size_t kLineBeforeAuth = 4096;
constexpr std::chrono::seconds kAuthTime{10};
constexpr std::chrono::seconds kDrainPause{1};  // for the next command, when the server ends
constexpr std::chrono::milliseconds kMemoryPause{10};
// Work that takes less is not worth another thread: handing it over takes up to a tenth of this.
constexpr std::chrono::microseconds kQuick{300};
// After so many steps others get their turn.
constexpr int kStepsAtATime = 64;

double seconds(std::chrono::steady_clock::duration t) {
  return std::chrono::duration<double>(t).count();
}

}  // namespace

std::string too_many_connections(const Limits& limits) {
  return fmt::format("The server has {} connections; more are not allowed.", limits.connections);
}

Connection::~Connection() { leave_session(); }

void Connection::leave_session() {
  if (!session_name_.empty()) hub_.named.leave(session_name_, std::chrono::steady_clock::now());
  session_name_.clear();
  session_.reset();
}

void Connection::start() {
  guarded([&] {
    socket_->prepare([self = shared_from_this()](std::error_code error, size_t) {
      self->guarded([&] {
        if (error) return self->close(error.message().c_str());
        self->ready_ = true;
        self->reply({});
        self->pump();
      });
    });
  });
}

void Connection::close(const char* why) {
  if (closed_) return;
  closed_ = true;
  spdlog::debug("{}: closed: {}", peer_.name, why);
  socket_->close();
  if (stream_) stream_->cancel();
  if (!busy_) hub_.gone(*this);
}

void Connection::settled() {
  busy_ = false;
  if (closed_) hub_.gone(*this);
}

void Connection::broke(const std::exception& e) {  // no memory for what this client wants
  spdlog::error("{}: {}", peer_.name, e.what());
  close(e.what());
  if (busy_ && !away_) settled();
}

void Connection::abandon() {
  if (const auto session = session_) session->drop_waiting();
  if (stream_) stream_->cancel();
}

void Connection::drain() {
  draining_ = true;
  if (!ready_ || !authenticated_) return close("the server ends");
  closing_ = closing_ || (!busy_ && !stream_ && unsent() == 0 && in_.size() == 0);
  guarded([&] { pump(); });
}

// ---- time

void Connection::check_time(SteadyTime now) {
  if (!closed_) guarded([&] { look_at_time(now); });
}

void Connection::look_at_time(SteadyTime now) {
  if (busy_) {
    stream_bytes_ = -1;  // the client cannot do anything
    return;
  }
  if (dying_) return close("it does not read why it ends");
  if ((!ready_ || !authenticated_) && now - begun_ > kAuthTime) return close("no token in time");
  if (draining_ && !closing_ && !stream_ && now - active_ > kDrainPause) {
    closing_ = true;
    return pump();
  }
  const double idle = hub_.limits.idle_seconds;
  if (idle > 0 && seconds(now - active_) > idle) {
    return end_with(fmt::format("Nothing came for more than {} seconds (--idle-timeout).", idle));
  }
  if (upload_stalls(now)) {
    end_with(
        fmt::format("Less than a hundredth of the upload came within {} seconds "
                    "(--upload-timeout).",
                    hub_.limits.upload_seconds));
  }
}

bool Connection::upload_stalls(SteadyTime now) {
  const int64_t announced = stream_ ? stream_->announced() : 0;
  if (announced == 0 || hub_.limits.upload_seconds == 0) return false;
  constexpr int64_t kParts = 100;
  const int64_t came = stream_->received();
  const int64_t enough =
      std::min(announced - stream_bytes_, std::max<int64_t>(1, announced / kParts));
  if (stream_bytes_ < 0 || came - stream_bytes_ >= enough) {
    stream_bytes_ = came;
    stream_mark_ = now;
    return false;
  }
  return seconds(now - stream_mark_) > hub_.limits.upload_seconds;
}

/// Whatever it still receives for the stream is thrown away with that.
void Connection::end_with(const std::string& why) {
  const bool readable = !writing_ && unsent() == 0;  // the reply would not stand among data
  if (!readable) return close(why.c_str());
  spdlog::info("{}: {}", peer_.name, why);
  dying_ = closing_ = true;
  reply({{}, why});
  pump();
}

// ---- the loop

void Connection::pump() {
  if (pumping_ || closed_ || !ready_) return;
  pumping_ = true;
  active_ = std::chrono::steady_clock::now();
  int steps = 0;
  guarded([&] {
    while (!closed_ && !busy_ && steps < kStepsAtATime && pump_once()) ++steps;
  });
  pumping_ = false;
  if (closed_) return;
  const bool held_up = !stream_ && !closing_ && !busy_ && unsent() > kMaxUnsent;
  const bool sent = writing_ ? false : flush();
  if (closed_ || busy_) return;
  if (steps == kStepsAtATime || (held_up && unsent() <= kMaxUnsent)) {
    asio::post(hub_.io, [self = shared_from_this()] { self->guarded([&] { self->pump(); }); });
    return;
  }
  // What follows the last newline is half a command.
  const bool done = closing_ || (ended_ && !held_up);
  if (done && (!stream_ || dying_) && sent) return close("it has ended");
  read();
}

/// One step; false if there is nothing to do before more comes or goes.
bool Connection::pump_once() {
  if (reading_ || dying_) return false;  // what is there was looked at before
  if (stream_) return pump_stream();
  if (closing_ || unsent() > kMaxUnsent) return false;
  const size_t most =
      authenticated_ ? hub_.limits.line_bytes : std::min(kLineBeforeAuth, hub_.limits.line_bytes);
  std::string line;
  const auto what = in_.take_line(most, false, line);
  if (what == InputBuffer::Line::kNone) return false;
  hub_.metrics->commanded(1);
  if (what == InputBuffer::Line::kLine) {
    handle(line);
    return true;
  }
  if (std::exchange(line_dropped_, false)) {
    refuse(no_client_memory().value());
  } else {
    refuse({ErrorKind::kBadRequest, fmt::format("Line too long: more than {} bytes.", most), {}});
  }
  if (!authenticated_) counts_as_mistake();
  return true;
}

void Connection::reply(const protocol::Reply& reply) {
  const size_t before = out_.size();
  out_ += protocol::render(reply);
  if (account(in_.capacity())) return;
  std::string shorter(out_, 0, before);
  shorter += protocol::render({{}, no_client_memory().value().text()});
  out_.swap(shorter);
}

void Connection::refuse(const Error& why) {
  hub_.metrics->failed(why.kind);
  reply({{}, why.text()});
}

bool Connection::account(size_t input) {
  const auto beyond = [](size_t n) {
    return static_cast<int64_t>(n > kReadBytes ? n - kReadBytes : 0);
  };
  return share_.set(beyond(input) + beyond(out_.capacity() + sending_.capacity()));
}

/// What another thread does for a connection, and what follows here.
struct Connection::Errand {
  std::shared_ptr<Connection> self;
  std::function<void()> job, then;
  bool* quick = nullptr;  // the connection's, or null
  bool was_quick = false;
  bool broke = false;
};

void Connection::run_job(JobQueue& queue, bool* quick, std::function<void()> job,
                         std::function<void()> then) {
  busy_ = true;
  auto errand = std::make_shared<Errand>();
  *errand = {shared_from_this(), std::move(job), std::move(then), quick};
  JobQueue::Job on_queue = [errand = std::move(errand)] {
    const auto begin = std::chrono::steady_clock::now();
    try {
      if (!errand->self->closed_) errand->job();
    } catch (const std::exception&) {
      errand->broke = true;
    }
    errand->job = {};
    errand->was_quick = std::chrono::steady_clock::now() - begin < kQuick;
    // Without this nothing would ever come back, and memory does.
    while (!post_back(errand)) std::this_thread::sleep_for(kMemoryPause);
  };
  if (quick != nullptr && *quick) {
    queue.offer(std::move(on_queue));
  } else {
    queue.post(std::move(on_queue));
  }
  away_ = true;
}

bool Connection::post_back(const std::shared_ptr<Errand>& errand) {
  try {
    asio::post(errand->self->hub_.io, [errand] {
      // The connection's last reference must not go on the other thread: the socket lives here.
      const auto self = std::move(errand->self);
      auto then = std::move(errand->then);
      self->away_ = false;
      if (errand->quick != nullptr) *errand->quick = errand->was_quick;
      self->guarded([&] {
        self->settled();
        if (errand->broke) self->close("no memory for its command");
        then();
        then = {};
        self->pump();
      });
    });
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// ---- bytes

void Connection::read() {
  if (reading_ || closed_ || ended_ || busy_ || dying_) return;
  std::span<std::byte> to;
  const bool into_stream = stream_ && stream_->want() == Stream::Want::kInput && in_.size() == 0;
  if (into_stream) {
    to = stream_->input();
  } else if (stream_ || closing_ || unsent() > kMaxUnsent) {
    return;  // what is at hand comes first
  } else {
    const size_t next = in_.capacity_with(kReadBytes);
    if (next > in_.capacity() && in_.size() > 0 && !account(next)) {
      in_.drop_line();
      line_dropped_ = true;
    }
    to = in_.room(kReadBytes);
    account(in_.capacity());
  }
  reading_ = true;
  socket_->read_some(to, [self = shared_from_this(), into_stream](std::error_code e, size_t n) {
    self->guarded([&] { self->was_read(e, n, into_stream); });
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
        self->guarded([&] { self->was_written(e, m, false); });
      });
      return false;
    }
    hub_.metrics->sent(static_cast<int64_t>(n));
    sending_at_ += n;
  }
  if (sending_.capacity() > kMaxUnsent) {
    std::string().swap(sending_);
    sending_at_ = 0;
    account(in_.capacity());
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
