// Elements in their three forms, read.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "client/stream/formats.h"
#include "protocol/data/binary_format.h"
#include "protocol/data/text_format.h"
#include "protocol/data/value.h"

namespace kenaz::stream {

size_t Element::values() const {
  size_t n = 1;
  for (const int64_t d : row) n *= static_cast<size_t>(d);
  return n;
}

namespace {

constexpr size_t kTextChunk = size_t{64} << 10;

/// What all forms share: a failure comes after the elements before it.
class SourceBase : public client::ElementSource {
 public:
  SourceBase(Element element, FdInput& input) : element_(std::move(element)), input_(input) {}

  void stop() override { input_.stop(); }

  Result<size_t> read(std::span<std::byte> out) final {
    if (failed_) return tl::unexpected<Error>(*failed_);
    size_t have = 0;
    if (const Status filled = fill(out, have); !filled) failed_ = filled.error();
    if (element_.type == PrimType::kBool) check_bools(out, have);
    const size_t whole = have / element_.bytes() * element_.bytes();
    if (!failed_ && have != whole) failed_ = torn(have - whole);
    if (failed_ && whole == 0) return tl::unexpected<Error>(*failed_);
    elements_ += whole / element_.bytes();
    return whole;
  }

 protected:
  /// Fills `out` up to the sequence's end; `have` counts the bytes, also where it fails.
  virtual Status fill(std::span<std::byte> out, size_t& have) = 0;
  /// What is told of a sequence that ends with so many bytes of an element.
  virtual Error torn(size_t bytes) const = 0;

  /// "[4]f32"
  std::string element_text() const {
    return data::shape_text(element_.row) + std::string(prim_name(element_.type));
  }

  const Element element_;
  FdInput& input_;

 private:
  /// Fails at the first byte that is no bool, where `have` ends then. The server would refuse the
  /// whole chunk.
  void check_bools(std::span<const std::byte> bytes, size_t& have) {
    const auto begin = bytes.begin(), end = begin + static_cast<ptrdiff_t>(have);
    const auto wrong = std::find_if(begin, end, [](std::byte b) { return b > std::byte{1}; });
    if (wrong == end) return;
    have = static_cast<size_t>(wrong - begin);
    failed_ =
        Error{ErrorKind::kBadRequest,
              fmt::format("{}, element {}: a bool is {}, which is neither 0 nor 1", input_.name(),
                          elements_ + have / element_.bytes(), std::to_integer<int>(*wrong)),
              {}};
  }

  std::optional<Error> failed_;
  size_t elements_ = 0;  // that were given
};

class RawSource : public SourceBase {
 public:
  using SourceBase::SourceBase;

 private:
  Status fill(std::span<std::byte> out, size_t& have) override {
    const Status read = input_.read_fully(out, have);
    total_ += have;
    return read;
  }

  Error torn(size_t bytes) const override {
    return {ErrorKind::kBadRequest,
            fmt::format("{} ends inside an element: {} bytes are no whole number of {} elements of "
                        "{} bytes ({} too many)",
                        input_.name(), total_, element_text(), element_.bytes(), bytes),
            {}};
  }

  size_t total_ = 0;  // bytes that were read
};

/// Values with white space between them.
class TextSource : public SourceBase {
 public:
  TextSource(Element element, FdInput& input)
      : SourceBase(std::move(element), input), buffer_(kTextChunk) {}

 private:
  Status fill(std::span<std::byte> out, size_t& have) override {
    const auto size = static_cast<size_t>(prim_size(element_.type));
    while (have < out.size()) {
      KENAZ_ASSIGN(const bool any, next_token());
      if (!any) break;
      auto value = data::parse_scalar(token_, element_.type);
      if (!value) {
        return bad_request(
            fmt::format("{}, line {}: {}", input_.name(), line_, value.error().message));
      }
      std::memcpy(out.data() + have, &value->bits, size);  // the low bytes come first
      have += size;
    }
    return {};
  }

  Error torn(size_t bytes) const override {
    return {ErrorKind::kBadRequest,
            fmt::format("{} ends inside an element: of the {} values of the last {} there are {}",
                        input_.name(), element_.values(), element_text(),
                        bytes / static_cast<size_t>(prim_size(element_.type))),
            {}};
  }

