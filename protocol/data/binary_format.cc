#include "protocol/data/binary_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace kenaz::data {
namespace {

constexpr int kVersion = 2;
constexpr int64_t kMaxFromPipe = int64_t{4} << 30;
constexpr size_t kPipeChunk = size_t{1} << 20;

tl::unexpected<Error> short_data(const ByteSource& source, const std::string& what) {
  if (source.error()) return bad_request("reading failed: " + *source.error());
  return bad_request("the binary data ends inside " + what);
}

}  // namespace

size_t binary_header_bytes(std::span<const std::byte> fixed) {
  constexpr size_t kRankAt = 2;
  return kBinaryHeaderMin + 8 * std::to_integer<size_t>(fixed[kRankAt]);
}

Result<BinaryHeader> read_binary_header(ByteSource& source) {
  unsigned char fixed[kBinaryHeaderMin];
  if (source.read(std::as_writable_bytes(std::span(fixed))) != sizeof fixed) {
    return short_data(source, "a value's header");
  }
  if (fixed[0] != 'b') return bad_request("a binary value starts with 'b'");
  if (fixed[1] != kVersion) {
    return bad_request(
        fmt::format("binary format version {}; only version {} is known", fixed[1], kVersion));
  }
  const int rank = fixed[2];
  if (rank > static_cast<int>(kMaxRank)) {
    return bad_request(
        fmt::format("a binary value of {} dimensions; at most {} are allowed", rank, kMaxRank));
  }
  std::string_view name(reinterpret_cast<const char*>(fixed) + 3, 4);
  while (name.starts_with(' ')) name.remove_prefix(1);
  const auto type = prim_from_name(name);
  if (!type) return bad_request("unknown element type in a binary value's header");
  BinaryHeader header{*type, {}};
  for (int i = 0; i < rank; ++i) {
    uint64_t d = 0;
    if (source.read(std::as_writable_bytes(std::span(&d, 1))) != sizeof d) {
      return short_data(source, "a value's dimensions");
    }
    if (d > static_cast<uint64_t>(INT64_MAX)) {
      return bad_request(fmt::format("dimension {} of a binary value is too large", d));
    }
    header.shape.push_back(static_cast<int64_t>(d));
  }
  return header;
}

namespace {

/// Reads from a source of unknown length: memory grows only with the bytes that have arrived.
Status read_unknown_length(ByteSource& source, int64_t bytes, std::vector<std::byte>& out) {
  if (bytes > kMaxFromPipe) {
    return bad_request(
        fmt::format("a value of {} bytes from a pipe; at most {} are accepted (use a file)", bytes,
                    kMaxFromPipe));
  }
  while (static_cast<int64_t>(out.size()) < bytes) {
    const size_t before = out.size();
    const size_t step = std::min(static_cast<size_t>(bytes) - before, std::max(kPipeChunk, before));
    out.resize(before + step);
    if (source.read(std::span(out).subspan(before)) != step) {
      return short_data(source, "a value's elements");
    }
  }
  return {};
}

Status read_elements(ByteSource& source, int64_t bytes, std::vector<std::byte>& out) {
  const auto left = source.remaining();
  if (!left) return read_unknown_length(source, bytes, out);
  if (bytes > *left) {
    return bad_request(fmt::format(
        "the binary data ends inside a value's elements: the header promises {} bytes, {} are left",
        bytes, *left));
  }
  out.resize(static_cast<size_t>(bytes));
  if (source.read(out) != out.size()) return short_data(source, "a value's elements");
  return {};
}

}  // namespace

std::string binary_header(PrimType type, std::span<const int64_t> shape) {
  std::string out{'b', static_cast<char>(kVersion), static_cast<char>(shape.size())};
  out += fmt::format("{:>4}", prim_name(type));
  for (int64_t d : shape) out.append(reinterpret_cast<const char*>(&d), sizeof d);
  return out;
}

void append_binary(const Value& value, std::string& out) {
  out += binary_header(value.type, value.shape);
  out.append(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
}

Status write_binary(std::FILE* file, const Value& value) {
  const std::string header = binary_header(value.type, value.shape);
  errno = 0;
  if (std::fwrite(header.data(), 1, header.size(), file) != header.size() ||
      (!value.bytes.empty() &&
       std::fwrite(value.bytes.data(), 1, value.bytes.size(), file) != value.bytes.size())) {
    return bad_request(std::strerror(errno));
  }
  return {};
}

Result<Value> read_binary(ByteSource& source) {
  KENAZ_ASSIGN(BinaryHeader header, read_binary_header(source));
  KENAZ_ASSIGN(const int64_t bytes, checked_bytes(header.type, header.shape));
  Value value{header.type, std::move(header.shape), {}};
  try {
    KENAZ_TRY(read_elements(source, bytes, value.bytes));
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::kOutOfMemory, fmt::format("no memory for a value of {} bytes", bytes));
  }
  if (value.type == PrimType::kBool) {
    const auto bad = std::find_if(value.bytes.begin(), value.bytes.end(),
                                  [](std::byte b) { return std::to_integer<int>(b) > 1; });
    if (bad != value.bytes.end()) {
      return bad_request(fmt::format("a bool in binary data is {}, which is neither 0 nor 1",
                                     std::to_integer<int>(*bad)));
    }
  }
  return value;
}

}  // namespace kenaz::data
