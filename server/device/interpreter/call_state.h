// What a launch looks at of its call: the failure record, and whether the host has given it up.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "kernels/kir/eval/machine.h"
#include "kernels/program/program.h"
#include "server/device/device.h"

namespace kenaz::device::interpreter {

/// The failure record of a call, in the interpreter's memory.
class Record {
 public:
  Record(kir::Memory& memory, uint64_t address) : memory_(memory), address_(address) {}

  bool is_set() const {
    int64_t first = 0;
    std::memcpy(&first, memory_.bytes(address_).data(), sizeof first);
    return first != 0;
  }
  void set(const kir::Failed& failed) {
    constexpr size_t kFirstArg = 2;
    std::vector<uint64_t> words(program::kFailureRecordBytes / 8);
    words[0] = static_cast<uint64_t>(failed.number) + 1;
    for (size_t k = 0; k < failed.args.size(); ++k) words[kFirstArg + k] = failed.args[k].bits;
    memory_.write(address_, std::as_bytes(std::span(words)));
  }

 private:
  kir::Memory& memory_;
  const uint64_t address_;
};

/// Calls the watch as often as it wants.
class Watching {
 public:
  explicit Watching(Watch* watch) : watch_(watch) {}
  void look() {
    if (watch_ == nullptr || given_up_ || std::chrono::steady_clock::now() < next_) return;
    const std::chrono::nanoseconds wait = watch_->look(std::exchange(progress_, false));
    given_up_ = wait.count() == 0;
    next_ = std::chrono::steady_clock::now() + wait;
  }
  bool given_up() const { return given_up_; }

 private:
  Watch* const watch_;
  std::chrono::steady_clock::time_point next_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  bool progress_ = true;  // what ran before has ended
  bool given_up_ = false;
};

}  // namespace kenaz::device::interpreter
