// A process that makes devices for a Waker. In the process of the calls these would wait: NVIDIA's
// driver (580, H200) makes a device in 0.1 s, in which a call that takes 25 us takes 500 us and
// more, though not a call of another process.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace kenaz::device::vulkan {

/// By one thread at a time.
class WakeProcess {
 public:
  /// `command`: the program, and its arguments; see VulkanOptions::wake_command.
  explicit WakeProcess(std::vector<std::string> command) : command_(std::move(command)) {}
  ~WakeProcess() { end(); }
  WakeProcess(const WakeProcess&) = delete;
  WakeProcess& operator=(const WakeProcess&) = delete;

  /// Starts the process if there is none. One that has ended by itself is replaced, but not again
  /// and again.
  void wake();
  void end();

  pid_t pid() const { return pid_; }  // 0: there is none

 private:
  bool start();
  bool ask() const;

  std::vector<std::string> command_;
  pid_t pid_ = 0;
  int requests_ = -1;
  int starts_left_ = 3;  // of those after which a request failed
};

}  // namespace kenaz::device::vulkan
