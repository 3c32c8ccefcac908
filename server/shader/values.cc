#include "server/shader/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <span>

#include "protocol/base/whole_number.h"

namespace kenaz::shader {
namespace {

std::optional<PrimType> type_named(std::string_view name) {
  const auto type = prim_from_name(name);
  return type == PrimType::kBool ? std::nullopt : type;
}

Result<PrimType> type_of(std::string_view name) {
  if (const auto type = type_named(name)) return *type;
  return bad_request(fmt::format("{} is no type: i8 to i64, u8 to u64, f16, f32, f64", name));
}

void append(std::vector<std::byte>& to, uint64_t bits, size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&bits);
  to.insert(to.end(), bytes, bytes + size);
}

/// `number` gives the bits of element k.
template <class F>
Result<Bytes> repeated(std::string_view type_name, std::string_view count_text, F&& number) {
  KENAZ_ASSIGN(const PrimType type, type_of(type_name));
  const auto size = static_cast<size_t>(prim_size(type));
  KENAZ_ASSIGN(const uint64_t count, count_of(count_text, kMostBytes / size));
  Bytes out{{}, size};
  out.data.reserve(count * size);
  for (uint64_t k = 0; k < count; ++k) append(out.data, number(type, k), size);
  return out;
}

Result<Bytes> random_of(const std::vector<std::string_view>& parts) {
  uint64_t seed = 1;
  if (parts.size() == 4) {
    KENAZ_ASSIGN(seed, count_of(parts[3], UINT64_MAX));
  }
  std::mt19937_64 random(seed);
  return repeated(parts[1], parts[2], [&](PrimType type, uint64_t) {
    const uint64_t bits = random();
    if (!is_float(type)) return bits;
    return PrimValue::of_float(type, std::ldexp(static_cast<double>(bits >> 11), -53)).bits;
  });
}

Result<Bytes> listed(PrimType type, std::string_view values, const Addresses& addresses) {
  const auto size = static_cast<size_t>(prim_size(type));
  Bytes out{{}, size};
  for (const std::string_view v : pieces(values, ',')) {
    KENAZ_ASSIGN(const uint64_t bits, bits_of(v, type, addresses));
    append(out.data, bits, size);
  }
  return out;
}

Result<Bytes> of_file(std::string_view path) {
  std::ifstream file{std::string(path), std::ios::binary};
  std::vector<char> data;
  if (file) data.assign(std::istreambuf_iterator<char>(file), {});
  if (!file || file.bad()) return bad_request(fmt::format("{} cannot be read", path));
  Bytes out;
  const auto bytes = std::as_bytes(std::span(data));
  out.data.assign(bytes.begin(), bytes.end());
  return out;
}

}  // namespace

std::vector<std::string_view> pieces(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    const size_t end = text.find(separator);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

Result<uint64_t> count_of(std::string_view text, uint64_t most) {
  const auto n = whole_number<uint64_t>(text);
  if (n && *n <= most) return *n;
  return bad_request(fmt::format("{} is no number from 0 to {}", text, most));
}

Result<uint64_t> bits_of(std::string_view text, PrimType type, const Addresses& addresses) {
  if (text.starts_with('&')) {
    const auto found = addresses.find(text.substr(1));
    if (found == addresses.end()) return bad_request(fmt::format("there is no buffer {}", text));
    if (type != PrimType::kU64) return bad_request(fmt::format("{} is a u64", text));
    return found->second;
  }
  const std::string all(text);
  if (is_float(type)) {
    char* end = nullptr;
    const double x = std::strtod(all.c_str(), &end);
    if (all.empty() || end != all.c_str() + all.size()) {
      return bad_request(fmt::format("{} is no number", text));
    }
    return PrimValue::of_float(type, x).bits;
  }
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  const auto n = whole_number<uint64_t>(text, base);
  const int bits = 8 * prim_size(type);
  // Of a signed type its bits may be given, too: 0xffffffff.
  const uint64_t most = negative ? uint64_t{1} << (bits - 1) : UINT64_MAX >> (64 - bits);
  const bool has_sign = is_integer(type) && prim_name(type)[0] == 'i';
  if (!n || *n > most || (negative && !has_sign)) {
    return bad_request(fmt::format("{} is no {}", all, prim_name(type)));
  }
  return (negative ? 0 - *n : *n) & UINT64_MAX >> (64 - bits);
}

Result<Bytes> bytes_of(std::string_view text, const Addresses& addresses) {
  const auto parts = pieces(text, ':');
  const std::string_view first = parts[0];
  if (parts.size() == 2 && (first == "zeros" || first == "undefined")) {
    KENAZ_ASSIGN(const uint64_t count, count_of(parts[1], kMostBytes));
    return Bytes{std::vector<std::byte>(count), 1, first == "zeros"};
  }
  if (parts.size() == 3 && first == "iota") {
    return repeated(parts[1], parts[2], [](PrimType type, uint64_t k) {
      return is_float(type) ? PrimValue::of_float(type, static_cast<double>(k)).bits : k;
    });
  }
  if ((parts.size() == 3 || parts.size() == 4) && first == "random") return random_of(parts);
  if (first == "file" && parts.size() > 1) return of_file(text.substr(first.size() + 1));
  const auto type = type_named(first);
  if (parts.size() == 2 && type) return listed(*type, parts[1], addresses);
  return of_file(text);
}

}  // namespace kenaz::shader
