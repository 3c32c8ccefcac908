// Image filters by hand, in CUDA C: the peers of invert.mfg, soft.mfg and
// examples/filters/blur.mfg.
//
//   peers invert|soft|blur PICTURE RESULT HEIGHT WIDTH RADIUS
//
// PICTURE has height x width x 4 bytes. The result is written to RESULT; printed are the median of
// ten runs and that of copies of the picture on the device, in microseconds.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

void check(cudaError_t e) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(e));
  std::exit(1);
}

// Channels in pairs, of 16 bits each, so that one operation is on two of them.
struct Pairs {
  uint32_t even, odd;
};
__device__ Pairs unpack(uint32_t pixel) { return {pixel & 0xff00ffu, (pixel >> 8) & 0xff00ffu}; }
__device__ Pairs operator+(Pairs a, Pairs b) { return {a.even + b.even, a.odd + b.odd}; }
__device__ Pairs operator-(Pairs a, Pairs b) { return {a.even - b.even, a.odd - b.odd}; }
__device__ Pairs operator*(uint32_t n, Pairs a) { return {n * a.even, n * a.odd}; }
__device__ int inside(int i, int n) { return min(max(i, 0), n - 1); }

__global__ void invert(const uint4* in, uint4* out, size_t count) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i >= count) return;
  const uint4 x = in[i];
  constexpr uint32_t kColours = 0xffffffu;
  out[i] = {x.x ^ kColours, x.y ^ kColours, x.z ^ kColours, x.w ^ kColours};
}

// Sums of at most 256 * 255 and the half fit into 16 bits.
__device__ Pairs weighted(Pairs a, Pairs b, Pairs c, Pairs d, Pairs e) {
  return (a + e) + 4 * (b + d) + 6 * c;
}

constexpr int kSoftRows = 16;

/// A thread takes a column of so many pixels, and each row's sum is made once.
__global__ void soft(const uint32_t* in, uint32_t* out, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * kSoftRows;
  if (x >= width) return;
  int columns[5];
  for (int i = 0; i < 5; i++) columns[i] = inside(x + i - 2, width);
  const auto row = [&](int y) {
    const uint32_t* from = in + size_t(inside(y, height)) * width;
    return weighted(unpack(from[columns[0]]), unpack(from[columns[1]]), unpack(from[columns[2]]),
                    unpack(from[columns[3]]), unpack(from[columns[4]]));
  };
  Pairs rows[5];
  for (int i = 0; i < 4; i++) rows[i + 1] = row(first + i - 2);
#pragma unroll
  for (int y = first; y < first + kSoftRows; y++) {
    if (y >= height) return;
    for (int i = 0; i < 4; i++) rows[i] = rows[i + 1];
    rows[4] = row(y + 2);
    const Pairs half = {0x800080u, 0x800080u};
    const Pairs sum = weighted(rows[0], rows[1], rows[2], rows[3], rows[4]) + half;
    out[size_t(y) * width + x] = ((sum.even >> 8) & 0xff00ffu) | (sum.odd & 0xff00ff00u);
  }
}

constexpr int kGroup = 128, kAcross = 8, kDown = 32;

/// Sums of rows, for windows of at most 257 pixels. A thread takes neighbours, whose windows differ
/// by two pixels; what a group reads is in shared memory.
__global__ void across(const uint32_t* in, Pairs* sums, int height, int width, int radius) {
  extern __shared__ uint32_t pixels[];
  constexpr int kTile = kGroup * kAcross;
  const int first = blockIdx.x * kTile, y = blockIdx.y;
  // A word is left out after every 32, so that threads don't wait for each other's banks.
  const auto at = [](int i) { return i + i / 32; };
  for (int i = threadIdx.x; i < kTile + 2 * radius; i += kGroup) {
    pixels[at(i)] = in[size_t(y) * width + inside(first + i - radius, width)];
  }
  __syncthreads();
  const int own = threadIdx.x * kAcross;
  Pairs sum = {0, 0};
  for (int i = 0; i <= 2 * radius; i++) sum = sum + unpack(pixels[at(own + i)]);
  Pairs made[kAcross];
  made[0] = sum;
#pragma unroll
  for (int i = 1; i < kAcross; i++) {
    sum = sum + unpack(pixels[at(own + i + 2 * radius)]) - unpack(pixels[at(own + i - 1)]);
    made[i] = sum;
  }
#pragma unroll
  for (int i = 0; i < kAcross; i++) {
    if (first + own + i < width) sums[size_t(y) * width + first + own + i] = made[i];
  }
}

