#include "server/host/kernel_table.h"

#include <fmt/format.h>

namespace kenaz::host {

namespace {

Result<device::KernelPtr> make(const program::Kernel& source, device::Device& device) {
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
  const uint32_t loops_look = device.info().cuts_loops ? 0 : 1;
  return device.make_kernel({source.name, source.spirv, push_bytes, std::span(&loops_look, 1)});
}

}  // namespace

void KernelTable::begin(const program::Kernel& source, Slot& slot) {
  slot.making = std::make_unique<Making>();
  slot.making->thread = std::make_unique<LargeStackThread>(
      [&source, &device = device_, &promise = slot.making->promise] {
        try {
          promise.set_value(make(source, device));
        } catch (const std::exception& e) {
          promise.set_value(fail(ErrorKind::kOutOfMemory, e.what()));
        }
      });
}

Result<device::KernelPtr> KernelTable::get(program::KernelId id, CallStop& stop) {
  Slot& slot = slots_[id.index];
  if (slot.kernel) return slot.kernel;
  // Where compiling waits for what runs, that wait is the call's.
  if (device_.info().is_cpu) KENAZ_TRY(device_.submit_and_wait());
  if (!slot.making) begin(kernels_[id.index], slot);
  auto& made = slot.making->made;
  KENAZ_TRY(stop.wait([&](std::chrono::milliseconds patience) {
    return made.wait_for(patience) == std::future_status::ready;
  }));
  auto kernel = made.get();
  slot.making.reset();
  if (kernel) slot.kernel = *kernel;
  return kernel;
}

}  // namespace kenaz::host
