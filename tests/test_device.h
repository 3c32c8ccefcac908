// The device of tests that have a main of their own (test_main.cc).
#pragma once

#include <memory>

#include "server/device/device.h"

namespace kenaz {

/// The device that the command line names. Made once, as some drivers cannot be loaded dozens of
/// times in one process.
std::shared_ptr<device::Device> test_device();

}  // namespace kenaz