/// Sums of columns of those, and their averages, rounded.
__global__ void down(const Pairs* sums, uchar4* out, int height, int width, int radius) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * kDown;
  if (x >= width) return;
  const int count = (2 * radius + 1) * (2 * radius + 1);
  int sum[4] = {0, 0, 0, 0};
  const auto add = [&](int y, int sign) {
    const Pairs p = sums[size_t(inside(y, height)) * width + x];
    sum[0] += sign * int(p.even & 0xffff);
    sum[1] += sign * int(p.odd & 0xffff);
    sum[2] += sign * int(p.even >> 16);
    sum[3] += sign * int(p.odd >> 16);
  };
  for (int i = -radius; i <= radius; i++) add(first + i, 1);
  const auto average = [&](int n) { return uint8_t((sum[n] + count / 2) / count); };
  for (int y = first; y < min(first + kDown, height); y++) {
    if (y > first) {
      add(y + radius, 1);
      add(y - radius - 1, -1);
    }
    out[size_t(y) * width + x] = make_uchar4(average(0), average(1), average(2), average(3));
  }
}

template <class F>
float median(const F& run) {
  cudaEvent_t from, to;
  check(cudaEventCreate(&from));
  check(cudaEventCreate(&to));
  std::vector<float> times;
  for (int i = 0; i < 11; i++) {
    check(cudaEventRecord(from));
    run();
    check(cudaEventRecord(to));
    check(cudaEventSynchronize(to));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, from, to));
    if (i > 0) times.push_back(1000 * ms);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

int parts(int n, int of) { return (n + of - 1) / of; }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  const char* filter = argv[1];
  const int height = std::atoi(argv[4]), width = std::atoi(argv[5]), radius = std::atoi(argv[6]);
  const size_t pixels = size_t(height) * width, bytes = 4 * pixels;
  if (pixels % 4 != 0 || radius < 0 || radius > 128) return 2;
  std::vector<char> host(bytes);
  std::FILE* file = std::fopen(argv[2], "rb");
  if (file == nullptr || std::fread(host.data(), 1, bytes, file) != bytes) return 1;
  std::fclose(file);
  uint32_t *in = nullptr, *out = nullptr;
  Pairs* sums = nullptr;
  check(cudaMalloc(&in, bytes));
  check(cudaMalloc(&out, bytes));
  check(cudaMalloc(&sums, 2 * bytes));
  check(cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice));
  const float copy =
      median([&] { check(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice)); });
  const float time = median([&] {
    if (std::strcmp(filter, "invert") == 0) {
      invert<<<parts(int(pixels / 4), 256), 256>>>(reinterpret_cast<const uint4*>(in),
                                                   reinterpret_cast<uint4*>(out), pixels / 4);
    } else if (std::strcmp(filter, "soft") == 0) {
      soft<<<dim3(parts(width, 128), parts(height, kSoftRows)), 128>>>(in, out, height, width);
    } else {
      const int tile = kGroup * kAcross + 2 * radius;
      across<<<dim3(parts(width, kGroup * kAcross), height), kGroup, 4 * (tile + tile / 32 + 1)>>>(
          in, sums, height, width, radius);
      down<<<dim3(parts(width, kGroup), parts(height, kDown)), kGroup>>>(
          sums, reinterpret_cast<uchar4*>(out), height, width, radius);
    }
    check(cudaGetLastError());
  });
  check(cudaMemcpy(host.data(), out, bytes, cudaMemcpyDeviceToHost));
  file = std::fopen(argv[3], "wb");
  if (file == nullptr || std::fwrite(host.data(), 1, bytes, file) != bytes) return 1;
  std::fclose(file);
  std::printf("%.1f %.1f\n", time, copy);
}
