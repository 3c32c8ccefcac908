// For tests: a kernel, the memory that it runs on, and what came out.
#pragma once

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/kir/builder.h"
#include "kernels/kir/eval/machine.h"

namespace kenaz::kir {

/// Arguments are declared for the kernel and given a value at once.
struct KernelTest {
  Kernel kernel;
  Builder k{kernel};
  Memory memory;
  std::vector<PrimValue> args;
  RunOptions options;
  int64_t groups = 1;
  Observer* observer = nullptr;
  std::optional<Fault> fault;

  KernelTest() { kernel.name = "test"; }

  /// A block that holds `data`.
  template <class T>
  Value array(const std::string& name, const std::vector<T>& data) {
    return block(name, memory.allocate(std::as_bytes(std::span(data))));
  }
  /// An undefined block for `n` elements.
  template <class T>
  Value room(const std::string& name, size_t n) {
    return block(name, memory.allocate(n * sizeof(T)));
  }
  Value block(const std::string& name, uint64_t address) {
    args.push_back({PrimType::kU64, address});
    return k.block_arg(name);
  }
  Value scalar(const std::string& name, PrimValue v) {
    args.push_back(v);
    return k.arg(name, v.type);
  }

  Result<RunResult> run() {
    return kir::run(kernel, memory, args, groups, options, observer, &fault);
  }
  /// The error's text, or nothing.
  std::string error() {
    auto r = run();
    return r ? "" : r.error().message;
  }
  /// What the block of argument `name` holds.
  template <class T>
  std::vector<T> read(const std::string& name) const {
    for (size_t a = 0; a < args.size(); a++) {
      if (kernel.args[a].name != name) continue;
      const auto bytes = memory.bytes(args[a].bits);
      std::vector<T> out(bytes.size() / sizeof(T));
      std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
      return out;
    }
    return {};
  }
  bool all_defined(const std::string& name) const {
    for (size_t a = 0; a < args.size(); a++) {
      if (kernel.args[a].name != name) continue;
      return memory.defined(args[a].bits, memory.bytes(args[a].bits).size());
    }
    return false;
  }
};

/// from, from + 1, ..
inline std::vector<int32_t> iota(size_t n, int32_t from = 0) {
  std::vector<int32_t> out(n);
  std::iota(out.begin(), out.end(), from);
  return out;
}

/// One workgroup of `threads`; each stores what `body` gives it to out[local].
struct PerThread : KernelTest {
  PerThread(int threads, PrimType type) {
    kernel.group_size.constant = threads;
    out = block("out", memory.allocate(static_cast<size_t>(threads) * prim_size(type)));
  }
  void give(const Value& v) { k.store(out, k.local(), v); }
  Value out;
};

}  // namespace kenaz::kir
