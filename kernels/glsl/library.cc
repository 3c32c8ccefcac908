#include "kernels/glsl/library.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <span>
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

// Come before those of the same names where floats are fused (LibraryOptions).
constexpr std::string_view kFusedFiles[] = {
#include "kernels/glsl/library/f32_fused.glsl.inc"
    ,
#include "kernels/glsl/library/f64_fused.glsl.inc"
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

using Entries = std::map<std::string, Entry>;

Entries parse_files(std::span<const std::string_view> files) {
  Entries entries;
  for (std::string_view file : files) {
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

const Entries& entries() {
  static const Entries all = parse_files(kFiles);
  return all;
}

const Entries& fused_entries() {
  static const Entries all = parse_files(kFusedFiles);
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

/// A function that exists for `wide` only serves the narrower floats too: they compute in that.
std::string through(PrimType wide, const std::string& stem, PrimType t, size_t arity) {
  const std::string wide_type = glsl_type(wide);
  std::string params, args;
  for (size_t i = 0; i < arity; i++) {
    params += fmt::format("{}{} a{}", i ? ", " : "", glsl_type(t), i);
    args += fmt::format("{}{}(a{})", i ? ", " : "", wide_type, i);
  }
  return fmt::format("{} {}_{}({}) {{ return {}; }}\n", glsl_type(t), stem, prim_name(t), params,
                     narrowed(t, fmt::format("{}_{}({})", stem, prim_name(wide), args)));
}

/// How many parameters the function has where `text` defines it, all of that type.
size_t count_params(const std::string& text, const std::string& function, PrimType type) {
  const std::string name = glsl_type(type) + " ";
  const size_t open = text.find(name + function + "(") + name.size(), close = text.find(')', open);
  size_t n = 0;
  for (size_t at = open; (at = text.find(name, at)) < close; at++) n++;
  return n;
}

}  // namespace

/// Notes the function if there is one for fused floats.
bool Library::need_fused(const std::string& name) {
  constexpr std::string_view kHalf = "_f16";
  if (auto it = fused_entries().find(name); it != fused_entries().end()) {
    for (const auto& callee : it->second.callees) need(callee);
    text_ += it->second.text;
    return true;
  }
  if (!name.ends_with(kHalf) || entries().count(name) != 0) return false;
  const std::string stem = name.substr(0, name.size() - kHalf.size());
  const auto it = fused_entries().find(stem + "_f32");
  if (it == fused_entries().end()) return false;
  need(stem + "_f32");
  text_ += through(PrimType::kF32, stem, PrimType::kF16,
                   count_params(it->second.text, stem + "_f32", PrimType::kF32));
  return true;
}

std::string Library::need(const std::string& name) {
  if (!present_.insert(name).second) return name;
  if (options_.fused_floats && need_fused(name)) return name;
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
    text_ += through(PrimType::kF64, stem, *type,
                     count_params(it->second.text, stem + "_f64", PrimType::kF64));
  }
  return name;
}

}  // namespace kenaz::glsl
