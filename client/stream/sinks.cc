// Elements in their three forms, written.
#include <cstring>
#include <string>

#include "client/stream/formats.h"
#include "protocol/data/binary_format.h"
#include "protocol/data/text_format.h"

namespace kenaz::stream {
namespace {

constexpr size_t kTextPiece = size_t{64} << 10;

std::string_view bytes_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class RawSink : public Sink {
 public:
  explicit RawSink(Output output) : output_(std::move(output)) {}

  Status write(std::span<const std::byte> elements, const client::Shape&) override {
    KENAZ_TRY(output_.write(bytes_text(elements)));
    return output_.flush();
  }
  Status finish() override { return {}; }

 private:
  const Output output_;
};

/// A line per element: its values without the suffixes that say their type.
class TextSink : public Sink {
 public:
  TextSink(PrimType type, Output output) : type_(type), output_(std::move(output)) {}

  Status write(std::span<const std::byte> elements, const client::Shape& shape) override {
    const auto size = static_cast<size_t>(prim_size(type_));
    int64_t row = 1;
    for (size_t i = 1; i < shape.size(); ++i) row *= shape[i];
    std::string text;
    int64_t column = 0;
    for (size_t at = 0; at < elements.size(); at += size) {
      PrimValue value{type_, 0};
      std::memcpy(&value.bits, elements.data() + at, size);
      append_scalar(value, text);
      column = (column + 1) % row;
      text += column == 0 ? '\n' : ' ';
      if (text.size() < kTextPiece) continue;
      KENAZ_TRY(output_.write(text));
      text.clear();
    }
    KENAZ_TRY(output_.write(text));
    return output_.flush();
  }
  Status finish() override { return {}; }

 private:
  /// What is no number, such as f32.nan, needs its type to be read again.
  void append_scalar(PrimValue value, std::string& text) const {
    std::string scalar = data::scalar_text(value);
    const auto suffix = prim_name(type_);
    if (type_ != PrimType::kBool && scalar.ends_with(suffix)) {
      scalar.resize(scalar.size() - suffix.size());
    }
    text += scalar;
  }

  const PrimType type_;
  const Output output_;
};

/// An array per chunk that has elements; if there are none at all, one that is empty.
class BinarySink : public Sink {
 public:
  BinarySink(PrimType type, size_t rank, Output output)
      : type_(type), rank_(rank), output_(std::move(output)) {}

  Status write(std::span<const std::byte> elements, const client::Shape& shape) override {
    if (elements.empty()) return {};
    any_ = true;
    KENAZ_TRY(output_.write(data::binary_header(type_, shape)));
    KENAZ_TRY(output_.write(bytes_text(elements)));
    return output_.flush();
  }
  Status finish() override {
    if (any_) return {};
    KENAZ_TRY(output_.write(data::binary_header(type_, client::Shape(rank_ + 1))));
    return output_.flush();
  }

 private:
  const PrimType type_;
  const size_t rank_;
  const Output output_;
  bool any_ = false;
};

}  // namespace

std::unique_ptr<Sink> make_sink(Format format, PrimType type, size_t rank, Output output) {
  switch (format) {
    case Format::kRaw: return std::make_unique<RawSink>(std::move(output));
    case Format::kText: return std::make_unique<TextSink>(type, std::move(output));
    case Format::kBinary: break;
  }
  return std::make_unique<BinarySink>(type, rank, std::move(output));
}

}  // namespace kenaz::stream
