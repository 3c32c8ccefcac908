#include "server/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "protocol/base/check.h"
#include "server/console.h"
#include "server/host/device_engine.h"
#include "server/host/reference_engine.h"
#include "server/host/renewing_engine.h"
#include "server/option_values.h"
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

std::map<std::string, std::shared_ptr<ProgramUse>> uses_of(const Options& options) {
  std::map<std::string, std::shared_ptr<ProgramUse>> uses;
  const auto limits = program_limits(options.program_limits);
  CHECK(limits.has_value());  // the command line has been checked
  for (const auto& [name, of] : *limits) uses[name] = std::make_shared<ProgramUse>(name, of);
  return uses;
}

}  // namespace

Loader::OnDevice::OnDevice(const Options& all, const std::string& name)
    : options([&] {
        Options one = all;
        one.device = name;
        return one;
      }()),
      cache(program_cache(options)) {}

Loader::Loader(const Options& options, const std::vector<std::string>& devices,
               std::shared_ptr<device::ValidationLog> validation, std::shared_ptr<Metrics> metrics)
    : options_(options), metrics_(std::move(metrics)), uses_(uses_of(options)) {
  for (const auto& name : devices) {
    const size_t number = devices_.size();
    devices_.push_back(std::make_unique<OnDevice>(options, name));
    if (options.reference) return;
    OnDevice& device = *devices_.back();
    device::VulkanOptions vulkan;
    vulkan.validation = validation;
    // A file each: two devices of one name would overwrite each other's.
    const std::string suffix = number == 0 ? "" : fmt::format(".{}", number);
    vulkan.pipeline_cache = options.cache_file.empty()
                                ? device.cache.pipelines(all_paths(options) + suffix)
                                : options.cache_file + suffix;
    vulkan.memory_limit = options.memory_limit;
    vulkan.wake = !options.no_wake;
    vulkan.kernel_code = options.profile;
    // A worker can start no process.
    if (!options.worker) vulkan.wake_command = {"/proc/self/exe", "--waker", "--device=" + name};
    vulkan.compile_apart = !options.listen.empty();
    device.maker = device_maker(device.options, vulkan);
  }
  kernels_ = std::make_shared<const host::KernelCompiler>(
      options.cache_folder, cache::build_id(),
      [counted = metrics_](bool kept) { counted->kernel_wanted(kept); });
  // Starting the driver takes as long as compiling a program of moderate size: both at a time, as
  // far as code does not depend on the device.
  for (const auto& device : devices_) {
    device->starting = std::async(std::launch::async, [make = device->maker] { return make(); });
  }
}

Status Loader::begin(OnDevice& on) {
  if (!on.starting.valid()) return {};
  KENAZ_ASSIGN(auto device, on.starting.get());
  KENAZ_ASSIGN(on.target, target_of(on.options, on.maker, device));
  on.info = std::make_shared<const device::Info>(device->info());
  on.device = std::make_shared<host::RenewedDevice>(on.maker, std::move(device));
  return {};
}

Status Loader::start_devices() {
  if (options_.reference) return {};
  for (const auto& device : devices_) KENAZ_TRY(begin(*device));
  return {};
}

PooledDevice Loader::pooled(size_t device, std::shared_ptr<Programs> programs) const {
  const OnDevice& on = *devices_[device];
  return {std::move(programs), on.device, on.options.device, on.step_aside};
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
  const auto start = [this, file, version, shared](size_t,
                                                   Constants constants) -> Result<LoadedProgram> {
    KENAZ_ASSIGN(auto engine, host::make_reference_engine(
                                  std::move(*shared), {options_.seed, options_.all_versions, {}}));
    return ready(*devices_[0], file, version, std::move(engine), constants);
  };
  return CompiledProgram{version, start};
}

Result<CompiledProgram> Loader::for_device(const ProgramFile& file, const SourceReader& read) {
  const OnDevice& first = *devices_[0];
  Loading loading(first.options, file.path, first.cache, read);
  const Status begun = loading.begin();
  print_warnings(options_, loading.warnings());
  KENAZ_TRY(begun);
  KENAZ_TRY(start_devices());
  KENAZ_ASSIGN(auto program, loading.finish(first.target, *metrics_));
  std::vector<Shared> made{std::make_shared<const program::Program>(std::move(program))};
  for (size_t k = 1; k < devices_.size(); ++k) {
    KENAZ_ASSIGN(auto other, for_other(*devices_[k], file, read, made));
    made.push_back(std::move(other));
  }
  const std::string version = loading.version();
  const auto start_on = [this, file, version, made](size_t k, Constants constants) {
    return start(*devices_[k], file, version, made[k], constants);
  };
  return CompiledProgram{version, start_on};
}

Result<Loader::Shared> Loader::for_other(const OnDevice& device, const ProgramFile& file,
                                         const SourceReader& read,
                                         const std::vector<Shared>& made) const {
  for (size_t k = 0; k < made.size(); ++k) {
    if (devices_[k]->target == device.target) return made[k];
  }
  Loading loading(device.options, file.path, device.cache, read);  // its warnings are known
  KENAZ_TRY(loading.begin());
  KENAZ_ASSIGN(auto program, loading.finish(device.target, *metrics_));
  return std::make_shared<const program::Program>(std::move(program));
}

Result<LoadedProgram> Loader::start(const OnDevice& device, const ProgramFile& file,
                                    std::string version, const Shared& program,
                                    Constants constants) const {
  const auto engine_on = [program, kernels = kernels_](std::shared_ptr<device::Device> on) {
    on->set_owner(0);  // the server's own, as long as no session uses it
    return host::make_device_engine(program, std::move(on), kernels);
  };
  KENAZ_ASSIGN(auto engine, host::make_renewing_engine(device.device, engine_on));
  return ready(device, file, std::move(version), std::move(engine), constants);
}

Result<LoadedProgram> Loader::ready(const OnDevice& device, const ProgramFile& file,
                                    std::string version, std::unique_ptr<host::Engine> engine,
                                    Constants constants) const {
  const auto found = uses_.find(file.name);
  const auto use = found == uses_.end() ? nullptr : found->second;
  const ProgramLimits limits = use ? use->limits() : ProgramLimits();
  const double seconds = limits.call_seconds.value_or(options_.limits.call_seconds);
  engine->set_call_timeout(std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::duration<double>(std::min(seconds, 1e9))));
  engine->set_call_bytes(limits.call_bytes);
  KENAZ_ASSIGN(host::Tuning tuning, tuning_of_one(options_, engine->tuning_params()));
  engine->set_tuning(std::make_shared<const host::Tuning>(std::move(tuning)));
  if (device.step_aside) engine->set_step_aside(device.step_aside);
  KENAZ_TRY(constants == Constants::kMustHold ? engine->prepare() : prepared(*engine));
  LoadedProgram program =
      loaded_program(file.name, file.path, std::move(version), std::move(engine));
  program.use = use;
  return program;
}

}  // namespace kenaz
