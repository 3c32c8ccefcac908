// The primitives of flat/ by CUB, on the same data: the peers of bench/cub_beside.
//
//   cub OPERATION RESULT INPUT..
//
// An input is a file in the binary format of values, a vector. The result is written to RESULT as
// its bytes alone. Printed are, in microseconds, the medians of a call (until the host knows that
// it has ended, and a scalar that it makes), of its time on the device by events, and of a copy of
// the first input on the device.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <cuda/functional>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int kRuns = 11;
constexpr long kHeader = 15;  // of a vector, in the binary format

void check(cudaError_t e) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(e));
  std::exit(1);
}

void* allocate(size_t bytes) {
  void* p = nullptr;
  check(cudaMalloc(&p, std::max<size_t>(bytes, 1)));
  return p;
}

struct Input {
  size_t bytes = 0;
  void* data = nullptr;
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
  template <class T>
  int64_t count() const {
    return static_cast<int64_t>(bytes / sizeof(T));
  }
};

Input read(const char* path) {
  FILE* file = std::fopen(path, "rb");
  if (file == nullptr || std::fseek(file, 0, SEEK_END) != 0) {
    std::fprintf(stderr, "cannot read %s\n", path);
    std::exit(1);
  }
  std::vector<char> host(static_cast<size_t>(std::ftell(file) - kHeader));
  std::fseek(file, kHeader, SEEK_SET);
  if (std::fread(host.data(), 1, host.size(), file) != host.size()) std::exit(1);
  std::fclose(file);
  Input in{host.size(), allocate(host.size())};
  check(cudaMemcpy(in.data, host.data(), in.bytes, cudaMemcpyHostToDevice));
  return in;
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// The median time until `call` has ended, as the host sees it, after a first one.
double called(const std::function<void()>& call) {
  std::vector<double> times;
  for (int n = 0; n <= kRuns; n++) {
    check(cudaDeviceSynchronize());
    const auto begin = std::chrono::steady_clock::now();
    call();
    check(cudaDeviceSynchronize());
    if (n > 0) times.push_back(since(begin));
  }
  return median(times);
}

double on_device(const std::function<void()>& launch) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<double> times;
  for (int n = 0; n < kRuns; n++) {
    check(cudaEventRecord(begin));
    launch();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(1e3 * ms);
  }
  return median(times);
}

/// A result on the device, and what the host must read to know its size, or itself.
struct Output {
  void* data = nullptr;
  size_t bytes = 0;
  int64_t* count = nullptr;  // on the device: how many there are
  size_t each = 0;
  bool is_scalar = false;
};

using Launch = std::function<cudaError_t(void* scratch, size_t& bytes)>;

/// What an operation does, and where its result is.
struct Operation {
  Launch launch;
  Output out;
};

Output scalar(size_t bytes) { return {allocate(bytes), bytes, nullptr, 0, true}; }
Output vector(size_t bytes) { return {allocate(bytes), bytes}; }

template <class T>
Operation add(const Input& in) {
  const Output out = vector(in.bytes);
  return {[=](void* scratch, size_t& bytes) {
            if (scratch == nullptr) {
              bytes = 1;
              return cudaSuccess;
            }
            return cub::DeviceTransform::Transform(
                in.as<T>(), static_cast<T*>(out.data), in.count<T>(),
                [] __device__(T x) { return static_cast<T>(x + 7); });
          },
          out};
}

template <class T>
Operation sum(const Input& in) {
  const Output out = scalar(sizeof(T));
  return {[=](void* scratch, size_t& bytes) {
            return cub::DeviceReduce::Sum(scratch, bytes, in.as<T>(), static_cast<T*>(out.data),
                                          in.count<T>());
          },
          out};
}

Operation largest(const Input& in) {
  const Output out = scalar(sizeof(float));
  return {[=](void* scratch, size_t& bytes) {
            return cub::DeviceReduce::Max(scratch, bytes, in.as<float>(),
                                          static_cast<float*>(out.data), in.count<float>());
          },
          out};
}

template <class T>
Operation scan(const Input& in) {
  const Output out = vector(in.bytes);
  return {[=](void* scratch, size_t& bytes) {
            return cub::DeviceScan::InclusiveSum(scratch, bytes, in.as<T>(),
                                                 static_cast<T*>(out.data), in.count<T>());
          },
          out};
}

struct IsPositive {
  __host__ __device__ bool operator()(int32_t x) const { return x >= 0; }
};

