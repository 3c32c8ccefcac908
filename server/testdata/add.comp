#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// out[i] = in[i] + k
layout(push_constant, scalar) uniform Push {
  I64s failure;
  I32s src, dst;
  int64_t n, k, groups;
};
void main() {
  if (failure.at[0] != 0 || group_number() >= groups) return;
  const int64_t i = thread_number();
  if (i < n) dst.at[uint(i)] = src.at[uint(i)] + int(k);
}
