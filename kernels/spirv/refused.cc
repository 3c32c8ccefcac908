#include "kernels/spirv/refused.h"

#include <spirv-tools/libspirv.h>

#include <string_view>

namespace kenaz::spirv {

// Not with glslang's spv::OpcodeString: who links its doc.cpp makes a table of 65,536 entries each
// time a process starts, which took longer than to check a small program.
std::string name_of(spv::Op op) {
  const std::string_view name = spvOpcodeString(static_cast<uint32_t>(op));
  if (name == "unknown") return fmt::format("operation {}", static_cast<int>(op));
  return fmt::format("Op{}", name);
}

}  // namespace kenaz::spirv
