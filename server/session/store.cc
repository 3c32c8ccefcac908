#include "server/session/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace kenaz {

namespace {
constexpr size_t kPiece = size_t{4} << 20;  // bytes, before it is seen that nobody waits any more
}

Store::Target Store::to_file(const std::string& path, File file) {
  const auto shared = std::make_shared<const File>(std::move(file));
  const auto done = [path](bool all) -> Status {
    if (all) return {};
    return bad_request(fmt::format("Failed to write {}: {}", path, std::strerror(errno)));
  };
  return {path,
          [shared, done](std::span<const std::byte> bytes) {
            return done(std::fwrite(bytes.data(), 1, bytes.size(), shared->get()) == bytes.size());
          },
          [shared, done] { return done(std::fflush(shared->get()) == 0); }};
}

Store::Store(std::shared_ptr<host::Engine> engine, Target target, std::vector<host::LeafPtr> leaves,
             std::shared_ptr<void> loan)
    : engine_(std::move(engine)),
      target_(std::move(target)),
      leaves_(std::move(leaves)),
      loan_(std::move(loan)),
      phase_(leaves_.empty() ? Phase::kWrite : Phase::kRead) {}

int64_t Store::bytes() const {
  int64_t sum = 0;
  for (const auto& leaf : leaves_)
    sum +=
        static_cast<int64_t>(data::binary_header(leaf->prim, leaf->shape).size()) + leaf->bytes();
  return sum;
}

Stream::Want Store::want() const {
  if (error_ || phase_ == Phase::kDone) return Want::kDone;
  return phase_ == Phase::kRead ? Want::kWork : Want::kAside;
}

void Store::step(const std::function<Status()>& body) {
  auto status = without_exceptions(body);
  if (!status) error_ = std::move(status).error();
}

void Store::work() {
  step([&] { return read(); });
}

void Store::aside() {
  step([&] { return write(); });
}

Status Store::read() {
  if (left_ == 0) {
    const auto& leaf = leaves_.at(next_++);
    header_ = data::binary_header(leaf->prim, leaf->shape);
    left_ = leaf->bytes();
    KENAZ_ASSIGN(reader_, engine_->reader(leaf));
  }
  if (left_ > 0 && reader_->window().empty()) {
    KENAZ_TRY(reader_->work());
    if (reader_->window().empty()) return internal_error("a value ends before its last byte");
  }
  phase_ = Phase::kWrite;
  return {};
}

/// What was read; a piece at a time.
Status Store::write() {
  if (cancelled_) {
    return fail(
        ErrorKind::kProgramFailure,
        fmt::format("Failed to write {}: the server ends, or the client has", target_.name));
  }
  KENAZ_TRY(target_.put(std::as_bytes(std::span(header_))));
  header_.clear();
  if (left_ > 0) {
    auto piece = reader_->window();
    piece = piece.first(std::min({piece.size(), kPiece, static_cast<size_t>(left_)}));
    KENAZ_TRY(target_.put(piece));
    reader_->advance(piece.size());
    left_ -= static_cast<int64_t>(piece.size());
    if (left_ > 0 && !reader_->window().empty()) return {};
  }
  if (left_ > 0 || next_ < leaves_.size()) {
    phase_ = Phase::kRead;
    return {};
  }
  KENAZ_TRY(target_.end());
  phase_ = Phase::kDone;
  return {};
}

Status Store::finish(Variables&) {
  if (error_) return tl::make_unexpected(*error_);
  return {};
}

}  // namespace kenaz
