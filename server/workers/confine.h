// Takes from this process what a program that nobody trusts has no use for: files, network, other
// processes, and more memory than it may have. There is no way back.
#pragma once

#include <cstdint>

#include "protocol/base/result.h"

namespace kenaz {

struct Confinement {
  /// Bytes of memory that may be added to what the process has; 0: any.
  int64_t memory = 0;
  /// The device's driver opens its own files while it works, as GPUs' do: those stay open to it,
  /// and to nothing else. Needs Landlock.
  bool driver_files = false;
};

/// For all threads that the process has, and those that they begin. Fails, with a message for the
/// operator, where the system lacks what it takes; the process may be partly confined then.
Status confine(const Confinement& how);

}  // namespace kenaz
