// From a kernel whose element code is translated (kernels/body) to its launch: memory for its
// threads, its main, its text, the host operations.
#pragma once

#include <map>

#include "kernels/body/thread.h"
#include "kernels/host_code/host_arrays.h"

namespace kenaz::host_code {

/// For kernels of a function `elem` of an i64 without results: `width` threads run elem(i), each
/// for one i or, if they have memory of their own, one after the other for several.
void launch_elements(HostArrays& host, body::Thread& t, kir::FunctionId elem, const Operand& width);
/// The same for an `elem` whose results `store` puts away. A thread takes `items` elements, unless
/// it has memory of its own: it makes them all before it stores any, so that as many loads are
/// under way. (A driver can't know that a load is not of what was just stored.)
using StoreElement = std::function<void(const kir::Value& i, const kir::Values& made)>;
void launch_elements(HostArrays& host, body::Thread& t, kir::FunctionId elem,
                     const StoreElement& store, const Operand& width, int items);
/// Elements one by one and `n` neighbours at a time: their first place is a multiple of n.
struct ElementsAndNeighbours {
  kir::FunctionId elem;
  StoreElement store;
  kir::FunctionId many;
  StoreElement store_many;
  int n = 1;
};
/// As launch_elements; `items` is a multiple of n. For threads that need no memory of their own.
void launch_neighbours(HostArrays& host, body::Thread& t, const ElementsAndNeighbours& e,
                       const Operand& width, int items);
/// How many elements of so many bytes it takes; 1 on CPUs.
int items_per_thread(const HostArrays& host, int bytes);
/// For a kernel whose main is made, of workgroups that work together.
void launch_groups(HostArrays& host, body::Thread& t, int workgroup_size, const Operand& groups);
/// One thread runs elem(0).
void launch_single(HostArrays& host, body::Thread& t, kir::FunctionId elem);
/// The memory of arrays that threads make, of a kernel whose code is there; nothing if they make
/// none, or only some of sizes that the host cannot know.
void allocate_private(HostArrays& host, body::Thread& t, int workgroup_size, const Operand& groups);
/// Optimises and prints a kernel, and launches it. `others`: arguments that are not t's, by their
/// index.
void launch_kernel(HostArrays& host, body::Thread& t, kir::Kernel& kernel, int workgroup_size,
                   const Operand& groups, const std::map<size_t, program::Arg>& others = {});

}  // namespace kenaz::host_code
