#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "server/session/leaf_checks.h"
#include "server/session/shapes.h"
#include "server/session/stream.h"

namespace kenaz {

namespace {
constexpr size_t kWaste = size_t{64} << 10;
// A value takes memory of the device when a 64th of it has come, or all of a small one: who only
// announces values holds none, and who sends parts of them at most 64 times what was sent.
constexpr int64_t kSmallUpload = int64_t{64} << 10;
constexpr int64_t kPartBeforeDevice = 64;
constexpr size_t kUncounted = size_t{4} << 10;  // bytes that a connection has anyhow
constexpr size_t kCopyAtATime = size_t{8} << 20;
}  // namespace

Upload::Upload(std::shared_ptr<host::Engine> engine, std::vector<Target> targets, int64_t bytes,
               int64_t room, std::shared_ptr<void> reserved, std::shared_ptr<ClientMemory> memory,
               std::optional<Error> refused)
    : engine_(std::move(engine)),
      targets_(std::move(targets)),
      announced_(bytes),
      left_(bytes),
      room_(room),
      reserved_(std::move(reserved)),
      error_(std::move(refused)),
      stage_share_(std::move(memory), ClientMemory::Use::kPassing) {
  if (error_) return;
  begin_leaf();
}

Stream::Want Upload::want() const {
  if (error_) return left_ > 0 ? Want::kInput : Want::kDone;
  if (complete()) return Want::kDone;
  switch (phase_) {
    case Phase::kHeader:
    case Phase::kStaging: return Want::kInput;
    case Phase::kOpening: return Want::kWork;
    case Phase::kFilling: break;
  }
  const bool ready = stage_given_ == stage_have_ && leaf_left_ > 0 && !writer_->window().empty();
  return ready ? Want::kInput : Want::kWork;
}

std::span<std::byte> Upload::input() {
  const auto at_most = [](std::span<std::byte> s, int64_t n) {
    return s.first(static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(s.size()), n)));
  };
  if (error_) {
    waste_.resize(kWaste);
    return at_most(waste_, left_);
  }
  switch (phase_) {
    case Phase::kHeader: return at_most(std::span(header_).subspan(header_have_), left_);
    case Phase::kStaging: return std::span(stage_).subspan(stage_have_);
    default: return at_most(writer_->window(), leaf_left_);
  }
}

void Upload::give_up(Error error) {
  error_ = std::move(error);
  writer_.reset();
  values_.clear();
  std::vector<std::byte>().swap(stage_);
  stage_share_.set(0);
}

/// Waits for the next leaf's header, if there is one more; goes on to the next value where one
/// ends.
void Upload::begin_leaf() {
  if (values_.empty()) values_.emplace_back();
  while (!complete() && values_.back().size() == target().type->leaves.size()) {
    if (auto ok = check_shape(); !ok) return give_up(std::move(ok).error());
    values_.emplace_back();
  }
  writer_.reset();
  phase_ = Phase::kHeader;
  header_.resize(data::kBinaryHeaderMin);
  header_have_ = 0;
  if (complete() && left_ > 0) {
    give_up({ErrorKind::kBadRequest,
             fmt::format("Expected the data to end after {} values, but {} bytes follow.",
                         targets_.size(), left_),
             {}});
  } else if (!complete() && left_ == 0) {
    give_up({ErrorKind::kBadRequest,
             fmt::format("The data ends before the value of {} does.", target().name),
             {}});
  }
}

/// The leaves of an array of records have the same outer dimensions.
Status Upload::check_shape() const {
  const ValueType& type = *target().type;
  if (type.kind != TypeKind::kArray) return {};
  KENAZ_ASSIGN(const auto shapes, leaf_shapes(type, values_.back()));
  auto ok = outer_shape(type, shapes,
                        fmt::format("The parts of the value of {}, of type {}, have different "
                                    "shapes",
                                    target().name, type.name));
  if (!ok) return tl::make_unexpected(std::move(ok).error());
  return {};
}

Status Upload::check_elements(std::span<const std::byte> bytes) const {
  const int constructors = target().constructors.at(values_.back().size());
  const auto wrong = wrong_element(leaf_.type, constructors, bytes, "the data of " + target().name);
  if (!wrong) return {};
  return bad_request(fmt::format("A {}.", *wrong));
}

void Upload::advance(size_t n) {
  left_ -= static_cast<int64_t>(n);
  if (error_) return;
  Status status;
  if (phase_ == Phase::kHeader) {
    header_have_ += n;
    status = header_advanced();
    if (status && phase_ == Phase::kHeader && left_ == 0) {
      status = bad_request(fmt::format("The data ends inside the value of {}.", target().name));
    }
  } else {
    leaf_left_ -= static_cast<int64_t>(n);
    if (phase_ == Phase::kStaging) {
      status = stage_advanced(n);
    } else {
      status = check_elements(writer_->window().first(n));
      writer_->advance(n);
    }
  }
  if (!status) give_up(std::move(status).error());
}

