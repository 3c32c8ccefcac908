#include "client/testing/autotune.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "client/lib/temp_dir.h"
#include "client/lib/values.h"
#include "client/testing/callee.h"
#include "client/testing/spec.h"

namespace kenaz::testing {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
/// Noise is of this order.
constexpr double kWorthIt = 1.05;

size_t sizes_below(const ThresholdTimes& t, int64_t threshold) {
  return static_cast<size_t>(std::lower_bound(t.sizes.begin(), t.sizes.end(), threshold) -
                             t.sizes.begin());
}

/// The sum of the logarithms of the times.
double cost(const std::vector<ThresholdTimes>& datasets, int64_t threshold) {
  double sum = 0;
  for (const auto& t : datasets) {
    sum += std::log(std::max(1.0, t.microseconds[sizes_below(t, threshold)]));
  }
  return sum;
}

/// "threshold(256,)", in which "def" may stand for a number that the server does not know.
std::optional<int64_t> default_of_class(std::string_view text) {
  constexpr std::string_view kThreshold = "threshold(";
  if (!text.starts_with(kThreshold)) return std::nullopt;
  int64_t value = 0;
  std::from_chars(text.data() + kThreshold.size(), text.data() + text.size(), value);
  return value;
}

bool counts(const Case& c) {
  return !std::holds_alternative<RuntimeError>(c.expected) &&
         std::none_of(c.tags.begin(), c.tags.end(), [](const std::string& tag) {
           return tag == "nobench" || tag == "disable" || tag == "no_kenaz";
         });
}

class Autotuner {
 public:
  Autotuner(client::Connection& server, const std::string& path, const client::TempDir& scratch,
            const AutotuneOptions& options)
      : server_(server), path_(path), scratch_(scratch), options_(options) {}

  /// Sets all thresholds of the entry, the best so far.
  Status tune(const std::string& entry, const std::vector<const Case*>& cases,
              std::map<std::string, std::vector<ThresholdTimes>>& all) {
    KENAZ_ASSIGN(const auto callee, Callee::look_up(server_, entry));
    KENAZ_ASSIGN(const auto params, server_.request({"tuning_params", entry}));
    for (const std::string& param : params) {
      KENAZ_ASSIGN(const auto text, server_.request_line({"tuning_param_class", param}));
      const auto fallback = default_of_class(text);
      if (!fallback) continue;
      auto& times = all[param];
      for (const Case* c : cases) {
        KENAZ_ASSIGN(auto measured, measure(callee, *c, param));
        if (!measured.sizes.empty()) times.push_back(std::move(measured));
      }
      KENAZ_TRY(set(param, best_threshold(times, *fallback)));
    }
    return {};
  }

 private:
  Status set(const std::string& param, int64_t value) {
    KENAZ_TRY(server_.request({"set_tuning_param", param, std::to_string(value)}));
    return {};
  }

  Result<ThresholdTimes> measure(const Callee& callee, const Case& c, const std::string& param) {
    KENAZ_TRY(server_.request({"clear"}));
    ThresholdTimes times;
    KENAZ_TRY(callee.load(c.input, path_, scratch_));
    std::set<int64_t> sizes;
    for (const int64_t threshold : {int64_t{1}, kNever}) {
      KENAZ_ASSIGN(const auto called, call(callee, c, param, threshold));
      sizes.insert(called.compared.begin(), called.compared.end());
    }
    times.sizes.assign(sizes.begin(), sizes.end());
    thin_out(times.sizes);
    bool any = false;
    for (size_t k = 0; k <= times.sizes.size() && !times.sizes.empty(); k++) {
      const int64_t threshold =
          k == 0 ? std::min<int64_t>(1, times.sizes[0]) : times.sizes[k - 1] + 1;
      KENAZ_ASSIGN(const double time, least_time(callee, c, param, threshold));
      times.microseconds.push_back(time);
      any = any || time != kInfinite;
    }
    if (!any) times.sizes.clear();
    KENAZ_TRY(callee.free_inputs());
    return times;
  }

  /// A loop may compare many sizes.
  static void thin_out(std::vector<int64_t>& sizes) {
    constexpr size_t kMost = 8;
    if (sizes.size() <= kMost) return;
    std::vector<int64_t> some;
    for (size_t k = 0; k < kMost; k++) some.push_back(sizes[k * (sizes.size() - 1) / (kMost - 1)]);
    sizes = std::move(some);
  }

  struct Called {
    double microseconds = kInfinite;  // the call failed
    std::vector<int64_t> compared;
  };
  Result<Called> call(const Callee& callee, const Case& c, const std::string& param,
                      int64_t threshold) {
    KENAZ_TRY(set(param, threshold));
    if (callee.consumes()) {
      KENAZ_TRY(callee.free_inputs());
      KENAZ_TRY(callee.load(c.input, path_, scratch_));
    }
    Called called;
    const auto ran = callee.call_logged();
    if (!ran) {
      if (server_.broken()) return tl::make_unexpected(ran.error());
      return called;
    }
    called.microseconds = static_cast<double>(ran->microseconds);
    for (const auto& line : ran->log) note_comparison(line, param, called.compared);
    KENAZ_TRY(server_.request({"free", "out"}));
    return called;
  }

