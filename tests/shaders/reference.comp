#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430) buffer Words { uint w[]; };
layout(push_constant) uniform Push { Words from; Words to; uint n; } push;
void main() {
  for (uint i = gl_GlobalInvocationID.x; i < push.n; i += 32 * gl_NumWorkGroups.x) {
    if (i % 2 == 0) push.to.w[i] = push.from.w[i] * 3;
    else push.to.w[i] = push.from.w[i] / 3;
  }
}
