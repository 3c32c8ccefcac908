#version 450
// As scan.cl.
#define SIZE 256
layout(local_size_x = SIZE) in;
layout(set = 0, binding = 0) readonly buffer In { uint from[]; };
layout(set = 0, binding = 1) writeonly buffer Out { uint to[]; };
shared uint sums[SIZE];
void main() {
  uint t = gl_LocalInvocationIndex;
  sums[t] = from[gl_GlobalInvocationID.x];
  barrier();
  for (uint d = 1; d < SIZE; d *= 2) {
    uint below = t >= d ? sums[t - d] : 0;
    barrier();
    sums[t] += below;
    barrier();
  }
  to[gl_GlobalInvocationID.x] = sums[t];
}
