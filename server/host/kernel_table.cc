#include "server/host/kernel_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace kenaz::host {

namespace {

/// For a kernel whose instructions have no places of their own.
std::span<const std::string> place_of(const program::Kernel& kernel) { return {&kernel.place, 1}; }

Result<device::KernelPtr> make(const program::Kernel& source, KernelVersion version,
                               const KernelCompiler& compiler, device::Device& device) {
  const int most = device.info().max_nesting;
  if (source.nesting > most) {
    return fail(ErrorKind::kProgramFailure,
                fmt::format("Conditions and loops are nested {} deep here; this device's driver "
                            "takes {} in one thread. Run the program on another device, or with "
                            "--reference.\n\nBacktrace:\n{}",
                            source.nesting, most, source.place));
  }
  constexpr int kMaxPushSlots = program::kPushBytes / 8;
  const uint32_t push_bytes =
      source.slots <= kMaxPushSlots ? 8 * static_cast<uint32_t>(source.slots) : 8;
  if (device.info().interprets) {
    return device.make_kernel({source.name, {}, push_bytes, {}, source.kir, source.places});
  }
  KENAZ_ASSIGN(const auto spirv, compiler.spirv(source, version.small));
  const uint32_t loops_look = version.looks && !device.info().cuts_loops ? 1 : 0;
  return device.make_kernel(
      {source.name, spirv, push_bytes, std::span(&loops_look, 1), {}, place_of(source)});
}

}  // namespace

bool KernelTable::is_busy() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) {
    return slot.making &&
           slot.making->made.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
  });
}

KernelVersion KernelTable::code_of(KernelVersion v) const {
  const program::KernelId other = kernels_[v.id.index].code_of;
  if (other.valid()) v.id = other;
  return v;
}

KernelTable::Made KernelTable::begin(KernelVersion version) {
  const KernelVersion code = code_of(version);
  Slot& slot = this->slot(code);
  if (slot.making) return slot.making->made;
  slot.making = std::make_unique<Making>();
  slot.making->thread = std::make_unique<LargeStackThread>(
      [this, code, &source = kernels_[code.id.index], &promise = slot.making->promise] {
        try {
          promise.set_value(make(source, code, *compiler_, device_));
        } catch (const std::exception& e) {
          promise.set_value(fail(ErrorKind::kOutOfMemory, e.what()));
        }
      });
  return slot.making->made;
}

Result<device::KernelPtr> KernelTable::finish(KernelVersion version, const Made& made) {
  using std::chrono::seconds;
  const KernelVersion code = code_of(version);
  Slot& slot = this->slot(code);
  // After an error another one may be at it.
  const bool ended =
      slot.making && slot.making->made.wait_for(seconds(0)) == std::future_status::ready;
  if (ended) slot.making.reset();
  const auto& kernel = made.get();
  if (!kernel) return kernel;
  KENAZ_TRY(keep(code, *kernel));
  return find(version);
}

/// For all kernels that have the code.
Status KernelTable::keep(KernelVersion code, const device::KernelPtr& made) {
  slot(code).kernel = made;
  for (uint32_t k = code.id.index + 1; k < kernels_.size(); ++k) {
    const program::Kernel& kernel = kernels_[k];
    if (kernel.code_of != code.id) continue;
    KENAZ_ASSIGN(
        slot({{k}, code.small, code.looks}).kernel,
        device_.make_kernel({.name = kernel.name, .places = place_of(kernel), .code_of = made}));
  }
  return {};
}

}  // namespace kenaz::host
