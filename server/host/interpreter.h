// Runs host code (program.h): scalars on the host, launches recorded into the device's command
// stream with barriers where they depend on each other, waiting only where a value is read back.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/program/program.h"
#include "server/device/device.h"
#include "server/host/call_stop.h"
#include "server/host/cells.h"
#include "server/host/failures.h"
#include "server/host/hazards.h"
#include "server/host/kernel_table.h"
#include "server/host/registers.h"
#include "server/host/residual.h"
#include "server/host/tuning.h"
#include "server/host/zeroes.h"

namespace kenaz::host {

/// One run of one piece of host code that check_program has passed. After a run, whether it went
/// well or not, finish() must be called: it waits, so that the next run finds a quiet device.
class Interpreter {
 public:
  /// Waits for what needs no device, during which others may use it; fails if that, or coming back
  /// to the device, does.
  using Waiter = std::function<Status(const std::function<Status()>& wait)>;

  Interpreter(const program::Program& program, KernelTable& kernels, device::Device& device,
              FailureRecord& failure, Zeroes& zeroes, CallStop& stop, Waiter waiter,
              CallTuning& tuning, Registers& registers)
      : program_(program),
        kernels_(kernels),
        device_(device),
        failure_(failure),
        zeroes_(zeroes),
        stop_(stop),
        waiter_(std::move(waiter)),
        tuning_(tuning),
        registers_(registers),
        cells_(device) {}

  /// `recording`, unless null, gets what is done.
  Status run(const program::Code& code, Recording* recording = nullptr);
  /// Does what code has done that was recorded.
  Status run(const Residual& residual);
  /// Waits for what is recorded. kProgramFailure if a kernel reported one.
  Status finish();

 private:
  Status step(const program::OpScalar& op);
  Status step(const program::OpMove& op);
  Status step(const program::OpAlloc& op);
  Status step(const program::OpMoveBlock& op);
  Status step(const program::OpPart& op);
  Status step(const program::OpRelease& op);
  Status step(const program::OpLaunch& op);
  Status step(const program::OpRead& op);
  /// All of `ops`, of which none needs what another reads, with one wait.
  Status read(std::span<const program::OpRead* const> ops);
  Status step(const program::OpWrite& op);
  Status step(const program::OpTune& op);
  Status step(const program::OpCompare& op);
  Status step(const program::OpAssert& op);
  // What these run comes on the stack.
  Status step(const program::OpIf& op);
  Status step(const program::OpWhile& op);
  Status step(const program::OpCall& op);

  Status go_on(Recording* recording);
  /// Takes the piece on top, which is done, off the stack, or goes on with its loop.
  Status leave();
  void give_results(const program::OpCall& op);
  /// Puts a part (may be nothing) into a register; the one that was there goes.
  void set(program::BlockReg reg, BlockPart part);
  Result<BlockPart> get(program::BlockReg reg) const;
  Status barrier();
  Status clear(const device::BlockPtr& block);
  /// `whole`: all its workgroups are launched at once.
  Status order_launch(const program::OpLaunch& op, bool whole);
  void note_cells(const program::OpLaunch& op, bool whole);
  Status watch_end();
  /// Before a command is recorded.
  void note_command();
  /// Rows of a launch's workgroups.
  struct Rows {
    int64_t length = 0, count = 0, first = 0;
  };
  bool is_to_say_end(const program::OpLaunch& op, int64_t groups, const Rows& rows) const;
  Result<Rows> rows_of(const program::OpLaunch& op, int64_t groups) const;
  /// All of it, piece by piece if the device cuts launches.
  Status launch(const program::OpLaunch& op, int64_t groups);
  Status launch_rows(const program::OpLaunch& op, const device::KernelPtr& kernel, int64_t groups,
                     const Rows& rows);
  /// Whether its kernel takes program::kDigitSlots.
  bool has_digits(const program::OpLaunch& op) const;
  /// Of a launch whose blocks are all there.
  device::LaunchBytes bytes_of(const program::OpLaunch& op) const;
  Result<device::KernelPtr> kernel(KernelVersion version);
  KernelVersion version_of(const program::OpLaunch& op, int64_t groups) const;
  bool makes_few_turns(const program::OpLaunch& op, int64_t groups) const;
  /// Waits, looks whether a kernel failed if one of them can, and reads along what is wanted.
  Status synchronise(std::span<const device::ReadBack> wanted);
  /// Waits only for the cells that the operations read, if kernels tell by them, and reads them.
  /// Whether it has.
  Result<bool> read_cells(std::span<const program::OpRead* const> ops);

  const program::Program& program_;
  KernelTable& kernels_;
  device::Device& device_;
  FailureRecord& failure_;
  Zeroes& zeroes_;
  std::vector<device::BlockPtr> zeroes_taken_;  // each once
  CallStop& stop_;
  const Waiter waiter_;
  CallTuning& tuning_;
  Registers& registers_;
  std::vector<Piece> stack_;        // on the heap, since calls may nest deeply
  std::vector<Registers> callers_;  // registers of the calls that are not done, outermost first
  Hazards hazards_;
  std::vector<device::ReadBack> pieces_;  // of the wait at hand; kept for its capacity
  std::vector<uint64_t> slots_;           // of the launch at hand; kept for its capacity
  int64_t launches_ = 0;                  // since the last wait
  bool dirty_ = false;                    // something was recorded since the last wait
  bool may_have_failed_ = false;          // a kernel, of those launched since the last look
  Cells cells_;
  int64_t commands_ = 0;  // since the last barrier
  /// The last command is a launch that came behind a barrier and tells its end by cells at this
  /// address; 0: it is not. And whether it has told.
  uint64_t telling_end_ = 0;
  bool ended_ = false;
  const program::OpLaunch* last_launch_ = nullptr;  // of recorded code
  bool says_end_ = false;                           // the last command is a launch that will
};

}  // namespace kenaz::host
