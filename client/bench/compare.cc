#include "client/bench/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "client/bench/statistics.h"
#include "client/bench/units.h"

namespace kenaz::bench {

namespace {

constexpr double kChance = 0.01, kLeastDifference = 0.01;

const Dataset* find(const Results& results, const std::string& name, const std::string& dataset) {
  for (const Measured& m : results) {
    if (m.name() != name) continue;
    for (const Dataset& d : m.datasets) {
      if (d.name == dataset && !d.runtimes.empty()) return &d;
    }
  }
  return nullptr;
}

double most_memory(const Dataset& d) {
  int64_t most = 0;
  for (const auto& [space, bytes] : d.bytes) most = std::max(most, bytes);
  return static_cast<double>(most);
}

Comparison compare(const std::string& name, const Dataset& before, const Dataset& after) {
  Comparison c{name, after.name};
  c.before = median(before.runtimes);
  c.after = median(after.runtimes);
  // A server that counts whole microseconds may count none.
  c.speedup = std::max(c.before, 0.5) / std::max(c.after, 0.5);
  c.chance = chance_of_difference(before.runtimes, after.runtimes);
  if (c.chance < kChance && std::abs(c.speedup - 1) > kLeastDifference) {
    c.verdict = c.speedup > 1 ? Verdict::kFaster : Verdict::kSlower;
  }
  const double was = most_memory(before), is = most_memory(after);
  if (was > 0 && is > 0) c.memory = is / was;
  return c;
}

std::string_view verdict_text(Verdict v) {
  switch (v) {
    case Verdict::kFaster: return "faster";
    case Verdict::kSlower: return "slower";
    case Verdict::kSame: break;
  }
  return "no significant difference";
}

}  // namespace

Compared compare(const Results& before, const Results& after) {
  Compared compared;
  const auto each = [](const Results& results, const auto& visit) {
    for (const Measured& m : results) {
      for (const Dataset& d : m.datasets) {
        if (!d.runtimes.empty()) visit(m.name(), d);
      }
    }
  };
  each(after, [&](const std::string& name, const Dataset& d) {
    if (const Dataset* was = find(before, name, d.name)) {
      compared.both.push_back(compare(name, *was, d));
    } else {
      compared.only_after.push_back(name + " " + d.name);
    }
  });
  each(before, [&](const std::string& name, const Dataset& d) {
    if (find(after, name, d.name) == nullptr) compared.only_before.push_back(name + " " + d.name);
  });
  return compared;
}

std::string comparison_text(const Compared& compared) {
  size_t width = 0;
  for (const auto& c : compared.both) width = std::max(width, c.dataset.size() + 2);
  std::string text, heading;
  for (const auto& c : compared.both) {
    if (c.name != heading) {
      heading = c.name;
      text += fmt::format("{}\n  {:<{}} {:>10} {:>10} {:>8}\n", heading, "", width, "before",
                          "after", "speed-up");
    }
    text += fmt::format("  {:<{}} {:>10} {:>10} {:>7.2f}x  {}", c.dataset, width,
                        duration_text(c.before), duration_text(c.after), c.speedup,
                        verdict_text(c.verdict));
    if (c.verdict != Verdict::kSame) {
      text += c.chance < 0.0001 ? " (p < 0.0001)" : fmt::format(" (p = {:.4f})", c.chance);
    }
    if (std::abs(c.memory - 1) > kLeastDifference) {
      text += fmt::format(", memory {:.2f}x", c.memory);
    }
    text += "\n";
  }
  const auto only = [&](const char* when, const std::vector<std::string>& names) {
    constexpr size_t kMost = 3;
    for (size_t k = 0; k < std::min(kMost, names.size()); ++k) {
      text += fmt::format("only {}: {}\n", when, names[k]);
    }
    if (names.size() > kMost) text += fmt::format("  and {} more\n", names.size() - kMost);
  };
  only("before", compared.only_before);
  only("after", compared.only_after);
  return text;
}

}  // namespace kenaz::bench
