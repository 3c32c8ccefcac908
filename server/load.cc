#include "server/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>

#include "kernels/compiler.h"
#include "kernels/compiler/warnings.h"
#include "kernels/explain/text.h"
#include "kernels/glsl/compile.h"
#include "kernels/ir/print.h"
#include "kernels/kir/print.h"
#include "kernels/spirv/read.h"
#include "protocol/base/diagnostic_text.h"
#include "server/cache/program_cache.h"
#include "server/console.h"
#include "server/host/check_program.h"
#include "server/host/device_engine.h"
#include "server/host/device_target.h"
#include "server/host/reference_engine.h"
#include "server/host/renewing_engine.h"
#include "server/progress.h"
#include "server/tuning.h"

namespace kenaz {
namespace {

using Warnings = std::vector<std::string>;

void print_warnings(const Options& options, const Warnings& warnings) {
  if (options.no_warnings) return;
  for (const auto& warning : warnings) {
    complain((options.colour ? colour_diagnostics(warning) : warning) + "\n");
  }
}

Result<compiler::Source> front_end(const Options& options, const SourceReader& read,
                                   Warnings& warnings) {
  std::vector<Diagnostic> found;
  auto source = compiler::check(options.program, {read, options.language, &found});
  for (const auto& warning : found) warnings.push_back(warning.str());
  return source;
}

/// The program at a stage: "lowered", "soacs" or "seg".
Result<compiler::Lowered> array_ir(const Options& options, std::string_view stage,
                                   const SourceReader& read, Warnings& warnings) {
  KENAZ_ASSIGN(const compiler::Source source, front_end(options, read, warnings));
  KENAZ_ASSIGN(compiler::Lowered program, source.lower());
  KENAZ_TRY(stage == "lowered" ? compiler::differentiate(program.ir)
                               : compiler::optimise(program.ir));
  if (stage != "lowered") {
    for (const auto& w : compiler::warnings_of(program.ir)) warnings.push_back(w.str());
  }
  if (stage == "seg") KENAZ_TRY(compiler::schedule(program.ir));
  return program;
}

Result<compiler::Lowered> array_ir(const Options& options, std::string_view stage) {
  Warnings warnings;
  auto program = array_ir(options, stage, compiler::file_reader(), warnings);
  print_warnings(options, warnings);
  return program;
}

/// A program on its way to a device: from the cache, or compiled and put there. What needs no
/// device is begun before there is one.
class Loading {
 public:
  Loading(const Options& options, const cache::ProgramCache& cache)
      : options_(options), cache_(cache) {}

  /// An error comes with the warnings that there were.
  Status begin() {
    cached_ = cache_.find(options_.program, compiler::file_reader());
    return cached_ ? Status() : optimise();
  }
  const Warnings& warnings() const { return cached_ ? cached_->warnings : made_.warnings; }

  /// The program for a device with these facts. A cached one for another device does not count.
  Result<program::Program> finish(const program::Target& target, Metrics& metrics) {
    const bool hit = cached_ && cached_->program.target == target;
    metrics.program_cache(hit);
    if (hit) return std::move(cached_->program);
    if (cached_) KENAZ_TRY(optimise());
    KENAZ_ASSIGN(made_.program, compiler::generate(*optimised_, target));
    cache_.keep(options_.program, sources_, made_);
    return std::move(made_.program);
  }
  /// Whether there will be one.
  Status check() const {
    if (cached_) return host::check_program(cached_->program);
    KENAZ_ASSIGN(const program::Program program, compiler::generate(*optimised_));
    return host::check_program(program);
  }

 private:
  Status optimise() {
    KENAZ_ASSIGN(optimised_, array_ir(options_, "soacs", std::ref(sources_), made_.warnings));
    return {};
  }

