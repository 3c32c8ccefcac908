#include "client/cli/show.h"

#include <fmt/format.h>

#include "client/cli/plot.h"
#include "client/lib/values.h"
#include "protocol/data/text_format.h"

namespace kenaz::cli {
namespace {

constexpr int64_t kFewElements = 100;  // so many are shown in full
constexpr int64_t kEnds = 3;           // of a larger array, so many at each end

/// The part of `value` from element `first` on that has the dimensions from `dim` on.
std::string part(const data::Value& value, size_t dim, int64_t first) {
  if (dim == value.shape.size()) return data::scalar_text(value.at(first));
  int64_t stride = 1;
  for (size_t d = dim + 1; d < value.shape.size(); ++d) stride *= value.shape[d];
  const int64_t n = value.shape[dim];
  std::string text = "[";
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0) text += ", ";
    if (i == kEnds && n > 2 * kEnds + 1) {
      text += "..., ";
      i = n - kEnds;
    }
    text += part(value, dim + 1, first + i * stride);
  }
  return text + "]";
}

class Shower {
 public:
  Shower(client::Client& client, bool all) : client_(client), all_(all) {}

  Result<std::string> show(const std::string& name) {
    KENAZ_ASSIGN(const std::string type, line({"type", name}));
    KENAZ_ASSIGN(const std::string kind, line({"kind", type}));
    if (kind == "record") return record(name, type);
    if (kind == "sum") return sum(name, type);
    const bool opaque = type.find_first_of("({#") != std::string::npos || kind == "opaque";
    if (kind == "array") {
      KENAZ_ASSIGN(const std::string element, line({"elemtype", type}));
      if (prim_from_name(element)) return value(name);
    } else if (!opaque) {
      return value(name);
    }
    return fmt::format("#<{}>", type);
  }

 private:
  Result<std::string> line(const std::vector<std::string>& words) {
    KENAZ_ASSIGN(auto lines, client_.request(words));
    if (lines.empty()) return internal_error("the server gives no answer to " + words[0]);
    return std::move(lines.back());
  }

  Result<std::string> part(const std::string& name) {
    ++depth_;
    auto shown = show(name);
    --depth_;
    return shown;
  }

  Result<std::string> value(const std::string& name) {
    KENAZ_ASSIGN(const auto values, client_.get_values(name));
    std::string text;
    for (const auto& v : values) text += all_ ? data::to_text(v) : abbreviated(v);
    const bool is_abbreviated = values.size() == 1 && values[0].count() > kFewElements;
    if (depth_ == 0 && !all_ && is_abbreviated) text += "\n" + statistics(values[0]);
    return text;
  }

  Result<std::string> record(const std::string& name, const std::string& type) {
    KENAZ_ASSIGN(const auto fields, client_.connection().fields(type));
    if (!fields) return internal_error("the record type " + type + " has no fields");
    const bool tuple = client::is_tuple(*fields);
    std::string text;
    for (const auto& field : *fields) {
      const std::string temporary = fresh();
      KENAZ_TRY(client_.request({"project", temporary, name, field.first}));
      const auto shown = part(temporary);
      KENAZ_TRY(client_.free({temporary}));
      KENAZ_TRY(shown);
      text += (text.empty() ? "" : ", ") + (tuple ? "" : field.first + " = ") + *shown;
    }
    return tuple ? "(" + text + ")" : "{" + text + "}";
  }

  Result<std::string> sum(const std::string& name, const std::string& type) {
    KENAZ_ASSIGN(const std::string variant, line({"variant", name}));
    KENAZ_ASSIGN(const auto variants, client_.request({"variants", type}));
    size_t payload = 0;
    bool found = false;
    for (const auto& l : variants) {
      if (!l.starts_with("- ")) {
        found = l == variant;
      } else if (found) {
        ++payload;
      }
    }
    std::vector<std::string> words = {"destruct", name}, parts;
    for (size_t i = 0; i < payload; ++i) parts.push_back(fresh());
    words.insert(words.end(), parts.begin(), parts.end());
    std::string text = variant.starts_with('#') ? variant : "#" + variant;
    if (parts.empty()) return text;
    KENAZ_TRY(client_.request(words));
    Status status;
    for (const auto& p : parts) {
      if (!status) break;
      const auto shown = part(p);
      if (shown) text += " " + *shown;
      if (!shown) status = tl::make_unexpected(shown.error());
    }
    KENAZ_TRY(client_.free(parts));
    KENAZ_TRY(status);
    return text;
  }

  std::string fresh() { return fmt::format("_shown_{}", next_++); }

  client::Client& client_;
  const bool all_;
  int next_ = 0, depth_ = 0;
};

}  // namespace

std::string abbreviated(const data::Value& value) {
  if (value.count() <= kFewElements) return data::to_text(value);
  return part(value, 0, 0);
}

Result<std::string> show_variable(client::Client& client, const std::string& name, bool all) {
  return Shower(client, all).show(name);
}

}  // namespace kenaz::cli
