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

/// The constant that says whether no block of a launch is too large (kir::Spec::says_small), and
/// the line of a kernel's text that makes it true. No name of the program's is like it.
inline constexpr std::string_view kSmallLaunch = "small_launch";
inline constexpr std::string_view kSmallLaunches = "const bool small_launch = true;";
/// The kernel's text for launches of any blocks.
std::string for_any_launch(std::string text);

/// SPIR-V 1.5 for Vulkan 1.2. Floating point is made strict afterwards: no contraction but where
/// kContract allows it, signed zero, infinities and NaN are preserved, `!=` is true for a NaN. An
/// error is a bug of ours (kInternal) and carries the kernel's name and the compiler's log.
/// Thread-safe.
Result<std::vector<uint32_t>> compile_glsl(const std::string& name, const std::string& text);

}  // namespace kenaz::glsl
