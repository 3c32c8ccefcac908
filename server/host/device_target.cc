#include "server/host/device_target.h"

#include <algorithm>
#include <climits>

namespace kenaz::host {

namespace {

/// Threads that fill a device, which Vulkan does not tell. An H200 keeps 2048 on each of its 132
/// multiprocessors, about as many as this. Smaller GPUs get more work at a time than they need,
/// which costs them little.
constexpr int64_t kGpuThreads = 1 << 18;
/// On CPUs a workgroup is one task of one core, so this is one of the usual size, or a few small
/// ones.
constexpr int64_t kCpuThreads = 256;

/// llvmpipe allows 65535 turns; this leaves some to loops that plans do not count.
constexpr int64_t kTurnsBeforeCut = 60000;

int as_int(uint32_t n) { return static_cast<int>(std::min(n, uint32_t{INT_MAX})); }

}  // namespace

program::Target device_target(const device::Info& info, int64_t threads, bool contract) {
  program::Target target;
  target.subgroup_arithmetic = info.subgroup_arithmetic && info.subgroup_size > 1;
  target.subgroup_size = target.subgroup_arithmetic ? as_int(info.subgroup_size) : 1;
  target.fixed_subgroups = target.subgroup_arithmetic && info.fixed_subgroups;
  target.max_group_size = as_int(info.max_group_size);
  target.shared_bytes = as_int(info.shared_bytes) - kSharedApart;
  target.threads = threads > 0 ? threads : info.is_cpu ? kCpuThreads : kGpuThreads;
  target.f16 = info.float16;
  target.f64 = info.float64;
  target.i64_atomics = info.int64_atomics;
  target.shared_i64_atomics = info.shared_int64_atomics;
  // GPUs' atomic sums may take what is subnormal for zero.
  if (contract || info.is_cpu || info.interprets) {
    target.f32_atomic_add = info.float32_atomic_add;
    target.shared_f32_atomic_add = info.shared_float32_atomic_add;
    target.f64_atomic_add = info.float64_atomic_add;
    target.shared_f64_atomic_add = info.shared_float64_atomic_add;
  }
  // What a driver says of progress must first be seen to hold: server/progress.h asks for it.
  set_forward_progress(target, info, info.interprets && info.forward_progress);
  target.max_turns = info.cuts_loops ? kTurnsBeforeCut : 0;
  // llvmpipe fuses nothing, but takes the permission for other ones.
  target.contracts_floats = contract && !info.is_cpu && !info.interprets;
  target.reads_ahead = info.joins_loads && target.subgroup_size > 1;
  target.interprets = info.interprets;
  return target;
}

void set_forward_progress(program::Target& target, const device::Info& info, bool proceeds) {
  target.forward_progress = proceeds;
  target.starts_in_order = proceeds && info.starts_in_order;
}

std::optional<program::Target> posed_target(const std::string& kind) {
  if (kind == "least") return program::Target{};
  device::Info info;
  info.subgroup_arithmetic = info.fixed_subgroups = true;
  info.int64_atomics = info.shared_int64_atomics = info.float64 = true;
  info.max_group_size = 1024;
  if (kind == "cpu") {
    info.is_cpu = info.cuts_loops = info.joins_loads = true;
    info.subgroup_size = 8;
    info.shared_bytes = 32768;
    return device_target(info);
  }
  if (kind != "gpu") return std::nullopt;
  info.float16 = info.forward_progress = info.starts_in_order = true;
  info.subgroup_size = 32;
  info.shared_bytes = 49152;
  program::Target gpu = device_target(info, 0, true);
  set_forward_progress(gpu, info, true);
  gpu.f32_atomic_add = gpu.shared_f32_atomic_add = true;
  gpu.f64_atomic_add = gpu.shared_f64_atomic_add = true;
  return gpu;
}

}  // namespace kenaz::host
