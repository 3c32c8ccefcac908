// Bytes that a user describes: what a buffer of a shader holds, what its push constants are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/prim_type.h"

namespace kenaz::shader {

/// Device addresses by the names that descriptions may use, as &NAME.
using Addresses = std::map<std::string, uint64_t, std::less<>>;

struct Bytes {
  std::vector<std::byte> data;
  size_t align = 1;     // of what it holds: the size of its scalars
  bool defined = true;  // false: memory that nobody has written; `data` has its size
};

/// At most so many bytes.
inline constexpr uint64_t kMostBytes = uint64_t{1} << 32;

/// zeros:BYTES, undefined:BYTES, iota:TYPE:COUNT, random:TYPE:COUNT[:SEED] (floats from 0 to 1,
/// integers with any bits), TYPE:VALUE,.. or a file, perhaps as file:PATH. A TYPE is i8 to i64, u8
/// to u64, f16, f32 or f64; a u64 may be &NAME. Anything else is kBadRequest, and says why.
Result<Bytes> bytes_of(std::string_view text, const Addresses& addresses = {});

/// The bits of one number of the type, or of an address.
Result<uint64_t> bits_of(std::string_view text, PrimType type, const Addresses& addresses = {});

/// A whole number that is written in decimal digits, up to `most`.
Result<uint64_t> count_of(std::string_view text, uint64_t most);

/// The text's pieces between separators; of an empty text one, empty.
std::vector<std::string_view> pieces(std::string_view text, char separator);

}  // namespace kenaz::shader
