// The recursive-descent parser. A function that fails records the diagnostic and returns null (or
// false); its callers return at once. One file per part of the grammar.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/diagnostics/diagnostic.h"
#include "kernels/futhark/syntax/ast.h"
#include "kernels/futhark/syntax/token.h"

namespace kenaz::syntax {

/// How tightly infix syntax binds, loosest first.
enum Level {
  kRangeLevel = 1,
  kBacktickLevel,
  kWithLevel,
  kPipeRightLevel,
  kPipeLeftLevel,
  kOrLevel,
  kAndLevel,
  kCompareLevel,
  kBitLevel,
  kShiftLevel,
  kSumLevel,
  kProductLevel,
  kPowerLevel,
  kPrefixLevel,  // operands of unary - and !
};

/// The level of a symbol: that of the longest built-in operator it starts with.
Level operator_level(std::string_view symbol);

class Parser {
 public:
  explicit Parser(std::shared_ptr<const SourceFile> file)
      : file_(std::move(file)), text_(file_->text), tokens_(tokenise(text_)) {}

  bool program(Program& out);
  Diagnostic take_error() { return std::move(*error_); }

 private:
  /// Bounds the recursion of the parser and the height of the tree, on which every later stage
  /// recurses (in lighter frames). Each frame adds one level above the highest tree inside it.
  class Nest {
   public:
    explicit Nest(Parser& p) : p_(p), outer_height_(p.height_) {
      p_.height_ = 0;
      ok_ = ++p_.depth_ <= kMaxNesting || p_.too_deep(kMaxNesting);
    }
    ~Nest() {
      --p_.depth_;
      p_.height_ = std::max(outer_height_, p_.height_ + 1);
    }
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;
    explicit operator bool() const { return ok_; }

   private:
    Parser& p_;
    int outer_height_;
    bool ok_;
  };
  static constexpr int kMaxNesting = 250;
  static constexpr int kMaxHeight = 1000;

  /// To be called where a loop puts another node on top of what it built so far.
  bool one_higher() { return ++height_ <= kMaxHeight || too_deep(kMaxHeight); }
  bool too_deep(int limit);

  // ---- tokens (parser.cc)
  const Token& peek(size_t k = 0) const { return tokens_[std::min(at_ + k, tokens_.size() - 1)]; }
  bool at(Tok kind) const { return peek().kind == kind; }
  bool at_op(std::string_view symbol, size_t k = 0) const {
    return peek(k).kind == Tok::kOp && peek(k).quals.empty() && peek(k).text == symbol;
  }
  const Token& next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool eat(Tok kind) { return at(kind) && (next(), true); }
  bool expect(Tok kind, std::string_view what);
  std::string source_of(const Token& t) const {
    return std::string(text_.substr(t.offset, t.length));
  }
  SourceRange range_of(const Token& t) const { return {file_, t.begin, t.end}; }
  SourceRange since(SourcePos begin) const {
    return {file_, begin, at_ > 0 ? tokens_[at_ - 1].end : begin};
  }
  SourcePos here() const { return peek().begin; }
  /// Records "Unexpected token ..." unless there is an error already; false.
  bool unexpected(std::string_view expected);
  /// What may have been meant at the token where one of `expected` should stand: a line with a line
  /// end before it, or nothing (hints.cc).
  std::string hint(const Token& t, std::string_view expected) const;
  /// If the program or a declaration ends inside of brackets: where the innermost one starts.
  std::optional<Note> open_bracket() const;
  /// To be called where a `let` that starts at `begin` lacks its `in`: notes that.
  void note_open_let(SourcePos begin);
  bool fail_at(SourceRange range, std::string message);

  template <class P, class Node>
  std::unique_ptr<P> make(SourcePos begin, Node node) const {
    return std::unique_ptr<P>(new P{since(begin), std::move(node)});
  }
  template <class Node>
  ExpPtr exp_node(SourcePos begin, Node node) const {
    return make<Exp>(begin, std::move(node));
  }