  /// The next word, in token_; false at the end. line_ is where it stands.
  Result<bool> next_token() {
    const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    token_.clear();
    for (;;) {
      if (begin_ == end_) {
        KENAZ_ASSIGN(end_, input_.read_some(std::as_writable_bytes(std::span(buffer_))));
        begin_ = 0;
        if (end_ == 0) return !token_.empty();
      }
      const char c = buffer_[begin_];
      if (is_space(c)) {
        if (!token_.empty()) return true;  // the space is looked at once more, by the next call
        if (c == '\n') ++line_;
      } else if (token_.size() == data::kLongestToken) {
        return bad_request(fmt::format("{}, line {}: a word of more than {} characters is no value",
                                       input_.name(), line_, data::kLongestToken));
      } else {
        token_ += c;
      }
      ++begin_;
    }
  }

  std::vector<char> buffer_;  // unread from begin_ to end_
  size_t begin_ = 0, end_ = 0;
  std::string token_;
  int64_t line_ = 1;
};

/// Any number of arrays, one after the other, whose elements make one sequence.
class BinarySource : public SourceBase {
 public:
  using SourceBase::SourceBase;

 private:
  Status fill(std::span<std::byte> out, size_t& have) override {
    while (have < out.size()) {
      if (left_ == 0) {
        KENAZ_ASSIGN(const bool more, next_array());
        if (!more) break;
        continue;  // it may be empty
      }
      const auto wanted = std::min<uint64_t>(left_, out.size() - have);
      size_t got = 0;
      const Status read = input_.read_fully(out.subspan(have, wanted), got);
      have += got;
      left_ -= got;
      KENAZ_TRY(read);
      if (got < wanted) {
        return bad_request(fmt::format("{}: array {} lacks {} bytes of its elements", input_.name(),
                                       arrays_, left_));
      }
    }
    return {};
  }

  // An array ends with a whole element, or with a failure that says more.
  Error torn(size_t) const override { return {ErrorKind::kInternal, "a torn element", {}}; }

  Result<bool> next_array() {
    std::vector<std::byte> bytes(data::kBinaryHeaderMin);
    size_t have = 0;
    KENAZ_TRY(input_.read_fully(bytes, have));
    if (have == 0) return false;
    ++arrays_;
    // Only what begins like a header says how long it is.
    const bool begins_well = have == bytes.size() && bytes[0] == std::byte{'b'};
    if (begins_well) {
      bytes.resize(data::binary_header_bytes(bytes));
      size_t rest = 0;
      KENAZ_TRY(input_.read_fully(std::span(bytes).subspan(data::kBinaryHeaderMin), rest));
      have += rest;
    }
    data::ByteSource source(std::string_view(reinterpret_cast<const char*>(bytes.data()), have));
    const auto header = data::read_binary_header(source);
    if (!header) return wrong(header.error().message);
    return begin(*header);
  }

  Result<bool> begin(const data::BinaryHeader& header) {
    const auto& shape = header.shape;
    if (header.type != element_.type || shape.size() != element_.row.size() + 1) {
      const std::string expected(
          data::Value{element_.type, client::Shape(element_.row.size() + 1), {}}.type_name());
      return wrong(fmt::format("a value of type {}, where the first stage takes {}",
                               data::Value{header.type, shape, {}}.type_name(), expected));
    }
    if (!std::equal(element_.row.begin(), element_.row.end(), shape.begin() + 1)) {
      return wrong(fmt::format("elements of shape {}, where {} is expected",
                               data::shape_text(std::span(shape).subspan(1)),
                               data::shape_text(element_.row)));
    }
    const auto bytes = data::checked_bytes(header.type, shape);
    if (!bytes) return wrong(bytes.error().message);
    left_ = static_cast<uint64_t>(*bytes);
    return true;
  }

  tl::unexpected<Error> wrong(const std::string& what) const {
    return bad_request(fmt::format("{}, array {}: {}", input_.name(), arrays_, what));
  }

  int64_t arrays_ = 0;  // begun
  uint64_t left_ = 0;   // bytes of the one at hand
};

}  // namespace

std::unique_ptr<client::ElementSource> make_source(Format format, const Element& element,
                                                   FdInput& input) {
  switch (format) {
    case Format::kRaw: return std::make_unique<RawSource>(element, input);
    case Format::kText: return std::make_unique<TextSource>(element, input);
    case Format::kBinary: break;
  }
  return std::make_unique<BinarySource>(element, input);
}

}  // namespace kenaz::stream
