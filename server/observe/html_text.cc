#include "server/observe/html_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "protocol/base/utf8.h"

namespace kenaz::observe {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

/// Bytes that are no UTF-8 are replaced.
std::string valid_utf8(std::string_view text) {
  using Json = nlohmann::json;
  const std::string quoted = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(quoted).get<std::string>();
}

/// The attribute with these classes; empty ones are left out.
std::string class_of(std::string_view first, std::string_view second) {
  if (first.empty() && second.empty()) return "";
  const std::string_view between = first.empty() || second.empty() ? "" : " ";
  return fmt::format(" class=\"{}{}{}\"", first, between, second);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      case '\t':
      case '\n': out += c; break;
      default:
        if (is_control(c)) {
          out += kReplacement;
        } else {
          out += c;
        }
    }
  }
  return out;
}

std::string element(std::string_view tag, std::string_view attributes, std::string_view content) {
  return fmt::format("<{}{}>{}</{}>", tag, attributes, content, tag);
}

TableRow& TableRow::number(int64_t n, std::string_view css_class) {
  cells_ += element("td", class_of("n", css_class), std::to_string(n));
  return *this;
}
TableRow& TableRow::number(double n, std::string_view css_class) {
  cells_ += element("td", class_of("n", css_class), fmt::format("{:.1f}", n));
  return *this;
}
TableRow& TableRow::text(std::string_view text, std::string_view css_class) {
  cells_ += element("td", class_of("", css_class), escaped(text));
  return *this;
}
TableRow& TableRow::heading(std::string_view text, std::string_view css_class) {
  cells_ += element("th", class_of("", css_class), escaped(text));
  return *this;
}
TableRow& TableRow::html(std::string_view html, std::string_view attributes) {
  cells_ += element("td", attributes, html);
  return *this;
}

}  // namespace kenaz::observe
