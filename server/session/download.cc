#include <algorithm>

#include "server/session/stream.h"

namespace kenaz {

namespace {
constexpr size_t kFiller = size_t{64} << 10;
}

Download::Download(std::shared_ptr<host::Engine> engine, std::vector<host::LeafPtr> leaves,
                   std::shared_ptr<void> loan)
    : engine_(std::move(engine)), leaves_(std::move(leaves)), loan_(std::move(loan)) {
  for (const auto& leaf : leaves_) {
    total_ += static_cast<int64_t>(data::binary_header(leaf->prim, leaf->shape).size());
    total_ += leaf->bytes();
  }
}

Stream::Want Download::want() const {
  if (!started_) return error_ ? Want::kDone : Want::kWork;
  if (given_ < text_.size()) return Want::kOutput;
  if (sent_ == goal_) return Want::kDone;
  if (error_) return Want::kOutput;
  return leaf_left_ > 0 && !reader_->window().empty() ? Want::kOutput : Want::kWork;
}

std::span<const std::byte> Download::output() {
  if (given_ < text_.size()) return std::as_bytes(std::span(text_)).subspan(given_);
  if (!error_) return reader_->window();
  filler_.resize(kFiller);
  return std::span(filler_).first(
      static_cast<size_t>(std::min(static_cast<int64_t>(kFiller), goal_ - sent_)));
}

void Download::advance(size_t n) {
  sent_ += static_cast<int64_t>(n);
  if (given_ < text_.size()) {
    given_ += n;
  } else if (!error_) {
    leaf_left_ -= static_cast<int64_t>(n);
    reader_->advance(n);
  }
}

Status Download::open_next() {
  const auto& leaf = leaves_.at(next_++);
  text_ = data::binary_header(leaf->prim, leaf->shape);
  given_ = 0;
  leaf_left_ = leaf->bytes();
  KENAZ_ASSIGN(reader_, engine_->reader(leaf));
  return {};
}

Status Download::fetch() {
  if (leaf_left_ == 0 && next_ < leaves_.size()) KENAZ_TRY(open_next());
  if (leaf_left_ == 0 || !reader_->window().empty()) return {};
  KENAZ_TRY(reader_->work());
  if (reader_->window().empty()) return internal_error("a value ends before its last byte");
  return {};
}

void Download::work() {
  auto fetched = without_exceptions([&] { return fetch(); });
  // What was found wrong before the first byte was given fails the command like any other.
  if (!fetched) error_ = std::move(fetched).error();
  if (started_ || error_) return;
  started_ = true;
  text_ = std::to_string(total_) + "\n" + text_;
  goal_ = total_ + static_cast<int64_t>(std::to_string(total_).size()) + 1;
}

Status Download::finish(Variables&) {
  if (error_) return tl::make_unexpected(*error_);
  return {};
}

}  // namespace kenaz
