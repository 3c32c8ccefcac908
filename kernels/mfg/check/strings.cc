#include "kernels/mfg/check/strings.h"

#include <cctype>

namespace kenaz::mfg {

namespace {

/// Reads an object of objects of strings, and keeps one of them.
class StringsReader {
 public:
  explicit StringsReader(std::string_view json) : json_(json) {}

  std::optional<std::string> find(std::string_view language, std::string_view name) {
    std::optional<std::string> found;
    const bool good = object([&](const std::string& outer) {
      return object([&](const std::string& inner) {
        auto text = string();
        if (!text) return false;
        if (outer == language && inner == name) found = std::move(*text);
        return true;
      });
    });
    return good ? found : std::nullopt;
  }

 private:
  void skip_space() {
    while (at_ < json_.size() && std::isspace(static_cast<unsigned char>(json_[at_])) != 0) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= json_.size() || json_[at_] != c) return false;
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

  std::optional<std::string> string() {
    if (!accept('"')) return std::nullopt;
    std::string text;
    for (; at_ < json_.size() && json_[at_] != '"'; ++at_) {
      char c = json_[at_];
      if (c == '\\' && at_ + 1 < json_.size()) {
        c = json_[++at_];
        if (c == 'u') return std::nullopt;  // no file needs it: they are UTF-8
        if (c == 'n') c = '\n';
        if (c == 't') c = '\t';
      }
      text += c;
    }
    if (at_ >= json_.size()) return std::nullopt;
    ++at_;
    return text;
  }

  std::string_view json_;
  size_t at_ = 0;
};

}  // namespace

std::optional<std::string> text_by_name(std::string_view json, std::string_view name) {
  return StringsReader(json).find("en", name);
}

}  // namespace kenaz::mfg
