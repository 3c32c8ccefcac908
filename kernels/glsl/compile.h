// GLSL compute shaders to SPIR-V. The only place that knows glslang.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/base/result.h"

namespace kenaz::glsl {

/// SPIR-V 1.5 for Vulkan 1.2. Floating point is made strict afterwards: no contraction, signed
/// zero, infinities and NaN are preserved, `!=` is true for a NaN. An error is a bug of ours
/// (kInternal) and carries the kernel's name and the compiler's log. Thread-safe.
Result<std::vector<uint32_t>> compile_glsl(const std::string& name, const std::string& text);

}  // namespace kenaz::glsl
