#include "server/load.h"

#include <fmt/format.h>

#include "kernels/ir/print.h"

namespace kenaz {
namespace {

Result<core::Checked> front_end(const Options& options) {
  KENAZ_ASSIGN(core::Checked checked, compiler::front_end(options.program));
  for (const auto& warning : checked.warnings) fmt::print(stderr, "{}\n", warning.str());
  return checked;
}

Result<compiler::Lowered> lowered(const Options& options, bool optimise) {
  KENAZ_ASSIGN(const core::Checked checked, front_end(options));
  KENAZ_ASSIGN(compiler::Lowered program, compiler::lower(checked));
  if (optimise) KENAZ_TRY(compiler::optimise(program.ir));
  return program;
}

}  // namespace

Result<std::unique_ptr<host::Engine>> load(const Options& options,
                                           std::shared_ptr<device::ValidationLog> validation) {
  KENAZ_ASSIGN(compiler::Lowered program, lowered(options, !options.reference || options.optimise));
  if (options.reference) return host::make_reference_engine(std::move(program));
  device::VulkanOptions vulkan;
  vulkan.device = options.device;
  vulkan.validation = std::move(validation);
  vulkan.pipeline_cache = options.cache_file;
  vulkan.memory_limit = options.memory_limit;
  KENAZ_ASSIGN(auto device, device::make_vulkan_device(vulkan));
  KENAZ_ASSIGN(auto generated, compiler::generate(program));
  return host::make_device_engine(std::move(generated), std::move(device));
}

Status check(const Options& options) {
  KENAZ_TRY(front_end(options));
  return {};
}

Result<std::string> dump(const Options& options) {
  KENAZ_ASSIGN(const compiler::Lowered program, lowered(options, options.dump != "lowered"));
  if (options.dump != "glsl") return ir::print(program.ir);
  KENAZ_ASSIGN(const program::Program generated, compiler::generate(program));
  std::string text;
  for (const auto& kernel : generated.kernels) {
    text += fmt::format("// ---- {}\n{}\n", kernel.name, kernel.glsl);
  }
  return text;
}

}  // namespace kenaz
