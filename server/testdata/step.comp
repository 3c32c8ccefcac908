#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// One invocation: counter = counter * 3 + k. Shows whether launches ran in order.
layout(push_constant, scalar) uniform Push {
  I64s failure;
  I32s counter;
  int64_t k, groups;
};
void main() {
  if (failure.at[0] != 0 || thread_number() != 0) return;
  counter.at[0] = counter.at[0] * 3 + int(k);
}
