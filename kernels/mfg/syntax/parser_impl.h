// The parser's state; by file: expressions, statements (and items), attributes.
//
// A line's end ends an expression: an operator on a new line does not go on with it, except |>. So
// it is what stands behind a line's last token that decides, and brackets change nothing.
#pragma once

#include <string_view>

#include "kernels/mfg/syntax/ast.h"
#include "kernels/mfg/syntax/token.h"

namespace kenaz::mfg {

class Parser {
 public:
  explicit Parser(const std::shared_ptr<const SourceFile>& file)
      : file_(file), tokens_(tokens_of(file)) {}
  Filter run();

 private:
  // ---- tokens
  const Token& peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& next() {
    const Token& t = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return t;
  }
  bool at(std::string_view word) const { return peek().is(word); }
  bool accept(std::string_view word) {
    if (!at(word)) return false;
    next();
    return true;
  }
  /// The token that must come now. `what` names it if the word itself does not say enough.
  Token expect(std::string_view word, std::string_view what = {});
  Name name(std::string_view what);
  [[noreturn]] void unexpected(std::string_view wanted) const;
  void end_of_line();
  /// From where `begin` starts to the end of the token before the next one.
  SourceRange since(const SourceRange& begin) const;

  // ---- expressions.cc
  ExpPtr expression();
  ExpPtr binary(int level);
  ExpPtr pipe(ExpPtr lhs);
  ExpPtr unary();
  ExpPtr postfix();
  ExpPtr member(ExpPtr object);
  ExpPtr primary();
  ExpPtr named();
  ExpPtr call(TensorName callee);
  ExpPtr sampler(const SourceRange& begin);
  ExpPtr reduction(const SourceRange& begin);
  Arg argument();
  /// Until `end`, which it takes. `rest`: whether the last one was `...` and the next expression is
  /// meant.
  std::vector<Arg> arguments(std::string_view end, bool& rest);
  std::vector<Arg> arguments(std::string_view end);
  TensorName tensor_name();
  TensorName tensor_in_angles();
  template <class Node>
  ExpPtr make(const SourceRange& begin, Node node, int depth_below = 0);

  // ---- statements.cc
  BlockPtr block();
  std::vector<Param> params();
  bool statement(Block& block);
  SLet let();
  Stm mutation(const SourceRange& begin);
  std::vector<ExpPtr> bounds(SourceRange& range);
  TensorDef definition();
  void literal(TensorDef& def);
  std::vector<PrimValue> literal_row();
  PrimValue signed_number();

  // ---- attributes.cc
  void attribute(Filter& filter);
  std::string string();
  Text text();
  Widget widget(Name type);
  void widget_argument(Widget& w);
  std::vector<PrimValue> numbers();

  std::shared_ptr<const SourceFile> file_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
  int pipes_ = 0;  // how many right sides of |> are being read
  int holes_ = 0;  // `...` so far
};

}  // namespace kenaz::mfg
