#include "server/device/vulkan/teller.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "shaders/tell.h"

namespace kenaz::device::vulkan {

namespace {

// Of two words that were zero before a scalar's bits and these combined with the mark are stored
// there, each byte is right where the two differ as the mark does: as no byte of the mark is zero,
// one has come at least, and if the other has not, it is zero because the scalar's is.
constexpr uint64_t kMark = 0xa5a5a5a5a5a5a5a5;

// As tell.comp has it.
struct Push {
  uint64_t told = 0;
  uint32_t count = 0, wide = 0;
  std::array<uint64_t, Teller::kMost> from{};
};

}  // namespace

bool Teller::can_tell(std::span<const Scalar> scalars) {
  return scalars.size() <= kMost && std::ranges::all_of(scalars, [](const Scalar& s) {
           const size_t n = s.to.size();
           return (n == 1 || n == 2 || n == 4 || n == 8) && s.address % n == 0;
         });
}

bool Teller::prepare() {
  if (prepared_) return kernel_ != nullptr;
  prepared_ = true;
  auto buffer = Buffer::create(context_, kMost * 2 * sizeof(uint64_t), Placement::kMail);
  if (!buffer) return false;
  KernelSource source;
  source.name = "tell";
  source.spirv = tell_spirv;
  source.push_bytes = sizeof(Push);
  auto kernel = kernels_.make(source);
  if (!kernel) return false;
  buffer_ = std::move(*buffer);
  kernel_ = std::static_pointer_cast<const VulkanKernel>(*kernel);
  return true;
}

std::span<uint64_t> Teller::words(size_t scalars) const {
  return {reinterpret_cast<uint64_t*>(buffer_->mapped), 2 * scalars};
}

Result<bool> Teller::read(std::span<const Scalar> scalars) {
  if (!prepare()) return false;
  if (running_) KENAZ_TRY(commands_.finish());
  const std::span<uint64_t> told = words(scalars.size());
  for (uint64_t& word : told) std::atomic_ref(word).store(0, std::memory_order_relaxed);
  Push push;
  push.told = buffer_->address;
  push.count = static_cast<uint32_t>(scalars.size());
  for (size_t n = 0; n < scalars.size(); ++n) {
    push.from[n] = scalars[n].address;
    if (scalars[n].to.size() == sizeof(uint64_t)) push.wide |= 1u << n;
  }
  running_ = true;
  commands_.barrier();
  KENAZ_TRY(commands_.dispatch(kernel_, {1, 1, 0}, std::as_bytes(std::span(&push, 1)), {}));
  const auto word = [&](size_t n) {
    return std::atomic_ref(told[n]).load(std::memory_order_relaxed);
  };
  size_t come = 0;
  KENAZ_ASSIGN(const bool all, commands_.watch([&] {
    while (come < scalars.size() && (word(2 * come) ^ word(2 * come + 1)) == kMark) ++come;
    return come == scalars.size();
  }));
  running_ = false;
  if (!all) return false;
  for (size_t n = 0; n < scalars.size(); ++n) {
    const uint64_t bits = word(2 * n);
    std::memcpy(scalars[n].to.data(), &bits, scalars[n].to.size());
  }
  return true;
}

}  // namespace kenaz::device::vulkan
