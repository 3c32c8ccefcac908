#include "server/workers/conversation.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace kenaz {
namespace {

constexpr size_t kBuffer = size_t{64} << 10;
constexpr size_t kLongestReply = size_t{1} << 20;
constexpr std::chrono::milliseconds kLongestWait{250};  // at the time, which others may set
constexpr std::chrono::seconds kObeys{2};  // in which a call that is cancelled must end

}  // namespace

Conversation::Conversation(std::unique_ptr<Worker> worker, std::string name)
    : worker_(std::move(worker)), name_(std::move(name)), in_(kBuffer) {}

void Conversation::set_time(double seconds) {
  constexpr double kDecades = 1e9;
  until_ = seconds == 0
               ? Clock::time_point::max()
               : Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(std::min(seconds, kDecades)));
}

// ---- the process's end

tl::unexpected<Error> Conversation::ended() {
  over_ = true;
  return fail(ErrorKind::kProgramFailure,
              fmt::format("The process of the program {} ended: {}.\nThe command `load` begins "
                          "another; variables are as they were.",
                          name_, worker_->process().how_it_ended()));
}

tl::unexpected<Error> Conversation::broken(const std::string& why) {
  kill(why);
  return ended();
}

Status Conversation::wait(int socket, short events) {
  while (true) {
    const Clock::time_point now = Clock::now(), until = until_;
    if (now >= until) return broken("it did not end in time");
    pollfd one{socket, events, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::min<Clock::duration>(until - now, kLongestWait));
    const int ready = ::poll(&one, 1, static_cast<int>(left.count()) + 1);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return broken(std::strerror(errno));
  }
}

// ---- bytes

Status Conversation::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n =
        ::send(worker_->talk(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN) {
      KENAZ_TRY(wait(worker_->talk(), POLLOUT));
    } else if (errno != EINTR) {
      return ended();
    }
  }
  return {};
}

Status Conversation::send(std::string_view bytes) {
  if (out_.size() + bytes.size() <= kBuffer) {
    out_ += bytes;
    return {};
  }
  KENAZ_TRY(flush());
  return write(bytes);
}

Status Conversation::flush() { return write(std::exchange(out_, {})); }

Status Conversation::fill() {
  while (true) {
    KENAZ_TRY(wait(worker_->talk(), POLLIN));
    const ssize_t n = ::recv(worker_->talk(), in_.data(), in_.size(), MSG_DONTWAIT);
    if (n > 0) {
      begin_ = 0;
      end_ = static_cast<size_t>(n);
      return {};
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) return ended();
  }
}

Result<size_t> Conversation::read_some(std::span<std::byte> to) {
  if (to.empty()) return 0;
  if (!are_there()) KENAZ_TRY(fill());
  const size_t n = std::min(to.size(), end_ - begin_);
  std::memcpy(to.data(), in_.data() + begin_, n);
  begin_ += n;
  return n;
}

Result<std::string> Conversation::read_all(size_t bytes) {
  std::string all;
  while (all.size() < bytes) {
    if (!are_there()) KENAZ_TRY(fill());
    const size_t n = std::min(bytes - all.size(), end_ - begin_);
    all.append(in_.data() + begin_, n);
    begin_ += n;
  }
  return all;
}

Result<std::string> Conversation::line() {
  std::string text;
  while (true) {
    if (!are_there()) KENAZ_TRY(fill());
    const char* const from = in_.data() + begin_;
    const auto* newline = static_cast<const char*>(std::memchr(from, '\n', end_ - begin_));
    const size_t n = newline != nullptr ? static_cast<size_t>(newline - from) : end_ - begin_;
    text.append(from, n);
    begin_ += n + (newline != nullptr ? 1 : 0);
    if (text.size() > kLongestReply) return broken("it said too much");
    if (newline != nullptr) return text;
  }
}

Result<protocol::Reply> Conversation::reply() {
  protocol::ReplyReader reader;
  size_t bytes = 0;
  while (true) {
    KENAZ_ASSIGN(const std::string text, line());
    bytes += text.size() + sizeof(std::string);
    if (bytes > kLongestReply) return broken("it said too much");
    if (reader.feed(text)) return reader.take();
  }
}

// ---- calls

void Conversation::begin_call(double seconds) {
  set_time(seconds);
  const std::lock_guard lock(mutex_);
  calling_ = true;
  cancelled_ = false;
}

void Conversation::cancel() {
  const std::lock_guard lock(mutex_);
  if (!calling_) return;
  if (!cancelled_) until_ = std::min(until_.load(), Clock::now() + kObeys);
  cancelled_ = true;
  // Where it has not heard many of these, it hears none, and its time ends.
  constexpr char kCancel = 'c';
  ::send(worker_->control(), &kCancel, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/// What was cancelled late must not cancel the next call.
Status Conversation::end_call() {
  {
    const std::lock_guard lock(mutex_);
    calling_ = false;
    if (!cancelled_) return {};
  }
  set_time(static_cast<double>(kObeys.count()));
  constexpr char kNext = 'n';
  char answer = 0;
  if (::send(worker_->control(), &kNext, 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1) {
    return broken("it does not listen");
  }
  KENAZ_TRY(wait(worker_->control(), POLLIN));
  if (::recv(worker_->control(), &answer, 1, MSG_DONTWAIT) != 1) return ended();
  return {};
}

}  // namespace kenaz
