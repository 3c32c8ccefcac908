// Sums of all elements up to each one, within workgroups of 256.
#define SIZE 256
kernel void scan(global const uint *in, global uint *out) {
  local uint sums[SIZE];
  uint t = get_local_id(0);
  sums[t] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint d = 1; d < SIZE; d *= 2) {
    uint below = t >= d ? sums[t - d] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[t] += below;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = sums[t];
}
