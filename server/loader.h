// From a program's path to an engine that runs it, for any number of programs on one device.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <utility>

#include "server/host/kernel_compiler.h"
#include "server/host/renewed_device.h"
#include "server/loading.h"
#include "server/programs/program_files.h"

namespace kenaz {

class Loader {
 public:
  /// Begins to start the device, unless programs are evaluated on the CPU. `validation` may be
  /// null. What the caches do for programs, now and when they run, is counted. The options must
  /// outlive this, which must outlive what it compiles.
  Loader(const Options& options, std::shared_ptr<device::ValidationLog> validation,
         std::shared_ptr<Metrics> metrics);

  /// Prints warnings to stderr. By one thread at a time; that of the first call, which waits for
  /// the device, must be the engines'.
  Result<CompiledProgram> compile(const ProgramFile& file, Sources& sources);

  /// Waits for the device, if there is to be one; otherwise compile() does.
  Status start_device() { return options_.reference ? Status() : begin_device(); }
  /// Facts about it, once it has started; null: there is none.
  const device::Info* device_info() const { return info_.get(); }

  /// For the engines of programs that start from now on; see host::Engine.
  void set_step_aside(host::Engine::StepAside step_aside) { step_aside_ = std::move(step_aside); }

 private:
  using Constants = CompiledProgram::Constants;

  Result<CompiledProgram> for_reference(const ProgramFile& file, const SourceReader& read);
  Result<CompiledProgram> for_device(const ProgramFile& file, const SourceReader& read);
  /// Waits for the device, and finds out what it can do.
  Status begin_device();
  /// Sets the engine's limits and tuning, and computes constants.
  Result<LoadedProgram> ready(const ProgramFile& file, std::string version,
                              std::unique_ptr<host::Engine> engine, Constants constants) const;

  const Options& options_;
  const std::shared_ptr<Metrics> metrics_;
  const cache::ProgramCache cache_;
  host::RenewedDevice::Maker devices_;
  std::future<Result<std::shared_ptr<device::Device>>> starting_;  // until it is there
  std::shared_ptr<host::RenewedDevice> device_;
  std::shared_ptr<const device::Info> info_;
  program::Target target_;
  std::shared_ptr<const host::KernelCompiler> kernels_;
  host::Engine::StepAside step_aside_;  // may be null
};

}  // namespace kenaz