Status Upload::header_advanced() {
  if (header_have_ < header_.size()) return {};
  if (header_.size() == data::kBinaryHeaderMin) {
    header_.resize(data::binary_header_bytes(header_));
    if (header_have_ < header_.size()) return {};
  }
  KENAZ_TRY(check_header());
  phase_ = leaf_left_ == 0 ? Phase::kOpening : Phase::kStaging;
  stage_have_ = stage_given_ = 0;
  stage_goal_ = static_cast<size_t>(
      std::min(leaf_left_, std::max(kSmallUpload, leaf_left_ / kPartBeforeDevice)));
  return leaf_left_ == 0 ? Status{} : grow_stage(std::min<size_t>(stage_goal_, kSmallUpload));
}

/// That the leaf is what the type says, has come in full by the end, and may be so large.
Status Upload::check_header() {
  data::ByteSource source({reinterpret_cast<const char*>(header_.data()), header_.size()});
  auto header = data::read_binary_header(source);
  if (!header) {
    return bad_request(
        fmt::format("In the value of {}: {}.", target().name, header.error().message));
  }
  leaf_ = std::move(*header);
  const LeafType& wanted = target().type->leaves[values_.back().size()];
  if (leaf_.type != wanted.prim || leaf_.shape.size() != static_cast<size_t>(wanted.rank)) {
    const auto text = [](PrimType t, size_t rank) {
      return fmt::format("{} of rank {}", prim_name(t), rank);
    };
    return bad_request(fmt::format(
        "In the value of {}: {} is expected, but {} comes.", target().name,
        text(wanted.prim, static_cast<size_t>(wanted.rank)), text(leaf_.type, leaf_.shape.size())));
  }
  KENAZ_ASSIGN(leaf_left_, data::checked_bytes(leaf_.type, leaf_.shape));
  if (leaf_left_ > left_) {
    return bad_request(fmt::format("The value of {} takes {} bytes, but only {} follow its header.",
                                   target().name, leaf_left_, left_));
  }
  if (room_ >= 0 && leaf_left_ > room_) {
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("The value of {} takes {} bytes; the session may have {} more.",
                            target().name, leaf_left_, room_));
  }
  if (room_ >= 0) room_ -= leaf_left_;
  return {};
}

Status Upload::grow_stage(size_t bytes) {
  const bool uncounted = bytes <= kUncounted;
  if (!stage_share_.set(uncounted ? 0 : static_cast<int64_t>(bytes))) return no_client_memory();
  stage_.reserve(bytes);
  stage_.resize(bytes);
  return {};
}

Status Upload::stage_advanced(size_t n) {
  const auto came = std::span(stage_).subspan(stage_have_, n);
  stage_have_ += n;
  if (stage_have_ == stage_goal_) {
    phase_ = Phase::kOpening;
  } else if (stage_have_ == stage_.size()) {
    KENAZ_TRY(check_elements(came));
    return grow_stage(std::min(stage_goal_, 2 * stage_have_));
  }
  return check_elements(came);
}

/// Some of what was kept on the host goes to the device: not so much that others would wait.
Status Upload::empty_stage() {
  size_t left = std::min(stage_have_ - stage_given_, kCopyAtATime);
  while (left > 0) {
    if (writer_->window().empty()) KENAZ_TRY(writer_->work());
    const auto to = writer_->window();
    if (to.empty()) return internal_error("a value has no room for its first bytes");
    const size_t n = std::min(to.size(), left);
    std::memcpy(to.data(), stage_.data() + stage_given_, n);
    writer_->advance(n);
    stage_given_ += n;
    left -= n;
  }
  if (stage_given_ < stage_have_) return {};
  std::vector<std::byte>().swap(stage_);
  stage_share_.set(0);
  stage_given_ = stage_have_ = 0;
  return {};
}

Status Upload::close_leaf() {
  KENAZ_ASSIGN(auto leaf, writer_->finish());
  values_.back().push_back(std::move(leaf));
  begin_leaf();
  return {};
}

Status Upload::step() {
  if (phase_ == Phase::kOpening) {
    KENAZ_ASSIGN(writer_, engine_->writer(leaf_.type, leaf_.shape));
    phase_ = Phase::kFilling;
  }
  if (stage_given_ < stage_have_) KENAZ_TRY(empty_stage());
  if (stage_given_ < stage_have_) return {};
  if (leaf_left_ == 0) return close_leaf();
  if (writer_->window().empty()) KENAZ_TRY(writer_->work());
  if (writer_->window().empty()) return internal_error("a value has no room for its last bytes");
  return {};
}

void Upload::work() {
  auto status = without_exceptions([&] { return step(); });
  if (!status) give_up(std::move(status).error());
}

Status Upload::finish(Variables& variables) {
  reserved_.reset();  // for the variables
  if (error_) return tl::make_unexpected(*error_);
  for (const auto& t : targets_) KENAZ_TRY(variables.check_free(t.name));
  for (size_t i = 0; i < targets_.size(); ++i) {
    auto added = variables.add(targets_[i].name,
                               {targets_[i].type->name, std::move(values_[i]), targets_[i].types});
    if (added) continue;
    while (i > 0) KENAZ_TRY(variables.remove(targets_[--i].name));
    return added;
  }
  return {};
}

}  // namespace kenaz
