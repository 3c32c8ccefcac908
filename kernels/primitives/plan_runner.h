// For tests of plans: runs what a plan has made through the interpreter of kernel IR, as host code
// would on a device, and compares with a loop.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "kernels/kir/eval/machine.h"
#include "kernels/plan/team.h"

namespace kenaz::primitives::testing {

/// A made-up device, and how many lanes the interpreter gives its subgroups.
struct Device {
  std::string name;
  program::Target target;
  int lanes = 1;
};

/// From what Vulkan guarantees to more than any device has.
std::vector<Device> made_up_devices();

/// An array of values, each of several scalars.
using Rows = std::vector<std::vector<PrimValue>>;

/// An operator at compile time and in kernels, and numbers to try it on.
struct TestOperator {
  std::string name;
  plan::OpFacts facts;
  std::function<plan::Operator(kir::Builder&)> make;
  /// A number for a scalar of the value.
  std::function<PrimValue(size_t scalar, uint64_t random)> sample;
};
TestOperator known_test_operator(ScalarOp op, PrimType type);
/// Affine maps, 2x2 matrices mod 2^32, and a tuple of sum, conjunction and byte minimum.
TestOperator affine_maps();
TestOperator matrices();
TestOperator tuples();
/// All of these, and more.
std::vector<TestOperator> test_operators();

/// op(a, b), on the host.
std::vector<PrimValue> combine_on_host(const TestOperator& op, const std::vector<PrimValue>& a,
                                       const std::vector<PrimValue>& b);
std::vector<PrimValue> neutral_on_host(const TestOperator& op);
Rows random_rows(const TestOperator& op, int64_t count, uint64_t seed);

/// Segments as the rows of a matrix in row-major order, or as its columns.
struct Matrix {
  int64_t segments = 1, length = 0;
  bool across = false;
  int widest = 1;
  /// The element at this place in a row makes the program fail.
  std::optional<plan::Place> fails = std::nullopt;
  /// The segments are also those of matrices with so many rows and columns (plan::Grid); 0: not.
  int64_t rows = 0, columns = 0;
  /// How many segments there are is asked at run time, even if there is one.
  bool asked = false;
  /// After so many steps of the interpreter, the host stops the call; negative: never.
  int64_t stop_after = -1;

  bool completes() const { return !fails && stop_after < 0; }

  int64_t size() const { return segments * length; }
  int64_t index(int64_t segment, int64_t position) const {
    return across ? position * segments + segment : segment * length + position;
  }
  kir::Value index(kir::Builder& k, const plan::Place& at) const;
  std::string text() const;
  /// name, segments (size 0), length (size 1), across, widest; tiles are small.
  plan::Facts facts(const std::string& name) const;
  /// Loads scalars of `types` from dense arrays at `from`; with `many` if widest > 1.
  plan::Elements load(std::vector<PrimType> types, kir::Values from) const;
  /// Stores scalars to dense arrays of the same shape.
  plan::Sink store(kir::Values to) const;
};

/// Runs a kernel; fails the test if the kernel does something wrong. Returns whether the program
/// failed. Blocks are addresses in `memory`.
using Launch =
    std::function<bool(const kir::Kernel& kernel, kir::Memory& memory,
                       const std::vector<PrimValue>& args, int64_t groups, const kir::RunOptions&)>;
/// From now on, trials are for this device only and kernels are run by `launch`, not by the
/// interpreter.
void use_device(const Device& device, Launch launch);

/// Every plan of a family with every operator, on the devices in use.
void check_every_reduction();
void check_every_scan();
void check_every_histogram();
void check_every_packing();
void check_every_sort();
void check_every_copy();

/// Device memory with arrays of scalars in it, and what the caller's arguments of each kernel are.
class Session {
 public:
  kir::Memory memory;

  /// A block with the n-th scalar of all rows; the types are those of the operator or of `types`.
  uint64_t upload(const Rows& rows, size_t scalar, PrimType type);
  uint64_t reserve(int64_t count, PrimType type);
  /// Reads `count` scalars; records a failure where one is undefined.
  std::vector<PrimValue> download(uint64_t block, int64_t count, PrimType type) const {
    return download_at(block, block, count, type);
  }
  /// From an address in the block on.
  std::vector<PrimValue> download_at(uint64_t block, uint64_t first, int64_t count,
                                     PrimType type) const;

  /// In a Bind: starts a kernel's arguments.
  void start() { args_.emplace_back(); }
  /// In a Bind: arguments with these blocks' addresses.
  kir::Values blocks(kir::Builder& k, const std::vector<uint64_t>& addresses);

  struct Options {
    int group_size = 0;  // overrides spec 0
    uint64_t seed = 0;
    int concurrent_groups = 1;
    /// Whether memory that is zero before and behind the plan becomes so between its kernels, as
    /// where the host compiles one.
    bool clears = false;
  };
  /// Runs all steps, up to one in which the program fails; returns whether it did. Fails the test
  /// if the kernels do something wrong, or leave memory that must be zero otherwise.
  bool run(const plan::Work& work, const std::vector<int64_t>& sizes, const Matrix& matrix,
           const Device& device, const Options& options);

 private:
  std::vector<std::vector<PrimValue>> args_;  // of the caller, by step
};

/// Runs every plan of a table that applies, whatever the sizes, on every device, with several
/// workgroup sizes and interleavings: `each` gets what it needs to make and run one.
struct Trial {
  const plan::Plan* plan;
  Device device;
  Session::Options options;
};
std::vector<Trial> trials(std::span<const plan::Plan> table, const plan::Facts& facts);
/// Whether the table says that the plan is right for these sizes.
bool is_right(const plan::Plan& plan, const Matrix& m);

}  // namespace kenaz::primitives::testing
