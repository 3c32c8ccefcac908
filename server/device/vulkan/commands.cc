#include "server/device/vulkan/commands.h"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace kenaz::device::vulkan {

namespace {
constexpr size_t kMaxSlots = 16;
constexpr size_t kMostTimes = 100'000;
}  // namespace

Commands::~Commands() {
  watch_ = nullptr;
  if (context_->abandoned()) return;
  if (done_ == last_submitted_ || (!lost_ && wait(last_submitted_))) return;
  (void)context_->vk().vkDeviceWaitIdle(context_->device());
}

Status Commands::checked(VkResult result, const char* call) {
  if (result == VK_ERROR_DEVICE_LOST) lost_ = true;
  if (result != VK_SUCCESS) shaken_ = true;
  return check_vk(result, call);
}

Status Commands::prepare() {
  if (lost_) return check_vk(VK_ERROR_DEVICE_LOST, "an earlier call");
  if (pool_ && timeline_) return {};
  const Functions& vk = context_->vk();
  VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool_info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool_info.queueFamilyIndex = context_->physical().queue_family;
  VkCommandPool pool = VK_NULL_HANDLE;
  KENAZ_TRY(checked(vk.vkCreateCommandPool(context_->device(), &pool_info, nullptr, &pool),
                    "vkCreateCommandPool"));
  pool_ = OwnedCommandPool(context_, pool);
  VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
  VkSemaphore semaphore = VK_NULL_HANDLE;
  KENAZ_TRY(checked(vk.vkCreateSemaphore(context_->device(), &info, nullptr, &semaphore),
                    "vkCreateSemaphore"));
  timeline_ = OwnedSemaphore(context_, semaphore);
  return {};
}

/// One without a tape, or a new one, or the one that was not used for longest.
Result<Commands::Slot*> Commands::free_slot() {
  for (int attempt = 0; attempt < 2; ++attempt) {
    Slot* oldest = nullptr;
    for (Slot& slot : slots_) {
      if (slot.ticket > done_) continue;
      if (slot.tape.empty()) return &slot;
      if (oldest == nullptr || slot.ticket < oldest->ticket) oldest = &slot;
    }
    if (slots_.size() < kMaxSlots) break;
    if (oldest != nullptr) {
      oldest->tape.clear();
      return oldest;
    }
    if (attempt == 0) KENAZ_TRY(wait(last_submitted_ - (kMaxSlots - 1)));
  }
  VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pool_.get();
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer buffer = VK_NULL_HANDLE;
  KENAZ_TRY(checked(context_->vk().vkAllocateCommandBuffers(context_->device(), &info, &buffer),
                    "vkAllocateCommandBuffers"));
  slots_.emplace_back().buffer = buffer;
  return &slots_.back();
}

Result<VkCommandBuffer> Commands::recording() {
  KENAZ_TRY(record_what_waits());
  hidden_ = true;
  return current_->buffer;
}

/// The tape, a barrier that is owed, and what is to be cleared: into the current command buffer.
Status Commands::record_what_waits() {
  if (current_ == nullptr) {
    KENAZ_TRY(prepare());
    KENAZ_ASSIGN(Slot * slot, free_slot());
    KENAZ_TRY(begin(slot, true));
    current_ = slot;
  }
  if (!tape_.empty()) {
    play(*current_);
    current_->kept.push_back(std::make_shared<const Tape>(std::exchange(tape_, {})));
  }
  if (std::exchange(owes_barrier_, false) || !fills_.empty()) {
    record_barrier(*context_, current_->buffer, false);
  }
  if (!fills_.empty()) record_fills();
  return {};
}

/// What is to be cleared is, before what the tape gets next.
Status Commands::prepare_tape() {
  if (!is_recording()) KENAZ_TRY(prepare());
  if (!fills_.empty()) KENAZ_TRY(record_what_waits());
  return {};
}

Status Commands::dispatch(VulkanKernelPtr kernel, const Grid& grid, std::span<const std::byte> push,
                          const LaunchBytes& bytes) {
  KENAZ_TRY(prepare_tape());
  if (std::exchange(owes_barrier_, false)) tape_.barrier(false);
  tape_.dispatch(std::move(kernel), grid, push, timed_ ? bytes : LaunchBytes{});
  hidden_ = true;
  return {};
}

Status Commands::barrier_to_host() {
  KENAZ_TRY(prepare_tape());
  tape_.barrier(true);
  owes_barrier_ = hidden_ = false;
  return {};
}

