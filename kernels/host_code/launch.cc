#include "kernels/host_code/launch.h"

#include <algorithm>

#include "kernels/glsl/print_kernel.h"
#include "kernels/kir/access.h"
#include "kernels/kir/most_turns.h"
#include "kernels/kir/passes/drop_counts.h"
#include "kernels/kir/passes/narrow_places.h"
#include "kernels/kir/passes/passes.h"
#include "kernels/kir/passes/powers.h"
#include "kernels/kir/passes/unroll_loops.h"
#include "kernels/kir/passes/unusual.h"
#include "kernels/kir/print.h"
#include "kernels/kir/validate.h"
#include "kernels/kir/visit.h"
#include "protocol/base/check.h"

namespace kenaz::host_code {

namespace {

constexpr int kElementsWorkgroup = 128;
// Of kernels with more instructions than processors of GPUs cache the subgroups of a workgroup, who
// start together, share what is loaded of them: the larger, the better (`poseidon` in
// bench/README.md).
constexpr int kMuchCode = 8192, kWorkgroupOfMuchCode = 512;
// Private memory of a launch; of more elements than fit, each thread does
// several.
constexpr int64_t kPrivateBudget = int64_t{256} << 20;

// Of a thread's heap, in bytes: at first, and how much more the next time.
constexpr int64_t kFirstCapacity = 4096;
constexpr int64_t kGrowth = 4;

program::Arg::Access to_program(kir::Access a) {
  switch (a) {
    case kir::Access::kWrite: return program::Arg::kWrite;
    case kir::Access::kReadWrite: return program::Arg::kReadWrite;
    case kir::Access::kNone:  // the address only
    case kir::Access::kRead: break;
  }
  return program::Arg::kRead;
}

void check([[maybe_unused]] const kir::Kernel& kernel) {
#ifdef KENAZ_VALIDATE_PASSES
  if (const Status valid = kir::validate(kernel); !valid) {
    UNREACHABLE(valid.error().text().c_str());
  }
#endif
}

/// The kernel as the interpreter takes it: provenances become indices into the kernel's own places.
void keep_kernel_ir(const HostArrays& host, kir::Kernel kernel, program::Kernel& out) {
  std::map<uint32_t, uint32_t> numbers;
  const auto renumber = [&](ir::ProvId& prov) {
    if (!prov.valid()) return;
    const auto [it, fresh] = numbers.emplace(prov.index, static_cast<uint32_t>(out.places.size()));
    if (fresh) out.places.push_back(host.ir().backtrace(prov));
    prov.index = it->second;
  };
  renumber(kernel.prov);
  kir::for_each_inst_of(kernel, [&](kir::Inst& inst) { renumber(inst.prov); });
  out.kir = kir::print(kernel);
}

void print_glsl(HostArrays& host, const body::Thread& t, kir::Kernel& kernel,
                program::Kernel& out) {
  glsl::PrintOptions options;
  // Where the driver ends no loops, threads that cannot fail need not ask whether they have.
  if (host.target().max_turns > 0) {
    options.cut_failure = [&](ir::ProvId place) { return host.cut_failure(place); };
  }
  options.contract = host.target().contracts_floats;
  options.quick_divisions = options.skips_look = hides_latency_by_threads(host);
  // Who tells the host something is not waited for. And a register more would cost the packing of
  // filters one workgroup of four (660 us, 770 us).
  options.says_end = options.skips_look && t.tells == program::Kernel::kNothing;
  if (hides_latency_by_threads(host)) {
    out.small_bytes = kir::narrow_places(kernel);
    if (!options.cut_failure) {
      kir::drop_counts(kernel);
      out.turns = kir::most_turns(kernel);
    }
  }
  glsl::PrintedKernel printed = glsl::print_kernel(kernel, options);
  out.glsl = std::move(printed.text);
  out.nesting = printed.nesting;
  out.slots = printed.slots;
  out.may_fail = printed.may_fail;
  out.skips_look = options.skips_look;
  out.says_end = printed.says_end;
}

/// Drops what is not needed; the text, and what the arguments are.
std::vector<program::Arg> finish(HostArrays& host, body::Thread& t, kir::Kernel& kernel,
                                 const std::map<size_t, program::Arg>& others,
                                 program::Kernel& out) {
  check(kernel);
  if (hides_latency_by_threads(host)) kir::unroll_loops(kernel);
  if (host.target().contracts_floats) kir::powers(kernel);
  kir::optimise(kernel);
  if (host.target().contracts_floats) kir::gather_unusual(kernel);
  check(kernel);
  std::vector<program::Arg> args = t.args.finish(kernel, others);
  const auto access = kir::access_of(kernel);
  for (size_t n = 0; n < args.size(); n++) args[n].access = to_program(access[n]);
  out.slots = static_cast<int>(args.size()) + 2;
  if (host.target().interprets) {
    keep_kernel_ir(host, kernel, out);
  } else {
    print_glsl(host, t, kernel, out);
  }
  return args;
}

HostSize threads_of(HostArrays& host, const body::Thread& t, int workgroup_size,
                    const Operand& groups) {
  if (t.single_thread) return host.size(1);
  return host.times(host.size(groups), host.size(workgroup_size));
}

void launch_once(HostArrays& host, body::Thread& t, int workgroup_size, const Operand& groups) {
  const HostSize threads = threads_of(host, t, workgroup_size, groups);
  allocate_private(host, t, workgroup_size, groups);
  if (t.heap.used()) {
    host.allocate_bytes(t.heap.block(), host.times(host.size(t.heap.capacity()), threads));
  }
  launch_kernel(host, t, t.kernel, workgroup_size, groups);
}

/// Again with a larger heap until it is large enough.
void launch_repeatedly(HostArrays& host, const body::Heap& heap,
                       const std::function<void()>& launch_all) {
  host.set_scalar(heap.capacity(), PrimValue::i64(kFirstCapacity));
  const ScalarReg again = host.new_scalar(PrimType::kBool);
  host.set_scalar(again, PrimValue::of_bool(true));
  host.allocate_bytes(heap.flag(), host.size(8));
  program::OpWhile loop;
  loop.cond = again;
  host.emit_into(loop.body, [&] {
    host.emit({program::OpWrite{
        PrimType::kU32, heap.flag(), PrimValue::i64(0), {PrimValue{PrimType::kU32, 0}}}});
    launch_all();
    const ScalarReg flag = host.new_scalar(PrimType::kU32);
    host.emit({program::OpRead{flag, PrimType::kU32, heap.flag(), PrimValue::i64(0)}});
    host.set_scalar(again, host.emit_op(ScalarOp::kNe, PrimType::kU32, PrimType::kBool,
                                        {flag, PrimValue{PrimType::kU32, 0}}));
    host.set_scalar(heap.capacity(),
                    host.times(host.size(heap.capacity()), host.size(kGrowth)).operand());
  });
  host.emit({std::move(loop)});
}

void launch_as_often(HostArrays& host, body::Thread& t, const std::function<void()>& launch_all) {
  if (t.heap.used()) {
    launch_repeatedly(host, t.heap, launch_all);
  } else {
    launch_all();
  }
}

/// As many workgroups as `groups` if their private memory fits the budget; else fewer.
Operand affordable(HostArrays& host, const body::Thread& t, const Operand& groups,
                   int workgroup_size) {
  if (!t.has_private_memory()) return groups;
  HostSize per_thread = host.size(t.private_memory.bytes);
  if (t.heap.used()) per_thread = host.plus(per_thread, host.size(t.heap.capacity()));
  const Operand per_group = host.times(per_thread, host.size(workgroup_size)).operand();
  const Operand most = host.max(
      PrimValue::i64(1),
      host.emit_op(ScalarOp::kQuot, PrimType::kI64, PrimType::kI64,
                   {PrimValue::i64(kPrivateBudget), host.max(PrimValue::i64(1), per_group)}));
  return host.min(groups, most);
}

}  // namespace

void launch_elements(HostArrays& host, body::Thread& t, kir::FunctionId elem,
                     const Operand& width) {
  launch_elements(
      host, t, elem, [](const kir::Value&, const kir::Values&) {}, width, 1);
}

namespace {

/// How many elements a workgroup takes, i64: `most`, or one for each thread if there are so few
/// that they do not fill the device anyway.
Operand tile_of(HostArrays& host, const Operand& width, int64_t most) {
  const Operand few = host.emit_op(ScalarOp::kLe, PrimType::kI64, PrimType::kBool,
                                   {width, PrimValue::i64(host.target().threads)});
  return host.emit_op(ScalarOp::kSelect, PrimType::kI64, PrimType::kI64,
                      {few, PrimValue::i64(kElementsWorkgroup), PrimValue::i64(most)});
}

Operand groups_of(HostArrays& host, const Operand& width, const Operand& tile) {
  const Operand reach = host.add(width, host.add(tile, PrimValue::i64(-1)));
  return host.emit_op(ScalarOp::kQuot, PrimType::kI64, PrimType::kI64, {reach, tile});
}

int group_size_for_elements(const HostArrays& host, const kir::Kernel& kernel) {
  if (!hides_latency_by_threads(host)) return kElementsWorkgroup;
  int instructions = 0;
  kir::for_each_inst_of(kernel, [&](const kir::Inst&) { instructions++; });
  if (instructions < kMuchCode) return kElementsWorkgroup;
  return std::min(kWorkgroupOfMuchCode, host.target().max_group_size);
}

}  // namespace

int items_per_thread(const HostArrays& host, int bytes) {
  constexpr int kMost = 8, kBytesInFlight = 16;
  if (!hides_latency_by_threads(host)) return 1;
  return std::clamp(kBytesInFlight / std::max(bytes, 1), 1, kMost);
}

void launch_elements(HostArrays& host, body::Thread& t, kir::FunctionId elem,
                     const StoreElement& store, const Operand& width, int items) {
  if (host.failed()) return;
  kir::Builder& k = t.k;
  if (items > 1 && !t.has_own_arrays()) {
    launch_neighbours(host, t, {elem, store, elem, store, 1}, width, items);
    return;
  }
  const kir::Value w = t.args.operand(width);
  const auto run = [&](const kir::Value& i) { store(i, k.call(elem, {i})); };
  k.set_prov(t.kernel.prov);
  if (t.has_private_memory()) {
    k.for_(k.global(), w, k.threads(), run);
  } else {
    k.if_(k.lt(k.global(), w), [&] { run(k.global()); });
  }
  launch_as_often(host, t, [&] {
    const int size = group_size_for_elements(host, t.kernel);
    const Operand groups = groups_of(host, width, PrimValue::i64(size));
    t.kernel.group_size = {size};
    launch_once(host, t, size, affordable(host, t, groups, size));
  });
}

void launch_neighbours(HostArrays& host, body::Thread& t, const ElementsAndNeighbours& e,
                       const Operand& width, int items) {
  if (host.failed()) return;
  kir::Builder& k = t.k;
  const kir::Value w = t.args.operand(width), local = k.to_i64(k.local());
  k.set_prov(t.kernel.prov);
  const int64_t most = int64_t{kElementsWorkgroup} * items;
  const Operand tile = tile_of(host, width, most);
  const kir::Value taken = t.args.operand(tile), from = k.mul(k.group(), taken);
  const auto first_of = [&](int piece) {
    return k.add(from, k.mul(k.add(local, int64_t{kElementsWorkgroup} * piece), e.n));
  };
  const auto whole = [&] {
    std::vector<kir::Values> made;
    for (int p = 0; p < items / e.n; p++) made.push_back(k.call(e.many, {first_of(p)}));
    for (int p = 0; p < items / e.n; p++) e.store_many(first_of(p), made[static_cast<size_t>(p)]);
  };
  const auto rest = [&] {
    k.for_(k.add(from, local), k.min(k.add(from, taken), w), kir::i64(kElementsWorkgroup),
           [&](const kir::Value& i) { e.store(i, k.call(e.elem, {i})); });
  };
  k.if_(k.and_(k.eq(taken, most), k.le(k.add(from, most), w)), whole, rest);
  t.kernel.group_size = {kElementsWorkgroup};
  launch_once(host, t, kElementsWorkgroup, groups_of(host, width, tile));
}

void launch_groups(HostArrays& host, body::Thread& t, int workgroup_size, const Operand& groups) {
  launch_as_often(host, t, [&] { launch_once(host, t, workgroup_size, groups); });
}

void launch_single(HostArrays& host, body::Thread& t, kir::FunctionId elem) {
  CHECK(t.single_thread);
  if (host.failed()) return;
  t.k.call(elem, {kir::i64(0)});
  t.kernel.group_size = {1};
  launch_as_often(host, t, [&] { launch_once(host, t, 1, PrimValue::i64(1)); });
}

void allocate_private(HostArrays& host, body::Thread& t, int workgroup_size,
                      const Operand& groups) {
  if (!t.private_memory.used()) return;
  const HostSize threads = threads_of(host, t, workgroup_size, groups);
  host.allocate_bytes(t.private_memory.block,
                      host.times(host.size(t.private_memory.bytes), threads));
}

void launch_kernel(HostArrays& host, body::Thread& t, kir::Kernel& kernel, int workgroup_size,
                   const Operand& groups, const std::map<size_t, program::Arg>& others) {
  program::Kernel out;
  out.name = kernel.name;
  out.workgroup_size = workgroup_size;
  out.tells = t.tells;
  if (kernel.prov.valid()) out.place = host.ir().backtrace(kernel.prov);
  std::vector<program::Arg> args = finish(host, t, kernel, others, out);
  host.emit({program::OpLaunch{host.add_kernel(std::move(out)), groups, std::move(args)}});
}

}  // namespace kenaz::host_code
