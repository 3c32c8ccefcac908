// What is recorded of calls and kernels, and the command that tells it.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "server/host/device_target.h"
#include "server/session/session.h"

namespace kenaz {

namespace {

/// Of a backtrace, the innermost place outside of the prelude, if there is any, else the outermost.
std::string place_of(std::string_view backtrace) {
  std::string_view last;
  while (!backtrace.empty()) {
    const std::string_view line = backtrace.substr(0, backtrace.find('\n'));
    backtrace.remove_prefix(std::min(backtrace.size(), line.size() + 1));
    last = line.substr(line.find_last_of(' ') + 1);
    if (!last.starts_with("/prelude/")) break;
  }
  return std::string(last);
}

std::string in_quotes(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// What the interpreter has to be told to pose as the device.
std::string facts_json(const program::Target& target) {
  const nlohmann::json json = {
      {"subgroup_size", target.subgroup_size},
      {"max_group_size", target.max_group_size},
      {"shared_memory", target.shared_bytes + host::kSharedApart},
      {"threads", target.threads},
      {"forward_progress", target.forward_progress},
  };
  return json.dump();
}

/// Of the session's own programs; empty if it has none.
std::string loaded_json(const std::vector<LoadedFigures>& programs) {
  std::string text;
  for (const auto& p : programs) {
    text += fmt::format(R"({}{{"name":{},"calls":{},"failures":{},"microseconds":{},"memory":{}}})",
                        text.empty() ? "" : ",", in_quotes(p.name), p.calls, p.failures,
                        static_cast<int64_t>(p.seconds * 1e6), p.memory);
  }
  return text.empty() ? "" : "\"loaded\":[" + text + "],";
}

}  // namespace

Status Session::do_pause_profiling(Args) {
  recording_ = false;
  return {};
}

Status Session::do_unpause_profiling(Args) {
  recording_ = options_.profile;
  return {};
}

void Session::record_call(const std::string& entry, double microseconds) {
  const std::string& name = *event_names_.insert(entry).first;
  record({&name, &*event_names_.insert(program_.name()).first, {nullptr, 0, microseconds, {}}});
  for (auto& time : engine()->kernel_times()) record({nullptr, nullptr, std::move(time)});
}

void Session::record(Event event) {
  constexpr size_t kFirst = 64, kMost = 100'000;
  if (events_.size() == events_.capacity()) {
    const size_t next = std::min(kMost, std::max(kFirst, 2 * events_.capacity()));
    const bool room =
        next > events_.size() && events_share_.set(static_cast<int64_t>(next * sizeof(Event)));
    if (!room) {
      ++lost_events_;
      return;
    }
    events_.reserve(next);
  }
  events_.push_back(std::move(event));
}

Status Session::do_report(Args) {
  // By hand: a library's tree of a hundred thousand events takes a second to make.
  const bool several = program_.all().all().size() > 1;
  std::map<const void*, std::pair<std::string, std::string>> names;  // with their places, in quotes
  std::string text = "{\"events\":[";
  for (const auto& e : events_) {
    const device::KernelLabel* kernel = e.time.kernel.get();
    const void* of = e.entry != nullptr ? static_cast<const void*>(e.entry) : kernel;
    auto& [name, place] = names[of];
    if (name.empty()) {
      name = in_quotes(e.entry != nullptr  ? "call " + *e.entry
                       : kernel != nullptr ? kernel->name
                                           : "device");
      place = in_quotes(kernel != nullptr ? place_of(kernel->place) : "");
    }
    std::string details;
    if (e.entry == nullptr) details = fmt::format("\"begin\":{:.3f}", e.time.begin);
    if (kernel != nullptr) {
      details += fmt::format(",\"bytes_read\":{},\"bytes_written\":{}", e.time.bytes.read,
                             e.time.bytes.written);
      const device::KernelCode& code = kernel->code;
      if (code.registers) details += fmt::format(",\"registers\":{}", *code.registers);
      if (code.spilled_bytes) details += fmt::format(",\"spilled_bytes\":{}", *code.spilled_bytes);
    }
    if (several && e.program != nullptr) details = "\"program\":" + in_quotes(*e.program);
    fmt::format_to(std::back_inserter(text),
                   R"({}{{"details":{{{}}},"duration":{},"name":{},"provenance":{}}})",
                   &e == events_.data() ? "" : ",", details, e.time.microseconds, name, place);
  }
  text += "],";
  if (lost_events_ > 0) text += fmt::format("\"lost_events\":{},", lost_events_);
  text += loaded_json(program_.loaded_figures());
  const auto target = options_.profile ? engine()->target() : std::nullopt;
  if (target) text += "\"device\":" + facts_json(*target) + ",";
  text += fmt::format(R"("memory":{{"space 'device'":{}}}}})", program_.all().memory().peak);
  print(std::move(text));
  std::vector<Event>().swap(events_);
  event_names_.clear();
  events_share_.set(0);
  lost_events_ = 0;
  return {};
}

}  // namespace kenaz
