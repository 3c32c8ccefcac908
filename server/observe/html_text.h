// Pieces of HTML.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kenaz::observe {

/// The text as the content of an element or of a quoted attribute. What is no UTF-8, and ASCII's
/// control characters but for tabs and line ends, become U+FFFD.
std::string escaped(std::string_view text);

/// "<tag attributes>content</tag>". `content` is HTML; `attributes` begins with a space, unless it
/// is empty.
std::string element(std::string_view tag, std::string_view attributes, std::string_view content);

/// A row of a table: cells with numbers and other texts.
class TableRow {
 public:
  /// `attributes` as for element().
  explicit TableRow(std::string attributes = "") : attributes_(std::move(attributes)) {}
  /// `css_class`: of the cell, beside that of numbers; empty: none.
  TableRow& number(int64_t n, std::string_view css_class = "");
  TableRow& number(double n, std::string_view css_class = "");  // with one digit behind the point
  TableRow& text(std::string_view text, std::string_view css_class = "");
  /// The heading of a column of numbers.
  TableRow& heading(std::string_view text, std::string_view css_class = "");
  /// The heading of a column of texts.
  TableRow& title(std::string_view text) { return heading(text, "t"); }
  /// A cell that holds HTML.
  TableRow& html(std::string_view html, std::string_view attributes = "");
  std::string str() const { return element("tr", attributes_, cells_) + "\n"; }

 private:
  std::string attributes_, cells_;
};

}  // namespace kenaz::observe
