#include "kernels/futhark/service/service.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "kernels/futhark/service/declarations.h"

namespace kenaz::service {

using check::Examined;
using check::Index;
using check::Symbol;
using check::SymbolKind;
using check::Use;

namespace {

constexpr int kMaxRepairs = 30;  // declarations that are left out of a program

using Place = std::tuple<std::string, int, int>;

Place place_of(const SourceRange& range) {
  return {range.file ? range.file->name : "", range.begin.line, range.begin.column};
}

/// Adds what `more` knows of places that `index` knows nothing of.
void add_missing(Index& index, const Index& more) {
  std::set<Place> known;
  for (const Use& use : index.uses) known.insert(place_of(use.range));
  const auto first = static_cast<uint32_t>(index.symbols.size());
  index.symbols.insert(index.symbols.end(), more.symbols.begin(), more.symbols.end());
  for (const Use& use : more.uses) {
    if (known.insert(place_of(use.range)).second) {
      index.uses.push_back({use.range, use.symbol + first});
    }
  }
}

SourceReader with_text(const SourceReader& read, const std::string& path, const std::string& text) {
  return [&read, &path, &text](const std::string& file) -> Result<std::string> {
    if (file == path) return text;
    return read(file);
  };
}

/// The first error in this file, or null.
const Diagnostic* error_in(const Examined& examined, const std::string& path) {
  for (const Diagnostic& d : examined.diagnostics) {
    const bool here = d.range.file && d.range.file->name == path;
    if (d.severity == Severity::kError && here) return &d;
  }
  return nullptr;
}

bool hide(std::string& text, const Diagnostic& error) {
  return hide_declaration(text, error.range.begin, error.code == "syntax");
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '\'';
}

bool in_comment(std::string_view text, size_t at) {
  const size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  bool quoted = false;
  for (size_t i = line; i + 1 < at; ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    if (!quoted && text[i] == '-' && text[i + 1] == '-') return true;
  }
  return quoted;
}

/// A program with `check::kWanted` where names are wanted.
struct Asked {
  std::string text;
  size_t name = 0, end = 0;  // bytes: of the name with its qualifiers
};

std::optional<Asked> ask(const std::string& text, size_t at) {
  size_t word = at, begin = at, end = at;
  while (word > 0 && is_word(text[word - 1])) --word;
  begin = word;
  while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == '.')) --begin;
  while (end < text.size() && is_word(text[end])) ++end;
  const char first = begin < text.size() ? text[begin] : ' ';
  if (in_comment(text, at) || first == '.' || (first >= '0' && first <= '9')) return std::nullopt;
  Asked asked{text, begin, word + std::string_view(check::kWanted).size()};
  asked.text.replace(word, end - word, check::kWanted);
  return asked;
}

/// The declaration around a byte; null before the first.
const Declaration* around(const std::vector<Declaration>& all, size_t at) {
  const Declaration* found = nullptr;
  for (const Declaration& d : all) {
    if (d.begin <= at) found = &d;
  }
  return found;
}

/// Other texts in which the same is asked, if its own declaration is wrong: without what follows,
/// and as all that the declaration's body has. The last knows of the parameters only.
std::vector<std::string> simpler(const Asked& asked) {
  const auto all = declarations(asked.text);
  const Declaration* d = around(all, asked.name);
  if (!d) return {};
  const std::string before = asked.text.substr(0, d->begin), after = asked.text.substr(d->end);
  const std::string beginning = asked.text.substr(d->begin, asked.end - d->begin);
  const std::string close = closing(beginning);
  std::vector<std::string> texts = {before + beginning + close + "\n" + after};
  if (close.starts_with(']')) {  // the size of an array's type
    texts.push_back(before + beginning + "]i32" + close.substr(1) + "\n" + after);
  }
  if (d->body <= asked.name) {
    texts.push_back(asked.text.substr(0, d->body) + " " +
                    asked.text.substr(asked.name, asked.end - asked.name) + "\n" + after);
  }
  return texts;
}

