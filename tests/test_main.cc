// Runs tests on a device.
//
//   PROGRAM [--gtest_..] [--device NAME]
//
// NAME as in kenaz-server --device. Without it: a processor, or what there is where there is none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "server/device/vulkan/vulkan_device.h"
#include "tests/test_device.h"

namespace kenaz {
namespace {

std::shared_ptr<device::Device>& the_device() {
  static std::shared_ptr<device::Device> device;
  return device;
}

Result<std::shared_ptr<device::Device>> make(const std::string& name) {
  device::VulkanOptions options;
  options.device = name;
  return device::make_vulkan_device(options);
}

int run(const std::string* name) {
  auto made = make(name != nullptr ? *name : "cpu");
  if (!made && name == nullptr) made = make("");
  if (!made) {
    fmt::print(stderr, "{}\n", made.error().text());
    for (const auto& line : device::list_vulkan_devices().value_or(std::vector<std::string>{})) {
      fmt::print(stderr, "  {}\n", line);
    }
    return 2;
  }
  the_device() = std::move(*made);
  fmt::print("on {}\n", the_device()->info().name);
  const int status = RUN_ALL_TESTS();
  the_device().reset();
  return status;
}

}  // namespace

std::shared_ptr<device::Device> test_device() { return the_device(); }

}  // namespace kenaz

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string first = argc > 1 ? argv[1] : "";
  const bool named = argc == 3 && first == "--device";
  if (argc > 1 && !named) {
    fmt::print(stderr, "usage: {} [--device NAME]\n", argv[0]);
    return 2;
  }
  const std::string name = named ? argv[2] : "";
  return kenaz::run(named ? &name : nullptr);
}
