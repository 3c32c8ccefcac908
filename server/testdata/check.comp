#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// Fails (failure 0: arguments are the element and its index) for elements of at least `limit`.
layout(push_constant, scalar) uniform Push {
  I64s failure;
  I32s src;
  int64_t n, limit, groups;
};
void main() {
  if (failure.at[0] != 0 || group_number() >= groups) return;
  const int64_t i = thread_number();
  if (i >= n || src.at[uint(i)] < int(limit)) return;
  if (atomicCompSwap(failure.at[0], 0l, 1l) == 0l) {
    failure.at[2] = src.at[uint(i)];
    failure.at[3] = i;
  }
}
