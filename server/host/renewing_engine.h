// An engine that outlives its device. When the device is lost, what was on it is gone, and the next
// operation makes the device, and an engine for it, again.
#pragma once

#include <functional>
#include <memory>

#include "server/host/engine.h"
#include "server/host/renewed_device.h"

namespace kenaz::host {

/// Makes an engine on a device. Called first by make_renewing_engine.
using EngineFactory =
    std::function<Result<std::unique_ptr<Engine>>(std::shared_ptr<device::Device>)>;

/// The operation that finds the device lost fails with kDeviceLost. Values from before then answer
/// with kDeviceLost, "The device was lost, and this value with it.", wherever they are used; what
/// memory of the old device they hold goes when they do. Where making it anew fails, so does every
/// operation (see RenewedDevice::get). Values of one engine may be used with all others on the same
/// RenewedDevice.
Result<std::unique_ptr<Engine>> make_renewing_engine(std::shared_ptr<RenewedDevice> device,
                                                     EngineFactory factory);

}  // namespace kenaz::host
