#include "tests/fuzz/program/worker.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "protocol/base/check.h"
#include "protocol/data/binary_format.h"

namespace kenaz::fuzz {
namespace {

// Messages: a letter, the length, the bytes.

bool write_all(int fd, const char* data, size_t n) {
  while (n > 0) {
    const ssize_t done = ::write(fd, data, n);
    if (done <= 0) return false;
    data += done;
    n -= static_cast<size_t>(done);
  }
  return true;
}

bool read_all(int fd, char* data, size_t n) {
  while (n > 0) {
    const ssize_t done = ::read(fd, data, n);
    if (done <= 0) return false;
    data += done;
    n -= static_cast<size_t>(done);
  }
  return true;
}

bool send(int fd, char kind, const std::string& text) {
  std::string message(1 + sizeof(uint64_t), kind);
  const uint64_t n = text.size();
  std::memcpy(message.data() + 1, &n, sizeof n);
  return write_all(fd, message.data(), message.size()) && write_all(fd, text.data(), n);
}

/// False at the end of the stream.
bool receive(int fd, char& kind, std::string& text) {
  uint64_t n = 0;
  if (!read_all(fd, &kind, 1) || !read_all(fd, reinterpret_cast<char*>(&n), sizeof n)) return false;
  text.resize(n);
  return read_all(fd, text.data(), n);
}

/// The program's text is last, since nothing says where it ends.
std::string pack(const Job& job) {
  std::string out(1, static_cast<char>(job.inputs.size()));
  out += static_cast<char>(job.tolerant.size());
  out += job.slopes ? '1' : '0';
  for (const bool t : job.tolerant) out += t ? '1' : '0';
  for (const Input& input : job.inputs) {
    out += static_cast<char>(input.size());
    for (const auto& value : input) data::append_binary(value, out);
  }
  return out + job.text;
}

Job unpack(const std::string& bytes) {
  Job job;
  size_t at = 3;
  job.slopes = bytes[2] == '1';
  job.inputs.resize(static_cast<size_t>(bytes[0]));
  for (int i = 0; i < bytes[1]; ++i) job.tolerant.push_back(bytes[at++] == '1');
  for (Input& input : job.inputs) {
    const int n = bytes[at++];
    for (int k = 0; k < n; ++k) {
      data::ByteSource source(std::string_view(bytes).substr(at));
      auto value = data::read_binary(source);
      CHECK(value);
      at += static_cast<size_t>(source.offset());
      input.push_back(std::move(*value));
    }
  }
  job.text = bytes.substr(at);
  return job;
}

constexpr char kSeparator = '\x1f';

std::string pack(const Verdict& v) {
  std::string out;
  for (const int n : {static_cast<int>(v.kind), v.calls, v.failed, v.limited}) {
    out += static_cast<char>('0' + std::min(n, 70));
  }
  return out + v.stage + kSeparator + v.what + kSeparator + v.detail;
}

Verdict unpack_verdict(const std::string& text) {
  Verdict v;
  v.kind = static_cast<Verdict::Kind>(text[0] - '0');
  v.calls = text[1] - '0';
  v.failed = text[2] - '0';
  v.limited = text[3] - '0';
  const size_t a = text.find(kSeparator);
  const size_t b = text.find(kSeparator, a + 1);
  v.stage = text.substr(4, a - 4);
  v.what = text.substr(a + 1, b - a - 1);
  v.detail = text.substr(b + 1);
  return v;
}

}  // namespace

void Worker::serve(int in, int out) {
  Oracle oracle(options_);
  char kind = 0;
  std::string bytes;
  while (receive(in, kind, bytes)) {
    const Job job = unpack(bytes);
    const Verdict v = oracle.judge(job, [&](const std::string& s) { send(out, 's', s); });
    if (!send(out, 'v', pack(v))) break;
  }
  std::_Exit(0);
}

void Worker::start() {
  int to[2], from[2];
  CHECK(::pipe(to) == 0 && ::pipe(from) == 0);
  errors_ = ::memfd_create("errors", 0);
  CHECK(errors_ >= 0);
  pid_ = ::fork();
  CHECK(pid_ >= 0);
  if (pid_ == 0) {
    ::dup2(errors_, STDERR_FILENO);
    ::close(to[1]);
    ::close(from[0]);
    serve(to[0], from[1]);
  }
  ::close(to[0]);
  ::close(from[1]);
  to_ = to[1];
  from_ = from[0];
}

void Worker::stop() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  ::close(to_);
  ::close(from_);
  ::close(errors_);
  pid_ = -1;
}

Verdict Worker::ended(const std::string& stage, bool late) {
  Verdict v{Verdict::kFinding, stage, "time-out",
            "it took more than " + std::to_string(seconds_) + " seconds"};
  if (!late) {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    v.what = WIFSIGNALED(status) ? "crash: signal " + std::to_string(WTERMSIG(status)) : "crash";
    std::string text(10000, '\0');
    const ssize_t n = ::pread(errors_, text.data(), text.size(), 0);
    v.detail = text.substr(0, n > 0 ? static_cast<size_t>(n) : 0);
  }
  stop();
  return v;
}

Verdict Worker::judge(const Job& job) {
  if (pid_ < 0) start();
  ::signal(SIGPIPE, SIG_IGN);
  std::string stage = "start";
  if (!send(to_, 'j', pack(job))) return ended(stage, false);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds_);
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd p{from_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&p, 1, static_cast<int>(left.count())) == 0) {
      return ended(stage, true);
    }
    char kind = 0;
    std::string text;
    if (!receive(from_, kind, text)) return ended(stage, false);
    if (kind == 'v') return unpack_verdict(text);
    stage = text;
  }
}

}  // namespace kenaz::fuzz
