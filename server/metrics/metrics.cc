#include "server/metrics/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "protocol/base/replace_file.h"

namespace kenaz {

namespace {
constexpr const char* kKinds[] = {"bad_request",   "program",     "compile",
                                  "out_of_memory", "device_lost", "internal"};

/// Where failures of a kind are counted.
size_t row_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kBadRequest:
    case ErrorKind::kNoSuchFile: return 0;
    case ErrorKind::kProgramFailure: return 1;
    case ErrorKind::kCompile: return 2;
    case ErrorKind::kOutOfMemory: return 3;
    case ErrorKind::kDeviceLost: return 4;
    case ErrorKind::kInternal: return 5;
  }
  return 5;
}

/// A label's value, in which Prometheus' format has backslashes before these.
std::string label(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

struct DeviceRow {
  const char *name, *type, *help;
  double value;
};

std::vector<DeviceRow> rows_of(const DeviceFigures& d) {
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  return {
      {"sessions", "gauge", "Sessions on a device now", number(d.sessions)},
      {"calls", "gauge", "Calls on their way to a device or running there",
       number(d.calls_at_hand)},
      {"calls_total", "counter", "Calls that ran on a device", number(d.calls)},
      {"call_seconds_total", "counter", "Run time of a device's calls", d.seconds},
      {"losses_total", "counter", "How often a device was lost", number(d.losses)},
      {"used_bytes", "gauge", "A device's memory in use", number(d.memory.used)},
      {"cached_bytes", "gauge", "A device's memory kept for reuse", number(d.memory.cached)},
      {"peak_bytes", "gauge", "Most of a device's memory in use so far", number(d.memory.peak)},
  };
}

struct LoadedRow {
  const char *name, *type, *help;
  double value;
};

std::vector<LoadedRow> rows_of(const LoadedFigures& p) {
  return {
      {"calls_total", "counter", "Calls of a program that a client loaded",
       static_cast<double>(p.calls)},
      {"failures_total", "counter", "Calls of a loaded program that failed",
       static_cast<double>(p.failures)},
      {"call_seconds_total", "counter", "Run time of a loaded program's calls", p.seconds},
      {"memory_bytes", "gauge", "Memory in RAM of a loaded program's process",
       static_cast<double>(p.memory)},
  };
}

/// A name as part of a word: other bytes than letters, digits and a few signs become %XX.
std::string in_word(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '.';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string loaded_families(std::span<const LoadedFigures> loaded) {
  std::string out;
  if (loaded.empty()) return out;
  const auto first = rows_of(loaded[0]);
  for (size_t i = 0; i < first.size(); ++i) {
    out += fmt::format("# HELP kenaz_loaded_{0} {1}\n# TYPE kenaz_loaded_{0} {2}\n", first[i].name,
                       first[i].help, first[i].type);
    for (const auto& p : loaded) {
      out += fmt::format("kenaz_loaded_{}{{number=\"{}\",name=\"{}\"}} {}\n", first[i].name,
                         p.number, label(p.name), rows_of(p)[i].value);
    }
  }
  return out;
}

/// A figure of one of several, as a line: sums of seconds are in microseconds there.
template <class Row>
std::string line_of(const std::string& prefix, const Row& row) {
  const bool in_seconds = std::string_view(row.name) == "call_seconds_total";
  return fmt::format("{}_{} {}", prefix, in_seconds ? "call_microseconds_total" : row.name,
                     static_cast<int64_t>(row.value * (in_seconds ? 1e6 : 1)));
}

device::MemoryStats memory_of_all(std::span<const DeviceFigures> devices) {
  device::MemoryStats all;
  for (const auto& d : devices) {
    all.used += d.memory.used;
    all.cached += d.memory.cached;
    all.peak += d.memory.peak;
  }
  return all;
}

std::string device_families(std::span<const DeviceFigures> devices) {
  std::string out;
  if (devices.empty()) return out;
  const auto first = rows_of(devices[0]);
  for (size_t i = 0; i < first.size(); ++i) {
    out += fmt::format("# HELP kenaz_device_{0} {1}\n# TYPE kenaz_device_{0} {2}\n", first[i].name,
                       first[i].help, first[i].type);
    for (const auto& d : devices) {
      out += fmt::format("kenaz_device_{}{{device=\"{}\",name=\"{}\"}} {}\n", first[i].name,
                         d.number, label(d.name), rows_of(d)[i].value);
    }
  }
  return out;
}

}  // namespace

void Metrics::called(const std::string& program, const std::string& entry, double seconds,
                     bool failed) {
  ++calls_;
  call_nanoseconds_ += static_cast<int64_t>(seconds * 1e9);
  const auto* bound = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  ++buckets_[static_cast<size_t>(bound - kBounds.begin())];
  const std::lock_guard lock(entries_mutex_);
  Entry& figures = entries_[{program, entry}];
  ++figures.calls;
  figures.failures += failed ? 1 : 0;
  figures.seconds += seconds;
}

void Metrics::failed(ErrorKind kind) { ++failures_[row_of(kind)]; }

std::vector<Metrics::Row> Metrics::rows(std::span<const DeviceFigures> devices) const {
  const device::MemoryStats memory = memory_of_all(devices);
  return {
      {"commands_total", "counter", "Commands received", commands_},
      {"calls_total", "counter", "Entry points run", calls_},
      {"received_bytes_total", "counter", "Bytes received from sockets", bytes_in_},
      {"sent_bytes_total", "counter", "Bytes sent to sockets", bytes_out_},
      {"connections", "gauge", "Connections open now", connections_},
      {"connections_total", "counter", "Connections accepted", connections_total_},
      {"connections_refused_total", "counter", "Connections over the limit", refused_},
      {"sessions", "gauge", "Sessions now, named ones without a connection included", sessions_},
      {"client_memory_bytes", "gauge", "Host memory that clients' commands and sessions take",
       client_memory_ ? client_memory_->used() : 0},
      {"device_memory_used_bytes", "gauge", "Device memory in use", memory.used},
      {"device_memory_cached_bytes", "gauge", "Device memory kept for reuse", memory.cached},
      {"device_memory_peak_bytes", "gauge", "Most device memory in use so far", memory.peak},
      {"program_cache_hits_total", "counter", "Programs that were not compiled anew", cache_hits_},
      {"program_cache_misses_total", "counter", "Programs that were compiled", cache_misses_},
      {"kernels_kept_total", "counter", "Kernels wanted that were not compiled anew",
       kernels_kept_},
      {"kernels_compiled_total", "counter", "Kernels that were compiled, from GLSL",
       kernels_compiled_},
  };
}

std::vector<std::string> Metrics::lines(std::span<const DeviceFigures> devices,
                                        std::span<const LoadedFigures> loaded) const {
  std::vector<std::string> lines;
  for (const auto& row : rows(devices)) lines.push_back(fmt::format("{} {}", row.name, row.value));
  lines.push_back(fmt::format("call_microseconds_total {}", call_nanoseconds_ / 1000));
  for (size_t i = 0; i < failures_.size(); ++i) {
    lines.push_back(fmt::format("failures_{}_total {}", kKinds[i], failures_[i].load()));
  }
  for (const auto& d : devices) {
    if (devices.size() < 2) break;
    for (const auto& row : rows_of(d))
      lines.push_back(line_of("device_" + d.number.substr(1), row));
  }
  for (const auto& p : loaded) {
    for (const auto& row : rows_of(p)) lines.push_back(line_of("loaded_" + in_word(p.name), row));
  }
  return lines;
}

std::string Metrics::entry_figures() const {
  const std::lock_guard lock(entries_mutex_);
  std::string out;
  const auto family = [&](const char* name, const char* help, auto value) {
    out += fmt::format("# HELP kenaz_{0} {1}\n# TYPE kenaz_{0} counter\n", name, help);
    for (const auto& [of, figures] : entries_) {
      out += fmt::format("kenaz_{}{{program=\"{}\",entry=\"{}\"}} {}\n", name, label(of.first),
                         label(of.second), value(figures));
    }
  };
  family("entry_calls_total", "Calls of an entry point", [](const Entry& e) { return e.calls; });
  family("entry_failures_total", "Calls of an entry point that failed while running",
         [](const Entry& e) { return e.failures; });
  family("entry_seconds_total", "Run time of an entry point's calls",
         [](const Entry& e) { return e.seconds; });
  return out;
}

std::string Metrics::prometheus(std::span<const DeviceFigures> devices,
                                std::span<const LoadedFigures> loaded) const {
  std::string out;
  const auto head = [&](const char* name, const char* type, const char* help) {
    out += fmt::format("# HELP kenaz_{0} {2}\n# TYPE kenaz_{0} {1}\n", name, type, help);
  };
  for (const auto& row : rows(devices)) {
    head(row.name, row.type, row.help);
    out += fmt::format("kenaz_{} {}\n", row.name, row.value);
  }
  head("failures_total", "counter", "Failed commands, by kind");
  for (size_t i = 0; i < failures_.size(); ++i) {
    out += fmt::format("kenaz_failures_total{{kind=\"{}\"}} {}\n", kKinds[i], failures_[i].load());
  }
  head("call_seconds", "histogram", "Run times of entry points");
  int64_t below = 0;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    below += buckets_[i];
    const auto bound = i < kBounds.size() ? fmt::format("{}", kBounds[i]) : "+Inf";
    out += fmt::format("kenaz_call_seconds_bucket{{le=\"{}\"}} {}\n", bound, below);
  }
  out += fmt::format("kenaz_call_seconds_sum {}\nkenaz_call_seconds_count {}\n",
                     static_cast<double>(call_nanoseconds_) / 1e9, below);
  return out + entry_figures() + device_families(devices) + loaded_families(loaded);
}

Status write_figures(const std::string& path, const std::string& text) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type != std::filesystem::file_type::regular &&
      type != std::filesystem::file_type::not_found) {
    return bad_request(path + ": figures go to plain files only");
  }
  return replace_file(path, [&](const std::string& to) -> Status {
    std::ofstream file(to, std::ios::binary);
    if (file << text << std::flush) return {};
    return bad_request(to + ": " + std::strerror(errno));
  });
}

}  // namespace kenaz
