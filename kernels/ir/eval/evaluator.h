// The reference evaluator: runs array IR directly on the CPU, sequentially and simply. It is the
// oracle that every pass and every kernel is compared with, so it takes nothing on trust: accesses
// that the IR claims to be safe are checked, and so are the shapes of results.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/ir/ir.h"
#include "protocol/base/result.h"

namespace kenaz::ir::eval {

/// Memory of arrays. `live` counts the bytes of all buffers of one evaluator.
struct Buffer {
  Buffer(std::shared_ptr<std::atomic<int64_t>> live, int64_t size,
         std::unique_ptr<std::byte[]> data);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::shared_ptr<std::atomic<int64_t>> live;
  int64_t bytes;
  std::unique_ptr<std::byte[]> data;
  bool has_places = false;  // arrays at places (ir/places.h) share it
};

/// A row-major array: elements from `offset` (counted in elements). No buffer: not a value, because
/// it was consumed or never bound.
struct Array {
  std::shared_ptr<Buffer> buffer;
  int64_t offset = 0;
  std::vector<int64_t> shape;
};

/// An argument or a result. Arrays share memory with whoever else holds them and are copied before
/// they are written, unless nobody else does.
struct Value {
  Type type;          // only prim and rank matter
  uint64_t bits = 0;  // scalars: as in PrimValue
  Array array;
};

struct Limits {
  int64_t max_bytes = int64_t{6} << 30;  // of all live arrays
  int call_depth = kMaxCallDepth;        // of functions that call themselves
};

/// How segmented operations are run. No result may depend on any of it, so each is a way to find
/// claims of the program, or of a pass, that are wrong.
struct SegOptions {
  /// Of the order of points, where reductions and scans are split, and which operands of
  /// commutative operators are swapped.
  uint64_t seed = 1;
  /// Runs all versions instead of the first whose test holds, and fails with kInternal if one gives
  /// another result or fails alone. Floats may differ by rounding.
  bool all_versions = false;
  /// Values of parameters of Program::tunes, by name; the others have their fallback, or 1.
  std::map<std::string, int64_t> tunes;
};

class Machine;

class Evaluator {
 public:
  explicit Evaluator(Program program, Limits limits = {});
  /// With the program's constants computed; fails if one of them does.
  static Result<Evaluator> make(Program program, Limits limits = {});
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;
  ~Evaluator();

  /// Computes the program's constants now; otherwise the first call of a function that needs them
  /// does, and the next one if that fails.
  Status prepare();
  /// Arguments: one per param, of its type. Results: without the function's ret_size_vars. A
  /// program's failure has kind kProgramFailure and the text "Error: ...\n\nBacktrace:\n...".
  Result<std::vector<Value>> call(FunId function, std::vector<Value> args);
  /// Asked every so often during calls; where it fails, the call does.
  void set_interrupt(std::function<Status()> interrupt);
  void set_seg_options(SegOptions options);
  /// A new array of unspecified contents, counted against the limit.
  Result<Array> allocate(PrimType type, std::vector<int64_t> shape);
  const Program& program() const;

 private:
  std::unique_ptr<Machine> machine_;
};

}  // namespace kenaz::ir::eval
