// What a server reports of profiled calls: which kernels ran, for how long, and what they moved.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/base/result.h"

namespace kenaz::bench {

/// What the device's compiler made of a kernel, for one thread; null: not told.
struct KernelCode {
  std::optional<int64_t> registers;
  std::optional<int64_t> spilled_bytes;  // that are in memory for want of registers
};

struct Event {
  std::string name, place;      // the place in the program, "a.fut:1:2-9"; empty if unknown
  std::optional<double> begin;  // microseconds, of the device's clock
  double us = 0;                // microseconds that it took
  int64_t bytes = 0;            // of the arrays that a kernel reads and writes; 0 if unknown
  KernelCode code = {};

  /// Whether a kernel may have used all of these arrays: unless they are larger than caches, and it
  /// were more than five times as fast as a copy. `copy_rate`: bytes in a microsecond; 0 if
  /// unknown.
  bool uses_all(double copy_rate) const;
};

struct ProfiledCall {
  std::string name;                // "call ENTRY"; empty if the server does not tell calls apart
  double us = 0;                   // seen by the server; 0 if unknown
  std::vector<Event> submissions;  // what the device was given at once
  std::vector<Event> kernels;      // in the order in which they were recorded

  /// That the device worked: of submissions, or if none are told, of kernels.
  double device_us() const;
  int64_t bytes(double copy_rate) const;  // of all kernels that may have used all of their arrays
};

/// What kernels are chosen by.
struct DeviceFacts {
  int64_t subgroup_size = 1, max_group_size = 128;  // threads
  int64_t shared_bytes = 16384;                     // of a workgroup
  int64_t threads = 1024;                           // that fill the device
  bool forward_progress = false;                    // workgroups may wait for each other
};

struct Profile {
  std::vector<ProfiledCall> calls;
  std::optional<DeviceFacts> device;      // null: the server does not tell
  std::map<std::string, int64_t> memory;  // the most in use, by the server's name for it
  int64_t lost = 0;                       // events that the server had no room for
};

/// Of the answer to `report`. Servers of Futhark's are understood, too: all is one call then.
Result<Profile> parse_profile(const std::string& json);

/// The launches of one kernel in a call.
struct KernelRow {
  std::string name, place;
  int64_t count = 0, bytes = 0;
  double us = 0;
  KernelCode code = {};
};
/// The longest first. Launches that cannot have used all of their arrays count no bytes.
std::vector<KernelRow> kernel_rows(const ProfiledCall& call, double copy_rate);

/// A table of the kernels, and of the time between them and outside of the device. `copy_rate`:
/// bytes that a copy moves in a microsecond, to compare with; 0 if unknown. Registers have a column
/// where the server tells of any, and what they do not hold where there is something.
std::string profile_text(const ProfiledCall& call, double copy_rate);

/// Events for chrome://tracing and Perfetto: a process for each call, by its title, with a thread
/// each for the call, for what the device was given, and for kernels. Times of the call are not of
/// the device's clock: it is drawn around what the device did.
struct TitledCall {
  std::string title;
  ProfiledCall call;
};
std::string trace_json(const std::vector<TitledCall>& calls);

}  // namespace kenaz::bench
