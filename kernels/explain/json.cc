#include <fmt/format.h>

#include "kernels/explain/text.h"
#include "kernels/explain/words.h"

namespace kenaz::explain {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < ' ') {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

template <class List, class F>
std::string list(const List& all, const F& f) {
  std::string out;
  for (const auto& x : all) out += (out.empty() ? "" : ",") + f(x);
  return "[" + out + "]";
}

std::string json(const SourceRange& r) {
  if (!r.file) return "null";
  return fmt::format(R"({{"file":{},"line":{},"column":{},"end_line":{},"end_column":{}}})",
                     quoted(r.file->name), r.begin.line, r.begin.column, r.end.line, r.end.column);
}

std::string json(const Size& s) {
  return fmt::format(R"({{"factor":{},"sizes":{}}})", s.factor,
                     list(s.names, [](const std::string& n) { return quoted(n); }));
}
std::string json(const Bytes& b) {
  return list(b, [](const Size& s) { return json(s); });
}

std::string json(const InVersion& v) {
  std::string out = fmt::format(R"({{"name":{})", quoted(v.name));
  if (v.size) {
    out += fmt::format(R"(,"parameter":{},"at_most":{},"size":{})", quoted(v.param), v.holds,
                       json(*v.size));
  }
  return out + "}";
}

std::string json(const Operation& o) {
  std::string out = fmt::format(
      R"({{"kind":{},"place":{},"space":{},"versions":{},"plans":{},"group_size":{},"width":{})",
      quoted(word(o.kind)), json(o.place), json(o.space),
      list(o.versions, [](const InVersion& v) { return json(v); }),
      list(o.plans,
           [&](const PlanChoice& p) {
             return fmt::format(R"({{"name":{},"when":{}}})", quoted(p.name),
                                quoted(condition_text(p.when, o.group_size)));
           }),
      o.group_size, o.width);
  if (o.why_one) out += fmt::format(R"(,"width_why":{})", quoted(word(*o.why_one)));
  out += fmt::format(R"(,"reads":{},"writes":{},"fused":{},"in_thread":{})", json(o.reads),
                     json(o.writes), list(o.fused, [](const SourceRange& r) { return json(r); }),
                     list(o.inside, [](const Inside& i) {
                       return fmt::format(R"({{"place":{},"why":{}}})", json(i.place),
                                          quoted(i.why ? word(*i.why) : "version"));
                     }));
  if (o.one_thread) out += fmt::format(R"(,"one_thread_why":{})", quoted(word(*o.one_thread)));
  return out + "}";
}

}  // namespace

std::string json(const Report& report) {
  const std::string entries = list(report.entries, [](const EntryReport& e) {
    return fmt::format(R"({{"name":{},"operations":{}}})", quoted(e.name),
                       list(e.operations, [](const Operation& o) { return json(o); }));
  });
  const std::string refused = list(report.refused, [](const Refused& r) {
    return fmt::format(R"({{"place":{},"why":{}}})", json(r.place), quoted(word(r.why)));
  });
  const std::string no_groups = list(report.no_groups, [](const NoGroups& r) {
    return fmt::format(R"({{"place":{},"why":{}}})", json(r.place), quoted(word(r.why)));
  });
  return fmt::format(R"({{"device":{},"entries":{},"one_version":{}{}}})", quoted(report.device),
                     entries, refused,
                     report.no_groups.empty() ? "" : R"(,"no_groups":)" + no_groups) +
         "\n";
}

}  // namespace kenaz::explain
