#include "server/editor/diagnostics_json.h"

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "kernels/diagnostics/codes.h"
#include "protocol/base/whole_number.h"

namespace kenaz::editor {

using nlohmann::json;

namespace {

json position(const SourcePos& pos) { return {{"line", pos.line}, {"column", pos.column}}; }

void add_place(json& to, const SourceRange& range) {
  if (!range.file) return;
  to["file"] = range.file->name;
  to["range"] = {{"start", position(range.begin)}, {"end", position(range.end)}};
}

/// Takes a number and, if there is one, the character behind it, off the end of `text`.
bool take_number(std::string_view& text, int& number, char before) {
  const size_t at = text.rfind(before);
  if (at == std::string_view::npos) return false;
  const auto found = whole_number<int>(text.substr(at + 1));
  if (!found) return false;
  number = *found;
  text = text.substr(0, at);
  return true;
}

/// "FILE:1:2-3" or "FILE:1:2-3:4".
bool parse_place(std::string_view text, SourceRange& range) {
  int last = 0;
  if (take_number(text, last, '-')) {
    range.end.column = last;
  } else if (take_number(text, range.end.column, ':') && take_number(text, range.end.line, '-')) {
  } else {
    return false;
  }
  if (!take_number(text, range.begin.column, ':') || !take_number(text, range.begin.line, ':')) {
    return false;
  }
  if (range.end.line == 0) range.end.line = range.begin.line;
  range.file = std::make_shared<const SourceFile>(SourceFile{std::string(text), ""});
  return true;
}

}  // namespace

json to_json(const Diagnostic& d) {
  const Words words = words_of(d);
  json related = json::array();
  for (const Note& note : d.notes) {
    json place = {{"message", note.message}};
    add_place(place, note.range);
    related.push_back(std::move(place));
  }
  json out = {{"severity", d.severity == Severity::kError ? "error" : "warning"},
              {"code", code_of(d)},
              {"message", words.message},
              {"hints", words.hints},
              {"related", std::move(related)},
              {"rendered", d.str()}};
  add_place(out, d.range);
  if (!d.anchor.empty()) {
    out["help"] = "https://futhark.readthedocs.io/en/latest/error-index.html#" + d.anchor;
  }
  return out;
}

std::string text_of(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

Diagnostic diagnostic_of(std::string_view text) {
  Diagnostic d;
  for (const std::string_view head : {"Error at ", "Warning at "}) {
    const size_t end = text.find(":\n");
    if (!text.starts_with(head) || end == std::string_view::npos) continue;
    if (!parse_place(text.substr(head.size(), end - head.size()), d.range)) continue;
    if (head[0] == 'W') d.severity = Severity::kWarning;
    text.remove_prefix(end + 2);
    text = text.substr(0, text.find("\n\n"));
    break;
  }
  while (text.ends_with('\n')) text.remove_suffix(1);
  d.message = text;
  return d;
}

}  // namespace kenaz::editor
