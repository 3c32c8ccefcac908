// For builds with AddressSanitizer only.
#pragma once

#include "protocol/base/sanitizers.h"

#if KENAZ_SANITIZES_ADDRESSES
#include <sanitizer/lsan_interface.h>
#endif

namespace kenaz::device::vulkan {

/// Drivers keep memory in globals of theirs, which the leak checker takes for lost once the loader
/// has unloaded the driver. What they allocate while this lives is not looked at.
class DriverGlobals {
 public:
#if KENAZ_SANITIZES_ADDRESSES
  DriverGlobals() { __lsan_disable(); }
  ~DriverGlobals() { __lsan_enable(); }
#else
  DriverGlobals() {}
#endif
  DriverGlobals(const DriverGlobals&) = delete;
  DriverGlobals& operator=(const DriverGlobals&) = delete;
};

}  // namespace kenaz::device::vulkan
