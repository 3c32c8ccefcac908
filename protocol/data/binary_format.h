// The binary form of a value: 'b', version 2, rank, four letters of type, the dimensions as u64,
// the elements; all little endian. An opaque value is stored as its leaves, one after the other.
#pragma once

#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "protocol/data/byte_source.h"
#include "protocol/data/value.h"

namespace kenaz::data {

std::string binary_header(PrimType type, std::span<const int64_t> shape);
void append_binary(const Value& value, std::string& out);
/// The error's message is that of the operating system.
Status write_binary(std::FILE* file, const Value& value);

/// The bytes before the elements.
struct BinaryHeader {
  PrimType type = PrimType::kI32;
  std::vector<int64_t> shape;
};
inline constexpr size_t kBinaryHeaderMin = 7;
/// Returns the length of a header that starts with these kBinaryHeaderMin bytes.
size_t binary_header_bytes(std::span<const std::byte> fixed);
Result<BinaryHeader> read_binary_header(ByteSource& source);

/// Reads one value whose 'b' is the next byte. The size in the header is compared with what is left
/// of the source before memory is allocated; from a pipe, at most 4 GiB are accepted.
Result<Value> read_binary(ByteSource& source);

}  // namespace kenaz::data
