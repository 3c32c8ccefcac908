#include "client/testing/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "protocol/base/nearest.h"
#include "protocol/base/trimmed.h"
#include "protocol/base/whole_number.h"
#include "protocol/data/text_format.h"
#include "protocol/data/values.h"

namespace kenaz::testing {
namespace {

constexpr size_t kNameLength = 50;  // of a case that is named after its input

struct Block {
  std::string text;  // comment markers removed
  int first_line = 0;
};

std::string_view next_line(std::string_view& rest) {
  const auto end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<Block> find_blocks(std::string_view source, std::string_view comment) {
  std::vector<Block> blocks;
  bool inside = false;
  int line_number = 0;
  while (!source.empty()) {
    const std::string_view line = next_line(source);
    ++line_number;
    if (!line.starts_with(comment)) {
      inside = false;
    } else if (trimmed(line.substr(comment.size())) == "==") {
      inside = true;
      blocks.push_back({"", line_number + 1});
    } else if (inside) {
      blocks.back().text += std::string(line.substr(comment.size())) + "\n";
    }
  }
  return blocks;
}

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

class BlockParser {
 public:
  BlockParser(const Block& block, std::string_view entry, ProgramSpec& spec)
      : block_(block), entry_(entry), spec_(spec) {}
  Status parse();

 private:
  std::string_view text() const { return block_.text; }
  void skip_space() {
    while (pos_ < text().size() && is_space(text()[pos_])) ++pos_;
  }
  int line() const {
    return block_.first_line +
           static_cast<int>(std::count(text().begin(), text().begin() + pos_, '\n'));
  }
  tl::unexpected<Error> error(const std::string& message) const {
    return bad_request(fmt::format("test block, line {}: {}", line(), message));
  }
  tl::unexpected<Error> no_case(const std::string& word) const;
  bool accept(std::string_view word);
  std::string_view word();
  std::string_view rest_of_line();
  std::vector<std::string> words_of_line();
  Result<std::string_view> braces();
  Result<Literal> literal();
  Result<RandomInput> random_input();
  Result<std::variant<RandomType, data::Value>> random_value(std::string_view token);
  Status parse_properties();
  Status parse_case();
  enum class InputKind { kValues, kRandom, kScript };
  Status parse_input(Case& c, InputKind kind);
  Status parse_expected(Case& c);
  void name_case(Case& c, std::string_view input) const;

  const Block& block_;
  std::string_view entry_;
  ProgramSpec& spec_;
  size_t pos_ = 0;
  CaseGroup group_{{std::string(entry_)}, {}};
};

/// A keyword: "input" does not match the start of "inputs", but "error:" is complete in itself.
bool BlockParser::accept(std::string_view word) {
  skip_space();
  if (!text().substr(pos_).starts_with(word)) return false;
  const size_t end = pos_ + word.size();
  const bool needs_end = std::isalnum(static_cast<unsigned char>(word.back())) != 0;
  if (needs_end && end < text().size()) {
    const char c = text()[end];
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-') return false;
  }
  pos_ = end;
  return true;
}

std::string_view BlockParser::word() {
  skip_space();
  const size_t start = pos_;
  while (pos_ < text().size() && !is_space(text()[pos_]) && text()[pos_] != '{' &&
         text()[pos_] != '}') {
    ++pos_;
  }
  return text().substr(start, pos_ - start);
}

std::string_view BlockParser::rest_of_line() {
  std::string_view rest = text().substr(pos_);
  const std::string_view line = next_line(rest);
  pos_ = text().size() - rest.size();
  return trimmed(line);
}

std::vector<std::string> BlockParser::words_of_line() {
  std::vector<std::string> words;
  std::string_view line = rest_of_line();
  while (!(line = trimmed(line)).empty()) {
    const auto end = std::find_if(line.begin(), line.end(), is_space);
    words.emplace_back(line.begin(), end);
    line.remove_prefix(words.back().size());
  }
  return words;
}

/// The text between { and the matching }, which may hold braces and strings.
Result<std::string_view> BlockParser::braces() {
  if (!accept("{")) return error("expected {");
  const size_t start = pos_;
  int depth = 1;
  bool in_string = false;
  for (; pos_ < text().size(); ++pos_) {
    const char c = text()[pos_];
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) {
      ++pos_;
      return text().substr(start, pos_ - 1 - start);
    }
  }
  return error("this { is never closed");
}

Result<Literal> BlockParser::literal() {
  if (!accept("{")) return error("expected { or @");
  data::ByteSource source(text().substr(pos_));
  const size_t start = pos_;
  Literal values;
  for (;;) {
    auto value = data::read_value(source, {}, '}');
    pos_ = start + static_cast<size_t>(source.offset());
    if (!value) return error(value.error().message);
    if (!*value) break;
    values.push_back(std::move(**value));
  }
  if (!accept("}")) return error("expected }");
  return values;
}

Result<std::variant<RandomType, data::Value>> BlockParser::random_value(std::string_view token) {
  if (auto type = parse_random_type(token)) return std::move(*type);
  if (const auto value = data::parse_scalar(token)) return data::Value::scalar(*value);
  return error(fmt::format("'{}' is neither a type nor a number", token));
}

Result<RandomInput> BlockParser::random_input() {
  if (!accept("{")) return error("expected {");
  RandomInput input;
  while (!accept("}")) {
    const auto token = word();
    if (token.empty()) return error("expected a type, a number or }");
    KENAZ_ASSIGN(auto value, random_value(token));
    input.values.push_back(std::move(value));
  }
  return input;
}

void BlockParser::name_case(Case& c, std::string_view input) const {
  if (!c.name.empty()) return;
  std::string name;
  for (const char ch : trimmed(input)) {
    if (!is_space(ch)) {
      name += ch;
    } else if (!name.empty() && name.back() != ' ') {
      name += ' ';
    }
  }
  if (name.size() > kNameLength) name = name.substr(0, kNameLength) + "...";
  c.name = std::holds_alternative<Literal>(c.input)
               ? fmt::format("#{} (\"{}\")", group_.cases.size(), name)
               : name;
}

/// What follows `input`.
Status BlockParser::parse_input(Case& c, InputKind kind) {
  const size_t start = pos_;
  switch (kind) {
    case InputKind::kRandom: {
      KENAZ_ASSIGN(c.input, random_input());
      break;
    }
    case InputKind::kScript: {
      Script script;
      if (accept("@")) {
        script.file = std::string(word());
      } else {
        KENAZ_ASSIGN(const auto inside, braces());
        script.text = std::string(inside);
      }
      c.input = std::move(script);
      break;
    }
    case InputKind::kValues:
      if (accept("@")) {
        c.input = DataFile{std::string(word())};
      } else {
        KENAZ_ASSIGN(c.input, literal());
      }
      break;
  }
  std::string_view written = trimmed(text().substr(start, pos_ - start));
  if (written.starts_with("{")) written = written.substr(1, written.size() - 2);
  if (written.starts_with("@")) written = trimmed(written.substr(1));
  if (written.ends_with(".gz")) written.remove_suffix(3);
  name_case(c, written);
  return {};
}

Status BlockParser::parse_expected(Case& c) {
  if (accept("auto")) {
    if (!accept("output")) return error("expected 'output' after 'auto'");
    c.expected = AutoOutput{};
  } else if (accept("output")) {
    if (accept("@")) {
      c.expected = DataFile{std::string(word())};
    } else {
      KENAZ_ASSIGN(c.expected, literal());
    }
  } else if (accept("error:")) {
    c.expected = RuntimeError{std::string(rest_of_line())};
  }
  return {};
}

tl::unexpected<Error> BlockParser::no_case(const std::string& word) const {
  static const std::vector<std::string> kWords = {
      "input",  "output", "auto",     "error:",    "entry:",   "tags",
      "random", "script", "warning:", "property:", "structure"};
  if (word.empty()) return error("expected a test case");
  const std::string near = nearest(word, kWords);
  return error(fmt::format("expected a test case, but here is '{}'{}", word,
                           near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

Status BlockParser::parse_case() {
  Case c;
  InputKind kind = InputKind::kValues;
  skip_space();
  c.line = line();
  while (!accept("input")) {
    if (accept("random")) {
      kind = InputKind::kRandom;
      continue;
    }
    if (accept("script")) {
      kind = InputKind::kScript;
      continue;
    }
    if (pos_ < text().size() && text()[pos_] == '"') {
      const auto close = text().find('"', pos_ + 1);
      if (close == std::string_view::npos) return error("this string is never closed");
      c.name = std::string(text().substr(pos_ + 1, close - pos_ - 1));
      pos_ = close + 1;
      continue;
    }
    const auto tag = word();
    const bool is_tag = !tag.empty() && std::all_of(tag.begin(), tag.end(), [](char ch) {
      return std::isalnum(static_cast<unsigned char>(ch)) || ch == '_' || ch == '-';
    });
    // What stands before a brace or a file has been taken for a tag.
    const bool misread = (tag.empty() || tag.starts_with("@")) && !c.tags.empty();
    if (!is_tag) return no_case(misread ? c.tags.back() : std::string(tag));
    c.tags.emplace_back(tag);
  }
  KENAZ_TRY(parse_input(c, kind));
  KENAZ_TRY(parse_expected(c));
  group_.cases.push_back(std::move(c));
  return {};
}

Status BlockParser::parse_properties() {
  const int first = line();
  const auto names = words_of_line();
  for (const auto& name : names) spec_.properties.push_back({name, first});
  return names.empty() ? error("expected the name of a property") : Status();
}

Status BlockParser::parse() {
  spec_.has_block = true;
  auto finish_group = [this] {
    if (!group_.cases.empty()) spec_.groups.push_back(std::move(group_));
    group_ = CaseGroup{{std::string(entry_)}, {}};
  };
  for (;;) {
    skip_space();
    if (pos_ >= text().size()) break;
    if (accept("tags")) {
      KENAZ_ASSIGN(auto inside, braces());
      while (!(inside = trimmed(inside)).empty()) {
        const auto end = std::find_if(inside.begin(), inside.end(), is_space);
        spec_.tags.emplace_back(inside.begin(), end);
        inside.remove_prefix(spec_.tags.back().size());
      }
    } else if (accept("entry:")) {
      finish_group();
      group_.entries = words_of_line();
      if (group_.entries.empty()) return error("expected the name of an entry point");
    } else if (accept("structure")) {  // { Name count .. }: of another compiler's programs
      word();
      KENAZ_TRY(braces());
    } else if (accept("warning:")) {
      spec_.warnings.emplace_back(rest_of_line());
    } else if (accept("property:")) {
      KENAZ_TRY(parse_properties());
    } else if (accept("error:")) {
      spec_.compile_error = std::string(rest_of_line());
    } else {
      KENAZ_TRY(parse_case());
    }
  }
  finish_group();
  return {};
}

}  // namespace

std::optional<RandomType> parse_random_type(std::string_view text) {
  RandomType type;
  while (text.starts_with("[")) {
    const auto close = text.find(']');
    const auto size =
        whole_number<int64_t>(text.substr(1, close == std::string_view::npos ? 0 : close - 1));
    if (!size || *size < 0) return std::nullopt;
    type.shape.push_back(*size);
    text.remove_prefix(close + 1);
  }
  const auto prim = prim_from_name(text);
  if (!prim) return std::nullopt;
  type.prim = *prim;
  return type;
}

std::string RandomType::name() const {
  return data::shape_text(shape) + std::string(prim_name(prim));
}

bool ProgramSpec::has_tag(std::string_view tag) const {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

bool is_program(std::string_view path) { return path.ends_with(".fut") || path.ends_with(".mfg"); }

SpecLanguage spec_language(std::string_view path) {
  return path.ends_with(".mfg") ? SpecLanguage{"#", "result_u8"} : SpecLanguage{};
}

Result<ProgramSpec> parse_spec(std::string_view source, const SpecLanguage& language) {
  ProgramSpec spec;
  for (const auto& block : find_blocks(source, language.comment)) {
    KENAZ_TRY(BlockParser(block, language.entry, spec).parse());
  }
  if (spec.compile_error && !(spec.groups.empty() && spec.properties.empty())) {
    return bad_request("test block: a program that must be rejected cannot have inputs");
  }
  return spec;
}

}  // namespace kenaz::testing
