// The engine that runs programs on a device.
#pragma once

#include <memory>

#include "kernels/program/program.h"
#include "server/host/engine.h"
#include "server/host/kernel_compiler.h"

namespace kenaz::host {

/// Checks the program; kInternal if it is not in order. Kernels are made when they are first
/// launched, from what `compiler` gives; null: one that keeps nothing.
Result<std::unique_ptr<Engine>> make_device_engine(
    std::shared_ptr<const program::Program> program, std::shared_ptr<device::Device> device,
    std::shared_ptr<const KernelCompiler> compiler = nullptr);
Result<std::unique_ptr<Engine>> make_device_engine(
    program::Program program, std::shared_ptr<device::Device> device,
    std::shared_ptr<const KernelCompiler> compiler = nullptr);

}  // namespace kenaz::host
