#include "server/loading.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/compiler/warnings.h"
#include "protocol/base/diagnostic_text.h"
#include "server/console.h"
#include "server/host/check_program.h"
#include "server/host/device_target.h"
#include "server/progress.h"

namespace kenaz {

void print_warnings(const Options& options, const Warnings& warnings) {
  if (options.no_warnings) return;
  for (const auto& warning : warnings) {
    complain((options.colour ? colour_diagnostics(warning) : warning) + "\n");
  }
}

Result<compiler::Source> front_end(const Options& options, const std::string& path,
                                   const SourceReader& read, Warnings& warnings) {
  std::vector<Diagnostic> found;
  auto source = compiler::check(path, {read, options.language, &found});
  for (const auto& warning : found) warnings.push_back(warning.str());
  return source;
}

Result<compiler::Lowered> array_ir(const Options& options, const std::string& path,
                                   std::string_view stage, const SourceReader& read,
                                   Warnings& warnings) {
  KENAZ_ASSIGN(const compiler::Source source, front_end(options, path, read, warnings));
  KENAZ_ASSIGN(compiler::Lowered program, source.lower());
  KENAZ_TRY(stage == "lowered" ? compiler::differentiate(program.ir)
                               : compiler::optimise(program.ir));
  if (stage != "lowered") {
    for (const auto& w : compiler::warnings_of(program.ir)) warnings.push_back(w.str());
  }
  const bool placed = stage == "mem";
  if (stage == "seg" || placed) KENAZ_TRY(compiler::schedule(program.ir));
  if (placed) KENAZ_TRY(compiler::place(program.ir));
  return program;
}

cache::ProgramCache program_cache(const Options& options) {
  const std::string build = cache::build_id();
  return {options.cache_folder,
          build.empty() ? "" : build + "\n" + options.device + "\n" + options.language};
}

// ---- a program

Loading::Loading(const Options& options, std::string path, const cache::ProgramCache& cache,
                 SourceReader read)
    : options_(options),
      path_(std::move(path)),
      cache_(cache),
      found_(read),
      sources_(std::move(read)) {}

Status Loading::begin() {
  cached_ = cache_.find(path_, std::ref(found_));
  return cached_ ? Status() : optimise();
}

Result<program::Program> Loading::finish(const program::Target& target, Metrics& metrics) {
  const bool hit = cached_ && cached_->program.target == target;
  metrics.program_cache(hit);
  if (hit) return std::move(cached_->program);
  if (cached_) KENAZ_TRY(optimise());
  KENAZ_ASSIGN(made_.program, compiler::generate(*optimised_, target));
  cache_.keep(path_, sources_, made_);
  return std::move(made_.program);
}

std::string Loading::version() const { return optimised_ ? sources_.version() : found_.version(); }

Status Loading::check() const {
  if (cached_) return host::check_program(cached_->program);
  KENAZ_ASSIGN(const program::Program program, compiler::generate(*optimised_));
  return host::check_program(program);
}

Status Loading::optimise() {
  KENAZ_ASSIGN(optimised_, array_ir(options_, path_, "soacs", std::ref(sources_), made_.warnings));
  return {};
}

// ---- its device

Result<program::Target> target_of(const Options& options, const host::RenewedDevice::Maker& devices,
                                  std::shared_ptr<device::Device>& device) {
  const device::Info& info = device->info();
  program::Target target =
      host::device_target(info, options.device_threads, options.float_contract == "on");
  if (options.one_pass_scans != "auto") {
    host::set_forward_progress(target, info, options.one_pass_scans == "on");
    return target;
  }
  if (!info.forward_progress || info.interprets) return target;
  const ProgressNotes notes(options.cache_folder, cache::build_id(), info);
  const auto known = notes.find();
  const bool passes =
      known ? *known
            : scans_in_one_pass(device, target, std::make_shared<const host::KernelCompiler>());
  host::set_forward_progress(target, info, passes);
  if (known) return target;
  notes.keep(passes);
  if (!passes) {
    device.reset();
    KENAZ_ASSIGN(device, devices());
  }
  return target;
}

Result<std::vector<std::string>> named_devices(const std::string& text) {
  if (text == "all") return device::usable_vulkan_devices();
  std::vector<std::string> names;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    std::string name = text.substr(at, end - at);
    name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
    name.erase(name.find_last_not_of(' ') + 1);
    if (name.empty() && !text.empty()) {
      return bad_request(fmt::format("--device {}: a device without a name", text));
    }
    if (name == "all") {
      return bad_request(fmt::format("--device {}: `all` stands alone", text));
    }
    names.push_back(std::move(name));
    at = end + 1;
  }
  return names;
}

host::RenewedDevice::Maker device_maker(const Options& options, device::VulkanOptions vulkan) {
  if (options.device == kInterpreter) {
    return [how = options.interpreter] { return device::make_interpreter_device(how); };
  }
  vulkan.device = options.device;
  return device::vulkan_device_maker(vulkan);
}

}  // namespace kenaz
