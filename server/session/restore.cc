#include "server/session/restore.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "protocol/data/text_format.h"
#include "protocol/data/values.h"
#include "server/session/leaf_checks.h"
#include "server/session/shapes.h"

namespace kenaz {

namespace {
constexpr int64_t kSmallLeaf = int64_t{64} << 10;
constexpr size_t kPieceOfFile = size_t{4} << 20;  // bytes, before others get a turn
}  // namespace

Restore::Restore(std::shared_ptr<host::Engine> engine, File file,
                 std::vector<Upload::Target> targets, Bounds bounds, std::optional<Error> then)
    : engine_(std::move(engine)),
      file_(std::move(file)),
      targets_(std::move(targets)),
      bounds_(std::move(bounds)),
      then_(std::move(then)),
      share_(bounds_.memory, ClientMemory::Use::kPassing) {
  file_.source.ask([this](int64_t bytes) {
    if (!stopped_) stopped_ = why_not(bytes);
    return !stopped_;
  });
}

std::optional<Error> Restore::why_not(int64_t bytes) {
  if (cancelled_)
    return Error{ErrorKind::kProgramFailure, "the server ends, or the client has", {}};
  const auto spent = spent_ + (Clock::now() - step_begun_);
  if (bounds_.seconds > 0 && std::chrono::duration<double>(spent).count() > bounds_.seconds) {
    return Error{
        ErrorKind::kProgramFailure,
        fmt::format("reading it took longer than {} seconds (--call-timeout)", bounds_.seconds),
        {}};
  }
  // A value of text grows by doubling, after a first few bytes: half of that is full.
  constexpr int64_t kFirst = 64;
  if (bounds_.room >= 0 && bytes / 2 > std::max(kFirst, bounds_.room)) {
    return Error{
        ErrorKind::kOutOfMemory,
        fmt::format("it takes more than the {} bytes that the session may have", bounds_.room),
        {}};
  }
  if (bytes > share_.bytes() && !share_.set(bytes)) return no_client_memory().value();
  return std::nullopt;
}

Stream::Want Restore::want() const {
  if (error_) return Want::kDone;
  switch (phase_) {
    case Phase::kRead:
    case Phase::kFill: return Want::kAside;
    case Phase::kOpen:
    case Phase::kMore: return Want::kWork;
    case Phase::kDone: break;
  }
  return Want::kDone;
}

/// A failure of the value at hand, as it is told.
Error Restore::as_failure(Error error) const {
  const bool data = error.kind == ErrorKind::kBadRequest;
  const std::string& name = target().name;
  error.message =
      data ? fmt::format(
                 "Failed to restore variable {}.\nPossibly malformed data in "
                 "{} ({})",
                 name, file_.path, error.message)
           : fmt::format("Failed to restore variable {}.\n{}: {}", name, file_.path, error.message);
  return error;
}

void Restore::step(const std::function<Status()>& body) {
  step_begun_ = Clock::now();
  Status status;
  try {
    status = body();
  } catch (const std::bad_alloc&) {
    status = fail(ErrorKind::kOutOfMemory, "the server has no memory left for it");
  } catch (const std::exception& e) {
    status = internal_error(e.what());
  }
  spent_ += Clock::now() - step_begun_;
  if (stopped_) status = tl::make_unexpected(*stopped_);
  if (status) return;
  const bool of_value = complete_ < values_.size();
  error_ = of_value ? as_failure(std::move(status).error()) : std::move(status).error();
  writer_.reset();
  value_ = {};
  share_.set(0);
}

void Restore::aside() {
  step([&] { return phase_ == Phase::kRead ? read_next() : fill(); });
}

void Restore::work() {
  step([&] { return phase_ == Phase::kOpen ? open() : more(); });
}

// ---- the file

Status Restore::read_next() {
  if (const auto stop = why_not(0)) return tl::make_unexpected(*stop);
  if (complete_ == values_.size()) {
    if (complete_ == targets_.size()) return at_end();
    values_.emplace_back();
  }
  const ValueType& type = *target().type;
  const size_t leaf = values_.back().size();
  if (leaf == type.leaves.size()) return complete_value();
  return read_leaf(type.leaves[leaf], target().constructors.at(leaf));
}

Status Restore::at_end() {
  phase_ = Phase::kDone;
  if (then_) return tl::make_unexpected(*then_);
  data::skip_space(file_.source);
  if (file_.source.peek() < 0 && !file_.source.error()) return {};
  return bad_request(
      fmt::format("Expected EOF after reading {} values from {}", targets_.size(), file_.path));
}

/// The leaves of an array of records have the same outer dimensions.
Status Restore::complete_value() {
  const ValueType& type = *target().type;
  if (type.kind == TypeKind::kArray) {
    KENAZ_ASSIGN(const auto shapes, leaf_shapes(type, values_.back()));
    KENAZ_TRY(outer_shape(type, shapes, parts_differ(type)));
  }
  ++complete_;
  return {};
}

Status Restore::read_leaf(const LeafType& wanted, int constructors) {
  auto& source = file_.source;
  data::skip_space(source);
  const int c = source.peek();
  constructors_ = constructors;
  phase_ = Phase::kOpen;
  if (c == 'b' && source.remaining()) {
    const int64_t start = source.offset();
    auto read = read_header(wanted);
    if (read && left_ <= kSmallLeaf) read = read_small();
    if (!read) read.error().context.push_back(fmt::format("in the binary value at byte {}", start));
    return read;
  }
  KENAZ_ASSIGN(auto value, data::read_value(source, wanted));
  if (!value) return bad_request("the data ends before the value does");
  value_ = std::move(*value);
  in_memory_ = true;
  left_ = static_cast<int64_t>(value_.bytes.size());
  KENAZ_TRY(take_room(left_));
  const auto wrong = wrong_element(value_.type, constructors_, value_.bytes, "the data");
  if (wrong) return bad_request("a " + *wrong);
  return {};
}

/// A binary value's header; its elements stay in the file.
Status Restore::read_header(const LeafType& wanted) {
  KENAZ_ASSIGN(auto header, data::read_binary_header(file_.source));
  value_ = {header.type, std::move(header.shape), {}};
  in_memory_ = false;
  if (value_.type != wanted.prim || value_.shape.size() != static_cast<size_t>(wanted.rank)) {
    const data::Value expected{
        wanted.prim, std::vector<int64_t>(static_cast<size_t>(wanted.rank)), {}};
    return bad_request(fmt::format("expected a value of type {}, but the data has {}",
                                   expected.type_name(), value_.type_name()));
  }
  KENAZ_ASSIGN(left_, data::checked_bytes(value_.type, value_.shape));
  const int64_t there = file_.source.remaining().value_or(left_);
  if (left_ > there) {
    return bad_request(fmt::format(
        "the binary data ends inside a value's elements: the header promises {} bytes, {} are left",
        left_, there));
  }
  return take_room(left_);
}

Status Restore::read_small() {
  value_.bytes.resize(static_cast<size_t>(left_));
  in_memory_ = true;
  return read_into(value_.bytes);
}

/// Elements, as they stand in the file.
Status Restore::read_into(std::span<std::byte> to) {
  if (file_.source.read(to) != to.size()) {
    const auto& error = file_.source.error();
    return bad_request(error ? "reading failed: " + *error
                             : "the binary data ends inside a value's elements");
  }
  if (const auto wrong = wrong_element(value_.type, constructors_, to, "binary data")) {
    return bad_request("a " + *wrong);
  }
  return {};
}

Status Restore::take_room(int64_t bytes) {
  if (bounds_.room < 0) return {};
  if (bytes > bounds_.room) {
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("The value takes {} bytes; the session may have {} more.", bytes,
                            bounds_.room));
  }
  bounds_.room -= bytes;
  return {};
}

