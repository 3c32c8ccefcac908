// What runs a program's entry points: the device (host code and kernels), or the reference
// evaluator on the CPU. The session layer above sees only this.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/compiler.h"
#include "protocol/base/result.h"
#include "protocol/data/value.h"
#include "protocol/value_type.h"
#include "server/device/device.h"

namespace kenaz::host {

/// A scalar or array of a primitive type, wherever its engine keeps it. Immutable to its holders
/// and counted, so a result that shares memory with an input survives the input's variable.
class Leaf {
 public:
  virtual ~Leaf() = default;
  PrimType prim = PrimType::kI32;
  std::vector<int64_t> shape;  // empty: a scalar
};
using LeafPtr = std::shared_ptr<const Leaf>;

struct EntrySignature {
  struct Param {
    std::string name, type;
    bool consumed = false;
    int leaves = 1;
  };
  std::string name;
  std::vector<Param> params;
  std::string result;
  bool result_unique = false;
  std::vector<std::string> attrs;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual const TypeTable& types() const = 0;
  virtual const std::vector<EntrySignature>& entries() const = 0;  // sorted by name

  virtual Result<LeafPtr> put(const data::Value& value) = 0;
  virtual Result<data::Value> get(const Leaf& leaf) = 0;

  /// Runs an entry point on the leaves of its arguments, in order, and waits. A program's failure
  /// has kind kProgramFailure and the whole text ("Error: ...\n\nBacktrace:\n..."); nothing is
  /// changed then, except that consumed arguments may hold garbage of the same shape.
  virtual Result<std::vector<LeafPtr>> call(const std::string& entry,
                                            std::span<const LeafPtr> args) = 0;

  virtual void clear_caches() {}
  virtual device::MemoryStats memory() const { return {}; }
};

/// Runs top-level constants; fails if one of them does.
Result<std::unique_ptr<Engine>> make_reference_engine(compiler::Lowered lowered);
Result<std::unique_ptr<Engine>> make_device_engine(program::Program program,
                                                   std::shared_ptr<device::Device> device);

}  // namespace kenaz::host
