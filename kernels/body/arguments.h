// A kernel's arguments: host values, imported where the kernel's code mentions them, each once.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/body/values.h"

namespace kenaz::body {

class Arguments {
 public:
  Arguments(Host& host, kir::Builder& k) : host_(host), k_(k) {}

  kir::Value operand(const Operand& o);
  /// Takes `value`, which is what the host value is, in its place from here on: because more is
  /// known of it.
  void set(const Operand& o, const kir::Value& value);
  /// The block's address.
  kir::Value block(BlockReg b);
  /// Loads it here if it is in device memory.
  kir::Value scalar(const HostScalar& s);
  KernelArray array(const HostArray& a);
  /// The host value that a kernel array stands for, if it is an untouched import.
  std::optional<HostArray> as_import(const KernelArray& a) const;

  /// The number of memory that is no other's.
  int new_memory() { return memories_++; }

  /// Drops what the finished kernel does not use, and says what the rest is, by Kernel::args.
  /// `others`: what those arguments are that somebody else added, by their index.
  std::vector<program::Arg> finish(kir::Kernel& kernel,
                                   const std::map<size_t, program::Arg>& others = {});

 private:
  /// Of the argument that was just added.
  void note(program::Arg source) { sources_[k_.kernel().args.size() - 1] = std::move(source); }

  Host& host_;
  kir::Builder& k_;
  std::map<uint32_t, kir::Value> scalars_, blocks_;  // by register
  std::map<uint32_t, int> block_memory_;             // memory numbers by block register
  std::map<size_t, program::Arg> sources_;           // by index into Kernel::args
  std::vector<std::pair<KernelArray, HostArray>> imports_;
  int memories_ = 0;
};

}  // namespace kenaz::body
