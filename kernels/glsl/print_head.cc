#include "kernels/glsl/print_head.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/glsl/types.h"
#include "protocol/base/check.h"

namespace kenaz::glsl {

namespace {

/// More than this no address is known to be a multiple of.
constexpr int kMaxAlign = 16;

const char* vector_prefix(PrimType t) {
  switch (t) {
    case PrimType::kI8: return "i8";
    case PrimType::kI16: return "i16";
    case PrimType::kI32: return "i";
    case PrimType::kI64: return "i64";
    case PrimType::kU8: return "u8";
    case PrimType::kU16: return "u16";
    case PrimType::kU32: return "u";
    case PrimType::kU64: return "u64";
    case PrimType::kF16: return "f16";
    case PrimType::kF32: return "";
    case PrimType::kF64: return "d";
    case PrimType::kBool: return "b";
  }
  UNREACHABLE("primitive type");
}

std::string reference_name(PrimType t, int lanes, bool coherent) {
  std::string name(prim_name(t));
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  if (lanes > 1) name += fmt::format("x{}", lanes);
  return coherent ? "Coherent" + name : name;
}

}  // namespace

std::string glsl_type(kir::Type t) {
  if (t.lanes == 1) return glsl_type(t.prim);
  return fmt::format("{}vec{}", vector_prefix(t.prim), t.lanes);
}

PrimType memory_type(PrimType t) { return t == PrimType::kBool ? PrimType::kU8 : t; }

std::string Head::reference(kir::Type memory, bool coherent) {
  references_.insert({memory.prim, memory.lanes, coherent});
  return reference_name(memory.prim, memory.lanes, coherent);
}

std::string Head::text() const {
  std::string s =
      "#version 460\n"
      "#extension GL_EXT_buffer_reference : require\n"
      "#extension GL_EXT_scalar_block_layout : require\n"
      "#extension GL_EXT_shader_explicit_arithmetic_types : require\n";
  for (const std::string& name : extensions_) s += fmt::format("#extension {} : require\n", name);
  for (const Reference& r : references_) {
    const kir::Type t{r.prim, static_cast<uint8_t>(r.lanes)};
    s += fmt::format(
        "layout(buffer_reference, scalar, buffer_reference_align = {}) {}buffer {} {{ {} v; }};\n",
        std::min(kir::size_of(t), kMaxAlign), r.coherent ? "coherent " : "",
        reference_name(r.prim, r.lanes, r.coherent), glsl_type(t));
  }
  if (stop_word_) {
    s += "layout(buffer_reference, scalar, buffer_reference_align = 4) volatile buffer Stop { uint "
         "v; };\n";
  }
  return s;
}

}  // namespace kenaz::glsl
