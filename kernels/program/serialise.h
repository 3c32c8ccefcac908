// A Program as bytes and back, for caches. The bytes carry a format version, no checksum: who keeps
// them somewhere adds one. Reading never fails in any other way than by its Result, whatever the
// bytes; that registers and kernels fit together is for check_program (server/host) to say.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/program/program.h"
#include "protocol/base/result.h"

namespace kenaz::program {

/// To be raised when program.h or the meaning of anything in it changes.
inline constexpr uint32_t kFormatVersion = 14;

std::vector<std::byte> serialise(const Program& program);
Result<Program> deserialise(std::span<const std::byte> bytes);

}  // namespace kenaz::program
