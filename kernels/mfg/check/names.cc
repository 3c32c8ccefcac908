#include <fmt/format.h>

#include <array>

#include "kernels/mfg/check/checker.h"
#include "protocol/base/nearest.h"

namespace kenaz::mfg {

namespace {

constexpr std::array<std::string_view, 20> kWords = {
    "let",       "def",       "fn",         "by",   "mut",  "sampler", "rsum",
    "reduce",    "trans",     "ifel",       "elif", "else", "load",    "input_u8",
    "input_u16", "result_u8", "result_u16", "i64",  "u64",  "f64"};

bool is_word(const std::string& name) {
  for (const std::string_view w : kWords) {
    if (name == w) return true;
  }
  return false;
}

}  // namespace

const Symbol* Checker::find(const std::string& name) const {
  for (size_t k = scopes_.size(); k-- > 0;) {
    if (k > 1 && k < base_) continue;
    const auto found = scopes_[k].find(name);
    if (found != scopes_[k].end()) return &found->second;
  }
  return nullptr;
}

void Checker::no_such_name(const Name& name) const {
  std::vector<std::string> names = builtin_names();
  names.insert(names.end(), {"input_u8", "input_u16", "rsum", "reduce", "ifel", "elif"});
  for (size_t k = 0; k < scopes_.size(); ++k) {
    if (k > 1 && k < base_) continue;
    for (const auto& [n, symbol] : scopes_[k]) names.push_back(n);
  }
  std::sort(names.begin(), names.end());
  const std::string near = nearest(name.text, names);
  reject(name.range, fmt::format("Unknown name \"{}\".{}", name.text,
                                 near.empty() ? "" : fmt::format("\nDid you mean \"{}\"?", near)));
}

const Symbol& Checker::need(const Name& name) {
  if (const Symbol* s = find(name.text)) return *s;
  no_such_name(name);
}

void Checker::declare(const Name& name, Symbol symbol) {
  if (name.text == "_") return;
  symbol.range = name.range;
  if (!in_prelude_ && (is_word(name.text) || is_builtin(name.text) || type_from_name(name.text))) {
    reject(name.range,
           fmt::format("\"{}\" is a name of the language; nothing else can have it.", name.text));
  }
  const auto [place, is_new] = scopes_.back().emplace(name.text, std::move(symbol));
  if (is_new) return;
  Diagnostic d{Severity::kError,
               name.range,
               fmt::format("\"{}\" is defined already in the same block.", name.text),
               {},
               {}};
  d.notes.push_back({place->second.range, "It was defined here"});
  throw Rejected{std::move(d)};
}

VarId Checker::new_var(std::string name, Type type) {
  out_.vars.push_back({std::move(name), std::move(type)});
  return VarId{static_cast<uint32_t>(out_.vars.size() - 1)};
}

VarId Checker::declare_var(const Name& name, const Type& type) {
  const VarId v = new_var(name.text, type);
  declare(name, {var(v, name.range), {}});
  return v;
}

TensorId Checker::input(int depth, int layer) {
  const auto [place, is_new] = inputs_.emplace(std::pair(depth, layer), TensorId{});
  if (is_new) {
    TensorInfo t;
    t.kind = TensorInfo::kInput;
    t.name = fmt::format("input_u{}", depth);
    t.elem = Type::vector(depth == 8 ? PrimType::kU8 : PrimType::kU16, 4);
    t.depth = depth;
    t.layer = layer;
    out_.tensors.push_back(std::move(t));
    place->second = TensorId{static_cast<uint32_t>(out_.tensors.size() - 1)};
  }
  return place->second;
}

TensorId Checker::tensor_named(const TensorName& n) {
  const std::string& text = n.name.text;
  if (text == "input_u8" || text == "input_u16") {
    return input(text == "input_u8" ? 8 : 16, n.layer.value_or(0));
  }
  if (text.starts_with("result_u")) {
    reject(n.name.range, "The result can only be defined, not read.");
  }
  const Symbol& s = need(n.name);
  if (const auto* t = std::get_if<TensorId>(&s.what)) return *t;
  reject(n.name.range, fmt::format("\"{}\" is no tensor.", text));
}

}  // namespace kenaz::mfg
