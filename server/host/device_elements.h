// Parts of arrays on the device: see Engine::element and its neighbours.
#pragma once

#include "server/device/device.h"
#include "server/host/engine.h"

namespace kenaz::host {

Result<LeafPtr> device_element(device::Device& device, const LeafPtr& array, int rank,
                               int64_t number);
Result<LeafPtr> device_with_element(device::Device& device, const LeafPtr& array, int64_t number,
                                    const LeafPtr& element, bool in_place);
Result<LeafPtr> device_join(device::Device& device, PrimType prim, std::vector<int64_t> shape,
                            std::span<const LeafPtr> elements);

}  // namespace kenaz::host
