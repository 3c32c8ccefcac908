// The product of two square matrices, by tiles in local memory.
#define TILE 16
kernel void product(global const float *a, global const float *b, global float *c, uint n) {
  local float of_a[TILE][TILE], of_b[TILE][TILE];
  uint x = get_local_id(0), y = get_local_id(1);
  uint column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (uint k = 0; k < n; k += TILE) {
    of_a[y][x] = a[row * n + k + x];
    of_b[y][x] = b[(k + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < TILE; j++) sum += of_a[y][j] * of_b[j][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
