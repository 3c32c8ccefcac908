#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) writeonly buffer C { float c[]; };
layout(push_constant) uniform Push { uint n; float scale; } push;
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < push.n)
    c[i] = push.scale * a[i] + b[i];
}
