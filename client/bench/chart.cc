#include "client/bench/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "client/bench/axis.h"
#include "client/bench/sizes.h"
#include "client/bench/statistics.h"
#include "client/testing/report.h"

namespace kenaz::bench {

namespace {

// Of the picture, in CSS pixels.
constexpr double kWidth = 640, kLeft = 74, kRight = 18, kTop = 16, kPlotHeight = 330;
constexpr double kBelow = 54;  // labels and title of the axis
constexpr double kRow = 18;    // of the legend
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr double kMarker = 3.6;

constexpr const char* kDashes[] = {"", "7 3", "2 2.5", "9 3 2 3", "13 4"};
constexpr size_t kMarkers = 6;

/// In one line.
std::string escaped(std::string text) {
  std::erase_if(text, [](char c) { return c == '\n' || c == '\t'; });
  return testing::escape_xml(text);
}

std::string time_label(double us) {
  if (us < 1e3) return fmt::format("{:g} µs", us);
  if (us < 1e6) return fmt::format("{:g} ms", us / 1e3);
  return fmt::format("{:g} s", us / 1e6);
}

/// Plain up to four digits, else with a power of ten.
std::string size_label(double size) {
  if (size < 1e4) return fmt::format("{:g}", size);
  const int power = static_cast<int>(std::floor(std::log10(size) + 1e-9));
  const double factor = size / std::pow(10.0, power);
  const std::string times = std::abs(factor - 1) < 1e-6 ? "" : fmt::format("{:.0f}·", factor);
  return fmt::format(R"({}10<tspan dy="-5" font-size="9">{}</tspan>)", times, power);
}

std::string text_at(double x, double y, const char* anchor, const std::string& content) {
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)"
                     "\n",
                     x, y, anchor, content);
}

std::string line(double x1, double y1, double x2, double y2, const char* style) {
  return fmt::format(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" {}/>)"
                     "\n",
                     x1, y1, x2, y2, style);
}

constexpr const char* kThin = R"(stroke="#000" stroke-width="1")";
constexpr const char* kGrid = R"(stroke="#ccc" stroke-width="0.6")";

std::string marker(size_t which, double x, double y) {
  const double r = kMarker;
  const auto polygon = [&](std::initializer_list<std::pair<double, double>> corners,
                           const char* fill) {
    std::string points;
    for (const auto& [dx, dy] : corners) {
      points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x + dx, y + dy);
    }
    return fmt::format("<polygon points=\"{}\" fill=\"{}\" stroke=\"#000\"/>\n", points, fill);
  };
  const auto circle = [&](const char* fill) {
    return fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\" "
        "stroke=\"#000\"/>\n",
        x, y, r, fill);
  };
  switch (which % kMarkers) {
    case 0: return circle("#000");
    case 1: return polygon({{-r, -r}, {r, -r}, {r, r}, {-r, r}}, "#fff");
    case 2: return polygon({{0, -r - 1}, {r + 1, r}, {-r - 1, r}}, "#000");
    case 3: return circle("#fff");
    case 4: return polygon({{0, -r - 1}, {r + 1, 0}, {0, r + 1}, {-r - 1, 0}}, "#fff");
    default: return polygon({{-r, -r}, {r, -r}, {r, r}, {-r, r}}, "#000");
  }
}

std::string stroke_of(size_t series) {
  const std::string dashes = kDashes[series % std::size(kDashes)];
  const std::string dashed = dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes);
  return fmt::format("stroke=\"#000\" stroke-width=\"1.3\"{}", dashed);
}

class Chart {
 public:
  Chart(const LogAxis& x, const LogAxis& y) : x_(x), y_(y) {}

  double at_x(double size) const { return kLeft + x_.share(size) * kPlotWidth; }
  double at_y(double time) const { return kTop + (1 - y_.share(time)) * kPlotHeight; }

