#include "kernels/futhark/syntax/parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kenaz::syntax {
namespace {

tl::expected<Program, Diagnostic> parse_text(std::string_view text) {
  return parse(std::make_shared<const std::string>("t.fut"), text);
}

/// The body of `def x = TEXT`.
const Exp& body(const Program& p) { return *std::get<DecVal>(p.decs.at(0)->node).body; }

std::string message(std::string_view text) {
  auto r = parse_text(text);
  return r ? "parsed" : r.error().str();
}

/// The expression with every infix node in square brackets: shows how it was grouped.
std::string grouped(const Exp& e) {
  if (const auto* b = std::get_if<EBinOp>(&e.node)) {
    return "[" + grouped(*b->lhs) + " " + b->op.name + " " + grouped(*b->rhs) + "]";
  }
  if (const auto* n = std::get_if<ENegate>(&e.node)) return "[neg " + grouped(*n->operand) + "]";
  if (const auto* u = std::get_if<EUpdate>(&e.node)) {
    return "[" + grouped(*u->source) + " with " + grouped(*u->value) + "]";
  }
  if (const auto* r = std::get_if<ERange>(&e.node)) {
    return "[" + grouped(*r->start) + " to " + grouped(*r->end) + "]";
  }
  if (const auto* a = std::get_if<EApply>(&e.node)) {
    std::string s = "[" + grouped(*a->fun);
    for (const auto& x : a->args) s += " " + grouped(*x);
    return s + "]";
  }
  return pretty(e);
}

std::string group(std::string_view text) {
  auto r = parse_text("def x = " + std::string(text));
  return r ? grouped(body(*r)) : r.error().str();
}

std::string printed(std::string_view text) {
  auto r = parse_text("def x = " + std::string(text));
  return r ? pretty(body(*r)) : r.error().str();
}

TEST(Parser, OperatorsGroupByTheLongestBuiltinPrefix) {
  EXPECT_EQ(group("a + b * c ** d"), "[a + [b * [c ** d]]]");
  EXPECT_EQ(group("a - b - c"), "[[a - b] - c]");
  EXPECT_EQ(group("a & b == c"), "[[a & b] == c]");
  EXPECT_EQ(group("a || b && c"), "[a || [b && c]]");
  EXPECT_EQ(group("x |> f + g |> h"), "[[x |> [f + g]] |> h]");
  EXPECT_EQ(group("f <| g <| x"), "[f <| [g <| x]]");
  EXPECT_EQ(group("a +. b *. c"), "[a +. [b *. c]]");
  EXPECT_EQ(group("a >>> b < c"), "[[a >>> b] < c]");
  EXPECT_EQ(group("a `f` b + c `g` d"), "[[a f [b + c]] g d]");
  EXPECT_EQ(group("1 + 2 ..< n * 2"), "[[1 + 2] to [n * 2]]");
}

TEST(Parser, PrefixAndApplicationBindTightly) {
  EXPECT_EQ(group("-x ** y"), "[[neg x] ** y]");
  EXPECT_EQ(group("-f x + 1"), "[[neg [f x]] + 1]");
  EXPECT_EQ(group("f x y + g z"), "[[f x y] + [g z]]");
  EXPECT_EQ(group("f -x"), "[f - x]");
  EXPECT_EQ(group("a + b with [0] = c + d with [1] = e"), "[[[a + b] with [c + d]] with e]");
}

TEST(Parser, BracketsIndexOnlyWithoutSpace) {
  EXPECT_EQ(printed("f[x]"), "f[x]");
  EXPECT_TRUE(std::holds_alternative<EIndex>(body(*parse_text("def x = f[x]")).node));
  EXPECT_TRUE(std::holds_alternative<EApply>(body(*parse_text("def x = f [x]")).node));
  EXPECT_EQ(printed("(a)[1:2, ::-1][0]"), "(a)[1:2, ::-1][0]");
  EXPECT_NE(message("def x = a[0] [1]").find("multi-dimensional"), std::string::npos);
}

TEST(Parser, Sections) {
  const auto kind = [](std::string_view text) {
    auto r = parse_text("def x = " + std::string(text));
    return r ? static_cast<int>(body(*r).node.index()) : -1;
  };
  const auto index_of = [](auto node) {
    return static_cast<int>(decltype(Exp::node)(std::move(node)).index());
  };
  EXPECT_EQ(kind("(-x)"), index_of(EParens{}));
  EXPECT_EQ(kind("(-)"), index_of(EOpSection{}));
  EXPECT_EQ(kind("(x -)"), index_of(EOpSectionLeft{}));
  EXPECT_EQ(kind("(* 2)"), index_of(EOpSectionRight{}));
  EXPECT_EQ(kind("(`f` 2)"), index_of(EOpSectionRight{}));
  EXPECT_EQ(kind("(2 `M.f`)"), index_of(EOpSectionLeft{}));
  EXPECT_EQ(kind("(M.+)"), index_of(EOpSection{}));
  EXPECT_EQ(printed("(.a.0[1,2:3])"), "(.a.0[1, 2:3])");
  EXPECT_EQ(printed("(.[i])"), "(.[i])");
}

TEST(Parser, DotsAndNumbers) {
  EXPECT_EQ(printed("x.0.1"), "x.0.1");
  EXPECT_EQ(printed("1.5f32 + 0x1.8p3"), "1.5f32 + 12.0");
  EXPECT_EQ(printed("1e-3"), "1.0e-3");
  EXPECT_EQ(printed("[0b1010, 0rXIV, 0xFFi8, 1_000, 300u8]"), "[10, 14, -1i8, 1000, 44u8]");
  EXPECT_EQ(printed("['a', '\\n', '\\'']"), "[97, 10, 39]");
  EXPECT_EQ(printed("0..2...10"), "0..2...10");
  const auto projection = parse_text("def x = a.b.c");
  EXPECT_EQ(std::get<EVar>(body(*projection).node).name.quals.size(), 2u);
  EXPECT_NE(message("def x = 99999999999999999999").find("larger"), std::string::npos);
}

TEST(Parser, PrettyKeepsTheSourcesParentheses) {
  EXPECT_EQ(printed("(x%2==0)"), "(x % 2 == 0)");
  EXPECT_EQ(printed("f (g x) [1,2] + -y"), "f (g x) [1, 2] + -y");
  EXPECT_EQ(printed("a - b * c"), "a - (b * c)");
  EXPECT_EQ(printed("map (\\x -> x+1) xs"), "map (\\x -> x + 1) xs");
}

TEST(Parser, BodiesAndDefinitions) {
  EXPECT_EQ(printed("let a = 1 let b = 2 in a + b"), "let a = 1 let b = 2 in a + b");
  EXPECT_EQ(printed("let f 't [n] (x: [n]t) : i64 = n let f[0].y = 2 in f"),
            "let f 't [n] (x: [n]t): i64 = n let f[0].y = 2 in f");
  EXPECT_EQ(printed("loop (a, b) = (1, 2) for i < 10 do (b, a)"),
            "loop (a, b) = (1, 2) for i < 10 do (b, a)");
  for (const char* text : {
           "def x +++ y = x",
           "def (+) x y = x",
           "let (a: i32) `f` b = a",
           "def f {a, b = _} = a",
           "entry main [n] (xs: [n](i32, {x: f32, y: f32,})) : ?[m].[m]i32 = xs",
           "module M (P: {val (+) 't : t -> t}) : S with t = i32 = \\(Q: S) : S -> P {def x = 1}",
           "module type S = (X: T) -> {type^ t 'a include U with x [n] = [n]i32}",
           "local open import \"a\" local import \"b\"",
           "#[inline] def f = #[unsafe] x : i32",
           "type t = #a i32 [2]f32 | #b\ntype~ u [n] 'a = (n: i64) -> *[n]a -> t [3] u",
           "def f = match x case #a (-1) y -> 1 case {a = 1f32} -> 2 case _ -> 3",
           "-- | file\n\n-- | f\n-- more\ndef f = \"caf\xc3\xa9\\u\" ",
           "def f = M.N.(x + y).z",
           "def f (#[a(b, 1)] x) = assert (x) y : i32",
           "def f 'a^b = a",
       }) {
    const std::string m = message(text);
    const bool should_fail = std::string_view(text).find("\\u") != std::string_view::npos ||
                             std::string_view(text).find("^b") != std::string_view::npos;
    EXPECT_EQ(m == "parsed", !should_fail) << text << "\n" << m;
  }
}

TEST(Parser, ErrorsNameWhatIsWrong) {
  EXPECT_EQ(message("type t = #a | b"),
            "Error at t.fut:1:15-16:\nUnexpected token: 'b'\nExpected a constructor.\n\n"
            "  1 | type t = #a | b\n    |               ^\n");
  EXPECT_NE(message("def f = let x = 1").find("Unexpected end of file"), std::string::npos);
  EXPECT_NE(message("def f = let x = 1 def g = 1").find("Unexpected \"def\" - missing \"in\"?"),
            std::string::npos);
  EXPECT_NE(message("def x ! y = x").find("cannot be used as infix operator"), std::string::npos);
  EXPECT_NE(message("def f = -- | no\n 1").find("only permitted"), std::string::npos);
  EXPECT_NE(message("def (a, b) = 1").find("Cannot bind patterns"), std::string::npos);
  EXPECT_NE(message("def f = 1 .. 2").find("use '...'"), std::string::npos);
  EXPECT_NE(message("def f = \"abc").find("Unclosed string"), std::string::npos);
  EXPECT_NE(message("def M.+ = 1").find("Unexpected token"), std::string::npos);
}

/// The diagnostic without the heading and what is expected, up to the excerpt.
std::string hint(std::string_view text) {
  const std::string m = message(text);
  const size_t start = m.find("\nExpected "), line = m.find('\n', start + 1), end = m.find("\n\n");
  if (start == std::string::npos) return m;
  return end > line ? m.substr(line + 1, end - line - 1) : "";
}

TEST(Parser, HintsForWhatOtherLanguagesWrite) {
  EXPECT_EQ(hint("fun f x = x"), "Did you mean \"def\"?");
  EXPECT_EQ(hint("deff f x = x"), "Did you mean \"def\"?");
  EXPECT_EQ(hint("// twice\ndef f x = x"), "Comments start with \"--\".");
  EXPECT_EQ(hint("def f x = match x case 1 => 2"), "Did you mean \"->\"?");
  EXPECT_EQ(hint("def f = \\x => x"), "Did you mean \"->\"?");
  EXPECT_EQ(hint("def f x = if x = 1 then 2 else 3"), "Did you mean \"==\"?");
  EXPECT_EQ(hint("def f x = if x < 1 then 2 elif x < 3 then 4 else 5"),
            "Did you mean \"else if\"?");
  EXPECT_EQ(hint("def f = map (x -> x) [1]"),
            "A function without a name starts with a backslash: \"\\x -> x\".");
  EXPECT_EQ(hint("def f = if true then 1 then 2"), "");
}

/// The last lines of the diagnostic: of the note, if there is one.
std::string note(std::string_view text) {
  const std::string m = message(text);
  const size_t start = m.find("\n\nThe '");
  return start == std::string::npos ? "none" : m.substr(start + 2);
}

TEST(Parser, WhatIsOpenIsNamed) {
  EXPECT_EQ(note("module m = {\n  def x = (1)\n"),
            "The '{' at t.fut:1:12-13 is not closed:\n\n  1 | module m = {\n    |            ^\n");
  EXPECT_EQ(note("def f = g (1,\n  [2, 3)\n"),
            "The '[' at t.fut:2:3-4 is not closed:\n\n  2 |   [2, 3)\n    |   ^\n");
  EXPECT_EQ(note("def f = (1 + 2\ndef g = 3"),
            "The '(' at t.fut:1:9-10 is not closed:\n\n  1 | def f = (1 + 2\n    |         ^\n");
  const std::string let =
      "The 'let' at t.fut:2:3-6 has no 'in':\n\n  2 |   let y = (x)\n    |   ^^^\n";
  EXPECT_EQ(note("def f x =\n  let y = (x)\n"), let);
  EXPECT_EQ(note("def f x =\n  let y = (x)\ndef g = 1"), let);
  EXPECT_EQ(note("def f = (1) +"), "none");
  EXPECT_EQ(note("def f = (1 2 then)"), "none");
}

TEST(Parser, DeepNestingIsAnErrorNotACrash) {
  const auto repeat = [](std::string_view s, int n) {
    std::string r;
    for (int i = 0; i < n; ++i) r += s;
    return r;
  };
  for (const char* part : {"(",       "[",        "{a=",    "-",     "a+(",  "\\x->",
                           "if ",     "f[",       "let x=", "#[a] ", "(x: ", "match x case (",
                           "loop x=", "x with [", "M.(",    "1+",    "a<|",  "let x=1 ",
                           "x.",      "assert x "}) {
    EXPECT_NE(message("def f = " + repeat(part, 100000)), "parsed") << part;
  }
  EXPECT_NE(message("def f = x" + repeat("+1", 100000)).find("nested too deeply"),
            std::string::npos);
  EXPECT_NE(message("def f = x" + repeat(".x[0]", 100000)).find("nested too deeply"),
            std::string::npos);
  for (const char* part : {"(", "[n]", "*", "a->", "#a (", "{x:", "?[n].", "t "}) {
    EXPECT_NE(message("type t = " + repeat(part, 100000)), "parsed") << part;
  }
  for (const char* part : {"{module M = ", "(", "\\(X:T)->", "M ", "{local "}) {
    EXPECT_NE(message("module M = " + repeat(part, 100000)), "parsed") << part;
  }
  EXPECT_EQ(message("def f = x" + repeat("+1", 500)), "parsed");
}

}  // namespace
}  // namespace kenaz::syntax
