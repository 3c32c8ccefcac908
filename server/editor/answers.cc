#include "server/editor/answers.h"

#include <fmt/format.h>

#include "kernels/diagnostics/codes.h"
#include "kernels/futhark/service/declarations.h"
#include "kernels/futhark/service/service.h"

namespace kenaz::editor {

using check::Symbol;
using check::SymbolKind;
using nlohmann::json;

namespace {

constexpr std::string_view kPrelude = "/prelude/";

json object_of(Place place) { return {{"line", place.line}, {"character", place.column}}; }

json markdown(const Symbol& s) {
  std::string text = "```futhark\n" + service::signature(s) + "\n```";
  if (const std::string doc = service::plain_doc(s.doc); !doc.empty()) text += "\n\n" + doc;
  return {{"kind", "markdown"}, {"value", text}};
}

int completion_kind(const Symbol& s) {
  constexpr int kFunction = 3, kField = 5, kVariable = 6, kInterface = 8, kModule = 9, kStruct = 22;
  switch (s.kind) {
    case SymbolKind::kValue: return s.is_function ? kFunction : kVariable;
    case SymbolKind::kType: return kStruct;
    case SymbolKind::kModule: return kModule;
    case SymbolKind::kModuleType: return kInterface;
    case SymbolKind::kField: return kField;
  }
  return kVariable;
}

/// 0: it is no name of its own.
int symbol_kind(const service::Declaration& d) {
  constexpr int kModule = 2, kInterface = 11, kFunction = 12, kStruct = 23;
  if (d.name.empty()) return 0;
  if (d.keyword == "def" || d.keyword == "let" || d.keyword == "entry") return kFunction;
  if (d.keyword == "type") return kStruct;
  if (d.keyword == "module") return kModule;
  return d.keyword == "module type" ? kInterface : 0;
}

}  // namespace

std::string OpenFiles::uri_of(const std::string& path) const {
  const auto found = uris->find(path);
  return found == uris->end() ? uri_of_path(path) : found->second;
}

json Answers::range(const SourceRange& range) const {
  const std::string_view text = range.file ? range.file->text : std::string_view();
  return {{"start", object_of(to_place(text, range.begin, units_))},
          {"end", object_of(to_place(text, range.end, units_))}};
}

json Answers::diagnostic(const Diagnostic& d) const {
  constexpr int kError = 1, kWarning = 2;
  const Words words = words_of(d);
  std::string message = words.message;
  for (const std::string& hint : words.hints) message += "\n" + hint;
  json out = {{"range", range(d.range)},
              {"severity", d.severity == Severity::kError ? kError : kWarning},
              {"code", code_of(d)},
              {"source", "kenaz"},
              {"message", message}};
  json related = json::array();
  for (const Note& note : d.notes) {
    if (!note.range.file) continue;
    const json place = {{"uri", files_.uri_of(note.range.file->name)},
                        {"range", range(note.range)}};
    related.push_back({{"location", place}, {"message", note.message}});
  }
  if (!related.empty()) out["relatedInformation"] = std::move(related);
  return out;
}

std::map<std::string, json> Answers::diagnostics(const std::vector<Diagnostic>& all,
                                                 const std::string& root) const {
  std::map<std::string, json> by_file = {{root, json::array()}};
  for (Diagnostic d : all) {
    const bool known = d.range.file && !d.range.file->name.starts_with(kPrelude);
    if (!known) d.range = {nullptr, {1, 1}, {1, 1}};
    json& list = by_file[known ? d.range.file->name : root];
    if (list.is_null()) list = json::array();
    list.push_back(diagnostic(d));
  }
  return by_file;
}

json Answers::hover(const check::Index& index, const std::string& path, SourcePos at) const {
  const check::Use* use = service::use_at(index, path, at);
  if (!use) return nullptr;
  return {{"contents", markdown(index.symbols[use->symbol])}, {"range", range(use->range)}};
}

json Answers::definition(const check::Index& index, const std::string& path, SourcePos at) const {
  const check::Use* use = service::use_at(index, path, at);
  if (!use) return nullptr;
  const SourceRange& place = index.symbols[use->symbol].definition;
  if (!place.file || place.file->name.starts_with(kPrelude)) return nullptr;
  return {{"uri", files_.uri_of(place.file->name)}, {"range", range(place)}};
}

json Answers::completion(const std::vector<Symbol>& symbols) {
  json items = json::array();
  for (const Symbol& s : symbols) {
    json item = {{"label", s.name},
                 {"kind", completion_kind(s)},
                 {"detail", service::signature(s)},
                 {"sortText", fmt::format("{:06}", items.size())}};
    if (const std::string doc = service::plain_doc(s.doc); !doc.empty())
      item["documentation"] = doc;
    items.push_back(std::move(item));
  }
  return {{"isIncomplete", false}, {"items", std::move(items)}};
}

json Answers::symbols(const std::string& text) const {
  json all = json::array();
  const auto file = std::make_shared<const SourceFile>(SourceFile{"", text});
  for (const service::Declaration& d : service::declarations(text)) {
    const int kind = symbol_kind(d);
    if (kind == 0) continue;
    const SourcePos end =
        service::position_of(text, text.find_last_not_of(" \t\r\n", d.end - 1) + 1);
    all.push_back({{"name", d.name},
                   {"kind", kind},
                   {"range", range({file, d.at, end})},
                   {"selectionRange", range({file, d.name_at, d.name_end})}});
  }
  return all;
}

}  // namespace kenaz::editor
