#version 450
// As product.cl.
#define TILE 16
layout(local_size_x = TILE, local_size_y = TILE) in;
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) writeonly buffer C { float c[]; };
layout(push_constant) uniform Push { uint n; } push;
shared float of_a[TILE][TILE], of_b[TILE][TILE];
void main() {
  uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;
  uint column = gl_GlobalInvocationID.x, row = gl_GlobalInvocationID.y;
  float sum = 0;
  for (uint k = 0; k < push.n; k += TILE) {
    of_a[y][x] = a[row * push.n + k + x];
    of_b[y][x] = b[(k + y) * push.n + column];
    barrier();
    for (uint j = 0; j < TILE; j++) sum += of_a[y][j] * of_b[j][x];
    barrier();
  }
  c[row * push.n + column] = sum;
}