void Commands::fill(std::vector<Fill> fills) {
  fills_.insert(fills_.end(), std::make_move_iterator(fills.begin()),
                std::make_move_iterator(fills.end()));
}

/// Behind a barrier: what was recorded before may still use the memory, in which other blocks lay.
void Commands::record_fills() {
  const VkCommandBuffer commands = current_->buffer;
  for (Fill& f : fills_) {
    context_->vk().vkCmdFillBuffer(commands, f.slab->buffer.buffer.get(),
                                   static_cast<VkDeviceSize>(f.offset),
                                   static_cast<VkDeviceSize>(f.bytes), 0);
    current_->fills.push_back(std::move(f));
  }
  fills_.clear();
  record_barrier(*context_, commands, false);
  hidden_ = true;
}

Status Commands::begin(Slot* slot, bool once) {
  VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  if (once) info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  KENAZ_TRY(
      checked(context_->vk().vkBeginCommandBuffer(slot->buffer, &info), "vkBeginCommandBuffer"));
  if (timed_ && context_->physical().timestamp_bits > 0) {
    if (!slot->timing) slot->timing = std::make_unique<Timing>(context_);
    KENAZ_TRY(slot->timing->begin(slot->buffer));
  } else {
    slot->timing.reset();
  }
  if (std::exchange(shaken_, false)) record_barrier(*context_, slot->buffer, true);
  return {};
}

void Commands::keep(std::shared_ptr<const void> thing) {
  if (current_ == nullptr) return;  // nothing recorded, so nothing uses it
  if (current_->kept.empty() || current_->kept.back() != thing) {
    current_->kept.push_back(std::move(thing));
  }
}

void Commands::play(Slot& slot) { tape_.play(*context_, slot.buffer, slot.timing.get()); }

/// With nothing to record but the tape: a command buffer that holds it, from earlier or now.
Result<Commands::Slot*> Commands::recorded_tape() {
  for (Slot& slot : slots_) {
    if (slot.ticket > done_ || slot.tape.empty() || slot.tape != tape_) continue;
    tape_.clear();
    return &slot;
  }
  KENAZ_ASSIGN(Slot * slot, free_slot());
  KENAZ_TRY(begin(slot, false));
  play(*slot);
  const Status ended =
      checked(context_->vk().vkEndCommandBuffer(slot->buffer), "vkEndCommandBuffer");
  if (!ended) {
    take_back(*slot);
    return tl::make_unexpected(ended.error());
  }
  std::swap(slot->tape, tape_);
  tape_.clear();
  return slot;
}

/// All that is to be recorded, in one command buffer that has ended.
Result<Commands::Slot*> Commands::take_recorded() {
  if (current_ == nullptr && fills_.empty() && !timed_ && !shaken_) return recorded_tape();
  KENAZ_TRY(record_what_waits());
  Slot* slot = std::exchange(current_, nullptr);
  if (slot->timing) slot->timing->end(slot->buffer);
  const Status ended =
      checked(context_->vk().vkEndCommandBuffer(slot->buffer), "vkEndCommandBuffer");
  if (ended) return slot;
  take_back(*slot);
  return tl::make_unexpected(ended.error());
}

/// What is recorded there will not run.
void Commands::take_back(Slot& slot) {
  (void)context_->vk().vkResetCommandBuffer(slot.buffer, 0);
  slot.kept.clear();
  slot.tape.clear();
  // Blocks that were to be cleared may be in use: clearing must not get lost.
  std::swap(fills_, slot.fills);
  fill(std::exchange(slot.fills, {}));
}

Status Commands::give_to_queue(const Slot& slot, Ticket ticket) {
  VkTimelineSemaphoreSubmitInfo timeline{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &ticket;
  const VkSemaphore semaphore = timeline_.get();
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO, &timeline};
  info.commandBufferCount = 1;
  info.pCommandBuffers = &slot.buffer;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &semaphore;
  const std::lock_guard lock(context_->queue_mutex());
  return checked(context_->vk().vkQueueSubmit(context_->queue(), 1, &info, VK_NULL_HANDLE),
                 "vkQueueSubmit");
}

Result<Ticket> Commands::submit() {
  if (lost_) KENAZ_TRY(check_vk(VK_ERROR_DEVICE_LOST, "an earlier call"));
  if (!is_recording() && fills_.empty()) return last_submitted_;
  const auto slot = take_recorded();
  if (!slot) {
    tape_.clear();
    shaken_ = true;
    return tl::make_unexpected(slot.error());
  }
  const Ticket ticket = last_submitted_ + 1;
  if (const Status status = give_to_queue(**slot, ticket); !status) {
    take_back(**slot);
    shaken_ = true;
    return tl::make_unexpected(status.error());
  }
  (*slot)->ticket = last_submitted_ = ticket;
  return ticket;
}

