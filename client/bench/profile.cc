#include "client/bench/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/bench/units.h"

namespace kenaz::bench {

namespace {

using Json = nlohmann::json;

template <class T>
std::optional<T> number(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return found->get<T>();
}

std::string text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

Event parse_event(const Json& json) {
  Event e;
  e.name = text(json, "name");
  e.place = text(json, "provenance");
  e.us = number<double>(json, "duration").value_or(0);
  const auto details = json.find("details");
  if (details == json.end() || !details->is_object()) return e;
  e.begin = number<double>(*details, "begin");
  e.bytes = number<int64_t>(*details, "bytes_read").value_or(0) +
            number<int64_t>(*details, "bytes_written").value_or(0);
  e.code.registers = number<int64_t>(*details, "registers");
  e.code.spilled_bytes = number<int64_t>(*details, "spilled_bytes");
  return e;
}

DeviceFacts parse_facts(const Json& json) {
  DeviceFacts facts;
  const auto read = [&](const char* key, int64_t& to) {
    to = number<int64_t>(json, key).value_or(to);
  };
  read("subgroup_size", facts.subgroup_size);
  read("max_group_size", facts.max_group_size);
  read("shared_memory", facts.shared_bytes);
  read("threads", facts.threads);
  const auto progress = json.find("forward_progress");
  facts.forward_progress = progress != json.end() && progress->is_boolean() && *progress;
  return facts;
}

double sum(const std::vector<Event>& events) {
  double us = 0;
  for (const Event& e : events) us += e.us;
  return us;
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f}%", 100 * part / whole) : "-";
}

std::string spilled_text(const KernelCode& code) {
  return code.spilled_bytes ? bytes_text(static_cast<double>(*code.spilled_bytes)) : "-";
}

}  // namespace

double ProfiledCall::device_us() const { return sum(submissions.empty() ? kernels : submissions); }

bool Event::uses_all(double copy_rate) const {
  constexpr int64_t kCaches = int64_t{64} << 20;
  constexpr double kMost = 5;
  if (copy_rate <= 0 || bytes <= kCaches) return true;
  return static_cast<double>(bytes) <= kMost * copy_rate * us;
}

int64_t ProfiledCall::bytes(double copy_rate) const {
  int64_t all = 0;
  for (const Event& e : kernels) all += e.uses_all(copy_rate) ? e.bytes : 0;
  return all;
}

Result<Profile> parse_profile(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("events") || !json["events"].is_array()) {
    return internal_error("the server's report is not what reports are");
  }
  Profile profile;
  for (const Json& entry : json["events"]) {
    if (!entry.is_object()) continue;
    Event e = parse_event(entry);
    constexpr std::string_view kCall = "call ";
    if (e.name.starts_with(kCall)) {
      profile.calls.push_back({e.name, e.us, {}, {}});
      continue;
    }
    if (profile.calls.empty()) profile.calls.emplace_back();
    ProfiledCall& call = profile.calls.back();
    (e.name == "device" ? call.submissions : call.kernels).push_back(std::move(e));
  }
  if (const auto memory = json.find("memory"); memory != json.end() && memory->is_object()) {
    for (const auto& [space, bytes] : memory->items()) {
      if (bytes.is_number()) profile.memory[space] = bytes.get<int64_t>();
    }
  }
  if (const auto device = json.find("device"); device != json.end() && device->is_object()) {
    profile.device = parse_facts(*device);
  }
  profile.lost = number<int64_t>(json, "lost_events").value_or(0);
  return profile;
}

std::vector<KernelRow> kernel_rows(const ProfiledCall& call, double copy_rate) {
  std::map<std::string, KernelRow> by_name;
  for (const Event& e : call.kernels) {
    KernelRow& row = by_name[e.name];
    row.name = e.name;
    row.place = e.place;
    row.count++;
    row.bytes += e.uses_all(copy_rate) ? e.bytes : 0;
    row.us += e.us;
    row.code = e.code;
  }
  std::vector<KernelRow> rows;
  for (auto& [name, row] : by_name) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.us > b.us; });
  return rows;
}

