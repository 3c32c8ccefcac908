#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In { uint values[]; };
layout(set = 0, binding = 1) buffer Bins { uint bins[]; };
void main() {
  uint v = values[gl_GlobalInvocationID.x];
  atomicAdd(bins[v % bins.length()], 1);
}
