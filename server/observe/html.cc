#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "protocol/base/utf8.h"
#include "server/observe/html_text.h"
#include "server/observe/report.h"

namespace kenaz::observe {
namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --text: #1b1b1f; --back: #ffffff; --soft: #62626a;
  --line: #d9d9de; --bar: #5b7fb4; --heat: 214, 82, 20; --shade: rgba(0, 0, 0, .22); }
@media (prefers-color-scheme: dark) { :root { --text: #e6e6ea; --back: #17171a; --soft: #9c9ca6;
  --line: #3a3a41; --bar: #6f93c8; --heat: 240, 120, 50; --shade: rgba(255, 255, 255, .3); } }
body { margin: 0; font: 14px/1.45 system-ui, sans-serif; color: var(--text); background: var(--back); }
header, .parts > * { padding: 0 1.2em; }
header { border-bottom: 1px solid var(--line); }
h1 { font-size: 1.3em; } h2 { font-size: 1.1em; } p, summary { max-width: 60em; }
h1, h2, li, summary { overflow-wrap: anywhere; } li { margin: .8em 0; } li p { margin: .2em 0; }
ol { padding-left: 2em; }
.source { container-type: inline-size; }
.parts > * { min-width: 0; }
@media (min-width: 88em) {
  .parts { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 4fr); }
  .source { border-right: 1px solid var(--line); position: sticky; top: 0; align-self: start;
    max-height: 100vh; overflow-y: auto; } }
.wide { overflow-x: auto; background:
  linear-gradient(to right, var(--back) 2em, transparent 4em) local,
  linear-gradient(to left, var(--back) 2em, transparent 4em) local,
  linear-gradient(to right, var(--shade), transparent .8em),
  linear-gradient(to left, var(--shade), transparent .8em); }
table { border-collapse: collapse; margin: .6em 0; }
th { text-align: right; font-weight: 600; color: var(--soft); vertical-align: bottom; }
th.t { text-align: left; }
td, th { padding: 0 .5em; }
td { vertical-align: top; white-space: nowrap; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
.code { width: 100%; }
.code td.code { font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; width: 100%; }
.code td:first-child { color: var(--soft); }
.code td, .code th { padding: 0 .35em; }
@container (max-width: 52em) { .more { display: none; } }
.h1 { background: rgba(var(--heat), .08); } .h2 { background: rgba(var(--heat), .18); }
.h3 { background: rgba(var(--heat), .3); } .h4 { background: rgba(var(--heat), .44); }
.h5 { background: rgba(var(--heat), .6); }
.code .h3 td, .code .h4 td, .code .h5 td { color: var(--text); }
tr:target { outline: 2px solid var(--bar); outline-offset: -2px; }
a { color: inherit; } code { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
.how td { padding: 0 .6em .3em 2em; color: var(--soft); white-space: normal; }
.bars { display: inline-grid; grid-template-columns: auto 8em auto; gap: 0 .5em; margin: 0 2em .4em 0;
  vertical-align: top; }
.bars u { grid-column: 1 / 4; text-decoration: none; }
.bars i { background: var(--bar); height: .8em; margin-top: .3em; min-width: 1px; }
.bars b { font-weight: normal; text-align: right; }
.kernel { margin: .6em 0; } summary { cursor: pointer; }
)";

constexpr const char* kWords =
    "<p>A <b>request</b> is what the threads of one subgroup do by one instruction in one turn of "
    "the loops around it. <b>sectors</b>: pieces of 32 bytes of device memory that requests touch; "
    "<b>least</b>: those that could hold the different bytes that they access; <b>threads</b>: "
    "those that take part in a request, on average. Lines are the warmer the more sectors they "
    "touch.</p>";

/// The class of columns that stand beside the program only where there is room.
constexpr const char* kMore = "more";

/// 0: nothing; 1 to 5: up to so many fifths of the dearest line.
int heat(int64_t sectors, int64_t most) {
  if (sectors <= 0 || most <= 0) return 0;
  constexpr int kLevels = 5;
  const double share = static_cast<double>(sectors) / static_cast<double>(most);
  return std::clamp(static_cast<int>(std::ceil(share * kLevels)), 1, kLevels);
}

std::string base_name(const std::string& file) { return file.substr(file.rfind('/') + 1); }

/// Where a line of a file is on the page: names that links go to.
class Anchors {
 public:
  explicit Anchors(const std::map<std::string, Lines>& files) {
    for (const auto& [file, lines] : files) numbers_.emplace(file, numbers_.size());
  }
  std::string name(const std::string& file, int line) const {
    const auto it = numbers_.find(file);
    return it == numbers_.end() ? "" : fmt::format("f{}-{}", it->second, line);
  }
  /// The place as a link to its line, in HTML. Its text leaves out folders.
  std::string link(const Place& place) const {
    const size_t folders = place.file.rfind('/') + 1;
    const std::string text = place.range.empty() ? "?" : escaped(place.range.substr(folders));
    const std::string to = name(place.file, place.line);
    return to.empty() ? text : element("a", fmt::format(" href=\"#{}\"", to), text);
  }

 private:
  std::map<std::string, size_t> numbers_;
};

std::string source_table(const std::string& file, const Lines& lines, const Anchors& anchors,
                         const SourceReader& read) {
  const auto source = read(file);
  if (!source) return element("p", "", escaped(file + ": cannot be read"));
  int64_t most = 0;
  for (const auto& [line, f] : lines) most = std::max(most, f.sectors);
  TableRow head;
  head.heading("line").title("");
  for (const char* h : {"requests", "bytes"}) head.heading(h, kMore);
  for (const char* h : {"sectors", "least"}) head.heading(h);
  head.heading("threads", kMore);
  std::string out = head.str();
  int number = 0;
  for (const std::string& text : split_lines(*source)) {
    const auto found = lines.find(++number);
    const bool known = found != lines.end() && found->second.requests > 0;
    const int level = known ? heat(found->second.sectors, most) : 0;
    TableRow row(fmt::format(" id=\"{}\"{}", anchors.name(file, number),
                             level > 0 ? fmt::format(" class=\"h{}\"", level) : ""));
    row.number(int64_t{number}).html(escaped(text), " class=\"code\"");
    if (known) {
      const kir::AccessFigures& f = found->second;
      row.number(f.requests, kMore).number(f.bytes, kMore);
      row.number(f.sectors).number(f.least_sectors).number(mean(f.lanes, f.requests), kMore);
    } else {
      for (const char* more : {kMore, kMore, "", "", kMore}) row.text("", more);
    }
    out += row.str();
  }
  return element("h2", "", escaped(file)) +
         element("div", " class=\"wide\"", element("table", " class=\"code\"", out));
}

std::string finding_list(const std::vector<Finding>& findings, const Anchors& anchors,
                         const SourceReader& read) {
  if (findings.empty()) {
    return "<p>Nothing in it is worth changing for the sake of memory or branches.</p>";
  }
  std::string out;
  for (const Finding& f : findings) {
    out +=
        element("li", "",
                anchors.link(f.place) + " " + element("code", "", escaped(quote(f.place, read))) +
                    element("p", "", escaped(f.text))) +
        "\n";
  }
  return element("ol", "", out);
}

/// Bars, the longest of which is as long as there is room. `of`: what is counted by.
std::string histogram(const std::map<int64_t, int64_t>& counts, std::string_view of) {
  if (counts.empty()) return "";
  int64_t most = 1;
  for (const auto& [value, n] : counts) most = std::max(most, n);
  std::string bars;
  for (const auto& [value, n] : counts) {
    bars += fmt::format("<b>{}</b><i style=\"width:{:.1f}%\"></i><span>{}</span>", value,
                        100 * mean(n, most), n);
  }
  return element("div", " class=\"bars\"",
                 element("u", "", fmt::format("requests by {}", of)) + bars);
}

std::string classes_text(const kir::AccessFigures& f) {
  std::string out;
  for (int c = 0; c < kir::kAccessClasses; ++c) {
    const int64_t n = f.classes[static_cast<size_t>(c)];
    if (n == 0) continue;
    const auto kind = static_cast<kir::AccessClass>(c);
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", n, kir::describe(kind));
    if (kind != kir::AccessClass::kStrided) continue;
    for (const auto& [stride, count] : f.strides) out += fmt::format(" (by {}: {})", stride, count);
  }
  return out;
}

/// How the threads of the requests lie, with histograms, below the figures.
std::string how_row(const kir::AccessFigures& f, size_t columns) {
  const std::string bars = histogram(f.by_sectors, f.shared ? "bank turns" : "sectors") +
                           histogram(f.by_lanes, "active threads");
  return TableRow(" class=\"how\"")
      .html(element("details", "", element("summary", "", escaped(classes_text(f))) + bars),
            fmt::format(" colspan=\"{}\"", columns))
      .str();
}

/// Of device memory or of shared memory. Empty if there are no such accesses.
std::string access_table(const std::vector<const Row*>& rows, bool shared, const Anchors& anchors) {
  TableRow head;
  head.title("place").title("").title(shared ? "of shared memory" : "of device memory");
  for (const char* h : {"requests", "threads", "bytes"}) head.heading(h);
  head.heading(shared ? "bank turns" : "sectors").heading("least").heading("at one place");
  if (!shared) head.heading("never read");
  const size_t columns = shared ? 9 : 10;
  std::string out;
  for (const Row* row : rows) {
    const kir::AccessFigures& f = row->access;
    if (f.requests == 0 || f.shared != shared) continue;
    TableRow cells(" class=\"access\"");
    cells.html(anchors.link(row->place)).text(describe(row->kind)).text(row->array);
    cells.number(f.requests).number(mean(f.lanes, f.requests)).number(f.bytes);
    cells.number(shared ? f.bank_turns : f.sectors);
    cells.number(shared ? f.least_bank_turns : f.least_sectors).number(f.same_place);
    if (row->written.stored > 0) {
      cells.number(row->written.lost);
    } else if (!shared) {
      cells.text("");  // not known
    }
    out += cells.str() + how_row(f, columns);
  }
  if (out.empty()) return "";
  return element("div", " class=\"wide\"", element("table", "", head.str() + out));
}

std::string branch_table(const std::vector<const Row*>& rows, const Anchors& anchors) {
  TableRow head;
  head.title("place").title("");
  for (const char* h : {"requests", "threads", "taken", "divergent"}) head.heading(h);
  std::string out;
  for (const Row* row : rows) {
    const kir::BranchFigures& b = row->branch;
    if (b.requests == 0) continue;
    TableRow cells(" class=\"branch\"");
    cells.html(anchors.link(row->place)).text(describe(row->kind)).number(b.requests);
    out += cells.number(b.lanes).number(b.taken).number(b.divergent).str();
  }
  if (out.empty()) return "";
  return element("div", " class=\"wide\"", element("table", "", head.str() + out));
}

std::string kernel_list(const Observations& seen, const std::vector<Row>& rows,
                        const Anchors& anchors) {
  std::string out;
  for (const auto& [name, kernel] : seen.kernels) {
    std::vector<const Row*> own;
    for (const Row& row : rows) {
      if (row.kernel == name) own.push_back(&row);
    }
    out += element("details", " class=\"kernel\" open",
                   element("summary", "",
                           element("code", "", escaped(name)) + ": " + launches_text(kernel)) +
                       access_table(own, false, anchors) + access_table(own, true, anchors) +
                       branch_table(own, anchors)) +
           "\n";
  }
  return out;
}

}  // namespace

std::string html(const Observations& seen, const SourceReader& read) {
  const std::vector<Row> rows = rows_of(seen);
  const std::map<std::string, Lines> files = lines_of(rows);
  const Anchors anchors(files);
  std::string sources;
  for (const auto& [file, lines] : files) sources += source_table(file, lines, anchors, read);
  const std::string title = files.empty() ? "What kernels did" : base_name(files.begin()->first);
  const std::string head =
      "<meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">" +
      element("title", "", escaped(title)) + element("style", "", kStyle);
  const std::string words =
      element("h1", "", escaped(title)) +
      fmt::format("<p>What its kernels did, by subgroups of {} threads.</p>", seen.subgroup_size) +
      kWords;
  const std::string told = "<h2>Worth changing, the dearest first</h2>" +
                           finding_list(findings_of(rows, seen.subgroup_size), anchors, read) +
                           "<h2>Kernels</h2>" + kernel_list(seen, rows, anchors);
  return "<!DOCTYPE html>\n" +
         element("html", " lang=\"en\"",
                 element("head", "", head) +
                     element("body", "",
                             element("header", "", words) +
                                 element("div", " class=\"parts\"",
                                         element("section", " class=\"source\"", sources) +
                                             element("section", "", told)))) +
         "\n";
}

}  // namespace kenaz::observe
