// Leaves of the device's engine, filled and read in pieces. Where the host reaches device memory
// the window is the array itself; elsewhere it is one of a few chunks of pinned memory that take
// turns: one is filled or emptied while the device copies the others.
#pragma once

#include <memory>

#include "server/device/device.h"
#include "server/host/engine.h"

namespace kenaz::host {

Result<std::unique_ptr<LeafWriter>> make_device_writer(std::shared_ptr<device::Device> device,
                                                       PrimType prim, std::vector<int64_t> shape);
Result<std::unique_ptr<LeafReader>> make_device_reader(std::shared_ptr<device::Device> device,
                                                       const LeafPtr& leaf);

}  // namespace kenaz::host
