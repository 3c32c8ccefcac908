#include "client/image/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "protocol/base/nearest.h"
#include "protocol/base/whole_number.h"

namespace kenaz::image {

namespace {

/// NAME(argument, key=value, ..) taken apart: arguments without a key have an empty one. Values in
/// brackets stay as they are; those in quotes lose them.
struct Attribute {
  std::string name;
  std::vector<std::pair<std::string, std::string>> args;

  std::string get(std::string_view key) const {
    for (const auto& [k, v] : args) {
      if (k == key) return v;
    }
    return "";
  }
};

class AttributeReader {
 public:
  explicit AttributeReader(std::string_view text) : text_(text) {}

  Attribute read() {
    Attribute a;
    a.name = word();
    if (!accept('(')) return a;
    while (at_ < text_.size() && !accept(')')) {
      std::string key, value = item();
      if (accept('=')) {
        key = value;
        value = item();
      }
      a.args.emplace_back(std::move(key), std::move(value));
      accept(',');
    }
    return a;
  }

  bool at_end() {
    skip_space();
    return at_ >= text_.size();
  }

  std::vector<std::string> list() {
    std::vector<std::string> items;
    accept('[');
    while (at_ < text_.size() && !accept(']')) {
      items.push_back(item());
      if (!accept(',') && at_ < text_.size() && text_[at_] != ']') break;
    }
    return items;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string word() {
    skip_space();
    const size_t start = at_;
    while (at_ < text_.size() &&
           std::string_view("(),=[] \"").find(text_[at_]) == std::string_view::npos) {
      ++at_;
    }
    return std::string(text_.substr(start, at_ - start));
  }
  std::string quoted() {
    std::string s;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      s += text_[at_];
    }
    ++at_;
    return s;
  }
  std::string item() {
    skip_space();
    if (at_ >= text_.size()) return "";
    if (text_[at_] == '"') return quoted();
    if (text_[at_] != '[') {
      std::string w = word();
      if (w.empty()) ++at_;  // whatever it is: on with it
      return w;
    }
    const size_t start = at_;
    bool in_string = false;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\')
        ++at_;
      else if (text_[at_] == '"')
        in_string = !in_string;
      else if (text_[at_] == ']' && !in_string)
        break;
    }
    at_ = std::min(at_ + 1, text_.size());
    return std::string(text_.substr(start, at_ - start));
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::optional<PrimValue> number(std::string_view text, PrimType type) {
  if (is_integer(type)) {
    const auto n = whole_number<int32_t>(text);
    return n ? std::optional(PrimValue::i32(*n)) : std::nullopt;
  }
  const char* end = text.data() + text.size();
  float f = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, f);
  if (error != std::errc() || stop != end || !std::isfinite(f)) return std::nullopt;
  return PrimValue::f32(f);
}

}  // namespace

std::string FilterParam::str() const {
  std::string s = fmt::format("{:<16} {:<6} default {}", name, type, initial);
  if (!min.empty() || !max.empty()) {
    s += fmt::format(", from {} to {}", min.empty() ? "any" : min, max.empty() ? "any" : max);
  }
  if (!label.empty()) s += fmt::format("  {}", label);
  for (size_t k = 0; k < items.size(); ++k) s += fmt::format("\n{:<24}{}: {}", "", k, items[k]);
  return s;
}

Result<FilterInfo> filter_info(const std::string& entry,
                               const std::vector<std::string>& attributes) {
  FilterInfo info;
  info.entry = entry;
  if (entry != "result_u8" && entry != "result_u16") {
    return bad_request("this program is no filter: it has no entry point result_u8 or result_u16");
  }
  for (const std::string& line : attributes) {
    const Attribute a = AttributeReader(line).read();
    if (a.name == "title" && !a.args.empty()) info.title = a.args[0].second;
    if (a.name == "layers") {
      for (const auto& [key, value] : a.args) {
        const auto n = number(value, PrimType::kI32);
        if (n) info.layers.push_back(static_cast<int>(n->as_i64()));
      }
    }
    if (a.name == "texture" && !a.args.empty()) {
      info.textures.push_back({a.args[0].second, a.get("file")});
    }
    if (a.name != "param" || a.args.size() < 2) continue;
    FilterParam p{a.args[0].second,
                  a.args[1].second,
                  a.get("default"),
                  a.get("min"),
                  a.get("max"),
                  a.get("label"),
                  {}};
    if (const std::string items = a.get("items"); !items.empty()) {
      p.items = AttributeReader(items).list();
    }
    info.params.push_back(std::move(p));
  }
  return info;
}

Result<data::Value> param_value(const FilterParam& p, std::string_view text) {
  const size_t v = p.type.find('v');
  const size_t want = v == std::string::npos ? 1 : static_cast<size_t>(p.type[v + 1] - '0');
  const PrimType type = p.type.starts_with("i32") ? PrimType::kI32 : PrimType::kF32;
  data::Value value;
  value.type = type;
  if (want > 1) value.shape = {static_cast<int64_t>(want)};
  size_t have = 0;
  AttributeReader reader(text);
  for (const std::string& item : reader.list()) {
    const auto n = number(item, type);
    if (!n || !reader.at_end()) {
      return bad_request(
          fmt::format("parameter {} is of type {}; \"{}\" is not", p.name, p.type, text));
    }
    data::append(value, *n);
    ++have;
  }
  if (have != want) {
    return bad_request(
        fmt::format("parameter {} is of type {}, which is {} number{}; \"{}\" is not", p.name,
                    p.type, want, want == 1 ? "" : "s with commas", text));
  }
  return value;
}

Result<std::vector<data::Value>> param_values(const FilterInfo& filter,
                                              const std::vector<std::string>& given) {
  std::map<std::string, std::string> texts;
  std::vector<std::string> names;
  for (const FilterParam& p : filter.params) names.push_back(p.name);
  for (const std::string& g : given) {
    const size_t sign = g.find('=');
    if (sign == std::string::npos) return bad_request(fmt::format("\"{}\" is not NAME=VALUE", g));
    const std::string name = g.substr(0, sign);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const std::string near = nearest(name, names);
      return bad_request(fmt::format("the filter has no parameter {}{}", name,
                                     !near.empty() ? "; did you mean " + near + "?"
                                     : names.empty()
                                         ? ": it has none"
                                         : fmt::format("; it has: {}", fmt::join(names, ", "))));
    }
    texts[name] = g.substr(sign + 1);
  }
  std::vector<data::Value> values;
  for (const FilterParam& p : filter.params) {
    const auto text = texts.find(p.name);
    KENAZ_ASSIGN(auto value, param_value(p, text == texts.end() ? p.initial : text->second));
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace kenaz::image
