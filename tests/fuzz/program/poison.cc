#include "tests/fuzz/program/poison.h"

#include <algorithm>
#include <vector>

namespace kenaz::fuzz {
namespace {
constexpr int64_t kPiece = 32768, kMost = 16 * kPiece;
}

Result<device::BlockPtr> PoisonedDevice::poisoned(Result<device::BlockPtr> block, int64_t bytes) {
  if (!block || !poison_) return block;
  // In order with what is recorded, since the block may have been somebody else's until now.
  KENAZ_TRY(device_->barrier());
  // As floats these are 2.125, 3.0 and 32.5, which spread; NaNs and tiny numbers would not.
  static const std::vector<std::byte> rubbish(kPiece, std::byte{0x40});
  for (int64_t at = 0; at < std::min(bytes, kMost); at += kPiece) {
    const auto n = static_cast<size_t>(std::min(kPiece, bytes - at));
    KENAZ_TRY(device_->write(*block, at, std::span(rubbish).first(n)));
  }
  KENAZ_TRY(device_->barrier());
  return block;
}

}  // namespace kenaz::fuzz
