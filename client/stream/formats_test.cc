#include "client/stream/formats.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "protocol/data/binary_format.h"

namespace kenaz::stream {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A pipe that has been filled and, unless it stays open, closed.
class Pipe {
 public:
  explicit Pipe(const std::string& content, bool open = false) {
    EXPECT_EQ(::pipe(ends_), 0);
    EXPECT_EQ(::write(ends_[1], content.data(), content.size()),
              static_cast<ssize_t>(content.size()));
    if (!open) close_end(1);
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int out() const { return ends_[0]; }

 private:
  void close_end(int k) {
    if (ends_[k] >= 0) ::close(ends_[k]);
    ends_[k] = -1;
  }
  int ends_[2] = {-1, -1};
};

struct Read {
  std::vector<std::byte> bytes;
  std::string error;  // "": it ended
  std::vector<int16_t> i16() const {
    std::vector<int16_t> xs(bytes.size() / sizeof(int16_t));
    if (!xs.empty()) std::memcpy(xs.data(), bytes.data(), bytes.size());
    return xs;
  }
};

/// All elements of a file descriptor, so many at a time.
Read read_fd(Format format, const Element& element, int fd, size_t at_a_time) {
  FdInput input(fd, "the input");
  const auto source = make_source(format, element, input);
  Read all;
  std::vector<std::byte> some(at_a_time * element.bytes());
  for (;;) {
    const auto n = source->read(some);
    if (!n) {
      all.error = n.error().message;
      EXPECT_EQ(source->read(some).error().message, all.error);  // and so it stays
      return all;
    }
    all.bytes.insert(all.bytes.end(), some.begin(), some.begin() + static_cast<ptrdiff_t>(*n));
    if (*n < some.size()) {
      const auto end = source->read(some);
      if (!end) all.error = end.error().message;
      EXPECT_EQ(end.value_or(0), 0u);
      return all;
    }
  }
}

Read read_all(Format format, const Element& element, const std::string& content,
              size_t at_a_time = 2) {
  const Pipe pipe(content);
  return read_fd(format, element, pipe.out(), at_a_time);
}

/// All elements of a connection whose other end sends `content`, and then resets it.
Read read_reset(Format format, const Element& element, const std::string& content,
                size_t at_a_time) {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  EXPECT_EQ(::write(ends[0], "x", 1), 1);  // which the other end leaves unread
  EXPECT_EQ(::write(ends[1], content.data(), content.size()), static_cast<ssize_t>(content.size()));
  ::close(ends[1]);
  const Read read = read_fd(format, element, ends[0], at_a_time);
  ::close(ends[0]);
  return read;
}

const Element kI16{PrimType::kI16, {}};
const Element kPairs{PrimType::kI16, {2}};

std::string array(PrimType type, const client::Shape& shape, const std::string& elements) {
  return data::binary_header(type, shape) + elements;
}

TEST(StreamFormats, RawElements) {
  EXPECT_TRUE(read_all(Format::kRaw, kI16, "").bytes.empty());
  const Read read = read_all(Format::kRaw, kI16, std::string("\1\0\2\0\3\0", 6));
  EXPECT_THAT(read.i16(), ElementsAre(1, 2, 3));
  EXPECT_EQ(read.error, "");
}

TEST(StreamFormats, RawBytesThatAreNoElement) {
  const Read read = read_all(Format::kRaw, kI16, std::string("\1\0\2\0\3", 5));
  EXPECT_THAT(read.i16(), ElementsAre(1, 2));
  EXPECT_EQ(read.error,
            "the input ends inside an element: 5 bytes are no whole number of i16 elements of 2 "
            "bytes (1 too many)");
  const Read pairs = read_all(Format::kRaw, kPairs, std::string("\1\0\2\0\3\0", 6));
  EXPECT_THAT(pairs.i16(), ElementsAre(1, 2));
  EXPECT_THAT(pairs.error, HasSubstr("6 bytes are no whole number of [2]i16 elements of 4 bytes"));
}

TEST(StreamFormats, Text) {
  for (const size_t at_a_time : {1u, 2u, 3u, 100u}) {
    const Read read = read_all(Format::kText, kI16, "1\n-2i16\n\n 0x10 4\r\n5", at_a_time);
    EXPECT_THAT(read.i16(), ElementsAre(1, -2, 16, 4, 5));
    EXPECT_EQ(read.error, "");
  }
}

TEST(StreamFormats, TextThatIsNoElement) {
  const Read word = read_all(Format::kText, kI16, "1\n2\nfoo 3\n");
  EXPECT_THAT(word.i16(), ElementsAre(1, 2));
  EXPECT_EQ(word.error, "the input, line 3: \"foo\" is not a value");
  const Read large = read_all(Format::kText, kI16, "1 2 3\n70000\n");
  EXPECT_THAT(large.i16(), ElementsAre(1, 2, 3));
  EXPECT_EQ(large.error, "the input, line 2: 70000 does not fit in i16");
  const Read torn = read_all(Format::kText, kPairs, "1 2\n3\n");
  EXPECT_THAT(torn.i16(), ElementsAre(1, 2));
  EXPECT_EQ(torn.error,
            "the input ends inside an element: of the 2 values of the last [2]i16 there are 1");
  EXPECT_THAT(read_all(Format::kText, kI16, std::string(5000, '1')).error,
              HasSubstr("line 1: a word of more than 4096 characters is no value"));
}

TEST(StreamFormats, BinaryArraysMakeOneSequence) {
  const std::string content = array(PrimType::kI16, {1}, std::string("\1\0", 2)) +
                              array(PrimType::kI16, {0}, "") +
                              array(PrimType::kI16, {3}, std::string("\2\0\3\0\4\0", 6));
  for (const size_t at_a_time : {1u, 2u, 4u, 5u}) {
    const Read read = read_all(Format::kBinary, kI16, content, at_a_time);
    EXPECT_THAT(read.i16(), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(read.error, "");
  }
  EXPECT_EQ(read_all(Format::kBinary, kI16, "").error, "");
  EXPECT_THAT(
      read_all(Format::kBinary, kPairs, array(PrimType::kI16, {1, 2}, std::string("\1\0\2\0", 4)))
          .i16(),
      ElementsAre(1, 2));
}

TEST(StreamFormats, BinaryDataThatIsNoElement) {
  const std::string good = array(PrimType::kI16, {1}, std::string("\1\0", 2));
  const auto error = [&](const std::string& rest, const Element& element = kI16) {
    const Read read = read_all(Format::kBinary, element, good + rest);
    EXPECT_EQ(read.i16().size(), element.row.empty() ? 1u : 0u);
    return read.error;
  };
  EXPECT_EQ(error("hello, world"), "the input, array 2: a binary value starts with 'b'");
  EXPECT_EQ(error("b"), "the input, array 2: the binary data ends inside a value's header");
  EXPECT_EQ(error(good.substr(0, 10)),
            "the input, array 2: the binary data ends inside a value's dimensions");
  EXPECT_EQ(error(array(PrimType::kF32, {1}, "1234")),
            "the input, array 2: a value of type []f32, where the first stage takes []i16");
  EXPECT_EQ(error(array(PrimType::kI16, {}, "12")),
            "the input, array 2: a value of type i16, where the first stage takes []i16");
  EXPECT_THAT(error(array(PrimType::kI16, {INT64_MAX}, "12")), HasSubstr("array 2: "));
  EXPECT_EQ(error("", kPairs),
            "the input, array 1: a value of type []i16, where the first stage takes [][]i16");
  const Read torn =
      read_all(Format::kBinary, kI16, array(PrimType::kI16, {4}, std::string("\1\0\2\0\3", 5)));
  EXPECT_THAT(torn.i16(), ElementsAre(1, 2));
  EXPECT_EQ(torn.error, "the input: array 1 lacks 3 bytes of its elements");
  EXPECT_EQ(read_all(Format::kBinary, kPairs, array(PrimType::kI16, {1, 3}, "123456")).error,
            "the input, array 1: elements of shape [3], where [2] is expected");
}

TEST(StreamFormats, BytesThatAreNoBool) {
  const Element kBools{PrimType::kBool, {}}, kRows{PrimType::kBool, {2}};
  const std::string bytes("\1\0\1\7\1", 5);
  const std::string binary = array(PrimType::kBool, {2}, bytes.substr(0, 2)) +
                             array(PrimType::kBool, {3}, bytes.substr(2));
  for (const size_t at_a_time : {1U, 2U, 3U, 10U}) {
    const Read raw = read_all(Format::kRaw, kBools, bytes, at_a_time);
    EXPECT_THAT(raw.bytes, ElementsAre(std::byte{1}, std::byte{0}, std::byte{1}));
    EXPECT_EQ(raw.error, "the input, element 3: a bool is 7, which is neither 0 nor 1");
    const Read arrays = read_all(Format::kBinary, kBools, binary, at_a_time);
    EXPECT_EQ(arrays.bytes, raw.bytes);
    EXPECT_EQ(arrays.error, raw.error);
    const Read rows = read_all(Format::kRaw, kRows, bytes, at_a_time);
    EXPECT_THAT(rows.bytes, ElementsAre(std::byte{1}, std::byte{0}));
    EXPECT_EQ(rows.error, "the input, element 1: a bool is 7, which is neither 0 nor 1");
  }
  EXPECT_EQ(read_all(Format::kRaw, kBools, bytes.substr(0, 3), 2).error, "");
}

TEST(StreamFormats, ElementsBeforeAReadThatFails) {
  const std::string elements("\1\0\2\0\3\0", 6);
  const std::pair<Format, std::string> inputs[] = {
      {Format::kRaw, elements},
      {Format::kText, "1 2 3 "},
      {Format::kBinary, array(PrimType::kI16, {9}, elements)}};
  for (const auto& [format, content] : inputs) {
    for (const size_t at_a_time : {1u, 2u, 3u, 100u}) {
      const Read read = read_reset(format, kI16, content, at_a_time);
      EXPECT_THAT(read.i16(), ElementsAre(1, 2, 3));
      EXPECT_EQ(read.error, "cannot read the input: Connection reset by peer");
    }
  }
  const Read torn = read_reset(Format::kRaw, kPairs, elements, 100);
  EXPECT_THAT(torn.i16(), ElementsAre(1, 2));
  EXPECT_EQ(torn.error, "cannot read the input: Connection reset by peer");
}

TEST(StreamFormats, AReaderThatWaitsCanBeStopped) {
  for (const Format format : {Format::kRaw, Format::kText, Format::kBinary}) {
    const Pipe pipe("", true);
    FdInput input(pipe.out(), "the input");
    const auto source = make_source(format, kI16, input);
    std::thread reader([&] {
      std::vector<std::byte> some(4);
      const auto n = source->read(some);
      ASSERT_TRUE(n);
      EXPECT_EQ(*n, 0u);
    });
    source->stop();
    reader.join();
  }
}

/// What a sink writes of two chunks.
std::string written(Format format, PrimType type, const std::vector<client::Shape>& shapes,
                    const std::string& elements) {
  std::string text;
  int flushed = 0;
  const auto sink = make_sink(format, type, shapes.at(0).size() - 1,
                              {[&](std::string_view piece) -> Status {
                                 text += piece;
                                 return {};
                               },
                               [&]() -> Status {
                                 ++flushed;
                                 return {};
                               }});
  size_t at = 0;
  for (const auto& shape : shapes) {
    const auto n = static_cast<size_t>(data::checked_bytes(type, shape).value());
    EXPECT_TRUE(sink->write(std::as_bytes(std::span(elements).subspan(at, n)), shape));
    at += n;
  }
  EXPECT_TRUE(sink->finish());
  EXPECT_GT(flushed, 0);
  return text;
}

TEST(StreamFormats, WhatSinksWrite) {
  const std::string two("\1\0\xff\xff", 4);
  EXPECT_EQ(written(Format::kRaw, PrimType::kI16, {{1}, {0}, {1}}, two), two);
  EXPECT_EQ(written(Format::kText, PrimType::kI16, {{1}, {1}}, two), "1\n-1\n");
  EXPECT_EQ(written(Format::kText, PrimType::kI16, {{1, 2}}, two), "1 -1\n");
  EXPECT_EQ(written(Format::kText, PrimType::kBool, {{2}}, std::string("\1\0", 2)),
            "true\nfalse\n");
  EXPECT_EQ(written(Format::kBinary, PrimType::kI16, {{0}, {2}, {0}}, two),
            array(PrimType::kI16, {2}, two));
  EXPECT_EQ(written(Format::kBinary, PrimType::kI16, {{0, 3}}, ""),
            array(PrimType::kI16, {0, 0}, ""));
}

TEST(StreamFormats, TextOfFloats) {
  const float xs[] = {1.5f, 1e30f, -INFINITY, NAN};
  const std::string bytes(reinterpret_cast<const char*>(xs), sizeof xs);
  EXPECT_EQ(written(Format::kText, PrimType::kF32, {{4}}, bytes),
            "1.5\n1.00000002e+30\n-f32.inf\nf32.nan\n");
}

}  // namespace
}  // namespace kenaz::stream
