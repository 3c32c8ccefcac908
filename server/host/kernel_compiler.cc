#include "server/host/kernel_compiler.h"

#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "kernels/glsl/compile.h"

namespace kenaz::host {

namespace {

/// The store has checked that these are the bytes that were put there.
std::optional<std::vector<uint32_t>> words_of(std::span<const std::byte> bytes) {
  if (bytes.empty() || bytes.size() % sizeof(uint32_t) != 0) return std::nullopt;
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

}  // namespace

KernelCompiler::KernelCompiler(std::string folder, std::string build, Note note)
    : store_(build.empty() ? "" : std::move(folder), ".spirv", ""),
      build_(std::move(build)),
      note_(std::move(note)) {}

Result<std::vector<uint32_t>> KernelCompiler::spirv(const program::Kernel& kernel,
                                                    bool small) const {
  if (!kernel.spirv.empty()) return kernel.spirv;
  const std::string text = small ? kernel.glsl : glsl::for_any_launch(kernel.glsl);
  // With the whole text in it, so that no two kernels are taken for each other.
  const std::string key = build_ + '\n' + text;
  if (const auto stored = store_.get(key)) {
    if (auto words = words_of(std::as_bytes(std::span(*stored)))) {
      if (note_) note_(true);
      return std::move(*words);
    }
  }
  KENAZ_ASSIGN(auto words, glsl::compile_glsl(kernel.name, text));
  if (note_) note_(false);
  store_.put(key, std::as_bytes(std::span(words)));
  return words;
}

}  // namespace kenaz::host
