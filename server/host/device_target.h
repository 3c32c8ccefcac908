// What code generation is told of a device.
#pragma once

#include <optional>
#include <string>

#include "kernels/program/target.h"
#include "server/device/device.h"

namespace kenaz::host {

/// Plans fill shared memory with arrays as they count them. This is for what they do not count: the
/// word by which a workgroup begins together, and the room between arrays. In bytes.
constexpr int kSharedApart = 256;

/// Kernels generated for this target run on the device. `threads`: that fill it; 0: a guess.
/// `contract`: where the device gains by it, products and sums of floats may become one operation,
/// and what is subnormal may count as zero in sums that have no order.
program::Target device_target(const device::Info& info, int64_t threads = 0, bool contract = false);

/// Says whether workgroups may wait for others, which then start in the order of their numbers if
/// the device says so.
void set_forward_progress(program::Target& target, const device::Info& info, bool proceeds);

/// What a device of this kind would be: "least" (what any can do), "cpu" (as lavapipe) or "gpu" (as
/// an H200). For looking at code without the device.
std::optional<program::Target> posed_target(const std::string& kind);

}  // namespace kenaz::host
