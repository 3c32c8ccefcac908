#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
// Sums of workgroups: by subgroups, and by a tree in shared memory.
layout(local_size_x = 128) in;
layout(set = 0, binding = 0) readonly buffer In { int values[]; };
layout(set = 0, binding = 1) buffer Out { ivec2 sums[]; };
shared int tree[128];
shared int of_subgroup[128];
int loaded(uint i) {
  return i < values.length() ? values[i] : 0;
}
void main() {
  uint t = gl_LocalInvocationIndex;
  int v = loaded(gl_GlobalInvocationID.x);
  tree[t] = v;
  int sum = subgroupAdd(v);
  if (gl_SubgroupInvocationID == 0) of_subgroup[gl_SubgroupID] = sum;
  barrier();
  for (uint s = 64; s > 0; s /= 2) {
    if (t < s) tree[t] += tree[t + s];
    barrier();
  }
  if (t == 0) {
    int all = 0;
    for (uint k = 0; k < gl_NumSubgroups; k++) all += of_subgroup[k];
    sums[gl_WorkGroupID.x] = ivec2(tree[0], all);
  }
}
