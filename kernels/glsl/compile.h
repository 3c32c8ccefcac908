// GLSL compute shaders to SPIR-V. The only place that knows glslang.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

namespace kenaz::glsl {

/// A line of GLSL by which a kernel allows that products and sums of floats are contracted to fused
/// operations in its functions whose names end with `_`, and in main and work: not in the library,
/// whose functions count on every rounding.
inline constexpr std::string_view kContract = "#pragma contract";

/// `small_or_any(a, b)` in a kernel's text is a in launches of which no block is too large
/// (kir::Spec::says_small), as this line says, and b in others. No name of the program's is like
/// it.
///
/// A macro, so that nothing of the other way is compiled.
inline constexpr std::string_view kSmallLaunches = "#define small_or_any(small, any) (small)";
/// The kernel's text for launches of any blocks.
std::string for_any_launch(std::string text);

/// SPIR-V 1.5 for Vulkan 1.2. Floating point is made strict afterwards: no contraction but where
/// kContract allows it, signed zero, infinities and NaN are preserved, `!=` is true for a NaN. An
/// error is a bug of ours (kInternal) and carries the kernel's name and the compiler's log.
/// Thread-safe.
Result<std::vector<uint32_t>> compile_glsl(const std::string& name, const std::string& text);

}  // namespace kenaz::glsl
