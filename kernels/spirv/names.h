// The names of SPIR-V, and what the standard's header knows of each operation.
#pragma once

#define SPV_ENABLE_UTILITY_CODE
#include <glslang/SPIRV/spirv.hpp>
