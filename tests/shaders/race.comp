#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Data { uint data[]; };
shared uint tile[64];
void main() {
  uint t = gl_LocalInvocationIndex;
  tile[t] = data[t];
  // Here a barrier is missing.
  data[t] = tile[63 - t];
}