// ---- the engine

Status Restore::open() {
  KENAZ_ASSIGN(writer_, engine_->writer(value_.type, value_.shape));
  if (!in_memory_ || left_ > kSmallLeaf) {
    phase_ = left_ == 0 ? Phase::kMore : Phase::kFill;
    return left_ == 0 ? more() : Status{};
  }
  while (left_ > 0) {
    if (writer_->window().empty()) KENAZ_TRY(writer_->work());
    if (writer_->window().empty()) return internal_error("a value has no room for its bytes");
    KENAZ_TRY(fill_from_value(static_cast<size_t>(kSmallLeaf)));
  }
  return more();
}

Status Restore::fill_from_value(size_t most) {
  const auto to = writer_->window();
  const size_t n = std::min({to.size(), most, static_cast<size_t>(left_)});
  std::memcpy(to.data(), value_.bytes.data() + value_.bytes.size() - static_cast<size_t>(left_), n);
  writer_->advance(n);
  left_ -= static_cast<int64_t>(n);
  return {};
}

/// A piece of it, so that what ends the reading is seen in time.
Status Restore::fill() {
  if (const auto stop = why_not(0)) return tl::make_unexpected(*stop);
  if (in_memory_) {
    KENAZ_TRY(fill_from_value(kPieceOfFile));
  } else {
    auto to = writer_->window();
    to = to.first(std::min({to.size(), kPieceOfFile, static_cast<size_t>(left_)}));
    KENAZ_TRY(read_into(to));
    writer_->advance(to.size());
    left_ -= static_cast<int64_t>(to.size());
  }
  if (left_ == 0 || writer_->window().empty()) phase_ = Phase::kMore;
  return {};
}

Status Restore::more() {
  if (left_ > 0) {
    KENAZ_TRY(writer_->work());
    if (writer_->window().empty()) return internal_error("a value has no room for its bytes");
    phase_ = Phase::kFill;
    return {};
  }
  KENAZ_ASSIGN(auto leaf, writer_->finish());
  values_.back().push_back(std::move(leaf));
  writer_.reset();
  value_ = {};
  share_.set(0);
  phase_ = Phase::kRead;
  return {};
}

Status Restore::finish(Variables& variables) {
  bounds_.reserved.reset();  // for the variables
  for (size_t i = 0; i < complete_; ++i) {
    KENAZ_TRY(variables.add(targets_[i].name,
                            {targets_[i].type->name, std::move(values_[i]), targets_[i].types}));
  }
  if (error_) return tl::make_unexpected(*error_);
  return {};
}

}  // namespace kenaz
