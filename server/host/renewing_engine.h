// An engine that outlives its device. When the device is lost, what was on it is gone, and the next
// operation makes the device and an engine for it again.
#pragma once

#include <functional>
#include <memory>

#include "server/host/engine.h"

namespace kenaz::host {

/// Makes a device, and an engine for it. Called first by make_renewing_engine.
using EngineFactory = std::function<Result<std::unique_ptr<Engine>>()>;

/// The operation that finds the device lost fails with kDeviceLost. Values from before then answer
/// with kDeviceLost, "The device was lost, and this value with it.", wherever they are used; what
/// memory of the old device they hold goes when they do. Where making it anew fails, so does every
/// operation; one that comes a second or more after the last attempt makes another.
Result<std::unique_ptr<Engine>> make_renewing_engine(EngineFactory factory);

}  // namespace kenaz::host
