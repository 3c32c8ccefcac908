// Runs a fuzzer's function on files, and on truncated and altered forms of them, without libFuzzer.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

Bytes read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void run_variants(const Bytes& bytes) {
  constexpr int kVariants = 20;
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  if (bytes.empty()) return;
  std::mt19937 random(static_cast<uint32_t>(bytes.size()));
  for (int i = 0; i < kVariants; ++i) {
    Bytes changed = bytes;
    changed[random() % changed.size()] ^= static_cast<uint8_t>(1u << (random() % 8));
    if (i % 2 == 0) changed.resize(random() % changed.size() + 1);
    LLVMFuzzerTestOneInput(changed.data(), changed.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (!entry.is_regular_file()) continue;
      run_variants(read(entry.path()));
      ++files;
    }
  }
  std::printf("%d files\n", files);
  return files > 0 ? 0 : 1;
}
