// For tests: a compute shader in GLSL, read and run.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "kernels/kir/eval/machine.h"
#include "kernels/spirv/read.h"

namespace kenaz::spirv {

/// What a shader may begin with. `U(address)` is a u32 in device memory, and likewise the others;
/// the push constants are the addresses `in_` and `out_`, and a number.
inline const std::string kHead = R"(#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_atomic_float : require
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer U { uint v; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer I { int v; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer F { float v; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer F64 { double v; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer U64 { uint64_t v; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer F4 { vec4 v; };
layout(push_constant, scalar) uniform Push { uint64_t in_; uint64_t out_; int n; } push;
)";

/// A shader whose threads, 8 in one workgroup, each make an int of x = in[thread] by `int f(int
/// x)`.
inline std::string per_thread(const std::string& functions) {
  return kHead + "layout(local_size_x = 8) in;\n" + functions + R"(
void main() {
  int t = int(gl_LocalInvocationIndex);
  I(push.out_ + uint64_t(4 * t)).v = f(I(push.in_ + uint64_t(4 * t)).v);
})";
}

/// By glslang.
Result<std::vector<uint32_t>> compiled(const std::string& text);

inline Result<ReadKernel> read_glsl(const std::string& text, std::vector<uint32_t> constants = {}) {
  auto words = compiled(text);
  if (!words) return tl::make_unexpected(words.error());
  return read(*words, {"test", constants});
}

/// Runs shaders with kHead.
struct ShaderRun {
  std::vector<uint32_t> in, out;  // 32-bit words; `out`: before and after
  int32_t n = 0;
  int64_t groups = 1;
  std::vector<uint32_t> constants;
  kir::RunOptions options;

  /// "" or what went wrong.
  std::string run(const std::string& text) {
    auto kernel = read_glsl(text, constants);
    if (!kernel) return kernel.error().message;
    kir::Memory memory;
    const uint64_t from = memory.allocate(std::as_bytes(std::span(in)));
    const uint64_t to = memory.allocate(std::as_bytes(std::span(out)));
    std::vector<PrimValue> args;
    for (size_t k = 0; k < kernel->inputs.size(); k++) {
      const Input& input = kernel->inputs[k];
      const PrimType type = kernel->kernel.vals[kernel->kernel.args[k].val.index].prim;
      uint64_t bits = input.number == 0 ? from : input.number == 8 ? to : static_cast<uint32_t>(n);
      if (input.kind == Input::kGroups)
        bits = input.number == 0 ? static_cast<uint64_t>(groups) : 1;
      if (input.kind == Input::kBuffer) bits = input.number == 0 ? from : to;
      if (input.kind == Input::kBytes) bits = 4 * (input.number == 0 ? in : out).size();
      args.push_back({type, bits});
    }
    auto ran = kir::run(kernel->kernel, memory, args, groups, options);
    const auto bytes = memory.bytes(to);
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return ran ? "" : ran.error().message;
  }
};

/// f(x) of -2, -1, .., 5 by per_thread.
inline std::vector<int32_t> eight_of(const std::string& functions) {
  ShaderRun r;
  r.out.resize(8);
  for (int x = -2; x < 6; x++) r.in.push_back(static_cast<uint32_t>(x));
  EXPECT_EQ(r.run(per_thread(functions)), "");
  return {r.out.begin(), r.out.end()};
}

}  // namespace kenaz::spirv
