#include "kernels/host_code/computed.h"

#include "protocol/base/check.h"

namespace kenaz::host_code {

using program::Operand;
using program::ScalarReg;

std::optional<Computed::Key> Computed::key(ScalarOp op, PrimType type, PrimType to,
                                           std::span<const Operand> args) const {
  Key key{};
  CHECK(1 + 2 * args.size() <= key.size());
  constexpr unsigned kBits = 8;
  key[0] = static_cast<uint64_t>(op) << 2 * kBits | static_cast<uint64_t>(type) << kBits |
           static_cast<uint64_t>(to);
  size_t n = 1;
  for (const Operand& arg : args) {
    if (const auto* reg = std::get_if<ScalarReg>(&arg)) {
      if (variables_.contains(*reg)) return std::nullopt;
      key[n++] = UINT64_MAX;
      key[n++] = reg->index;
    } else {
      const auto& value = std::get<PrimValue>(arg);
      key[n++] = static_cast<uint64_t>(value.type);
      key[n++] = value.bits;
    }
  }
  return key;
}

std::optional<ScalarReg> Computed::find(const Key& key) const {
  const auto found = results_.find(key);
  if (found == results_.end()) return std::nullopt;
  return found->second;
}

void Computed::note(const Key& key, ScalarReg result) {
  if (results_.emplace(key, result).second) noted_.push_back(key);
}

void Computed::end_scope(size_t begin) {
  while (noted_.size() > begin) {
    results_.erase(noted_.back());
    noted_.pop_back();
  }
}

}  // namespace kenaz::host_code
