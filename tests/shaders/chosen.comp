#version 450
// The two ways of an expression meet before its value is stored.
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer From { float from[]; };
layout(binding = 1) writeonly buffer To { float to[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  to[i] = i % 2 == 0 ? from[i] : from[i / 2] * 2.0;
}
