// What each line of a program accesses, as the interpreter counts it, beside the time that a device
// took for it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "client/bench/profile.h"
#include "client/lib/connection.h"
#include "client/testing/spec.h"

namespace kenaz::bench {

/// Of device memory, by the code that a kernel has of one line.
struct LineBytes {
  std::string file;
  int64_t line = 0;
  double accessed = 0;  // bytes that subgroups' requests access, each request's different ones
  double touched = 0;   // bytes of the sectors of 32 bytes that they touch
};

/// A kernel on the interpreter. Estimates, if not all workgroups have run: as if the others did as
/// much.
struct ObservedKernel {
  std::string place;             // as KernelRow::place
  std::vector<LineBytes> lines;  // those that touch most, first
};
/// By kernel's name; of a call.
using KernelLines = std::map<std::string, ObservedKernel>;

/// Of the JSON that `kenaz observe` writes.
Result<KernelLines> parse_observed(const std::string& json);

/// Calls the entry point once on a server of its own, on the interpreter in the device's stead,
/// with some workgroups of each launch. `server`: of the program, with the options that it is
/// measured with. What the call gets to before it fails counts. Fails if it takes too long.
Result<KernelLines> observe_lines(client::ServerOptions server, const DeviceFacts& device,
                                  const std::string& entry, const testing::Case& c);

/// A table: the kernels of the call, the longest first, with their lines. Code for the device may
/// have other kernels besides, so the same kernel may have another number in its name on the
/// interpreter: it is known by its place. `copy_rate` as for profile_text(). `line_text`: a line of
/// a file without blanks around it; empty if it is unknown.
std::string lines_text(const ProfiledCall& call, const KernelLines& lines, double copy_rate,
                       const std::function<std::string(const LineBytes&)>& line_text);

}  // namespace kenaz::bench