  /// "Compared NAME <= SIZE: true."
  static void note_comparison(std::string_view line, const std::string& param,
                              std::vector<int64_t>& to) {
    const std::string start = fmt::format("Compared {} <= ", param);
    int64_t size = 0;
    if (!line.starts_with(start)) return;
    line.remove_prefix(start.size());
    if (std::from_chars(line.data(), line.data() + line.size(), size).ec == std::errc()) {
      to.push_back(size);
    }
  }

  Result<double> least_time(const Callee& callee, const Case& c, const std::string& param,
                            int64_t threshold) {
    double least = kInfinite;
    for (int run = 0; run <= options_.runs; run++) {
      KENAZ_ASSIGN(const Called called, call(callee, c, param, threshold));
      if (called.microseconds == kInfinite) return kInfinite;
      if (run > 0) least = std::min(least, called.microseconds);  // the first compiles kernels
    }
    return least;
  }

  client::Connection& server_;
  const std::string path_;
  const client::TempDir& scratch_;
  const AutotuneOptions& options_;
};

using Times = std::map<std::string, std::vector<ThresholdTimes>>;

/// In the order of the program, as the server lists them.
Result<std::vector<TunedParam>> results(client::Connection& server,
                                        const std::vector<std::string>& names, const Times& times) {
  std::vector<TunedParam> out;
  for (const auto& name : names) {
    KENAZ_ASSIGN(const auto text, server.request_line({"tuning_param_class", name}));
    const auto fallback = default_of_class(text);
    if (!fallback) continue;
    TunedParam tuned{name, *fallback, *fallback, 0, 1};
    if (const auto found = times.find(name); found != times.end() && !found->second.empty()) {
      const auto& sets = found->second;
      tuned.value = best_threshold(sets, *fallback);
      tuned.datasets = sets.size();
      const double gain = cost(sets, *fallback) - cost(sets, tuned.value);
      tuned.speedup = std::exp(gain / static_cast<double>(sets.size()));
    }
    out.push_back(std::move(tuned));
  }
  return out;
}

}  // namespace

int64_t best_threshold(const std::vector<ThresholdTimes>& datasets, int64_t fallback) {
  std::set<int64_t> candidates = {fallback};
  for (const auto& t : datasets) {
    for (const int64_t size : t.sizes) {
      candidates.insert(size);
      candidates.insert(size + 1);
    }
  }
  const auto distance = [&](int64_t c) {
    return std::abs(static_cast<double>(c) - static_cast<double>(fallback));
  };
  int64_t best = fallback;
  double least = cost(datasets, fallback);
  const double worth =
      least - static_cast<double>(datasets.size()) * std::log(kWorthIt);  // per dataset
  for (const int64_t c : candidates) {
    const double at = cost(datasets, c);
    if (at > worth) continue;
    if (at < least || (at == least && distance(c) < distance(best))) {
      best = c;
      least = at;
    }
  }
  return best;
}

Result<std::vector<TunedParam>> autotune_program(
    const std::string& path, const AutotuneOptions& options,
    const std::function<void(const TunedParam&)>& report) {
  KENAZ_ASSIGN(const auto source, client::read_file(path));
  KENAZ_ASSIGN(const auto spec, parse_spec(source));
  std::map<std::string, std::vector<const Case*>> cases;
  for (const auto& group : spec.groups) {
    for (const auto& entry : group.entries) {
      for (const auto& c : group.cases) {
        if (counts(c) && (options.entry.empty() || entry == options.entry)) {
          cases[entry].push_back(&c);
        }
      }
    }
  }
  KENAZ_ASSIGN(const auto scratch, client::TempDir::make());
  client::ServerOptions start = options.server;
  start.program = path;
  start.stderr_path = scratch.file("server.stderr");
  start.arguments.insert(start.arguments.end(),
                         {"--log", "--call-timeout", fmt::format("{}", options.call_timeout)});
  KENAZ_ASSIGN(auto server, client::Connection::start(start, client::deadline_in(options.timeout)));
  Autotuner tuner(*server, path, scratch, options);
  std::vector<TunedParam> all;
  for (const auto& [entry, of_entry] : cases) {
    Times times;
    KENAZ_TRY(tuner.tune(entry, of_entry, times));
    KENAZ_ASSIGN(const auto names, server->request({"tuning_params", entry}));
    KENAZ_ASSIGN(const auto tuned, results(*server, names, times));
    for (const auto& t : tuned) {
      report(t);
      all.push_back(t);
    }
  }
  return all;
}

std::string tuning_text(const std::vector<TunedParam>& params) {
  std::string text;
  for (const auto& p : params) {
    if (p.datasets == 0) {
      text += fmt::format("-- {} was compared in no run\n", p.name);
    } else if (p.value == p.fallback) {
      text += fmt::format("-- {} is best as it is\n", p.name);
    } else {
      text += fmt::format("{}={}\n", p.name, p.value);
    }
  }
  return text;
}

}  // namespace kenaz::testing
