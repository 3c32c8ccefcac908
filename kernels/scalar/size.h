// Sizes: numbers of elements and of bytes. Clients choose them, so their products and sums must not
// wrap: 2^32 * 2^32 elements are not none.
#pragma once

#include <cstdint>
#include <span>

namespace kenaz {

/// A number from 0 to kMaxSize. What would be larger is kMaxSize, for which there is no memory on
/// any machine; what would be negative is 0. Only checked arithmetic is there, and no conversion to
/// a number happens by itself. The scalar operations size_mul and size_add do the same in host code
/// and kernels.
class Size {
 public:
  /// A little may be added to it without wrapping: alignment, for example.
  static constexpr int64_t kMaxSize = int64_t{1} << 62;

  constexpr Size() = default;
  constexpr explicit Size(int64_t n) : n_(n < 0 ? 0 : n > kMaxSize ? kMaxSize : n) {}

  constexpr int64_t value() const { return n_; }

  friend constexpr Size operator+(Size a, Size b) {
    // At most 2^63, which an unsigned number holds.
    const uint64_t sum = static_cast<uint64_t>(a.n_) + static_cast<uint64_t>(b.n_);
    return sum > static_cast<uint64_t>(kMaxSize) ? Size(kMaxSize) : Size(static_cast<int64_t>(sum));
  }
  friend constexpr Size operator*(Size a, Size b) {
    int64_t product = 0;
    return __builtin_mul_overflow(a.n_, b.n_, &product) ? Size(kMaxSize) : Size(product);
  }
  friend constexpr bool operator==(Size, Size) = default;

 private:
  int64_t n_ = 0;
};

/// The number of elements of an array of this shape. None if one of the dims is 0, whatever the
/// others are.
inline Size count_elements(std::span<const int64_t> shape) {
  Size n(1);
  for (const int64_t d : shape) n = n * Size(d);
  return n;
}

}  // namespace kenaz
