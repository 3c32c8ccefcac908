// What a user gives a shader to run with, as it is written on the command line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/spirv/read.h"
#include "protocol/base/result.h"

namespace kenaz::shader {

/// Of kenaz-server --shader.
struct Command {
  std::string file;                  // SPIR-V; empty: there is no shader to run
  std::string entry;                 // of several shaders in it; empty: the only one
  std::vector<std::string> buffers;  // TARGET=BYTES, see Target and bytes_of()
  std::vector<std::string> push;     // BYTES, one behind the other, aligned
  std::vector<std::string> spec;     // ID=VALUE
  std::vector<std::string> out;      // TARGET=FILE
  std::string dispatch = "1";        // X, X,Y or X,Y,Z: workgroups
};

/// A buffer: by set and binding, or by name. Its text is SET,BINDING or BINDING, of set 0, or NAME.
struct Target {
  std::string name;  // empty: by number
  uint32_t set = 0, binding = 0;
  friend auto operator<=>(const Target&, const Target&) = default;
};
std::string text_of(const Target& target);

/// "TARGET=.." as the target and what stands behind it. kBadRequest names the option.
struct Assigned {
  Target target;
  std::string_view rest;  // of the text
};
Result<Assigned> assigned(std::string_view text, std::string_view option);

/// Three numbers of workgroups, together at most 2^32.
Result<std::vector<uint32_t>> dispatch_of(std::string_view text);

/// The bits of specialisation constants, by number. `known`: their types; of others it is guessed
/// from how their values are written.
Result<std::map<uint32_t, uint64_t>> specialised(
    const std::vector<std::string>& spec,
    const std::map<uint32_t, spirv::ReadKernel::SpecConstant>& known);

}  // namespace kenaz::shader
