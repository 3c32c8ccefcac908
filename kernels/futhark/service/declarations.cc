#include "kernels/futhark/service/declarations.h"

#include <algorithm>

#include "kernels/futhark/syntax/token.h"
#include "protocol/base/trimmed.h"

namespace kenaz::service {

using syntax::Tok;
using syntax::Token;

namespace {

constexpr std::string_view kSpace = " \t\r\n";

constexpr std::string_view kHole = "???";

const char* keyword_of(const Token& t) {
  switch (t.kind) {
    case Tok::kDef: return "def";
    case Tok::kLet: return "let";
    case Tok::kEntry: return "entry";
    case Tok::kType: return "type";
    case Tok::kModule: return "module";
    case Tok::kOpen: return "open";
    case Tok::kImport: return "import";
    case Tok::kLocal: return "local";
    default: return nullptr;
  }
}

bool is_value(const Declaration& d) {
  return d.keyword == "def" || d.keyword == "let" || d.keyword == "entry";
}

/// The tokens of one declaration, of which the first is its keyword or an attribute's.
void describe(Declaration& d, const Token* t, const Token* end) {
  while (t != end && (t->kind == Tok::kLocal || !keyword_of(*t))) ++t;
  if (t == end) return;
  d.keyword = keyword_of(*t++);
  if (d.keyword == "module" && t != end && t->kind == Tok::kType) {
    d.keyword += " type";
    ++t;
  }
  while (t != end && (t->kind == Tok::kLParen || t->kind == Tok::kTilde)) ++t;
  if (t != end && (t->kind == Tok::kId || t->kind == Tok::kOp)) {
    d.name = t->text;
    d.name_at = t->begin;
    d.name_end = t->end;
  }
  for (; is_value(d) && t != end; ++t) {
    if (t->kind != Tok::kEqu) continue;
    d.body = t->offset + t->length;
    return;
  }
}

void overwrite(std::string& text, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    if (text[i] != '\n') text[i] = ' ';
  }
}

}  // namespace

std::vector<Declaration> declarations(std::string_view text) {
  const std::vector<Token> tokens = syntax::tokenise(text);
  std::vector<Declaration> all;
  std::vector<size_t> first;  // token of each
  bool begun = false;         // by an attribute, which stands before the keyword
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    const bool attribute = t.kind == Tok::kHashBracket;
    if (t.begin.column != 1 || !(attribute || keyword_of(t))) continue;
    if (!begun) {
      Declaration d;
      d.begin = t.offset;
      d.at = t.begin;
      all.push_back(d);
      first.push_back(i);
    }
    begun = attribute;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].end = all[i].body = i + 1 < all.size() ? all[i + 1].begin : text.size();
    const size_t last = i + 1 < all.size() ? first[i + 1] : tokens.size();
    describe(all[i], tokens.data() + first[i], tokens.data() + last);
  }
  return all;
}

size_t offset_of(std::string_view text, SourcePos pos) {
  size_t at = 0;
  for (int line = 1; line < pos.line; ++line) {
    const size_t end = text.find('\n', at);
    if (end == std::string_view::npos) return text.size();
    at = end + 1;
  }
  for (int column = 1; column < pos.column && at < text.size() && text[at] != '\n'; ++column) {
    do {
      ++at;
    } while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
  }
  return at;
}

SourcePos position_of(std::string_view text, size_t offset) {
  SourcePos pos{1, 1};
  for (size_t i = 0; i < std::min(offset, text.size()); ++i) {
    if (text[i] == '\n') {
      ++pos.line;
      pos.column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) {
      ++pos.column;
    }
  }
  return pos;
}

bool hide_declaration(std::string& text, SourcePos pos, bool starts) {
  const auto all = declarations(text);
  const size_t at = offset_of(text, pos);
  auto next = std::find_if(all.begin(), all.end(), [&](const Declaration& d) {
    return starts ? d.begin >= at : d.begin > at;
  });
  if (next == all.begin()) {  // before the first, or at its very start
    if (all.empty() || all[0].begin == text.size()) {
      const bool any = !trimmed(text, kSpace).empty();
      overwrite(text, 0, text.size());
      return any;
    }
    if (!trimmed(std::string_view(text).substr(0, all[0].begin), kSpace).empty()) {
      overwrite(text, 0, all[0].begin);
      return true;
    }
    ++next;
  }
  const Declaration& d = *(next - 1);
  const std::string_view body =
      trimmed(std::string_view(text).substr(d.body, d.end - d.body), kSpace);
  if (body.size() < kHole.size() || body == kHole || at < d.body) {
    overwrite(text, d.begin, d.end);
    return true;
  }
  const auto start = static_cast<size_t>(body.data() - text.data());
  overwrite(text, d.body, d.end);
  text.replace(start, kHole.size(), kHole);
  return true;
}

}  // namespace kenaz::service
