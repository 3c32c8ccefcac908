#include "server/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "server/console.h"
#include "server/host/device_engine.h"
#include "server/host/reference_engine.h"
#include "server/host/renewing_engine.h"
#include "server/tuning.h"

namespace kenaz {

namespace {

/// For the device's pipelines, which belong to all programs.
std::string all_paths(const Options& options) {
  std::string all = options.programs_folder;
  for (const auto& path : options.programs) all += (all.empty() ? "" : "\n") + path;
  return all;
}

/// A program of which a constant fails is served nevertheless: most entry points need none.
Status prepared(host::Engine& engine) {
  const Status computed = engine.prepare();
  if (computed || (computed.error().kind != ErrorKind::kProgramFailure &&
                   computed.error().kind != ErrorKind::kOutOfMemory)) {
    return computed;
  }
  const std::string& text = computed.error().message;
  complain(
      fmt::format("kenaz-server: a top-level constant cannot be computed; calls that need "
                  "constants will fail. {}\n",
                  text.substr(0, text.find('\n'))));
  return {};
}

/// A parameter is for those programs that have it.
Result<host::Tuning> tuning_of_one(const Options& options,
                                   const std::vector<program::TuningParam>& params) {
  if (!has_several_programs(options)) return read_tuning(options, params);
  Options own = options;
  own.no_warnings = true;  // what one program does not have, another may
  std::erase_if(own.params, [&](const std::string& param) {
    return std::none_of(params.begin(), params.end(),
                        [&](const auto& p) { return param.starts_with(p.name + "="); });
  });
  return read_tuning(own, params);
}

}  // namespace

Loader::Loader(const Options& options, std::shared_ptr<device::ValidationLog> validation,
               std::shared_ptr<Metrics> metrics)
    : options_(options), metrics_(std::move(metrics)), cache_(program_cache(options)) {
  if (options.reference) return;
  device::VulkanOptions vulkan;
  vulkan.validation = std::move(validation);
  vulkan.pipeline_cache =
      options.cache_file.empty() ? cache_.pipelines(all_paths(options)) : options.cache_file;
  vulkan.memory_limit = options.memory_limit;
  vulkan.wake = !options.no_wake;
  vulkan.compile_apart = !options.listen.empty();
  kernels_ = std::make_shared<const host::KernelCompiler>(
      options.cache_folder, cache::build_id(),
      [metrics = metrics_](bool kept) { metrics->kernel_wanted(kept); });
  // Starting the driver takes as long as compiling a program of moderate size: both at a time, as
  // far as code does not depend on the device.
  devices_ = device_maker(options, vulkan);
  starting_ = std::async([this] { return devices_(); });
}

Status Loader::begin_device() {
  if (!starting_.valid()) return {};
  KENAZ_ASSIGN(auto device, starting_.get());
  KENAZ_ASSIGN(target_, target_of(options_, devices_, device));
  info_ = std::make_shared<const device::Info>(device->info());
  device_ = std::make_shared<host::RenewedDevice>(devices_, std::move(device));
  return {};
}

Result<CompiledProgram> Loader::compile(const ProgramFile& file, Sources& sources) {
  const SourceReader read = [&sources](const std::string& path) { return sources.read(path); };
  return options_.reference ? for_reference(file, read) : for_device(file, read);
}

Result<CompiledProgram> Loader::for_reference(const ProgramFile& file, const SourceReader& read) {
  Warnings warnings;
  cache::RecordingReader recorded(read);
  auto program = array_ir(options_, file.path, options_.stage, std::ref(recorded), warnings);
  print_warnings(options_, warnings);
  if (!program) return tl::make_unexpected(std::move(program).error());
  auto shared = std::make_shared<compiler::Lowered>(std::move(*program));
  const std::string version = recorded.version();
  const auto start = [this, file, version, shared](Constants constants) -> Result<LoadedProgram> {
    KENAZ_ASSIGN(auto engine, host::make_reference_engine(
                                  std::move(*shared), {options_.seed, options_.all_versions, {}}));
    return ready(file, version, std::move(engine), constants);
  };
  return CompiledProgram{version, start};
}

Result<CompiledProgram> Loader::for_device(const ProgramFile& file, const SourceReader& read) {
  Loading loading(options_, file.path, cache_, read);
  const Status begun = loading.begin();
  print_warnings(options_, loading.warnings());
  KENAZ_TRY(begun);
  KENAZ_TRY(begin_device());
  KENAZ_ASSIGN(auto program, loading.finish(target_, *metrics_));
  const auto shared = std::make_shared<const program::Program>(std::move(program));
  const std::string version = loading.version();
  const auto engine_on = [shared, kernels = kernels_](std::shared_ptr<device::Device> device) {
    device->set_owner(0);  // the server's own, as long as no session uses it
    return host::make_device_engine(shared, std::move(device), kernels);
  };
  const auto start = [this, file, version,
                      engine_on](Constants constants) -> Result<LoadedProgram> {
    KENAZ_ASSIGN(auto engine, host::make_renewing_engine(device_, engine_on));
    return ready(file, version, std::move(engine), constants);
  };
  return CompiledProgram{version, start};
}

Result<LoadedProgram> Loader::ready(const ProgramFile& file, std::string version,
                                    std::unique_ptr<host::Engine> engine,
                                    Constants constants) const {
  engine->set_call_timeout(std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::duration<double>(std::min(options_.limits.call_seconds, 1e9))));
  KENAZ_ASSIGN(host::Tuning tuning, tuning_of_one(options_, engine->tuning_params()));
  engine->set_tuning(std::make_shared<const host::Tuning>(std::move(tuning)));
  if (step_aside_) engine->set_step_aside(step_aside_);
  KENAZ_TRY(constants == Constants::kMustHold ? engine->prepare() : prepared(*engine));
  return loaded_program(file.name, file.path, std::move(version), std::move(engine));
}

}  // namespace kenaz