  const Options& options_;
  const cache::ProgramCache& cache_;
  std::optional<cache::CachedProgram> cached_;
  cache::RecordingReader sources_{compiler::file_reader()};
  cache::CachedProgram made_;
  std::optional<compiler::Lowered> optimised_;
};

/// Programs in the cache are of this build, of one language and, as far as that is known
/// beforehand, for one device.
cache::ProgramCache program_cache(const Options& options) {
  const std::string build = cache::build_id();
  return {options.cache_folder,
          build.empty() ? "" : build + "\n" + options.device + "\n" + options.language};
}

/// Does what loading the program would, short of starting a device.
Status try_to_load(const Options& options, Warnings& warnings) {
  const auto reader = compiler::file_reader();
  if (options.types_only) {
    KENAZ_TRY(front_end(options, reader, warnings));
    return {};
  }
  if (options.reference) {
    KENAZ_TRY(array_ir(options, options.stage, reader, warnings));
    return {};
  }
  const cache::ProgramCache cache = program_cache(options);
  Loading loading(options, cache);
  const Status begun = loading.begin();
  warnings = loading.warnings();
  return begun ? loading.check() : begun;
}

using DeviceMaker = std::function<Result<std::shared_ptr<device::Device>>()>;

/// What the device can do. Whether workgroups proceed is tried, if that is not known; a device that
/// has not passed is made anew.
Result<program::Target> target_of(const Options& options, const DeviceMaker& devices,
                                  std::shared_ptr<device::Device>& device) {
  program::Target target =
      host::device_target(device->info(), options.device_threads, options.float_contract == "on");
  if (options.one_pass_scans != "auto") {
    target.forward_progress = options.one_pass_scans == "on";
    return target;
  }
  const device::Info& info = device->info();
  if (!info.forward_progress || info.interprets) return target;
  const ProgressNotes notes(options.cache_folder, cache::build_id(), info);
  if (const auto known = notes.find()) {
    target.forward_progress = *known;
    return target;
  }
  target.forward_progress =
      scans_in_one_pass(device, target, std::make_shared<const host::KernelCompiler>());
  notes.keep(target.forward_progress);
  if (!target.forward_progress) {
    device.reset();
    KENAZ_ASSIGN(device, devices());
  }
  return target;
}

/// Of the device that the options name.
DeviceMaker device_maker(const Options& options, device::VulkanOptions vulkan = {}) {
  if (options.device == kInterpreter) {
    return [how = options.interpreter] { return device::make_interpreter_device(how); };
  }
  vulkan.device = options.device;
  return device::vulkan_device_maker(vulkan);
}

Result<std::unique_ptr<host::Engine>> make_engine(const Options& options,
                                                  std::shared_ptr<device::ValidationLog> validation,
                                                  std::shared_ptr<Metrics> metrics) {
  if (options.reference) {
    KENAZ_ASSIGN(compiler::Lowered program, array_ir(options, options.stage));
    return host::make_reference_engine(std::move(program),
                                       {options.seed, options.all_versions, {}});
  }
  const cache::ProgramCache cache = program_cache(options);
  device::VulkanOptions vulkan;
  vulkan.validation = std::move(validation);
  vulkan.pipeline_cache =
      options.cache_file.empty() ? cache.pipelines(options.program) : options.cache_file;
  vulkan.memory_limit = options.memory_limit;
  vulkan.wake = !options.no_wake;
  vulkan.compile_apart = !options.listen.empty();
  // Starting the driver takes as long as compiling a program of moderate size: both at a time, as
  // far as code does not depend on the device.
  auto devices = device_maker(options, vulkan);
  auto starting = std::async([&] { return devices(); });
  Loading loading(options, cache);
  const Status begun = loading.begin();
  print_warnings(options, loading.warnings());
  auto device = starting.get();
  if (!begun) return tl::make_unexpected(begun.error());
  if (!device) return tl::make_unexpected(std::move(device).error());
  KENAZ_ASSIGN(const program::Target target, target_of(options, devices, *device));
  KENAZ_ASSIGN(auto program, loading.finish(target, *metrics));
  const auto compiler = std::make_shared<const host::KernelCompiler>(
      options.cache_folder, cache::build_id(),
      [metrics = std::move(metrics)](bool kept) { metrics->kernel_wanted(kept); });
  return host::make_renewing_engine(
      [devices = std::move(devices), first = std::move(*device), compiler,
       shared = std::make_shared<const program::Program>(
           std::move(program))]() mutable -> Result<std::unique_ptr<host::Engine>> {
        auto next = std::exchange(first, nullptr);
        if (!next) {
          KENAZ_ASSIGN(next, devices());
        }
        return host::make_device_engine(shared, std::move(next), compiler);
      });
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

}  // namespace

Result<std::unique_ptr<host::Engine>> load(const Options& options,
                                           std::shared_ptr<device::ValidationLog> validation,
                                           std::shared_ptr<Metrics> metrics) {
  KENAZ_ASSIGN(auto engine, make_engine(options, std::move(validation), std::move(metrics)));
  engine->set_call_timeout(std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::duration<double>(std::min(options.limits.call_seconds, 1e9))));
  KENAZ_ASSIGN(host::Tuning tuning, read_tuning(options, engine->tuning_params()));
  engine->set_tuning(std::make_shared<const host::Tuning>(std::move(tuning)));
  KENAZ_TRY(prepared(*engine));
  return engine;
}

Status check_loading(const Options& options) {
  Warnings warnings;
  const Status ok = try_to_load(options, warnings);
  print_warnings(options, warnings);
  KENAZ_TRY(ok);
  if (!options.warnings_are_errors || warnings.empty()) return {};
  return fail(ErrorKind::kCompile, options.program + ": warnings are treated as errors.");
}

Result<std::string> print_params(const Options& options) {
  KENAZ_ASSIGN(const compiler::Lowered program, array_ir(options, "soacs"));
  KENAZ_ASSIGN(const program::Program generated, compiler::generate(program, program::Target{}));
  KENAZ_TRY(read_tuning(options, generated.tuning));  // names and values are checked as ever
  std::string text;
  for (const auto& param : generated.tuning) {
    text += fmt::format("{} ({})\n", param.name, program::class_text(param));
  }
  return text;
}

Result<std::string> explanation(const Options& options) {
  KENAZ_ASSIGN(const compiler::Lowered program, array_ir(options, "soacs"));
  const DeviceMaker devices = device_maker(options);
  KENAZ_ASSIGN(auto device, devices());
  KENAZ_ASSIGN(const program::Target target, target_of(options, devices, device));
  explain::Report report;
  KENAZ_TRY(compiler::generate(program, target, &report));
  report.device = device->info().name;
  return options.json ? explain::json(report) : explain::text(report);
}

namespace {

/// The kernel IR that a kernel's SPIR-V is read as.
Result<std::string> kernel_ir_of_spirv(const program::Kernel& kernel) {
  KENAZ_ASSIGN(const auto words, glsl::compile_glsl(kernel.name, kernel.glsl));
  constexpr uint32_t kLoopsLook = 1;
  KENAZ_ASSIGN(const auto read, spirv::read(words, {kernel.name, std::span(&kLoopsLook, 1), {}}));
  return kir::print(read.kernel);
}

}  // namespace

Result<std::string> dump(const Options& options) {
  const bool is_stage = options.dump == "lowered" || options.dump == "seg";
  KENAZ_ASSIGN(const compiler::Lowered program,
               array_ir(options, is_stage ? options.dump : "soacs"));
  const bool kir = options.dump == "kir";
  if (!kir && options.dump != "glsl") return ir::print(program.ir);
  // As it would be for a device that can do no more than any, or a posed one: this starts none.
  program::Target target = host::posed_target(options.pose).value_or(program::Target{});
  if (options.device_threads > 0) target.threads = options.device_threads;
  const bool through_spirv = kir && options.interpreter.through_spirv;
  target.interprets = kir && !through_spirv;
  KENAZ_ASSIGN(const program::Program generated, compiler::generate(program, target));
  std::string text;
  for (const auto& kernel : generated.kernels) {
    if (through_spirv) {
      KENAZ_ASSIGN(const std::string back, kernel_ir_of_spirv(kernel));
      text += back + "\n";
      continue;
    }
    text += kir ? kernel.kir + "\n" : fmt::format("// ---- {}\n{}\n", kernel.name, kernel.glsl);
  }
  return text;
}

}  // namespace kenaz
