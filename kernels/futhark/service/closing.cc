// What a declaration lacks that ends early.
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/futhark/service/declarations.h"
#include "kernels/futhark/syntax/token.h"

namespace kenaz::service {

using syntax::Tok;
using syntax::Token;

namespace {

constexpr std::string_view kModuleEnd = "\n}", kLetValue = " = ??? in ???", kLetBody = " in ???",
                           kLoopForm = " for i < 1 do ???", kLoopBody = " do ???",
                           kThen = " then ??? else ???", kElse = " else ???",
                           kCase = " case _ -> ???", kArrow = " -> ???", kValue = " = ???";

bool declares(Tok kind) {
  switch (kind) {
    case Tok::kDef:
    case Tok::kLet:
    case Tok::kEntry:
    case Tok::kType:
    case Tok::kModule:
    case Tok::kOpen:
    case Tok::kImport:
    case Tok::kLocal:
    case Tok::kDoc: return true;
    default: return false;
  }
}

/// What is open behind the tokens so far, outermost first: the text that would close it.
class Open {
 public:
  void token(const Token& t, Tok next) {
    const Tok before = std::exchange(last_, t.kind);
    switch (t.kind) {
      case Tok::kLParen: return push(")");
      case Tok::kLBracket:
      case Tok::kIndexing:
      case Tok::kHashBracket: return push("]");
      case Tok::kLCurly:
        if (declares(next)) declaration_ = 0;
        return push(declares(next) ? kModuleEnd : "}");
      case Tok::kRParen: return pop_to(")");
      case Tok::kRBracket: return pop_to("]");
      case Tok::kRCurly: return pop_to(holds("}") ? "}" : kModuleEnd);
      case Tok::kDef:
      case Tok::kEntry: declaration_ = t.begin.column; return push(kValue);
      case Tok::kLet: return let(t.begin.column, before);
      case Tok::kLoop: return push(kLoopForm);
      case Tok::kIf: return push(kThen);
      case Tok::kMatch: return push(kCase);
      case Tok::kBackslash: return push(kArrow);
      default: step(t.kind);
    }
  }
  std::string text() const {
    std::string all;
    for (auto it = open_.rbegin(); it != open_.rend(); ++it) all += *it;
    return all;
  }

 private:
  void push(std::string_view closing) { open_.push_back(closing); }
  bool top(std::string_view closing) const { return !open_.empty() && open_.back() == closing; }
  bool holds(std::string_view closing) const {
    for (auto it = open_.rbegin(); it != open_.rend() && *it != kModuleEnd; ++it) {
      if (*it == closing) return true;
    }
    return false;
  }
  void pop_to(std::string_view closing) {
    for (size_t i = open_.size(); i > 0; --i) {
      if (open_[i - 1] != closing) continue;
      open_.resize(i - 1);
      return;
    }
  }
  /// In an expression it stands farther right than the declaration around; one that follows the
  /// value of another is that one's body.
  void let(int column, Tok before) {
    const bool inside = declaration_ > 0 && column > declaration_;
    if (!inside) declaration_ = column;
    if (inside && top(kLetBody) && before != Tok::kEqu) open_.pop_back();
    push(inside ? kLetValue : kValue);
  }
  /// A word that ends one part of an expression and begins the next.
  void step(Tok kind) {
    const auto turn = [&](std::string_view from, std::string_view to) {
      if (top(from)) open_.back() = to;
    };
    const auto drop = [&](std::string_view from) {
      if (top(from)) open_.pop_back();
    };
    switch (kind) {
      case Tok::kEqu: return turn(kLetValue, kLetBody), drop(kValue);
      case Tok::kIn: return drop(kLetBody);
      case Tok::kFor:
      case Tok::kWhile: return turn(kLoopForm, kLoopBody);
      case Tok::kDo: return drop(kLoopBody);
      case Tok::kThen: return turn(kThen, kElse);
      case Tok::kElse: return drop(kElse);
      case Tok::kCase: return drop(kCase), push(kArrow);
      case Tok::kArrow: return drop(kArrow);
      default: return;
    }
  }

  std::vector<std::string_view> open_;
  Tok last_ = Tok::kEnd;
  int declaration_ = 0;  // column of the last declaration's keyword; 0: none in this module
};

}  // namespace

std::string closing(std::string_view beginning) {
  const std::vector<Token> tokens = syntax::tokenise(beginning);
  Open open;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) open.token(tokens[i], tokens[i + 1].kind);
  return open.text();
}

}  // namespace kenaz::service
