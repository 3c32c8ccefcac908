#include "kernels/mfg/check/strings.h"

#include <cctype>
#include <charconv>
#include <cstdint>
#include <utility>

#include "protocol/base/utf8.h"

namespace kenaz::mfg {

namespace {

/// Reads an object of objects of strings, and keeps those of one.
class StringsReader {
 public:
  explicit StringsReader(std::string_view json) : json_(without_byte_order_mark(json)) {}

  std::optional<Texts> read(std::string_view language) {
    Texts texts;
    const bool good = object([&](const std::string& outer) {
      if (outer != language || !at('{')) return skip_value(0);
      return object([&](const std::string& inner) {
        if (!at('"')) return skip_value(0);
        auto text = string();
        if (!text) return false;
        texts.insert_or_assign(inner, std::move(*text));
        return true;
      });
    });
    if (!good) return std::nullopt;
    return texts;
  }

 private:
  static constexpr int kMaxDepth = 100;

  bool at(char c) {
    while (at_ < json_.size() && std::isspace(static_cast<unsigned char>(json_[at_])) != 0) ++at_;
    return at_ < json_.size() && json_[at_] == c;
  }
  bool accept(char c) {
    if (!at(c)) return false;
    ++at_;
    return true;
  }

  template <class Fn>
  bool object(const Fn& value_of) {
    if (!accept('{')) return false;
    if (accept('}')) return true;
    do {
      const auto key = string();
      if (!key || !accept(':') || !value_of(*key)) return false;
    } while (accept(','));
    return accept('}');
  }

  /// Of any form; false if it is none.
  bool skip_value(int depth) {
    if (depth > kMaxDepth) return false;
    if (at('{')) return object([&](const std::string&) { return skip_value(depth + 1); });
    if (at('"')) return string().has_value();
    if (accept('[')) {
      if (accept(']')) return true;
      do {
        if (!skip_value(depth + 1)) return false;
      } while (accept(','));
      return accept(']');
    }
    // A number, true, false or null.
    const size_t begin = at_;
    const auto is_part = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+' || c == '.';
    };
    while (at_ < json_.size() && is_part(json_[at_])) ++at_;
    return at_ > begin;
  }

  std::optional<std::string> string() {
    if (!accept('"')) return std::nullopt;
    std::string text;
    while (at_ < json_.size() && json_[at_] != '"') {
      const char c = json_[at_++];
      if (c != '\\') {
        text += c;
      } else if (!append_escape(text)) {
        return std::nullopt;
      }
    }
    if (at_ >= json_.size()) return std::nullopt;
    ++at_;
    return text;
  }

  /// What stands behind a backslash.
  bool append_escape(std::string& text) {
    if (at_ >= json_.size()) return false;
    static constexpr std::string_view kLetters = "bfnrt", kValues = "\b\f\n\r\t";
    const char c = json_[at_++];
    if (c == 'u') return append_utf16(text);
    const size_t letter = kLetters.find(c);
    text += letter == kLetters.npos ? c : kValues[letter];
    return true;
  }

  /// The four digits behind \u, and a second half behind those.
  bool append_utf16(std::string& text) {
    constexpr uint32_t kUpper = 0xd800, kLower = 0xdc00, kEnd = 0xe000, kReplacement = 0xfffd;
    const auto unit = utf16_unit();
    if (!unit) return false;
    uint32_t c = *unit;
    if (c >= kUpper && c < kLower && json_.substr(at_).starts_with("\\u")) {
      const size_t before = std::exchange(at_, at_ + 2);
      const auto second = utf16_unit();
      if (!second) return false;
      if (*second >= kLower && *second < kEnd) {
        c = 0x10000 + ((c - kUpper) << 10) + (*second - kLower);
      } else {
        at_ = before;  // it stands for itself
      }
    }
    append_utf8(text, c >= kUpper && c < kEnd ? kReplacement : c);
    return true;
  }

  std::optional<uint32_t> utf16_unit() {
    constexpr size_t kDigits = 4;
    const std::string_view digits = json_.substr(at_, kDigits);
    uint32_t unit = 0;
    const char* end = digits.data() + digits.size();
    if (digits.size() < kDigits || std::from_chars(digits.data(), end, unit, 16).ptr != end) {
      return std::nullopt;
    }
    at_ += kDigits;
    return unit;
  }

  std::string_view json_;
  size_t at_ = 0;
};

}  // namespace

std::optional<Texts> english_texts(std::string_view json) { return StringsReader(json).read("en"); }

}  // namespace kenaz::mfg