Operation filter(const Input& in) {
  Output out = vector(in.bytes);
  out.count = static_cast<int64_t*>(allocate(sizeof(int64_t)));
  out.each = sizeof(int32_t);
  return {[=](void* scratch, size_t& bytes) {
            return cub::DeviceSelect::If(scratch, bytes, in.as<int32_t>(),
                                         static_cast<int32_t*>(out.data), out.count,
                                         in.count<int32_t>(), IsPositive());
          },
          out};
}

Operation histogram(const Input& in) {
  constexpr int kBins = 256;
  const Output out = vector(kBins * sizeof(int32_t));
  return {[=](void* scratch, size_t& bytes) {
            return cub::DeviceHistogram::HistogramEven(scratch, bytes, in.as<int32_t>(),
                                                       static_cast<int32_t*>(out.data), kBins + 1,
                                                       0, kBins, in.count<int32_t>());
          },
          out};
}

template <class T>
Operation sort(const Input& in) {
  const Output out = vector(in.bytes);
  return {[=](void* scratch, size_t& bytes) {
            return cub::DeviceRadixSort::SortKeys(scratch, bytes, in.as<T>(),
                                                  static_cast<T*>(out.data), in.count<T>());
          },
          out};
}

Operation sort_pairs(const Input& keys, const Input& values) {
  const Output out = vector(values.bytes);
  auto* sorted = static_cast<uint32_t*>(allocate(keys.bytes));
  return {[=](void* scratch, size_t& bytes) {
            return cub::DeviceRadixSort::SortPairs(
                scratch, bytes, keys.as<uint32_t>(), sorted, values.as<int32_t>(),
                static_cast<int32_t*>(out.data), keys.count<uint32_t>());
          },
          out};
}

Operation operation(const std::string& name, const std::vector<Input>& in) {
  if (name == "add_i32") return add<int32_t>(in[0]);
  if (name == "add_u8") return add<uint8_t>(in[0]);
  if (name == "add_f64") return add<double>(in[0]);
  if (name == "sum_i32") return sum<int32_t>(in[0]);
  if (name == "sum_f32") return sum<float>(in[0]);
  if (name == "max_f32") return largest(in[0]);
  if (name == "scan_i32") return scan<int32_t>(in[0]);
  if (name == "scan_f32") return scan<float>(in[0]);
  if (name == "filter_half") return filter(in[0]);
  if (name == "count_256") return histogram(in[0]);
  if (name == "sort_keys") return sort<uint32_t>(in[0]);
  if (name == "sort_long") return sort<uint64_t>(in[0]);
  if (name == "sort_pairs" && in.size() == 2) return sort_pairs(in[0], in[1]);
  std::fprintf(stderr, "no such operation: %s\n", name.c_str());
  std::exit(1);
}

void write(const Output& out, const char* path) {
  size_t bytes = out.bytes;
  if (out.count != nullptr) {
    int64_t count = 0;
    check(cudaMemcpy(&count, out.count, sizeof count, cudaMemcpyDeviceToHost));
    bytes = static_cast<size_t>(count) * out.each;
  }
  std::vector<char> host(bytes);
  check(cudaMemcpy(host.data(), out.data, bytes, cudaMemcpyDeviceToHost));
  FILE* file = std::fopen(path, "wb");
  if (file == nullptr || std::fwrite(host.data(), 1, bytes, file) != bytes) std::exit(1);
  std::fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  std::vector<Input> in;
  for (int n = 3; n < argc; n++) in.push_back(read(argv[n]));
  const Operation op = operation(argv[1], in);
  size_t bytes = 0;
  check(op.launch(nullptr, bytes));
  void* scratch = allocate(bytes);
  const auto launch = [&] { check(op.launch(scratch, bytes)); };
  const auto call = [&] {
    launch();
    char known[8];
    if (op.out.is_scalar) {
      check(cudaMemcpy(known, op.out.data, op.out.bytes, cudaMemcpyDeviceToHost));
    } else if (op.out.count != nullptr) {
      check(cudaMemcpy(known, op.out.count, sizeof(int64_t), cudaMemcpyDeviceToHost));
    }
  };
  const double call_time = called(call), device_time = on_device(launch);
  void* copy = allocate(in[0].bytes);
  const double copied = on_device(
      [&] { check(cudaMemcpyAsync(copy, in[0].data, in[0].bytes, cudaMemcpyDeviceToDevice)); });
  write(op.out, argv[2]);
  std::printf("%.1f %.1f %.1f\n", call_time, device_time, copied);
}
