#include "server/load.h"

#include <fmt/format.h>

#include "kernels/compiler.h"
#include "kernels/explain/text.h"
#include "kernels/glsl/compile.h"
#include "kernels/ir/print.h"
#include "kernels/kir/print.h"
#include "kernels/spirv/read.h"
#include "server/host/device_target.h"
#include "server/loading.h"
#include "server/tuning.h"

namespace kenaz {
namespace {

Result<compiler::Lowered> array_ir(const Options& options, std::string_view stage) {
  Warnings warnings;
  auto program = array_ir(options, options.program, stage, compiler::file_reader(), warnings);
  print_warnings(options, warnings);
  return program;
}

/// Does what loading the program would, short of starting a device.
Status try_to_load(const Options& options, Warnings& warnings) {
  const auto reader = compiler::file_reader();
  if (options.types_only) {
    KENAZ_TRY(front_end(options, options.program, reader, warnings));
    return {};
  }
  if (options.reference) {
    KENAZ_TRY(array_ir(options, options.program, options.stage, reader, warnings));
    return {};
  }
  const cache::ProgramCache cache = program_cache(options);
  Loading loading(options, options.program, cache, reader);
  const Status begun = loading.begin();
  warnings = loading.warnings();
  return begun ? loading.check() : begun;
}

}  // namespace

Status check_loading(const Options& options) {
  Warnings warnings;
  const Status ok = try_to_load(options, warnings);
  print_warnings(options, warnings);
  KENAZ_TRY(ok);
  if (!options.warnings_are_errors || warnings.empty()) return {};
  return fail(ErrorKind::kCompile, options.program + ": warnings are treated as errors.");
}

namespace {

struct Chosen {
  std::string name;
  program::Target target;
};

/// The first of the devices that the options name.
Result<Chosen> chosen_device(const Options& options) {
  KENAZ_ASSIGN(const auto names, named_devices(options.device));
  Options one = options;
  one.device = names[0];
  const host::RenewedDevice::Maker devices = device_maker(one);
  KENAZ_ASSIGN(auto device, devices());
  KENAZ_ASSIGN(program::Target target, target_of(one, devices, device));
  return Chosen{device->info().name, std::move(target)};
}

}  // namespace

Result<std::string> print_params(const Options& options) {
  KENAZ_ASSIGN(const compiler::Lowered program, array_ir(options, "soacs"));
  program::Target target;
  if (!options.device.empty()) {
    KENAZ_ASSIGN(Chosen chosen, chosen_device(options));
    target = std::move(chosen.target);
  }
  KENAZ_ASSIGN(const program::Program generated, compiler::generate(program, target));
  KENAZ_TRY(read_tuning(options, generated.tuning));  // names and values are checked as ever
  std::string text;
  for (const auto& param : generated.tuning) {
    text += fmt::format("{} ({})\n", param.name, program::class_text(param));
  }
  return text;
}

Result<std::string> explanation(const Options& options) {
  KENAZ_ASSIGN(const compiler::Lowered program, array_ir(options, "soacs"));
  KENAZ_ASSIGN(const Chosen chosen, chosen_device(options));
  explain::Report report;
  KENAZ_TRY(compiler::generate(program, chosen.target, &report));
  report.device = chosen.name;
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
  const bool is_stage = options.dump == "lowered" || options.dump == "seg" || options.dump == "mem";
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
    if (kernel.code_of.valid()) {  // which has been printed
      const std::string& other = generated.kernels[kernel.code_of.index].name;
      if (!kir) text += fmt::format("// ---- {}: the code of {}\n\n", kernel.name, other);
      continue;
    }
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
