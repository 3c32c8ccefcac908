#include "kernels/spirv/refused.h"

#include <glslang/SPIRV/doc.h>

#include <string_view>

namespace kenaz::spirv {

std::string name_of(spv::Op op) {
  const char* name = spv::OpcodeString(static_cast<int>(op));
  if (name == nullptr || std::string_view(name).substr(0, 2) != "Op") {
    return fmt::format("operation {}", static_cast<int>(op));
  }
  return name;
}

}  // namespace kenaz::spirv