  std::string axes() const {
    constexpr double kBottom = kTop + kPlotHeight;
    std::string out;
    for (const Tick& t : x_.ticks()) {
      const double x = at_x(t.value);
      if (t.labelled) out += line(x, kTop, x, kBottom, kGrid);
      out += line(x, kBottom, x, kBottom + (t.labelled ? 6 : 3), kThin);
      if (t.labelled) out += text_at(x, kBottom + 20, "middle", size_label(t.value));
    }
    for (const Tick& t : y_.ticks()) {
      const double y = at_y(t.value);
      if (t.labelled) out += line(kLeft, y, kLeft + kPlotWidth, y, kGrid);
      out += line(kLeft - (t.labelled ? 6 : 3), y, kLeft, y, kThin);
      if (t.labelled) out += text_at(kLeft - 9, y + 4, "end", time_label(t.value));
    }
    out += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="none" {}/>)"
                       "\n",
                       kLeft, kTop, kPlotWidth, kPlotHeight, kThin);
    out += text_at(kLeft + kPlotWidth / 2, kBottom + 42, "middle", "size (elements)");
    out += fmt::format(
        "<text transform=\"translate(14 {:.1f}) rotate(-90)\" "
        "text-anchor=\"middle\">run time</text>\n",
        kTop + kPlotHeight / 2);
    return out;
  }

  std::string curve(const Series& s, size_t number) const {
    std::string points, marks;
    for (const Point& p : s.points) {
      const double x = at_x(p.size), y = at_y(p.time);
      points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x, y);
      if (at_y(p.low) - at_y(p.high) > 2) marks += line(x, at_y(p.low), x, at_y(p.high), kThin);
      marks += marker(number, x, y);
    }
    return fmt::format("<polyline points=\"{}\" fill=\"none\" {}/>\n", points, stroke_of(number)) +
           marks;
  }

  static std::string legend(const Series& s, size_t number) {
    const double y = kTop + kPlotHeight + kBelow + kRow * (static_cast<double>(number) + 0.5);
    const std::string style = stroke_of(number);
    return line(kLeft, y, kLeft + 46, y, style.c_str()) + marker(number, kLeft + 23, y) +
           text_at(kLeft + 56, y + 4, "start", escaped(s.name));
  }

 private:
  const LogAxis& x_;
  const LogAxis& y_;
};

Point point_of(double size, const Dataset& d) {
  // Servers count whole microseconds, and zero has no place on the axis.
  const auto shown = [](double us) { return std::max(us, 0.5); };
  const Interval interval = median_interval(d.runtimes);
  return {size, shown(median(d.runtimes)), shown(interval.low), shown(interval.high)};
}

}  // namespace

std::vector<Series> series_of(const std::vector<std::pair<std::string, Results>>& results) {
  std::set<std::string> programs;
  for (const auto& [label, measured] : results) {
    for (const Measured& m : measured) programs.insert(m.program);
  }
  std::vector<Series> all;
  for (const auto& [label, measured] : results) {
    for (const Measured& m : measured) {
      Series s{programs.size() > 1 ? m.name() : m.entry, {}};
      if (results.size() > 1) s.name += ", " + label;
      for (const Dataset& d : m.datasets) {
        const auto size = size_in_name(d.name);
        if (size && !d.runtimes.empty()) s.points.push_back(point_of(*size, d));
      }
      std::stable_sort(s.points.begin(), s.points.end(),
                       [](const Point& a, const Point& b) { return a.size < b.size; });
      if (!s.points.empty()) all.push_back(std::move(s));
    }
  }
  return all;
}

Result<std::string> chart_svg(const std::vector<Series>& series) {
  std::vector<double> sizes, times;
  for (const Series& s : series) {
    for (const Point& p : s.points) {
      sizes.push_back(p.size);
      times.insert(times.end(), {p.time, p.low, p.high});
    }
  }
  if (sizes.empty()) {
    return bad_request("there is nothing to plot: no dataset has a size in its name");
  }
  const auto [least_size, greatest_size] = std::minmax_element(sizes.begin(), sizes.end());
  const auto [least_time, greatest_time] = std::minmax_element(times.begin(), times.end());
  const LogAxis x(*least_size, *greatest_size), y(*least_time, *greatest_time);
  const Chart chart(x, y);
  const double height =
      kTop + kPlotHeight + kBelow + kRow * static_cast<double>(series.size()) + 10;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" "
      "viewBox=\"0 0 {0:g} {1:g}\" font-family=\"Helvetica, Arial, sans-serif\" "
      "font-size=\"12\">\n<title>Run time over size</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      kWidth, height);
  svg += chart.axes();
  for (size_t n = 0; n < series.size(); ++n) svg += chart.curve(series[n], n);
  for (size_t n = 0; n < series.size(); ++n) svg += Chart::legend(series[n], n);
  return svg + "</svg>\n";
}

}  // namespace kenaz::bench
