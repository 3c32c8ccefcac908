#include <fmt/format.h>

#include <algorithm>

#include "kernels/mfg/syntax/parser.h"
#include "kernels/mfg/syntax/parser_impl.h"

namespace kenaz::mfg {

void Parser::unexpected(std::string_view wanted) const {
  reject(peek().range, fmt::format("Expected {}, but found {}.", wanted, peek().str()));
}

Token Parser::expect(std::string_view word, std::string_view what) {
  if (at(word)) return next();
  if (!what.empty()) reject(peek().range, fmt::format("Expected \"{}\": {}.", word, what));
  unexpected(fmt::format("\"{}\"", word));
}

Name Parser::name(std::string_view what) {
  if (peek().kind != Tok::kName) unexpected(what);
  const Token& t = next();
  return {t.text, t.range};
}

void Parser::end_of_line() {
  if (peek().on_new_line || peek().kind == Tok::kEnd || at("}")) return;
  unexpected("the end of the line");
}

SourceRange Parser::since(const SourceRange& begin) const {
  SourceRange r = begin;
  if (at_ > 0) r.end = std::max(r.end, tokens_[at_ - 1].range.end);
  return r;
}

std::vector<Param> Parser::params() {
  std::vector<Param> list;
  if (accept("||")) return list;
  expect("|", "a block begins with its parameters, as in |x, y| {..}");
  while (!accept("|")) {
    Param p;
    p.name = name("a parameter");
    if (accept(":")) p.type = name("a type");
    list.push_back(std::move(p));
    if (!at("|")) expect(",");
  }
  return list;
}

BlockPtr Parser::block() {
  constexpr int kMaxBlocks = 200;
  auto b = std::make_unique<Block>();
  const SourceRange begin = peek().range;
  b->params = params();
  expect("{");
  if (++nesting_ > kMaxBlocks) reject(begin, "Blocks are nested too deeply here.");
  const int pipes = std::exchange(pipes_, 0);
  while (!at("}")) {
    if (peek().kind == Tok::kEnd) unexpected("\"}\"");
    if (b->result != nullptr) {
      reject(b->result->range,
             "A block has one expression, directly before its }; what follows is no part of this "
             "one. (A line that ends within an expression ends with an operator.)");
    }
    if (!statement(*b)) {
      b->result = expression();
      const auto* method = std::get_if<EMethod>(&b->result->node);
      if (method != nullptr && method->method.text == "for_each") {
        auto& each = std::get<EMethod>(b->result->node);
        b->stms.push_back({b->result->range, SForEach{each.tensor, std::move(each.block)}});
        b->result = nullptr;
      }
    }
    end_of_line();
  }
  pipes_ = pipes;
  --nesting_;
  b->end = next().range;
  b->range = since(begin);
  return b;
}

bool Parser::statement(Block& b) {
  const SourceRange begin = peek().range;
  if (at("let")) {
    SLet statement = let();
    b.stms.push_back({since(begin), std::move(statement)});
    return true;
  }
  if (at("mut!")) {
    b.stms.push_back(mutation(begin));
    return true;
  }
  if (at("@") || at("def")) {
    SDef def;
    SourceRange range;
    std::vector<ExpPtr> sizes;
    if (accept("@")) {
      if (!at("bounds")) reject(since(begin), "In a block, @bounds is the only attribute.");
      next();
      sizes = bounds(range);
    }
    def.def = definition();
    def.def.bounds = std::move(sizes);
    def.def.bounds_range = range;
    b.stms.push_back({since(begin), std::move(def)});
    return true;
  }
  if (at("fn")) reject(peek().range, "Functions are defined at the top level only.");
  return false;
}

SLet Parser::let() {
  SLet s;
  expect("let");
  if (accept("[")) {
    s.tuple = true;
    while (!accept("]")) {
      s.names.push_back(name("a name"));
      if (!at("]")) expect(",");
    }
  } else {
    s.names.push_back(name("a name"));
  }
  expect("=");
  s.value = expression();
  return s;
}

Stm Parser::mutation(const SourceRange& begin) {
  next();
  if (at("trans") && peek(1).is("<")) {
    next();
    STrans t;
    t.tensor = tensor_in_angles();
    expect(".");
    t.method = name("a method: cumsum!, sort! or accumulate!");
    expect("!", "a method that changes a tensor ends with !, as in cumsum!");
    expect("(");
    t.args = arguments(")");
    if (t.method.text == "accumulate") t.block = block();
    return {since(begin), std::move(t)};
  }
  SUpdate u;
  u.tensor = tensor_name();
  expect("(");
  u.index = arguments(")");
  if (!at("+=") && !at("=")) unexpected("\"+=\" or \"=\"");
  u.op = next().text;
  u.value = expression();
  return {since(begin), std::move(u)};
}

std::vector<ExpPtr> Parser::bounds(SourceRange& range) {
  range = peek().range;
  expect("(");
  std::vector<ExpPtr> sizes;
  while (!accept(")")) {
    sizes.push_back(expression());
    if (!at(")")) expect(",");
  }
  range = since(range);
  return sizes;
}

TensorDef Parser::definition() {
  expect("def", "@bounds is followed by the tensor that it is about");
  TensorDef d;
  d.name = name("a tensor's name");
  if (!accept("by")) {
    d.block = block();
    return d;
  }
  if (at("[")) {
    literal(d);
  } else if (at("load")) {
    next();
    expect("(");
    const SourceRange range = peek().range;
    d.file = string();
    if (d.file.empty()) reject(range, "load(..) names the file of a picture; this names none.");
    expect(")");
  } else if (at("reduce")) {
    // Not expression(): a name, a call or a sum begins with this word as well, and is no tensor.
    d.reduce = reduction(peek().range);
  } else {
    unexpected("numbers in brackets, load(..) or reduce<..>");
  }
  return d;
}

PrimValue Parser::signed_number() {
  const bool negative = accept("-");
  if (peek().kind != Tok::kNumber) unexpected("a number");
  const PrimValue v = next().number;
  if (!negative) return v;
  return is_integer(v.type) ? PrimValue::of_int(v.type, -v.as_i64())
                            : PrimValue::of_float(v.type, -v.as_double());
}

std::vector<PrimValue> Parser::literal_row() {
  std::vector<PrimValue> row;
  expect("[");
  while (!accept("]")) {
    const SourceRange range = peek().range;
    row.push_back(signed_number());
    if (row.back().type != row[0].type) {
      reject(range, fmt::format("All elements of a tensor have one type, but this one is {} and "
                                "the first one {}.",
                                prim_name(row.back().type), prim_name(row[0].type)));
    }
    if (!at("]")) expect(",");
  }
  return row;
}

void Parser::literal(TensorDef& d) {
  const SourceRange begin = peek().range;
  d.literal_rank = peek(1).is("[") ? 2 : 1;
  if (d.literal_rank == 1) {
    d.rows.push_back(literal_row());
  } else {
    next();
    while (!accept("]")) {
      const SourceRange range = peek().range;
      d.rows.push_back(literal_row());
      if (d.rows.back().size() != d.rows[0].size()) {
        reject(since(range), fmt::format("This row has {} elements, the first one {}.",
                                         d.rows.back().size(), d.rows[0].size()));
      }
      if (!d.rows[0].empty() && d.rows.back()[0].type != d.rows[0][0].type) {
        reject(since(range),
               fmt::format("All elements of a tensor have one type, but these are "
                           "{} and those of the first row {}.",
                           prim_name(d.rows.back()[0].type), prim_name(d.rows[0][0].type)));
      }
      if (!at("]")) expect(",");
    }
  }
  if (d.rows.empty() || d.rows[0].empty())
    reject(since(begin), "A tensor has at least one element.");
}

Filter Parser::run() {
  Filter filter;
  filter.file = file_;
  while (peek().kind != Tok::kEnd) {
    const SourceRange begin = peek().range;
    if (at("@")) {
      attribute(filter);
      continue;
    }
    if (at("let")) {
      SLet s = let();
      end_of_line();
      filter.items.push_back({since(begin), std::move(s)});
    } else if (at("def")) {
      TensorDef d = definition();
      filter.items.push_back({since(begin), std::move(d)});
    } else if (at("fn")) {
      next();
      Function f;
      f.name = name("a function's name");
      f.block = block();
      filter.items.push_back({since(begin), std::move(f)});
    } else {
      unexpected("a definition (let, def, fn) or an attribute (@..)");
    }
    end_of_line();
  }
  filter.end = peek().range;
  return filter;
}

Filter parse_or_throw(const std::shared_ptr<const SourceFile>& file) { return Parser(file).run(); }

Result<Filter> parse(const std::shared_ptr<const SourceFile>& file) {
  try {
    return parse_or_throw(file);
  } catch (const Rejected& r) {
    return tl::unexpected<Error>(compile_error({r.diagnostic}));
  }
}

}  // namespace kenaz::mfg