  // ---- names and attributes (parser.cc)
  bool identifier(std::string& out, std::string_view what);
  bool identifier(std::string& out, SourceRange& range, std::string_view what);
  bool qual_name(QualName& out);
  bool bracketed_name(std::string& out);
  bool at_bracket(size_t k = 0) const {
    return peek(k).kind == Tok::kLBracket || peek(k).kind == Tok::kIndexing;
  }
  bool at_field(size_t k = 0) const { return peek(k).kind == Tok::kId || peek(k).is_natural; }
  bool attribute(Attr& out);            // inside the brackets
  bool bracketed_attribute(Attr& out);  // from #[ to ]
  /// An operator in binding position, without parentheses; `name` gets the symbol.
  bool at_binding_operator(size_t k = 0) const;
  bool binding_operator(std::string& name);
  bool backticked(QualName& out);

  // ---- types (parse_type.cc)
  TypeExpPtr type_exp();
  TypeExpPtr type_term();
  TypeExpPtr type_apply();
  TypeExpPtr type_atom();
  TypeExpPtr type_parens();
  TypeExpPtr type_record();
  TypeExpPtr type_sum();
  bool size_exp(SizeExp& out);
  bool starts_type_atom() const;
  bool at_type_param() const;
  bool type_param(TypeParam& out);
  bool type_params(std::vector<TypeParam>& out);

  // ---- patterns (parse_pat.cc)
  PatPtr pat();
  PatPtr inner_pat(bool negative_literals);
  PatPtr pat_parens();
  PatPtr pat_record();
  PatPtr pat_literal();
  PatPtr param() { return inner_pat(false); }
  bool starts_param() const;
  bool params(std::vector<PatPtr>& out);

  // ---- expressions (parse_exp.cc, parse_atom.cc)
  ExpPtr exp();
  ExpPtr infix(int least);
  ExpPtr prefixed();
  ExpPtr range(SourcePos begin, ExpPtr start);
  ExpPtr update(SourcePos begin, ExpPtr source);
  ExpPtr applications();
  ExpPtr lambda();
  ExpPtr if_exp();
  ExpPtr match_exp();
  ExpPtr loop_exp();
  bool loop_form(ELoop& loop);
  ExpPtr let_chain();
  ExpPtr let_header();
  ExpPtr atom();
  ExpPtr primary();
  ExpPtr project(SourcePos begin, ExpPtr record);
  ExpPtr parens();
  ExpPtr tuple_rest(SourcePos begin, ExpPtr first);
  ExpPtr operator_section(SourcePos begin);
  ExpPtr path_section(SourcePos begin);
  ExpPtr array();
  ExpPtr record();
  bool starts_atom() const;
  bool section_ends_here() const;
  bool dim_index(DimIndex& out);
  bool dim_indices(std::vector<DimIndex>& out);  // from the bracket to the bracket
  bool field_step(std::vector<UpdateStep>& path);
  bool slice_step(std::vector<UpdateStep>& path);

  // ---- declarations and modules (parse_dec.cc, parse_module.cc)
  bool decs(std::vector<DecPtr>& out, Tok closing);
  DecPtr dec();
  DecPtr dec_after_doc();
  DecPtr value_dec();
  bool value_name(DecVal& v, bool& infix_form);
  DecPtr module_dec();
  bool type_bind(TypeBind& bind, bool& has_definition);
  bool liftedness(Liftedness& out);
  ModTypeExpPtr mod_type();
  ModTypeExpPtr mod_type_with();
  ModTypeExpPtr mod_type_atom();
  ModTypeExpPtr simple_mod_type();
  SpecPtr spec();
  bool val_spec(SpecVal& out);
  ModExpPtr mod_exp();
  ModExpPtr mod_exp_without_ascription();
  ModExpPtr mod_lambda();
  ModExpPtr mod_atom();
  bool mod_param(ModParam& out);

  std::shared_ptr<const SourceFile> file_;
  std::string_view text_;  // of file_
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0, height_ = 0;
  std::optional<Diagnostic> error_;
};

}  // namespace kenaz::syntax
