// What code generation is told of a device.
#pragma once

#include "kernels/program/target.h"
#include "server/device/device.h"

namespace kenaz::host {

/// Kernels generated for this target run on the device. `threads`: that fill it; 0: a guess.
program::Target device_target(const device::Info& info, int64_t threads = 0);

}  // namespace kenaz::host
