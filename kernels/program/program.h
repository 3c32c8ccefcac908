// Program: what the compiler makes and the server runs. A plain value: signatures, host code,
// kernels, failure messages. Serialisable (serialise.h); knows no Vulkan and no IR.
//
// Host code runs in a small interpreter (server/host) with two register files: scalars (PrimValue)
// and blocks (reference-counted pieces of device memory). It records kernel launches into one
// command buffer; an OpRead or the end of the call submits and waits. Launches run in the order
// recorded; the interpreter puts barriers between launches that depend on each other (it knows
// which blocks a launch reads and writes from Arg::access).
//
// A new field anywhere below also belongs into serialise.cc (and kFormatVersion is raised).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "kernels/program/target.h"
#include "kernels/program/tuning.h"
#include "kernels/program/turns.h"
#include "kernels/scalar/ops.h"
#include "protocol/base/ids.h"
#include "protocol/prim_type.h"
#include "protocol/value_type.h"

namespace kenaz::program {

using ScalarReg = Id<struct ScalarRegTag>;
using BlockReg = Id<struct BlockRegTag>;
using KernelId = Id<struct KernelTag>;

using Operand = std::variant<PrimValue, ScalarReg>;

struct HostOp;
using Code = std::vector<HostOp>;

struct OpScalar {
  ScalarReg dst;
  ScalarOp op;
  PrimType type;
  PrimType to;
  std::vector<Operand> args;
};
struct OpMove {
  ScalarReg dst;
  Operand src;
};
/// dst becomes a new block of `bytes` (i64; 0 is fine; negative or 2^62 and more: a size that could
/// not be computed, out of memory). Contents undefined, unless it is kZeroes.
struct OpAlloc {
  enum Use : uint8_t {
    kData,
    kHostReads,  // cells, for scalars that the host is likely to read
    /// Holds zeros, and again when what was launched with it has ended, unless the call fails or is
    /// stopped. May be the same memory as other such blocks of the same `number`.
    kZeroes
  };
  BlockReg dst;
  Operand bytes;
  Use use = kData;
  uint8_t number = 0;  // kZeroes: below kMostZeroes
};
inline constexpr uint8_t kMostZeroes = 4;
/// A cell holds a scalar, from its first byte on. Kernels that tell (Kernel::tells) store two
/// words, the scalar's bits and these combined with kCellMark by exclusive or. Where the host finds
/// both it knows the scalar, however the bytes have come: of a byte that is still 0, as all are in
/// the beginning, and one that has come, the mark's can only be the difference if what has not come
/// is 0.
inline constexpr int kCellBytes = 16;
inline constexpr uint64_t kCellMark = 0xa5a5a5a5a5a5a5a5;
/// dst refers to the same memory as src (counted).
struct OpMoveBlock {
  BlockReg dst, src;
};
/// dst refers to `bytes` of src's memory, from byte `offset` on, which is a multiple of
/// kPartAlignment (i64s). All of the memory stays as long as one of them does.
struct OpPart {
  BlockReg dst, src;
  Operand offset, bytes;
};
inline constexpr int64_t kPartAlignment = 16;
/// The register lets go of its block.
struct OpRelease {
  BlockReg block;
};

/// A kernel's argument. All arguments travel as 8-byte slots: slot 0 is always the address of the
/// call's failure record, then the args in order. Slots are push constants if all of them fit into
/// kPushBytes, else they stand in an argument buffer whose address is the only push constant.
struct Arg {
  enum Kind : uint8_t { kScalar, kBlock } kind = kScalar;
  enum Access : uint8_t { kRead = 1, kWrite = 2, kReadWrite = 3 } access = kReadWrite;  // kBlock
  Operand scalar;  // kScalar: bits zero-extended to 64
  BlockReg block;  // kBlock: its device address
};
inline constexpr int kPushBytes = 128;

/// Kernels that may skip it (Kernel::skips_look) look whether the call has failed, when they start,
/// only if slot 0 is without this. It is added where nothing can have failed before the launch; to
/// look takes as long as to load an element.
inline constexpr uint64_t kNothingFailed = 1;

/// A kernel that says its end (Kernel::says_end, and skips_look) has a slot more, between its
/// arguments and the number of workgroups: the address of a cell, or 0. If it is one, the launch
/// has kMostSaying workgroups at most and kNothingFailed, and the last workgroup that ends stores 1
/// there, as kernels that tell do. To know which is the last they count in the failure record's
/// second word, which the last one sets to 0 again. The host may take the launch for ended then,
/// except for what it does itself with the memory that the kernel writes to.
inline constexpr int64_t kMostSaying = 4096;

/// A kernel may take so many slots more, behind all others. Its bytes 4 * n are the number n, from
/// 0 to 7: a thread that looks up the digits of its workgroup's number there has it as something
/// that was passed to it, and drivers know that such things are the same for all threads. Its
/// workgroups stand in rows of kDigitsRow, the last row included, if they are more than that.
inline constexpr int kDigitSlots = 4;
inline constexpr int kDigitsRow = 1 << 15;

/// Launches `groups` workgroups (i64, at least 0; 0 launches nothing; may exceed the device's limit
/// for one dimension: kernels take their workgroup's number as x + y * num_groups_x and leave when
/// it is not below `groups`, which is passed as the last slot).
struct OpLaunch {
  KernelId kernel;
  Operand groups;
  std::vector<Arg> args;
};
/// Waits for all work so far, or only until a kernel has told it by a cell, then reads one scalar
/// at a byte offset.
struct OpRead {
  ScalarReg dst;
  PrimType type;
  BlockReg block;
  Operand offset;
};
/// Writes host scalars to consecutive elements of `type` from a byte offset, in order with
/// launches.
struct OpWrite {
  PrimType type;
  BlockReg block;
  Operand offset;
  std::vector<Operand> values;
};
struct OpIf {
  Operand cond;
  std::vector<HostOp> then_code, else_code;
};
/// Runs `head`, leaves if `cond` is false, runs `body`, again.
struct OpWhile {
  std::vector<HostOp> head;
  Operand cond;
  std::vector<HostOp> body;
};
/// dst, an i64, becomes the value of a tuning parameter: an index into Program::tuning.
struct OpTune {
  ScalarReg dst;
  uint32_t param = 0;
};
/// dst, a bool, says whether the parameter is at most `size`, an i64. The engine can tell what was
/// compared, so that tools learn which sizes a threshold stands between.
struct OpCompare {
  ScalarReg dst;
  uint32_t param = 0;
  Operand size;
};
/// Fails the call with `message` and failure `backtrace` if cond is false.
struct OpAssert {
  Operand cond;
  std::vector<std::variant<std::string, Operand>> message;
  std::string backtrace;
};

/// Calls Program::functions[function]: its code runs on registers of its own, of which those of the
/// constants have the caller's values. Arguments and results are as many as the function says.
/// Fails the call with `too_deep` and `backtrace` where kMaxCallDepth calls are not done yet.
struct OpCall {
  uint32_t function = 0;
  std::vector<Operand> scalars;  // arguments
  std::vector<BlockReg> blocks;
  std::vector<ScalarReg> scalar_results;
  std::vector<BlockReg> block_results;
  std::string too_deep, backtrace;
};
inline constexpr int kMaxCallDepth = 4096;

struct HostOp {
  std::variant<OpScalar, OpMove, OpAlloc, OpMoveBlock, OpPart, OpRelease, OpLaunch, OpRead, OpWrite,
               OpIf, OpWhile, OpTune, OpCompare, OpAssert, OpCall>
      op;
};

/// A function that calls itself. Blocks are those of dense arrays; their sizes are among the
/// scalars.
struct Function {
  std::string name;
  std::vector<ScalarReg> scalars;  // get the arguments
  std::vector<BlockReg> blocks;
  std::vector<Operand> scalar_results;
  std::vector<BlockReg> block_results;
  Code code;
  int scalar_regs = 0, block_regs = 0;
};

/// One kernel. Its failure numbers index Program::kernel_failures.
struct Kernel {
  std::string name;             // unique, speaking: "main_map_12"
  std::string glsl;             // compiled when the kernel is first launched
  std::vector<uint32_t> spirv;  // instead of GLSL, if not empty; none comes from the compiler
  std::string kir;  // for targets that interpret, instead of both: the text of kir::print
  /// Where the instructions of `kir` come from, by the numbers that stand in it: backtraces, as
  /// KernelFailure has them.
  std::vector<std::string> places;
  int workgroup_size = 0;  // x; y = z = 1
  int slots = 0;           // failure record + args + groups
  int nesting = 0;         // of conditions and loops, at most
  bool may_fail = true;    // false: it never writes to the failure record
  /// What the host learns from cells (kCellBytes) that the kernel writes, each once, before the
  /// kernel is known to have ended.
  enum Tells : uint8_t {
    kNothing,
    kScalars,
    kEnd,  // .. and that all is done: whatever else it writes is for itself
  } tells = kNothing;
  /// Positive: `glsl` is for launches of blocks of so many bytes at most (see
  /// glsl::for_any_launch).
  int64_t small_bytes = 0;
  std::string place;  // a backtrace, as KernelFailure has it; empty if unknown
  /// Not valid: the kernel has code of its own. Else an earlier kernel with the same code, of which
  /// this one has none: devices make it once, for all its names and places.
  KernelId code_of;
  bool skips_look = false, says_end = false;  // see kNothingFailed, kMostSaying
  /// Of a thread, by the launch's arguments; empty: not known. Where these are few, the kernel is
  /// made with a false specialisation constant 0 (see KernelFailure).
  Turns turns;
};
/// The slots of a launch with so many arguments, without kDigitSlots.
inline int slots_without_digits(const Kernel& kernel, size_t args) {
  return static_cast<int>(args) + 2 + (kernel.says_end ? 1 : 0);
}

/// What kernels may report: the message's parts are text or the number of a recorded i64 argument.
/// The failure record is 16 int64: [0] 0 = none, else number + 1 (taken by compare-and-swap), or
/// kStoppedWord, which the host puts there to end the call; [1] see kMostSaying; [2..] the
/// arguments. Kernels that find [0] set when they start, if they look, do nothing; their loops look
/// at it now and then and leave, unless specialisation constant 0 is false.
struct KernelFailure {
  std::vector<std::variant<std::string, int>> message;
  std::vector<PrimType> arg_types;
  std::string backtrace;  // "-> #0  a.fut:1:2-3\n   #1  ..."
};
inline constexpr int kFailureRecordBytes = 128;
inline constexpr int kMaxFailureArgs = 14;
inline constexpr uint32_t kStoppedWord = 0xffffffff;

/// Where the leaves of parameters and results live. Arrays are row-major, from the block's start.
struct ScalarLeaf {
  PrimType type;
  Operand value;
};  // parameter: a ScalarReg that gets the value
struct ArrayLeaf {
  PrimType elem;
  BlockReg block;
  std::vector<Operand> dims;
};  // params: ScalarRegs
using Leaf = std::variant<ScalarLeaf, ArrayLeaf>;

struct Entry {
  struct Param {
    std::string name;
    std::string type;  // in Program::types
    bool consumed = false;
    std::vector<Leaf> leaves;
  };
  std::string name;
  std::vector<Param> params;
  std::string result_type;
  bool result_unique = false;
  std::vector<Leaf> result;
  std::vector<std::string> attrs;
  std::string doc;               // as in EntryPoint
  std::vector<uint32_t> tuning;  // the parameters that its code reads, ascending
  Code code;
  int scalar_regs = 0, block_regs = 0;  // sizes of the register files
};

struct Program {
  std::string name;
  Target target;  // that it was generated for
  TypeTable types;
  std::map<std::string, Entry> entries;
  std::vector<Kernel> kernels;
  std::vector<KernelFailure> kernel_failures;
  /// Run once when the program is loaded; the first constant_*_regs registers of every entry are
  /// preset from its final register files.
  Code constants;
  int constant_scalar_regs = 0, constant_block_regs = 0;
  std::vector<Function> functions;
  std::vector<TuningParam> tuning;
};

}  // namespace kenaz::program
