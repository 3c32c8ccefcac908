#include "kernels/glsl/library.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/glsl/types.h"

namespace kenaz::glsl {
namespace {

// Each file holds functions, each after a line "//# NAME : CALLEES". In a NAME that ends in $t the
// text is a template: $t is the type's short name, $T its GLSL type, $U the unsigned type of its
// width, $B the width in bits.
constexpr std::string_view kFiles[] = {
#include "kernels/glsl/library/integer.glsl.inc"
    ,
#include "kernels/glsl/library/float.glsl.inc"
    ,
#include "kernels/glsl/library/f64_basic.glsl.inc"
    ,
#include "kernels/glsl/library/f64_trig.glsl.inc"
    ,
#include "kernels/glsl/library/f64_special.glsl.inc"
    ,
#include "kernels/glsl/library/f32_short.glsl.inc"
};

struct Entry {
  std::vector<std::string> callees;
  std::string text;
};

std::vector<std::string> words(std::string_view s) {
  std::vector<std::string> out;
  std::string word;
  for (char c : std::string(s) + ' ') {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      out.push_back(std::exchange(word, {}));
    }
  }
  return out;
}

std::map<std::string, Entry> parse_files() {
  std::map<std::string, Entry> entries;
  for (std::string_view file : kFiles) {
    size_t at = file.find("//# ");
    while (at != std::string_view::npos) {
      const size_t end_line = file.find('\n', at);
      const size_t next = file.find("//# ", end_line);
      const std::vector<std::string> head = words(file.substr(at + 4, end_line - at - 4));
      Entry e;
      for (size_t i = 2; i < head.size(); i++) e.callees.push_back(head[i]);
      e.text = std::string(file.substr(end_line + 1, next - end_line - 1));
      entries[head[0]] = std::move(e);
      at = next;
    }
  }
  return entries;
}

const std::map<std::string, Entry>& entries() {
  static const std::map<std::string, Entry> all = parse_files();
  return all;
}

std::string replace_all(std::string s, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = s.find(from, at)) != std::string::npos; at += to.size()) {
    s.replace(at, from.size(), to);
  }
  return s;
}

std::string instantiate(const std::string& text, const std::string& type_name, PrimType t) {
  std::string s = replace_all(text, "$T", glsl_type(t));
  s = replace_all(s, "$U", glsl_unsigned(t));
  s = replace_all(s, "$t", type_name);
  return replace_all(s, "$B", std::to_string(8 * prim_size(t)));
}

/// A function that exists for f64 only serves the narrower floats too: they compute in f64.
std::string through_f64(const std::string& stem, PrimType t, size_t arity) {
  std::string params, args;
  for (size_t i = 0; i < arity; i++) {
    params += fmt::format("{}{} a{}", i ? ", " : "", glsl_type(t), i);
    args += fmt::format("{}double(a{})", i ? ", " : "", i);
  }
  return fmt::format("{0} {1}_{2}({3}) {{ return {0}({1}_f64({4})); }}\n", glsl_type(t), stem,
                     prim_name(t), params, args);
}

/// Number of `double` parameters of a function's definition.
size_t count_double_params(const std::string& text) {
  const size_t open = text.find('('), close = text.find(')', open);
  size_t n = 0;
  for (size_t at = open; (at = text.find("double ", at)) < close; at++) n++;
  return n;
}

}  // namespace

std::string Library::need(const std::string& name) {
  if (!present_.insert(name).second) return name;
  if (auto it = entries().find(name); it != entries().end()) {
    for (const auto& callee : it->second.callees) need(callee);
    text_ += it->second.text;
    return name;
  }
  const size_t cut = name.rfind('_');
  const std::string stem = name.substr(0, cut);
  const auto type = cut == std::string::npos ? std::nullopt : prim_from_name(name.substr(cut + 1));
  if (!type) return name;
  const std::string type_name(prim_name(*type));
  if (auto it = entries().find(stem + "_$t"); it != entries().end()) {
    for (const auto& callee : it->second.callees) need(replace_all(callee, "$t", type_name));
    text_ += instantiate(it->second.text, type_name, *type);
    return name;
  }
  if (auto it = entries().find(stem + "_f64"); it != entries().end() && is_float(*type)) {
    need(stem + "_f64");
    text_ += through_f64(stem, *type, count_double_params(it->second.text));
  }
  return name;
}

}  // namespace kenaz::glsl
