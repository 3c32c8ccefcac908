// What runs a program's entry points: the device (host code and kernels), or the reference
// evaluator on the CPU. The session layer above sees only this.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/program/target.h"
#include "protocol/base/result.h"
#include "protocol/data/value.h"
#include "protocol/value_type.h"
#include "server/device/device.h"
#include "server/host/tuning.h"

namespace kenaz::host {

/// A scalar or array of a primitive type, wherever its engine keeps it. Immutable to its holders
/// and counted, so a result that shares memory with an input survives the input's variable.
class Leaf {
 public:
  virtual ~Leaf() = default;
  PrimType prim = PrimType::kI32;
  std::vector<int64_t> shape;  // empty: a scalar

  /// A scalar's value, which needs no engine. Nothing: an array.
  virtual std::optional<PrimValue> scalar() const { return std::nullopt; }
  int64_t bytes() const {  // of its elements; known not to overflow
    int64_t n = prim_size(prim);
    for (int64_t d : shape) n *= d;
    return n;
  }
};
using LeafPtr = std::shared_ptr<const Leaf>;

/// Fills a new leaf piece by piece, so that data from a socket needs no second copy in memory. The
/// pieces may be written by any thread; everything else happens on the engine's own. No two of its
/// functions at a time. May be dropped at any time, by any thread.
class LeafWriter {
 public:
  virtual ~LeafWriter() = default;
  /// Where the next bytes go. Empty: all are there, or work() must be called first.
  virtual std::span<std::byte> window() = 0;
  /// `n` bytes of the window have been written.
  virtual void advance(size_t n) = 0;
  /// On the engine's thread: makes room for more.
  virtual Status work() = 0;
  /// On the engine's thread, when all bytes are there.
  virtual Result<LeafPtr> finish() = 0;
};

/// Reads a leaf piece by piece; same threads. What it reads is what the leaf held when it was made.
class LeafReader {
 public:
  virtual ~LeafReader() = default;
  /// The next bytes. Empty: all have been taken, or work() must be called first.
  virtual std::span<const std::byte> window() = 0;
  /// `n` bytes of the window are no longer needed.
  virtual void advance(size_t n) = 0;
  /// On the engine's thread: fetches more.
  virtual Status work() = 0;
};

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
  std::string doc;                  // its documentation comment without the dashes, or ""
  std::vector<std::string> tuning;  // names of the tuning parameters that it reads
};

/// Used by one thread at a time, its own (but see set_step_aside), except for types(), entries()
/// and name(), which never change, memory(), cancel() and cancel_calls_of(). Leaves may be let go
/// by any thread.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const TypeTable& types() const = 0;
  virtual const std::vector<EntrySignature>& entries() const = 0;     // sorted by name
  virtual std::string name() const { return "reference evaluator"; }  // of what calls run on
  /// What the program was compiled for; null: it has no kernels.
  virtual std::optional<program::Target> target() const { return std::nullopt; }

  virtual Result<LeafPtr> put(const data::Value& value) = 0;
  virtual Result<data::Value> get(const Leaf& leaf) = 0;

  /// Both in pieces; these go through a value in host memory.
  virtual Result<std::unique_ptr<LeafWriter>> writer(PrimType prim, std::vector<int64_t> shape);
  virtual Result<std::unique_ptr<LeafReader>> reader(LeafPtr leaf);

  // Parts of arrays. Elements are leaves too; `number` counts them, row-major. Sizes and numbers
  // must fit, or the error is internal. By default through values in host memory.
  /// The element whose dimensions are those of the array but the first `rank`; with rank 0 a copy.
  virtual Result<LeafPtr> element(const LeafPtr& array, int rank, int64_t number);
  /// The array with one element replaced. `in_place`: nobody but the caller holds `array`, and it
  /// may be changed itself, unless this fails.
  virtual Result<LeafPtr> with_element(const LeafPtr& array, int64_t number, const LeafPtr& element,
                                       bool in_place);
  /// An array made of elements one after the other: `shape` is all of it.
  virtual Result<LeafPtr> join(PrimType prim, std::vector<int64_t> shape,
                               std::span<const LeafPtr> elements);

  /// Computes the program's top-level constants now; otherwise the first call that needs them does,
  /// within its time, and so does the next one if that fails. Then calls that need constants fail
  /// with the failing one's text, and all others go on.
  virtual Status prepare() { return {}; }

  /// Runs an entry point on the leaves of its arguments, in order, and waits. A program's failure
  /// has kind kProgramFailure and the whole text ("Error: ...\n\nBacktrace:\n..."); nothing is
  /// changed then, except that consumed arguments may hold garbage of the same shape.
  virtual Result<std::vector<LeafPtr>> call(const std::string& entry,
                                            std::span<const LeafPtr> args) = 0;

  /// Whose the memory is that operations take from now on. What one owner leaves in memory, no
  /// other sees. 0, in the beginning: the server's own.
  virtual void set_owner(uint64_t) {}

  /// How a call lets others use the engine, on other threads, while it waits for what needs none:
  /// it calls this with what waits, and goes on when it returns. Null, in the beginning: it waits
  /// with the engine.
  using StepAside = std::function<void(const std::function<void()>& wait)>;
  virtual void set_step_aside(StepAside) {}

  /// A call that takes longer fails, and is stopped. Zero: none does.
  virtual void set_call_timeout(std::chrono::microseconds) {}
  /// A call may take so many bytes of the device's memory, its result included; one that wants
  /// more fails with kOutOfMemory. 0, in the beginning: as many as there are. Where there is no
  /// device it means nothing.
  virtual void set_call_bytes(int64_t) {}
  /// Ends the calls that run now, if any, soon; they fail. By any thread.
  virtual void cancel() {}
  /// Whether calls wait for a device by asking it again and again, because they are shorter than it
  /// takes a thread to wake up.
  virtual bool polls_device() const { return false; }
  /// Whether its destructor waits for nothing that may last.
  virtual bool may_go() const { return true; }
  /// Ends those that run for this owner. By any thread.
  virtual void cancel_calls_of(uint64_t) {}

  /// The program's tuning parameters. Never changes.
  virtual const std::vector<program::TuningParam>& tuning_params() const;
  /// The values for what runs from now on; null, in the beginning: none are set. Names that the
  /// program does not have mean nothing.
  void set_tuning(std::shared_ptr<const Tuning> tuning) { tuning_ = std::move(tuning); }
  const std::shared_ptr<const Tuning>& tuning() const { return tuning_; }
  /// What the last call compared, each pair of parameter and size once, if it compared few.
  virtual std::vector<Comparison> comparisons() const { return {}; }

  /// Whether calls find out from now on how long each of their kernels runs.
  void set_profiled(bool profiled) { profiled_ = profiled; }
  bool profiled() const { return profiled_; }
  /// Of the last call, if it was profiled.
  virtual std::vector<device::KernelTime> kernel_times() const { return {}; }

  virtual void clear_caches() {}
  virtual device::MemoryStats memory() const { return {}; }

 private:
  std::shared_ptr<const Tuning> tuning_;
  bool profiled_ = false;
};

/// The same engine as one session sees it: what it does is done for that owner, with tuning
/// parameters of its own.
std::shared_ptr<Engine> engine_for_session(std::shared_ptr<Engine> engine, uint64_t owner);

/// The bytes of a call's result. A program may make shapes that no value has, since an array
/// without elements takes no memory: negative sizes in one are 0 from now on, and if the others are
/// too large that is the call's failure.
Result<int64_t> result_bytes(PrimType prim, std::vector<int64_t>& shape);

}  // namespace kenaz::host
