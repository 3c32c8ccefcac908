// The steps between a program's path and its code for a device.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/compiler.h"
#include "server/cache/program_cache.h"
#include "server/device/vulkan/vulkan_device.h"
#include "server/host/renewed_device.h"
#include "server/metrics/metrics.h"
#include "server/options.h"

namespace kenaz {

using Warnings = std::vector<std::string>;

/// To stderr, unless the options say otherwise.
void print_warnings(const Options& options, const Warnings& warnings);

/// The program at `path`, checked. Warnings are added, also if it has errors.
Result<compiler::Source> front_end(const Options& options, const std::string& path,
                                   const SourceReader& read, Warnings& warnings);

/// The program at a stage: "lowered", "soacs", "seg" or "mem".
Result<compiler::Lowered> array_ir(const Options& options, const std::string& path,
                                   std::string_view stage, const SourceReader& read,
                                   Warnings& warnings);

/// Programs in the cache are of this build, of one language and, as far as that is known
/// beforehand, for one device.
cache::ProgramCache program_cache(const Options& options);

/// A program on its way to a device: from the cache, or compiled and put there. What needs no
/// device is begun before there is one.
class Loading {
 public:
  /// The options and the cache must outlive it.
  Loading(const Options& options, std::string path, const cache::ProgramCache& cache,
          SourceReader read);

  /// An error comes with the warnings that there were.
  Status begin();
  const Warnings& warnings() const { return cached_ ? cached_->warnings : made_.warnings; }

  /// The program for a device with these facts. A cached one for another device does not count.
  Result<program::Program> finish(const program::Target& target, Metrics& metrics);
  /// Of the sources, once it is finished: see cache::RecordingReader.
  std::string version() const;
  /// Whether there will be a program.
  Status check() const;

 private:
  Status optimise();

  const Options& options_;
  const std::string path_;
  const cache::ProgramCache& cache_;
  cache::RecordingReader found_, sources_;  // what the cache has read, and the compiler
  std::optional<cache::CachedProgram> cached_;
  cache::CachedProgram made_;
  std::optional<compiler::Lowered> optimised_;
};

/// The devices that --device means, each as it would be named alone: `text` has commas between
/// them; `all` is every GPU, or without any GPU every other device. At least one.
Result<std::vector<std::string>> named_devices(const std::string& text);

/// Makes the device that the options name, which must be one.
host::RenewedDevice::Maker device_maker(const Options& options, device::VulkanOptions vulkan = {});

/// What the device can do. Whether workgroups proceed is tried, if that is not known; a device that
/// has not passed is made anew.
Result<program::Target> target_of(const Options& options, const host::RenewedDevice::Maker& devices,
                                  std::shared_ptr<device::Device>& device);

}  // namespace kenaz
