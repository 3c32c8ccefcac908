// A block of device memory, as the interpreter sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "kernels/kir/eval/machine.h"
#include "kernels/kir/eval/races.h"

namespace kenaz::kir {

/// Zeros, of which only what is used takes memory, as far as the system can do that.
template <class T>
class Zeros {
 public:
  /// Throws std::bad_alloc.
  explicit Zeros(size_t size)
      : size_(size), data_(static_cast<T*>(std::calloc(size + 1, sizeof(T)))) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }  // NOLINT: of calloc
  };
  size_t size_;
  std::unique_ptr<T[], Free> data_;
};

struct Memory::Block {
  explicit Block(size_t bytes) : data(bytes), known(bytes) {}
  uint64_t address = 0;
  Zeros<std::byte> data;
  Zeros<uint8_t> known;                  // by byte: 0xff if it is defined, else 0
  std::unique_ptr<eval::Shadow> shadow;  // of the current run; made at the first access
};

}  // namespace kenaz::kir
