// Whether workgroups that have started proceed, whatever others do: what scans, packings
// and sorts in one pass count on, and no driver promises. It is tried once, and what was found is
// kept.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "kernels/program/target.h"
#include "server/cache/file_store.h"
#include "server/device/device.h"
#include "server/host/kernel_compiler.h"

namespace kenaz {

struct ProgressTest {
  std::chrono::microseconds limit = std::chrono::seconds(5);  // for its kernels, compiled or not
  int64_t elements = int64_t{1} << 20;
};

/// Runs scans in one pass on the device, of tiles of which some take far longer than others. True
/// if all end in time with the right results; if not at first, twice in a row. After false, of
/// which it warns, the device may be lost.
bool scans_in_one_pass(const std::shared_ptr<device::Device>& device, program::Target target,
                       const std::shared_ptr<const host::KernelCompiler>& compiler,
                       const ProgressTest& test = {});

/// Keeps what was found for a device and its driver, as this build tries it, between runs.
class ProgressNotes {
 public:
  /// Either string empty: keeps nothing.
  ProgressNotes(const std::string& folder, const std::string& build, const device::Info& info);
  std::optional<bool> find() const;
  void keep(bool passed) const;

 private:
  const cache::FileStore store_;
  std::string key_;
};

}  // namespace kenaz
