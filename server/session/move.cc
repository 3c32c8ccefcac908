#include "server/session/move.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kenaz {

namespace {
constexpr size_t kBytesPerTurn = size_t{4} << 20;  // bytes, before others get their turn
}

Move::Move(End from, End to, std::vector<host::LeafPtr> leaves, Then then)
    : from_(std::move(from)),
      to_(std::move(to)),
      leaves_(std::move(leaves)),
      then_(std::move(then)) {
  set_device(from_.device);
}

Stream::Want Move::want() const {
  return error_ || next_ == leaves_.size() ? Want::kDone : Want::kWork;
}

void Move::work() {
  auto status = without_exceptions([&] { return step(); });
  if (!status) error_ = std::move(status).error();
}

/// On one of the devices; the next step may be on the other.
Status Move::step() {
  if (cancelled_) return bad_request("Nobody waits for the values any more.");
  return device() == from_.device ? read() : write();
}

Status Move::read() {
  const host::LeafPtr& leaf = leaves_[next_];
  if (!opened_) {
    opened_ = true;
    left_ = leaf->bytes();
    if (left_ > 0) {
      KENAZ_ASSIGN(reader_, from_.engine->reader(leaf));
    }
  }
  if (left_ > 0 && reader_->window().empty()) {
    KENAZ_TRY(reader_->work());
    if (reader_->window().empty()) return internal_error("a value ends before its last byte");
  }
  set_device(to_.device);
  return {};
}

Status Move::write() {
  const host::LeafPtr& leaf = leaves_[next_];
  if (!writer_) {
    KENAZ_ASSIGN(writer_, to_.engine->writer(leaf->prim, leaf->shape));
  }
  for (size_t done = 0; left_ > 0 && done < kBytesPerTurn;) {
    const auto from = reader_->window();
    if (from.empty()) break;
    if (writer_->window().empty()) KENAZ_TRY(writer_->work());
    const auto to = writer_->window();
    if (to.empty()) return internal_error("a value has no room for its last bytes");
    const size_t n =
        std::min({from.size(), to.size(), kBytesPerTurn - done, static_cast<size_t>(left_)});
    std::memcpy(to.data(), from.data(), n);
    reader_->advance(n);
    writer_->advance(n);
    left_ -= static_cast<int64_t>(n);
    done += n;
  }
  if (left_ > 0) {
    if (reader_->window().empty()) set_device(from_.device);
    return {};
  }
  KENAZ_ASSIGN(copies_[leaf.get()], writer_->finish());
  reader_.reset();
  writer_.reset();
  opened_ = false;
  ++next_;
  set_device(from_.device);
  return {};
}

Status Move::finish(Variables& variables) {
  if (error_) return tl::make_unexpected(*error_);
  if (from_.device != to_.device) variables.exchange(copies_);
  then_();
  return {};
}

}  // namespace kenaz
