#version 450
// A copy whose stores go down the columns.
layout(local_size_x = 32, local_size_y = 2) in;
layout(set = 1, binding = 0) readonly buffer From { uint from[]; };
layout(set = 1, binding = 3) writeonly buffer To { uint to[]; };
layout(constant_id = 4) const uint width = 16;
void main() {
  uvec2 p = gl_GlobalInvocationID.xy;
  uint height = gl_NumWorkGroups.y * gl_WorkGroupSize.y;
  uint v = from[p.y * width + p.x];
  to[p.x * height + p.y] = v;
}