void Commands::forget() {
  for (Slot& slot : slots_) {
    if (slot.ticket <= done_) slot.tape.clear();
  }
}

void Commands::note_done(Ticket ticket) {
  if (ticket <= done_) return;
  done_ = ticket;
  for (Slot& slot : slots_) {
    if (slot.ticket > done_ || &slot == current_) continue;
    if (slot.timing && times_.size() < kMostTimes) slot.timing->take(times_, time_origin_);
    slot.kept.clear();
    slot.fills.clear();
  }
}

bool Commands::is_done(Ticket ticket) {
  if (ticket <= done_) return true;
  uint64_t value = 0;
  const Functions& vk = context_->vk();
  if (timeline_ &&
      vk.vkGetSemaphoreCounterValue(context_->device(), timeline_.get(), &value) == VK_SUCCESS) {
    // Some drivers' counters read as their largest value once the device is lost.
    if (value > last_submitted_) lost_ = shaken_ = true;
    if (!lost_) note_done(value);
  }
  return ticket <= done_;
}

void Commands::poll() {
  // What is submitted from here on sees all that was written before.
  if (is_done(last_submitted_) && !is_recording()) owes_barrier_ = false;
}

Result<bool> Commands::watch(const std::function<bool()>& seen) {
  // A look takes a few ns, asking the driver a hundred.
  constexpr int kLooks = 32;
  KENAZ_ASSIGN(const Ticket ticket, submit());
  const auto begin = Clock::now();
  if (!context_->physical().info.is_cpu) {
    const auto until = begin + patience_.limit();
    do {
      for (int n = 0; n < kLooks; ++n) {
        if (!seen()) continue;
        patience_.note(Clock::now() - begin);
        return true;
      }
    } while (!is_done(ticket) && !lost_ && Clock::now() < until);
  }
  KENAZ_TRY(wait_since(begin, ticket));
  return seen();
}

Status Commands::wait(Ticket ticket) {
  if (ticket <= done_) return {};
  return wait_since(Clock::now(), ticket);
}

Status Commands::wait_since(Clock::time_point begin, Ticket ticket) {
  if (lost_) return check_vk(VK_ERROR_DEVICE_LOST, "an earlier call");
  if (!context_->physical().info.is_cpu) {  // there the kernels want this core themselves
    const auto until = begin + patience_.limit();
    while (!lost_ && Clock::now() < until) {
      if (is_done(ticket)) break;
    }
  }
  if (!lost_ && ticket > done_) KENAZ_TRY(block_until(ticket));
  if (lost_) return check_vk(VK_ERROR_DEVICE_LOST, "vkGetSemaphoreCounterValue");
  patience_.note(Clock::now() - begin);
  return {};
}

Status Commands::block_until(Ticket ticket) {
  VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  const VkSemaphore semaphore = timeline_.get();
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore;
  info.pValues = &ticket;
  VkResult result = VK_TIMEOUT;
  while (result == VK_TIMEOUT) {
    uint64_t patience = UINT64_MAX;
    if (watch_ != nullptr) {
      const Ticket before = done_;
      (void)is_done(ticket);
      const auto for_now = watch_->look(done_ != before);
      if (for_now <= std::chrono::nanoseconds(0)) {
        give_up();
        return fail(ErrorKind::kDeviceLost, "the device does not finish what it was given");
      }
      patience = static_cast<uint64_t>(for_now.count());
    }
    result = context_->vk().vkWaitSemaphores(context_->device(), &info, patience);
  }
  KENAZ_TRY(checked(result, "vkWaitSemaphores"));
  if (!is_done(ticket) && !lost_) note_done(ticket);
  return {};
}

/// What runs may never end, so nothing that it uses may ever be freed.
void Commands::give_up() {
  lost_ = shaken_ = true;
  context_->abandon();
}

Status Commands::finish() {
  const auto submitted = submit();
  KENAZ_TRY(wait(last_submitted_));
  if (!submitted) return tl::make_unexpected(submitted.error());
  owes_barrier_ = false;  // what is submitted after this wait sees all that was written before it
  return {};
}

}  // namespace kenaz::device::vulkan
