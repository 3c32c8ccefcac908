#include "server/shader/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "server/shader/values.h"

namespace kenaz::shader {
namespace {

Result<Target> target_of(std::string_view text) {
  Target out;
  const auto is_name_char = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (text.empty() || !std::all_of(text.begin(), text.end(), [&](char c) {
        return is_name_char(static_cast<unsigned char>(c)) || c == ',';
      })) {
    return bad_request(fmt::format("{} is no buffer: SET,BINDING or its name", text));
  }
  if (std::isdigit(static_cast<unsigned char>(text[0])) == 0) {
    out.name = text;
    return out;
  }
  const auto parts = pieces(text, ',');
  if (parts.size() > 2) return bad_request(fmt::format("{} is no SET,BINDING", text));
  if (parts.size() == 2) {
    KENAZ_ASSIGN(const uint64_t set, count_of(parts[0], UINT32_MAX));
    out.set = static_cast<uint32_t>(set);
  }
  KENAZ_ASSIGN(const uint64_t binding, count_of(parts.back(), UINT32_MAX));
  out.binding = static_cast<uint32_t>(binding);
  return out;
}

PrimType guessed_type(std::string_view value) {
  return value.find('.') == std::string_view::npos ? PrimType::kI64 : PrimType::kF32;
}

}  // namespace

std::string text_of(const Target& target) {
  return target.name.empty() ? fmt::format("{},{}", target.set, target.binding) : target.name;
}

Result<Assigned> assigned(std::string_view text, std::string_view option) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return bad_request(fmt::format("{} {}: there is no = in it", option, text));
  }
  auto target = target_of(text.substr(0, equals));
  if (!target) return bad_request(fmt::format("{} {}: {}", option, text, target.error().message));
  return Assigned{std::move(*target), text.substr(equals + 1)};
}

Result<std::vector<uint32_t>> dispatch_of(std::string_view text) {
  constexpr uint64_t kMost = uint64_t{1} << 32;
  std::vector<uint32_t> out;
  uint64_t all = 1;
  for (const std::string_view part : pieces(text, ',')) {
    const auto n = count_of(part, UINT32_MAX);
    if (!n) return bad_request(fmt::format("--dispatch {}: {}", text, n.error().message));
    out.push_back(static_cast<uint32_t>(*n));
    if (*n != 0 && all > kMost / *n) {
      return bad_request(fmt::format("--dispatch {}: more than {} workgroups", text, kMost));
    }
    all *= *n;
  }
  if (out.size() > 3) return bad_request(fmt::format("--dispatch {}: more than X,Y,Z", text));
  out.resize(3, 1);
  return out;
}

Result<std::map<uint32_t, uint64_t>> specialised(
    const std::vector<std::string>& spec,
    const std::map<uint32_t, spirv::ReadKernel::SpecConstant>& known) {
  std::map<uint32_t, uint64_t> out;
  for (const std::string& text : spec) {
    const size_t equals = text.find('=');
    const auto number = count_of(std::string_view(text).substr(0, equals), UINT32_MAX);
    if (equals == std::string::npos || !number) {
      return bad_request(fmt::format("--spec {}: it is no ID=VALUE", text));
    }
    const auto id = static_cast<uint32_t>(*number);
    const std::string_view value = std::string_view(text).substr(equals + 1);
    if (value == "true" || value == "false") {
      out[id] = value == "true" ? 1 : 0;
      continue;
    }
    const auto it = known.find(id);
    PrimType type = it == known.end() ? guessed_type(value) : it->second.type;
    if (type == PrimType::kBool) type = PrimType::kU8;
    const auto bits = bits_of(value, type);
    if (!bits) return bad_request(fmt::format("--spec {}: {}", text, bits.error().message));
    out[id] = *bits;
  }
  return out;
}

}  // namespace kenaz::shader
