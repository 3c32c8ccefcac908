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
  TableRow& number(int64_t n);
  TableRow& number(double n);  // with one digit behind the point
  TableRow& text(std::string_view text);
  TableRow& heading(std::string_view text);
  /// A cell that holds HTML.
  TableRow& html(std::string_view html, std::string_view attributes = "");
  std::string str() const { return element("tr", attributes_, cells_) + "\n"; }

 private:
  std::string attributes_, cells_;
};

}  // namespace kenaz::observe
