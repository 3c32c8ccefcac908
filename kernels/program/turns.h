// How many turns the loops of a thread make at most, by what a launch passes.
#pragma once

#include <vector>

namespace kenaz::program {

/// A product: a coefficient and factors, of which each is an argument of the launch, how many
/// workgroups there are, or one divided by how many workgroups or threads there are.
struct Term {
  double coefficient = 1;
  std::vector<int> factors;  // numbers of arguments, or one of the names below
  friend bool operator==(const Term&, const Term&) = default;
};
inline constexpr int kGroups = -1, kPerGroup = -2, kPerThread = -3;

/// A sum of products, good where none of its arguments is negative.
using Turns = std::vector<Term>;

/// A launch that makes so many turns at most is over soon: loops of a thread look that often
/// (KernelFailure) whether the call is to stop.
inline constexpr double kFewTurns = 1 << 18;

struct LaunchSize {
  double threads = 1, groups = 1;
};

/// Whether no thread makes more than kFewTurns. `argument` gives the value of the scalar argument
/// of that number, as a double.
template <class F>
bool are_few(const Turns& turns, const LaunchSize& size, F&& argument) {
  double sum = 0;
  for (const Term& term : turns) {
    double product = term.coefficient;
    for (const int n : term.factors) {
      if (n == kGroups) {
        product *= size.groups;
      } else if (n == kPerGroup) {
        product /= size.groups;
      } else if (n == kPerThread) {
        product /= size.threads;
      } else {
        const double factor = argument(n);
        if (factor < 0) return false;
        product *= factor;
      }
    }
    sum += product;
  }
  return sum <= kFewTurns;
}

}  // namespace kenaz::program
