#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// More slots than push constants hold: failure, dst, 20 scalars, groups. dst[0] = their sum.
layout(buffer_reference, scalar) readonly buffer Slots {
  I64s failure;
  I64s dst;
  int64_t values[20];
  int64_t groups;
};
layout(push_constant, scalar) uniform Push { Slots slots; };
void main() {
  if (thread_number() != 0) return;
  int64_t sum = 0;
  for (int i = 0; i < 20; ++i) sum += slots.values[i];
  slots.dst.at[0] = sum + slots.groups * 1000;
}
