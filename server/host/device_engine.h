// The engine that runs programs on a device.
#pragma once

#include <memory>

#include "kernels/program/program.h"
#include "server/host/engine.h"

namespace kenaz::host {

/// Checks the program, makes its kernels and runs its top-level constants; fails if one of them
/// does.
Result<std::unique_ptr<Engine>> make_device_engine(std::shared_ptr<const program::Program> program,
                                                   std::shared_ptr<device::Device> device);
Result<std::unique_ptr<Engine>> make_device_engine(program::Program program,
                                                   std::shared_ptr<device::Device> device);

}  // namespace kenaz::host
