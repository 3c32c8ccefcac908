// The one command stream: records into a command buffer, submits, waits. A few command buffers go
// round, so that recording goes on while earlier ones run. What they need is kept until they have
// run. Once the device is lost every call says so.
//
// Launches that come again, with the same arguments and nothing else around them, are not recorded
// again: their command buffer is submitted once more. Recording takes as long as submitting.
//
// Memory can be given to be cleared: that happens before anything recorded later, whatever fails.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "server/device/vulkan/context.h"
#include "server/device/vulkan/heap.h"
#include "server/device/vulkan/patience.h"
#include "server/device/vulkan/tape.h"
#include "server/device/vulkan/timing.h"

namespace kenaz::device::vulkan {

/// Numbers submissions, from 1. They finish in order.
using Ticket = uint64_t;

class Commands {
 public:
  explicit Commands(ContextPtr context) : context_(std::move(context)) {}
  ~Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  /// The command buffer being recorded, for other commands than those below; begins one if there
  /// is none. Good until the next call of anything here.
  Result<VkCommandBuffer> recording();
  /// `bytes`: what it moves, if that is timed.
  Status dispatch(VulkanKernelPtr kernel, const Grid& grid, std::span<const std::byte> push,
                  const LaunchBytes& bytes);
  /// Everything recorded before is visible to everything recorded later. Takes nothing if there is
  /// nothing later.
  void barrier() { owes_barrier_ = true; }
  /// The same, and to the host once it has waited.
  Status barrier_to_host();
  /// Something was recorded after the last barrier_to_host().
  bool hides_from_host() const { return hidden_; }
  /// Whether command buffers are timed that are begun from now on.
  void set_timing(bool on) { timed_ = on; }
  bool is_timed() const { return timed_; }
  std::vector<KernelTime> take_times() { return std::exchange(times_, {}); }
  bool is_recording() const { return current_ != nullptr || !tape_.empty(); }
  /// The ticket that what is recorded now will have.
  Ticket next_ticket() const { return last_submitted_ + 1; }
  /// `thing` lives until what is recorded now, with recording(), has run.
  void keep(std::shared_ptr<const void> thing);

  /// Sees to it that these are zero for all that is recorded, and for the host after finish().
  void fill(std::vector<Fill> fills);

  /// Submits what is recorded, if anything; gives the latest ticket.
  Result<Ticket> submit();
  Status wait(Ticket ticket);
  void set_watch(Watch* watch) { watch_ = watch; }
  bool is_done(Ticket ticket);
  /// Submits, and waits until `seen` is true, or for everything. Whether it was.
  Result<bool> watch(const std::function<bool()>& seen);
  /// Lets go of what is kept for commands that have run meanwhile.
  void poll();
  /// Submits, and waits for everything.
  Status finish();
  /// Something that was submitted has not ended, as far as known without asking.
  bool is_running() const { return done_ != last_submitted_; }
  /// Nothing recorded and nothing running, as far as known without asking.
  bool idle() const { return !is_recording() && fills_.empty() && !is_running(); }
  /// Lets go of kernels that are kept in case they are launched again in the same way.
  void forget();

 private:
  struct Slot {
    VkCommandBuffer buffer = VK_NULL_HANDLE;
    Ticket ticket = 0;
    std::vector<std::shared_ptr<const void>> kept;
    std::vector<Fill> fills;         // recorded here
    std::unique_ptr<Timing> timing;  // of what is recorded here; may be null
    Tape tape;                       // all that is recorded here; empty: something else, or nothing
  };
  Status prepare();
  Status prepare_tape();
  Status begin(Slot* slot, bool once);
  Status record_what_waits();
  void play(Slot& slot);
  Result<Slot*> recorded_tape();
  Result<Slot*> take_recorded();
  void take_back(Slot& slot);
  Status give_to_queue(const Slot& slot, Ticket ticket);
  Result<Slot*> free_slot();
  Status checked(VkResult result, const char* call);
  using Clock = std::chrono::steady_clock;
  Status wait_since(Clock::time_point begin, Ticket ticket);
  Status block_until(Ticket ticket);
  void record_fills();
  void give_up();
  void note_done(Ticket ticket);

  const ContextPtr context_;
  OwnedCommandPool pool_;  // made when first recorded
  OwnedSemaphore timeline_;
  std::deque<Slot> slots_;
  Slot* current_ = nullptr;
  Tape tape_;                // to be recorded, before anything else is
  std::vector<Fill> fills_;  // to be recorded
  Watch* watch_ = nullptr;
  Patience patience_;
  Ticket last_submitted_ = 0, done_ = 0;
  bool timed_ = false;
  std::vector<KernelTime> times_;        // of what has run
  std::optional<uint64_t> time_origin_;  // the device's clock when the first of all times began
  bool owes_barrier_ = false;            // before the next command, if it comes
  bool hidden_ = false;                  // see hides_from_host()
  bool lost_ = false;
  // A call failed, so commands may be running that nobody has waited for, or barriers got lost.
  bool shaken_ = false;
};

}  // namespace kenaz::device::vulkan
