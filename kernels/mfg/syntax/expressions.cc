#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/mfg/syntax/parser_impl.h"

namespace kenaz::mfg {

namespace {

constexpr int kMaxNesting = 200;
constexpr int kMaxDepth = 400;

constexpr int kPipeLevel = 3, kPowerLevel = 9;

/// How tightly an operator binds; 0 if it is none.
int level_of(const Token& t) {
  static constexpr std::array<std::pair<std::string_view, int>, 19> kLevels = {{{"||", 1},
                                                                                {"&&", 2},
                                                                                {"==", 3},
                                                                                {"!=", 3},
                                                                                {"<", 3},
                                                                                {"<=", 3},
                                                                                {">", 3},
                                                                                {">=", 3},
                                                                                {"|>", 3},
                                                                                {"|", 4},
                                                                                {"&", 5},
                                                                                {"<<", 6},
                                                                                {">>", 6},
                                                                                {"+", 7},
                                                                                {"-", 7},
                                                                                {"*", 8},
                                                                                {"/", 8},
                                                                                {"%", 8},
                                                                                {"^", 9}}};
  if (t.kind != Tok::kSign) return 0;
  for (const auto& [sign, level] : kLevels) {
    if (t.text == sign) return level;
  }
  return 0;
}

bool takes_block(std::string_view name) { return name == "rsum" || name == "reduce"; }
bool is_method(std::string_view name) {
  return name == "extent" || name == "extentf" || name == "is_inside" || name == "sum" ||
         name == "for_each" || name == "to_ncoord";
}
bool method_takes_block(std::string_view name) { return name == "sum" || name == "for_each"; }

}  // namespace

template <class Node>
ExpPtr Parser::make(const SourceRange& begin, Node node, int depth_below) {
  auto e = std::make_unique<Exp>();
  e->range = since(begin);
  e->node = std::move(node);
  e->depth = depth_below + 1;
  if (e->depth > kMaxDepth) reject(e->range, "This expression is nested too deeply.");
  return e;
}

ExpPtr Parser::expression() {
  if (++nesting_ > kMaxNesting) reject(peek().range, "This expression is nested too deeply.");
  ExpPtr e = binary(1);
  --nesting_;
  return e;
}

ExpPtr Parser::binary(int level) {
  if (level > kPowerLevel) return unary();
  const SourceRange begin = peek().range;
  ExpPtr lhs = binary(level + 1);
  while (level_of(peek()) == level && (!peek().on_new_line || at("|>"))) {
    const Token op = next();
    if (op.text == "|>") {
      lhs = pipe(std::move(lhs));
      continue;
    }
    if (++nesting_ > kMaxNesting) reject(op.range, "This expression is nested too deeply.");
    ExpPtr rhs = binary(level == kPowerLevel ? level : level + 1);
    --nesting_;
    const int depth = std::max(lhs->depth, rhs->depth);
    lhs = make(begin, EBinary{op.text, op.range, std::move(lhs), std::move(rhs)}, depth);
  }
  return lhs;
}

ExpPtr Parser::pipe(ExpPtr lhs) {
  const SourceRange begin = lhs->range;
  const SourceRange sign = tokens_[at_ - 1].range;
  const int holes = holes_;
  ++pipes_;
  ExpPtr rhs = binary(kPipeLevel + 1);
  --pipes_;
  if (holes_ == holes) {
    reject(sign, "The right side of |> says by ... where its left side goes, as in: x |> f(...)");
  }
  const int depth = std::max(lhs->depth, rhs->depth);
  return make(begin, EPipe{std::move(lhs), std::move(rhs)}, depth);
}

ExpPtr Parser::unary() {
  if (!at("-") && !at("!")) return postfix();
  const Token op = next();
  if (++nesting_ > kMaxNesting) reject(op.range, "This expression is nested too deeply.");
  ExpPtr arg = unary();
  --nesting_;
  const int depth = arg->depth;
  return make(op.range, EUnary{op.text[0], std::move(arg)}, depth);
}

ExpPtr Parser::postfix() {
  ExpPtr e = primary();
  while (at(".") && !peek().on_new_line) e = member(std::move(e));
  return e;
}

ExpPtr Parser::member(ExpPtr object) {
  const SourceRange begin = object->range;
  next();
  const int depth = object->depth;
  if (peek().kind == Tok::kNumber) {
    const Token number = next();
    if (!is_integer(number.number.type))
      reject(number.range, "A part of a tuple has a whole number.");
    return make(begin, EPick{std::move(object), std::to_string(number.number.as_i64())}, depth);
  }
  const Name part = name("a component such as .x, or a method such as .extent");
  const auto* tensor = std::get_if<EName>(&object->node);
  if (tensor == nullptr || !is_method(part.text)) {
    return make(begin, EPick{std::move(object), part.text}, depth);
  }
  EMethod m{tensor->name, part, {}, nullptr};
  if (!method_takes_block(part.text) || at("(")) {
    expect("(");
    m.args = arguments(")");
  }
  if (method_takes_block(part.text)) m.block = block();
  return make(begin, std::move(m), depth);
}

ExpPtr Parser::primary() {
  const Token& t = peek();
  if (t.kind == Tok::kNumber) {
    next();
    return make(t.range, ENumber{t.number});
  }
  if (accept("(")) {
    ExpPtr e = expression();
    expect(")");
    return e;
  }
  if (accept("[")) {
    ETuple tuple{arguments("]")};
    int depth = 0;
    for (const Arg& a : tuple.parts) depth = std::max(depth, a.value->depth);
    return make(t.range, std::move(tuple), depth);
  }
  if (at("...") && pipes_ > 0) {
    next();
    ++holes_;
    return make(t.range, EHole{});
  }
  if (at(".") && peek(1).kind == Tok::kName) {
    next();
    return make(t.range, EEnum{next().text});
  }
  if (t.kind != Tok::kName) unexpected("an expression");
  return named();
}

ExpPtr Parser::named() {
  const SourceRange begin = peek().range;
  for (const std::string_view word : {"let", "def", "fn", "by", "mut!"}) {
    if (at(word)) unexpected("an expression");
  }
  if (at("sampler") && peek(1).is("<")) return sampler(begin);
  if (at("reduce") && peek(1).is("<")) return reduction(begin);
  TensorName n = tensor_name();
  if (at("(") && !peek().on_new_line) return call(std::move(n));
  if (!at("[") || peek().on_new_line) return make(begin, EName{std::move(n)});
  // f[..] is f([..]).
  ECall c{std::move(n), {}, nullptr};
  Arg whole;
  whole.value = primary();
  const int depth = whole.value->depth;
  c.args.push_back(std::move(whole));
  return make(begin, std::move(c), depth);
}

ExpPtr Parser::call(TensorName callee) {
  const SourceRange begin = callee.name.range;
  ECall c{std::move(callee), {}, nullptr};
  expect("(");
  bool rest = false;
  c.args = arguments(")", rest);
  if (rest) {
    Arg last;
    last.value = expression();
    c.args.push_back(std::move(last));
  }
  if (takes_block(c.callee.name.text)) c.block = block();
  int depth = 0;
  for (const Arg& a : c.args) depth = std::max(depth, a.value->depth);
  return make(begin, std::move(c), depth);
}

ExpPtr Parser::sampler(const SourceRange& begin) {
  next();
  ESampler s{tensor_in_angles(), {}};
  expect("(");
  s.args = arguments(")");
  return make(begin, std::move(s));
}

ExpPtr Parser::reduction(const SourceRange& begin) {
  next();
  EReduce r;
  r.tensor = tensor_in_angles();
  expect(".");
  r.method = name("a method: accumulate or find_first_index");
  expect("(");
  r.args = arguments(")");
  r.block = block();
  return make(begin, std::move(r));
}

Arg Parser::argument() {
  Arg a;
  if (peek().kind == Tok::kName && peek(1).is("=")) {
    a.name = name("an argument");
    next();
  }
  a.splat = accept("*");
  a.value = expression();
  if (!at("..<")) return a;
  next();
  ERange r{std::move(a.value), nullptr};
  const SourceRange begin = r.from->range;
  r.to = expression();
  const int depth = std::max(r.from->depth, r.to->depth);
  a.value = make(begin, std::move(r), depth);
  return a;
}

std::vector<Arg> Parser::arguments(std::string_view end, bool& rest) {
  std::vector<Arg> args;
  rest = false;
  while (!accept(end)) {
    if (at("...") && pipes_ == 0) {
      next();
      rest = true;
      expect(end, "... stands for the last argument, which follows the call");
      break;
    }
    args.push_back(argument());
    if (!at(end)) expect(",");
  }
  return args;
}

std::vector<Arg> Parser::arguments(std::string_view end) {
  bool rest = false;
  std::vector<Arg> args = arguments(end, rest);
  if (rest) reject(tokens_[at_ - 1].range, "... is the last argument of a function only.");
  return args;
}

TensorName Parser::tensor_name() {
  TensorName n{name("a name"), {}};
  const bool is_input = n.name.text == "input_u8" || n.name.text == "input_u16";
  if (!is_input || !at("[") || peek().on_new_line) return n;
  next();
  const SourceRange begin = peek().range;
  const PrimValue number = signed_number();
  constexpr int64_t kMaxLayer = 1000;
  if (!is_integer(number.type) || number.as_i64() > kMaxLayer || number.as_i64() < -kMaxLayer) {
    reject(since(begin), "A layer is a whole number from -1000 to 1000.");
  }
  n.layer = static_cast<int>(number.as_i64());
  expect("]");
  n.name.range = since(n.name.range);
  return n;
}

TensorName Parser::tensor_in_angles() {
  expect("<");
  TensorName n = tensor_name();
  expect(">");
  return n;
}

}  // namespace kenaz::mfg