std::string profile_text(const ProfiledCall& call, double copy_rate) {
  const auto rows = kernel_rows(call, copy_rate);
  const double device = call.device_us();
  size_t width = 18;
  for (const KernelRow& row : rows) width = std::max(width, row.name.size());
  const bool registers =
      std::ranges::any_of(rows, [](auto& r) { return r.code.registers.has_value(); });
  const bool spilled =
      std::ranges::any_of(rows, [](auto& r) { return r.code.spilled_bytes.value_or(0) > 0; });
  const auto code_columns = [&](const std::string& first, const std::string& second) {
    return (registers ? fmt::format(" {:>9}", first) : "") +
           (spilled ? fmt::format(" {:>8}", second) : "");
  };
  std::string out = fmt::format("    {:<{}} {:>6} {:>10} {:>7} {:>10} {:>7} {:>7}{}  {}\n",
                                "kernel", width, "count", "time", "share", "arrays", "GB/s",
                                "of copy", code_columns("registers", "spilled"), "place");
  double kernels = 0;
  for (const KernelRow& row : rows) {
    kernels += row.us;
    const auto bytes = static_cast<double>(row.bytes);
    const std::string line =
        fmt::format("    {:<{}} {:>6} {:>10} {:>7} {:>10} {:>7} {:>7}{}  {}", row.name, width,
                    row.count, fmt::format("{:.1f} us", row.us), percent(row.us, device),
                    row.bytes > 0 ? bytes_text(bytes) : "-", rate_text(bytes, row.us),
                    row.bytes > 0 ? percent(bytes, copy_rate * row.us) : "-",
                    code_columns(row.code.registers ? std::to_string(*row.code.registers) : "-",
                                 spilled_text(row.code)),
                    row.place);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  // Kernels that run side by side count twice, and leave no time between them.
  const auto rest = [&](const char* name, double us, const std::string& share) {
    out += fmt::format("    {:<{}} {:>6} {:>10} {:>7}\n", name, width, "",
                       fmt::format("{:.1f} us", std::max(0.0, us)), share);
  };
  if (!call.submissions.empty()) {
    rest("between kernels", device - kernels, percent(std::max(0.0, device - kernels), device));
  }
  if (call.us > 0) rest("outside the device", call.us - device, "");
  return out;
}

namespace {

constexpr int kCallThread = 1, kSubmissionThread = 2, kKernelThread = 3;

Json piece(int process, int thread, const Event& e, double begin) {
  Json json = {{"name", e.name}, {"ph", "X"},   {"pid", process}, {"tid", thread},
               {"ts", begin},    {"dur", e.us}, {"cat", "kenaz"}, {"args", Json::object()}};
  if (!e.place.empty()) json["args"]["place"] = e.place;
  if (e.bytes > 0) {
    json["args"]["bytes"] = e.bytes;
    json["args"]["GB/s"] = rate_text(static_cast<double>(e.bytes), e.us);
  }
  if (e.code.registers) json["args"]["registers"] = *e.code.registers;
  if (e.code.spilled_bytes) json["args"]["spilled_bytes"] = *e.code.spilled_bytes;
  return json;
}

Json name_of(const char* what, int process, int thread, const std::string& name) {
  return {
      {"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

/// Those without a time begin where the one before ends.
void add_pieces(Json& to, int process, int thread, const std::vector<Event>& events,
                double origin) {
  double next = 0;
  for (const Event& e : events) {
    const double begin = e.begin ? *e.begin - origin : next;
    to.push_back(piece(process, thread, e, begin));
    next = begin + e.us;
  }
}

}  // namespace

std::string trace_json(const std::vector<TitledCall>& calls) {
  Json events = Json::array();
  int process = 0;
  for (const auto& [title, call] : calls) {
    ++process;
    events.push_back(name_of("process_name", process, 0, title));
    events.push_back(name_of("thread_name", process, kCallThread, "call"));
    events.push_back(name_of("thread_name", process, kSubmissionThread, "device"));
    events.push_back(name_of("thread_name", process, kKernelThread, "kernels"));
    const auto& first = call.submissions.empty() ? call.kernels : call.submissions;
    const double origin = first.empty() ? 0 : first[0].begin.value_or(0);
    double end = 0;
    if (!first.empty()) end = first.back().begin.value_or(origin) - origin + first.back().us;
    if (call.us > 0) {
      const double begin = std::min(0.0, (end - call.us) / 2);
      events.push_back(piece(process, kCallThread, {call.name, "", {}, call.us, 0}, begin));
    }
    add_pieces(events, process, kSubmissionThread, call.submissions, origin);
    add_pieces(events, process, kKernelThread, call.kernels, origin);
  }
  const Json json = {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kenaz::bench
