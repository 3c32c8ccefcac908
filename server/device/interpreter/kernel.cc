#include "server/device/interpreter/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "kernels/kir/parse.h"
#include "kernels/kir/validate.h"
#include "kernels/program/program.h"

namespace kenaz::device::interpreter {
namespace {

uint64_t word_at(std::span<const std::byte> bytes, size_t offset, size_t size) {
  uint64_t word = 0;
  std::memcpy(&word, bytes.data() + offset, size);
  return word;
}

/// Failure record, arguments, number of workgroups.
Result<LaunchArguments> of_slots(const InterpretedKernel& kernel,
                                 std::span<const std::byte> slots) {
  const std::vector<kir::Arg>& args = kernel.kernel.args;
  if (slots.size() != 8 * (args.size() + 2)) {
    return internal_error(
        fmt::format("{} bytes of arguments for {} arguments", slots.size(), args.size()));
  }
  LaunchArguments out;
  out.record = word_at(slots, 0, 8);
  for (size_t k = 0; k < args.size(); ++k) {
    out.args.push_back({kernel.kernel.vals[args[k].val.index].prim, word_at(slots, 8 * k + 8, 8)});
  }
  out.groups = static_cast<int64_t>(word_at(slots, slots.size() - 8, 8));
  return out;
}

Result<LaunchArguments> of_push(const InterpretedKernel& kernel, std::span<const std::byte> slots,
                                std::span<const std::byte> push, uint32_t x, uint32_t y) {
  LaunchArguments out;
  if (slots.size() >= 8) out.record = word_at(slots, 0, 8) & ~program::kNothingFailed;
  const uint32_t groups[] = {x, y, 1};
  for (size_t k = 0; k < kernel.inputs.size(); ++k) {
    const spirv::Input& in = kernel.inputs[k];
    const PrimType type = kernel.kernel.vals[kernel.kernel.args[k].val.index].prim;
    const auto size = static_cast<size_t>(prim_size(type));
    if (in.kind == spirv::Input::kGroups) {
      out.args.push_back({type, groups[std::min(in.number, 2u)]});
    } else if (in.kind == spirv::Input::kPush && in.number + size <= push.size()) {
      out.args.push_back({type, word_at(push, in.number, size)});
    } else {
      return internal_error(
          fmt::format("kernel {}: no push constant at byte {}", kernel.kernel.name, in.number));
    }
  }
  out.groups = int64_t{x} * y;
  return out;
}

}  // namespace

Result<KernelPtr> kernel_of_ir(const KernelSource& source) {
  if (source.kernel_ir.empty()) {
    return internal_error(fmt::format("there is no kernel IR of kernel {}", source.name));
  }
  auto made = std::make_shared<InterpretedKernel>();
  auto parsed = kir::parse(source.kernel_ir);
  const Status valid = parsed ? kir::validate(*parsed) : tl::make_unexpected(parsed.error());
  if (!valid) {
    return internal_error(fmt::format("kernel {}: {}", source.name, valid.error().text()));
  }
  made->kernel = std::move(*parsed);
  made->places.assign(source.places.begin(), source.places.end());
  made->push_bytes = source.push_bytes;
  const size_t slots = made->kernel.args.size() + 2;
  if (source.push_bytes != 8 && source.push_bytes != 8 * slots) {
    return internal_error(fmt::format("kernel {}: {} bytes of push constants for {} slots",
                                      source.name, source.push_bytes, slots));
  }
  return made;
}

Result<KernelPtr> kernel_of_spirv(const KernelSource& source) {
  const ir::ProvId place = source.places.empty() ? ir::ProvId{} : ir::ProvId{0};
  auto read = spirv::read(source.spirv, {source.name, source.constants, place});
  if (!read) return internal_error(read.error().text());
  auto made = std::make_shared<InterpretedKernel>();
  made->kernel = std::move(read->kernel);
  made->inputs = std::move(read->inputs);
  made->places.assign(source.places.begin(), source.places.end());
  made->push_bytes = source.push_bytes;
  made->of_spirv = true;
  return made;
}

KernelPtr kernel_of_another(const KernelSource& source) {
  auto made =
      std::make_shared<InterpretedKernel>(static_cast<const InterpretedKernel&>(*source.code_of));
  made->kernel.name = source.name;
  made->places.assign(source.places.begin(), source.places.end());
  return made;
}

Result<LaunchArguments> launch_arguments(const InterpretedKernel& kernel,
                                         std::span<const std::byte> slots,
                                         std::span<const std::byte> push, uint32_t x, uint32_t y) {
  if (kernel.of_spirv) return of_push(kernel, slots, push, x, y);
  KENAZ_ASSIGN(LaunchArguments out, of_slots(kernel, slots));
  // Kernels have no effect in workgroups beyond their number.
  out.groups = std::min(out.groups, int64_t{x} * y);
  return out;
}

}  // namespace kenaz::device::interpreter
