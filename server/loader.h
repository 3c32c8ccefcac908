// From a program's path to the engines that run it, for any number of programs on some devices.
#pragma once

#include <future>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/host/kernel_compiler.h"
#include "server/host/renewed_device.h"
#include "server/loading.h"
#include "server/programs/device_pool.h"
#include "server/programs/program_files.h"

namespace kenaz {

class Loader {
 public:
  /// Begins to start the devices of these names (see named_devices; at least one), unless programs
  /// are evaluated on the CPU, where there is one place to be. `validation` may be null. What the
  /// caches do for programs, now and when they run, is counted. The options must outlive this,
  /// which must outlive what it compiles.
  Loader(const Options& options, const std::vector<std::string>& devices,
         std::shared_ptr<device::ValidationLog> validation, std::shared_ptr<Metrics> metrics);

  size_t devices() const { return devices_.size(); }

  /// Compiles once for all devices that can do the same. Prints warnings to stderr. By one thread
  /// at a time; the first call, which waits for the devices, before these have threads of their
  /// own.
  Result<CompiledProgram> compile(const ProgramFile& file, Sources& sources);

  /// Waits for the devices, if there are to be any; otherwise compile() does.
  Status start_devices();
  /// Facts about one, once it has started; null: there is none.
  const device::Info* device_info(size_t device) const { return devices_[device]->info.get(); }

  /// For the engines of programs that start on the device from now on; see host::Engine.
  void set_step_aside(size_t device, host::Engine::StepAside step_aside) {
    devices_[device]->step_aside = std::move(step_aside);
  }
  /// The device for a pool, with what load() gave for it, when all have started.
  PooledDevice pooled(size_t device, std::shared_ptr<Programs> programs) const;

 private:
  using Constants = CompiledProgram::Constants;

  Result<CompiledProgram> for_reference(const ProgramFile& file, const SourceReader& read);
  Result<CompiledProgram> for_device(const ProgramFile& file, const SourceReader& read);
  /// One of them; with --reference none, in its place.
  struct OnDevice {
    explicit OnDevice(const Options& all, const std::string& name);

    Options options;  // as if it were the only one
    cache::ProgramCache cache;
    host::RenewedDevice::Maker maker;
    std::future<Result<std::shared_ptr<device::Device>>> starting;  // until it is there
    std::shared_ptr<host::RenewedDevice> device;
    std::shared_ptr<const device::Info> info;
    program::Target target;
    host::Engine::StepAside step_aside;  // may be null
  };
  using Shared = std::shared_ptr<const program::Program>;

  /// Waits for the device, and finds out what it can do.
  static Status begin(OnDevice& device);
  /// For devices other than the first; `made` are the programs for those before it.
  Result<Shared> for_other(const OnDevice& device, const ProgramFile& file,
                           const SourceReader& read, const std::vector<Shared>& made) const;
  Result<LoadedProgram> start(const OnDevice& device, const ProgramFile& file, std::string version,
                              const Shared& program, Constants constants) const;
  /// Sets the engine's limits and tuning, and computes constants.
  Result<LoadedProgram> ready(const OnDevice& device, const ProgramFile& file, std::string version,
                              std::unique_ptr<host::Engine> engine, Constants constants) const;

  const Options& options_;
  const std::shared_ptr<Metrics> metrics_;
  /// Of the programs that have limits of their own, whether they are served now or not.
  const std::map<std::string, std::shared_ptr<ProgramUse>> uses_;
  std::vector<std::unique_ptr<OnDevice>> devices_;
  std::shared_ptr<const host::KernelCompiler> kernels_;
};

}  // namespace kenaz
