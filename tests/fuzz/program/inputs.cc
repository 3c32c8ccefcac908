// Random arguments for the entry point, and the whole of a case.
#include <algorithm>
#include <map>

#include "tests/fuzz/program/generator.h"

namespace kenaz::fuzz {

/// Chooses sizes such that nothing becomes large, and values with a liking for edges.
class InputMaker {
 public:
  explicit InputMaker(Generator& g) : g_(g) {}

  Input make(const Function& main) {
    choose_sizes(main);
    Input input;
    for (const Var& p : main.params) {
      data::Value v;
      v.type = p.type.base().prim;
      for (const Type* t = &p.type; t->is_array(); t = &t->element()) {
        v.shape.push_back(size(t->size));
      }
      const int64_t count = elements(v.shape);
      const bool small = g_.chance(50);
      for (int64_t i = 0; i < count; ++i) data::append(v, value(v.type, small));
      input.push_back(std::move(v));
    }
    return input;
  }

 private:
  static constexpr int64_t kMaxVolume = 6000;

  static int64_t elements(const std::vector<int64_t>& shape) {
    int64_t n = 1;
    for (const int64_t d : shape) n *= d;
    return n;
  }

  void choose_sizes(const Function& main) {
    if (g_.of_slopes()) {
      // The function runs several times for each element.
      for (const auto& name : main.sizes) sizes_[name] = static_cast<int64_t>(g_.below(6));
      return;
    }
    static const std::vector<int64_t> common = {0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 33, 64, 100};
    sizes_.clear();
    for (const auto& name : main.sizes) {
      sizes_[name] = g_.chance(85) ? g_.pick(common) : static_cast<int64_t>(g_.below(301));
    }
    while (volume() > kMaxVolume) {
      auto largest =
          std::max_element(sizes_.begin(), sizes_.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      if (largest->second <= 1) return;
      largest->second /= 2;
    }
  }

  /// How many elements the largest thing has. Sizes that the program finds out count as the
  /// largest of the entry point's.
  int64_t volume() const {
    int64_t most = 0;
    for (const auto& names : g_.volumes_) {
      double n = 1;
      for (const auto& name : names) n *= std::max<double>(1, static_cast<double>(size(name)));
      most = std::max(most, static_cast<int64_t>(std::min(n, 1e15)));
    }
    return most;
  }

  int64_t size(const std::string& name) const {
    if (!is_size_name(name)) return std::stoll(name);
    const auto it = sizes_.find(name);
    if (it != sizes_.end()) return it->second;
    int64_t most = 0;
    for (const auto& [unused, n] : sizes_) most = std::max(most, n);
    return most;
  }

  PrimValue value(PrimType type, bool small) {
    if (type == PrimType::kBool) return PrimValue::of_bool(g_.chance(50));
    if (is_integer(type)) {
      if (small || g_.of_slopes() || g_.chance(60)) {
        return PrimValue::of_int(type, static_cast<int64_t>(g_.below(20)) - (small ? 2 : 8));
      }
      const uint64_t top = uint64_t{1} << (prim_bits(type) - 1);
      switch (g_.below(4)) {
        case 0: return PrimValue::of_int(type, static_cast<int64_t>(top));
        case 1: return PrimValue::of_int(type, static_cast<int64_t>(top - 1));
        default: return PrimValue::of_int(type, static_cast<int64_t>(g_.random_()));
      }
    }
    if (g_.of_slopes()) {
      // Where hardly any two values that differ are equal, and none is at a corner.
      return PrimValue::of_float(type, static_cast<double>(g_.below(1 << 20)) / (1 << 18) - 1.5);
    }
    if (!small && g_.chance(6)) {
      static const std::vector<double> special = {0.0, -0.0, 1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0};
      return PrimValue::of_float(type, g_.pick(special));
    }
    return PrimValue::of_float(type, (static_cast<double>(g_.below(129)) - 48) / 4);
  }

  Generator& g_;
  std::map<std::string, int64_t> sizes_;
};

Case Generator::make_case() {
  Case c;
  for (uint64_t i = below(3); i > 0; --i) sums_.push_back(make_sum());
  for (int i = static_cast<int>(below(3)); i > 0; --i) functions_.push_back(make_function(i));
  volumes_.clear();  // of functions; main's calls note their arguments and results
  Function main = of_slopes() ? make_slopes() : make_main(c.program.tolerant);
  c.program.slopes = of_slopes();
  c.program.sums = sums_;
  c.program.decls = decls_;
  c.program.functions = functions_;
  c.program.functions.push_back(main);
  InputMaker inputs(*this);
  for (int i = 0; i < 3; ++i) c.inputs.push_back(inputs.make(main));
  return c;
}

}  // namespace kenaz::fuzz