/// Checks a text, again and again without those declarations that are wrong, up to the one around
/// byte `at`.
std::optional<std::vector<Symbol>> wanted(const std::string& path, const SourceReader& read,
                                          std::string text, size_t at,
                                          const std::stop_token& stop) {
  for (int i = 0; i < kMaxRepairs && !stop.stop_requested(); ++i) {
    const Examined e = check::examine_program(path, with_text(read, path, text), stop);
    if (e.index.wanted) return e.index.wanted;
    const Diagnostic* error = error_in(e, path);
    if (!error) break;
    const auto all = declarations(text);
    const Declaration* own = around(all, at);
    const size_t place = offset_of(text, error->range.begin);
    const bool starts = error->code == "syntax";
    const bool ours = own && (starts ? place > own->begin : place >= own->begin) &&
                      (starts ? place <= own->end : place < own->end);
    if (ours || !hide(text, *error)) break;
  }
  return std::nullopt;
}

}  // namespace

Examined analyse(const std::string& path, const SourceReader& read, std::stop_token stop) {
  Examined first = check::examine_program(path, read, stop);
  const auto source = read(path);
  if (first.accepted || !source) return first;
  std::string text = *source;
  const Diagnostic* error = error_in(first, path);
  Examined next;
  for (int i = 0; error && i < kMaxRepairs && !stop.stop_requested(); ++i) {
    if (!hide(text, *error)) break;
    next = check::examine_program(path, with_text(read, path, text), stop);
    add_missing(first.index, next.index);
    error = error_in(next, path);
  }
  return first;
}

std::vector<Symbol> complete(const std::string& path, const SourceReader& read, SourcePos at,
                             std::stop_token stop) {
  const auto source = read(path);
  const auto asked = source ? ask(*source, offset_of(*source, at)) : std::nullopt;
  if (!asked) return {};
  if (auto found = wanted(path, read, asked->text, asked->name, stop)) return std::move(*found);
  for (const std::string& text : simpler(*asked)) {
    const size_t name = std::min(text.find(check::kWanted), text.size());
    if (auto found = wanted(path, read, text, name, stop)) return std::move(*found);
  }
  return {};
}

const Use* use_at(const Index& index, const std::string& file, SourcePos at) {
  const Use* found = nullptr;
  bool touching = true;  // the best so far only ends at the place
  for (const Use& use : index.uses) {
    const SourceRange& r = use.range;
    if (!r.file || r.file->name != file || at < r.begin || r.end < at) continue;
    const bool ends = at == r.end;
    if (found && ends && !touching) continue;
    const bool shorter = !found || found->range.begin < r.begin || r.end < found->range.end;
    if (!found || (touching && !ends) || shorter) {
      found = &use;
      touching = ends;
    }
  }
  return found;
}

std::string signature(const Symbol& s) {
  switch (s.kind) {
    case SymbolKind::kValue: return "def " + s.name + (s.type.empty() ? "" : " " + s.type);
    case SymbolKind::kType: return "type " + s.name + (s.type.empty() ? "" : " = " + s.type);
    case SymbolKind::kModule: return "module " + s.name;
    case SymbolKind::kModuleType: return "module type " + s.name;
    case SymbolKind::kField: return s.name + s.type;
  }
  return s.name;
}

std::string plain_doc(const std::string& doc) {
  std::vector<std::string_view> lines;
  std::string_view rest = doc;
  size_t indent = std::string::npos;
  for (bool more = true; more;) {
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    more = end != std::string_view::npos;
    rest.remove_prefix(more ? end + 1 : rest.size());
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    lines.push_back(line);
    indent = std::min(indent, line.find_first_not_of(' '));
  }
  std::string text;
  for (const auto line : lines) {
    text += std::string(line.substr(std::min(indent, line.size()))) + "\n";
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace kenaz::service
