#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "server/session/shapes.h"
#include "server/session/stream.h"

namespace kenaz {

namespace {
constexpr size_t kWaste = size_t{64} << 10;
}

Upload::Upload(std::shared_ptr<host::Engine> engine, std::vector<Target> targets, int64_t bytes,
               int64_t room, std::shared_ptr<void> reserved, std::optional<Error> refused)
    : engine_(std::move(engine)),
      targets_(std::move(targets)),
      left_(bytes),
      room_(room),
      reserved_(std::move(reserved)),
      error_(std::move(refused)) {
  if (error_) return;
  begin_leaf();
}

Stream::Want Upload::want() const {
  if (error_) return left_ > 0 ? Want::kInput : Want::kDone;
  if (complete()) return Want::kDone;
  if (opening_) return Want::kWork;
  if (writer_ && (leaf_left_ == 0 || writer_->window().empty())) return Want::kWork;
  return Want::kInput;
}

std::span<std::byte> Upload::input() {
  std::span<std::byte> to;
  if (error_) {
    waste_.resize(kWaste);
    to = waste_;
  } else if (writer_) {
    to = writer_->window();
    to = to.first(
        static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(to.size()), leaf_left_)));
  } else {
    to = std::span(header_).subspan(header_have_);
  }
  return to.first(static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(to.size()), left_)));
}

void Upload::give_up(Error error) {
  error_ = std::move(error);
  writer_.reset();
  values_.clear();
  opening_ = false;
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

Status Upload::check_bools(std::span<const std::byte> bytes) const {
  const auto bad = std::find_if(bytes.begin(), bytes.end(),
                                [](std::byte b) { return std::to_integer<int>(b) > 1; });
  if (bad == bytes.end()) return {};
  return bad_request(fmt::format("A bool in the data of {} is {}, which is neither 0 nor 1.",
                                 target().name, std::to_integer<int>(*bad)));
}

void Upload::advance(size_t n) {
  left_ -= static_cast<int64_t>(n);
  if (error_) return;
  Status status;
  if (!writer_) {
    header_have_ += n;
    status = header_advanced();
  } else {
    if (leaf_.type == PrimType::kBool) status = check_bools(writer_->window().first(n));
    writer_->advance(n);
    leaf_left_ -= static_cast<int64_t>(n);
  }
  if (status && left_ == 0 && (opening_ ? leaf_left_ : writer_ ? leaf_left_ : 1) > 0) {
    status = bad_request(fmt::format("The data ends inside the value of {}.", target().name));
  }
  if (!status) give_up(std::move(status).error());
}

Status Upload::header_advanced() {
  if (header_have_ < header_.size()) return {};
  if (header_.size() == data::kBinaryHeaderMin) {
    header_.resize(data::binary_header_bytes(header_));
    if (header_have_ < header_.size()) return {};
  }
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
  opening_ = true;
  return {};
}

Status Upload::open_leaf() {
  opening_ = false;
  KENAZ_ASSIGN(writer_, engine_->writer(leaf_.type, leaf_.shape));
  return {};
}

Status Upload::close_leaf() {
  KENAZ_ASSIGN(auto leaf, writer_->finish());
  values_.back().push_back(std::move(leaf));
  begin_leaf();
  return {};
}

Status Upload::step() {
  if (opening_) KENAZ_TRY(open_leaf());
  if (leaf_left_ == 0) return close_leaf();
  if (writer_->window().empty()) KENAZ_TRY(writer_->work());
  if (writer_->window().empty()) return internal_error("a value has no room for its last bytes");
  return {};
}

void Upload::work() {
  try {
    if (auto status = step(); !status) give_up(std::move(status).error());
  } catch (const std::bad_alloc&) {
    give_up({ErrorKind::kOutOfMemory, "The server has no memory left for this command.", {}});
  } catch (const std::exception& e) {
    give_up({ErrorKind::kInternal, e.what(), {}});
  }
}

Status Upload::finish(Variables& variables) {
  reserved_.reset();  // for the variables
  if (error_) return tl::make_unexpected(*error_);
  for (const auto& t : targets_) KENAZ_TRY(variables.check_free(t.name));
  for (size_t i = 0; i < targets_.size(); ++i) {
    auto added = variables.add(targets_[i].name, {targets_[i].type->name, std::move(values_[i])});
    if (added) continue;
    while (i > 0) KENAZ_TRY(variables.remove(targets_[--i].name));
    return added;
  }
  return {};
}

}  // namespace kenaz
