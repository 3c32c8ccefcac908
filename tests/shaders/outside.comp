#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Data { uint data[]; };
void shift(uint t) {
  data[t] = data[t + 64] + 1;
}
void main() {
  shift(gl_LocalInvocationIndex);
}
