// How the device's engine keeps values: scalars on the host, arrays in blocks.
#pragma once

#include "server/device/device.h"
#include "server/host/engine.h"

namespace kenaz::host {

struct HostScalar : Leaf {
  explicit HostScalar(PrimValue v) : value(v) { prim = v.type; }
  std::optional<PrimValue> scalar() const override { return value; }
  PrimValue value;
};

struct DeviceArray : Leaf {
  DeviceArray(PrimType type, std::vector<int64_t> dims, device::BlockPtr b) : block(std::move(b)) {
    prim = type;
    shape = std::move(dims);
  }
  device::BlockPtr block;
};

}  // namespace kenaz::host
