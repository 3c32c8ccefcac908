#include "kernels/futhark/check/check.h"

#include <gmock/gmock.h>

#include "kernels/futhark/check/testing.h"
#include "kernels/futhark/core/print.h"

namespace kenaz::check {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Check, Literals) {
  EXPECT_EQ(type_in("def f = 1"), "i32");
  EXPECT_EQ(type_in("def f = 1.5"), "f64");
  EXPECT_EQ(type_in("def f = (1, 2i8, true)"), "(i32, i8, bool)");
  EXPECT_EQ(type_in("def f : f32 = 1"), "f32");
  EXPECT_EQ(type_in("def f = [1, 2u8]"), "[2]u8");
  EXPECT_EQ(type_in("def f = \"abc\""), "[3]u8");
  EXPECT_EQ(type_in("def f : i8 = -128"), "i8");
  EXPECT_THAT(error_of("def f : u8 = 256"),
              HasSubstr("Literal 256 out of bounds for inferred type u8."));
}

/// What stands between the diagnostic's message and the excerpt: its last line.
std::string hint(const std::string& text) {
  std::string m = error_of(text);
  m = m.substr(0, m.find("\n\n"));
  return m.substr(m.rfind('\n') + 1);
}

TEST(Check, NamesThatMayHaveBeenMeant) {
  EXPECT_EQ(hint("def f xs = mpa (+ 1) xs"), "Did you mean \"map\"?");
  EXPECT_EQ(hint("def f (counter: i32) = cuonter + 1"), "Did you mean \"counter\"?");
  EXPECT_EQ(hint("def f x = f32.sqtr x"), "Did you mean \"f32.sqrt\"?");
  EXPECT_EQ(hint("def f x = i32.sqrt x"),
            "Did you mean \"f32.sqrt\", \"f64.sqrt\" or \"f16.sqrt\"?");
  EXPECT_EQ(hint("def f x = max x 2"), "Did you mean \"i32.max\", \"i64.max\" or \"f32.max\"?");
  EXPECT_EQ(hint("module vec = { def length2 = 1 }\ndef f = vec.lenght2"),
            "Did you mean \"vec.length2\"?");
  EXPECT_EQ(hint("module vector = { def one = 1 }\ndef f = vectro.one"),
            "Did you mean \"vector.one\"?");
  EXPECT_EQ(hint("def f (x: int) = x"), "Did you mean \"i32\"?");
  EXPECT_EQ(hint("type point = (i32, i32)\ndef f (x: piont) = x"), "Did you mean \"point\"?");
  EXPECT_EQ(hint("def f = [1] => 2"), "Functions are written \"\\x -> x\", cases \"case x -> x\".");
  EXPECT_EQ(hint("def f x = zyxwvut x"), "Unknown name \"zyxwvut\".");
  // What is defined later, or inside of a function, is not in scope.
  EXPECT_EQ(hint("def f = countr 1\ndef counter x = x"), "Unknown name \"countr\".");
  EXPECT_EQ(hint("def g (counter: i32) = counter\ndef f = countr 1"), "Unknown name \"countr\".");
}

TEST(Check, ArgumentsThatMayHaveBeenMeant) {
  EXPECT_EQ(hint("def f (n: i32) = iota n"), "To convert it: \"i64.i32 n\".");
  EXPECT_EQ(hint("def f (xs: []f64) = f64.sum xs / length xs"),
            "To convert it: \"f64.i64 (length xs)\".");
  EXPECT_EQ(hint("def f (xs: []i32) = f32.sum xs"), "To convert it: \"map f32.i32 xs\".");
  EXPECT_EQ(hint("def g (x: i32) (y: i32) = x + y\ndef f (a: i32) = g(a, a + 1)"),
            "Arguments stand one behind the other: \"g a (a + 1)\".");
  EXPECT_EQ(hint("def f (xs: []i32) = xs.length"), "Did you mean \"length xs\"?");
  EXPECT_EQ(hint("def f (xs: []i32) = map (-1) xs"),
            "\"(-1)\" is a number; \"(\\x -> x - 1)\" subtracts.");
  EXPECT_EQ(hint("def f (r: {x: i32}) = r.length"),
            "Attempt to access field \"length\" of value of type {x: i32}.");
}

TEST(Check, TypesThatAreNotKnownYetHaveNoNumbers) {
  EXPECT_THAT(error_of("def f (x: f64) = x & 3"),
              HasSubstr("Expected: an integer type or bool\nActual:   f64\n"));
  EXPECT_THAT(error_of("def f (xs: []i32) = map (-1) xs"),
              HasSubstr("Expected: _ -> _\nActual:   a numeric type\n"));
  EXPECT_THAT(error_of("def f = 1 + true"), HasSubstr("Expected: a numeric type\n"));
}

TEST(Check, KeysOfASortAreUnsigned) {
  EXPECT_THAT(error_of("def f (xs: []i32) = intrinsics.sort_keys xs"),
              HasSubstr("Cannot unify an unsigned integer type with i32."));
  EXPECT_THAT(error_of("def f (xs: []f32) = intrinsics.sort_by xs xs"),
              HasSubstr("Cannot unify an unsigned integer type with f32."));
  EXPECT_THAT(error_of("def f 't (xs: []t) = intrinsics.sort_keys xs"),
              HasSubstr("Cannot unify an unsigned integer type with t."));
  EXPECT_EQ(type_in("def f = intrinsics.sort_by [2u8, 1] [true, false]"), "[2]bool");
  EXPECT_EQ(type_in("def f = intrinsics.sort_keys [2, 1]"), "[2]u32");
}

TEST(Check, LogicalShiftsAreOfModules) {
  EXPECT_THAT(error_of("def f (x: i32) = x >>> 2"), HasSubstr("Unknown name \">>>\""));
  EXPECT_EQ(type_in("def f (x: i32) = x i32.>>> 2"), "i32 -> i32");
}

TEST(Check, AttributesWithoutEffectAreWarnedOf) {
  const auto program = check_text(
      "module m (x: {}) = { def f (x: i32) = #[trace(y)] x }\n"
      "module a = m {}\nmodule b = m {}\ndef f (x: i32) = #[inline] a.f (b.f x)\n");
  ASSERT_TRUE(program) << program.error().text();
  ASSERT_EQ(program->warnings.size(), 1u);
  EXPECT_THAT(program->warnings[0].str(),
              HasSubstr("Warning at main.fut:1:41-49:\nThe attribute \"trace\" has no effect"));
}

TEST(Check, AttributesThatAreWarnedOfHaveNoEffect) {
  // Others keep passes from optimising what they stand on.
  const auto with = [](const std::string& attribute) {
    return core::str(*check_text("def f (xs: []i32) = map (+ 1) (" + attribute + "map (* 2) xs)"));
  };
  EXPECT_EQ(with("#[trace] "), with(""));
  EXPECT_EQ(with("#[trace(doubled)] "), with(""));
  EXPECT_EQ(with("#[break] "), with(""));
  EXPECT_NE(with("#[opaque] "), with(""));
}

TEST(Check, Generalisation) {
  // Type parameter 0 is that of accumulators.
  EXPECT_EQ(type_in("def f x = x"), "?1 -> ?1");
  EXPECT_EQ(type_in("def f x y = x + y"), "i32 -> i32 -> i32");
  EXPECT_EQ(type_in("def f g x = (g x : bool)"), "(?1 -> bool) -> ?1 -> bool");
  EXPECT_EQ(type_in("def f (x: {a: i32, b: bool}) = x.b"), "{a: i32, b: bool} -> bool");
}

TEST(Check, FieldsOfTypesFoundLater) {
  EXPECT_EQ(type_in("def f (xs: []{a: i32}) = map (\\x -> x.a) xs"), "[d]{a: i32} -> *[d]i32");
  EXPECT_THAT(error_of("def f x = x.a"), HasSubstr("Type is ambiguous"));
}

TEST(Check, SizesOfResults) {
  EXPECT_EQ(type_in("def f [n] (xs: [n]i32) = map (+ 1) xs"), "[n]i32 -> *[n]i32");
  EXPECT_EQ(type_in("def f (n: i64) = iota n"), "(n: i64) -> *[n]i64");
  EXPECT_EQ(type_in("def f (n: i64) = iota (n + 1)"), "(n: i64) -> *[n + 1]i64");
  EXPECT_EQ(type_in("def f (n: i64) = let m = n * 2 in iota m"), "(n: i64) -> *[n * 2]i64");
  EXPECT_EQ(type_in("def f (n: i64) = let (m, _) = (n * 2, 1) in iota m"), "i64 -> ?[m].*[m]i64");
  EXPECT_EQ(type_in("def f (xs: []i32) = filter (> 0) xs"), "[d]i32 -> ?[d].*[d]i32");
  EXPECT_EQ(type_in("def f (b: bool) = if b then [1] else [1, 2]"), "bool -> ?[d].*[d]i32");
  EXPECT_EQ(type_in("def f [n] (xs: [n]i32) = xs[2:n]"), "[n]i32 -> [n - 2]i32");
}

TEST(Check, OpenSizesOfDeclaredResultsAreTheBodys) {
  EXPECT_EQ(type_in("def f (n: i64) : []i64 = iota n"), "(n: i64) -> [n]i64");
  EXPECT_EQ(type_in("def f (n: i64) : ?[k].[k]i64 = iota (n + 1)"), "(n: i64) -> [n + 1]i64");
  EXPECT_EQ(type_in("def f (xs: []i32) : []i32 = filter (> 0) xs"), "[d]i32 -> ?[d].[d]i32");
  EXPECT_EQ(type_in("def f (x: i32) : []i32 = ???"), "i32 -> [d]i32");
  EXPECT_EQ(type_in("def f (b: bool) : []i32 = if b then [1] else [1, 2]"), "bool -> ?[d].[d]i32");
}

TEST(Check, SizesThatDiffer) {
  EXPECT_THAT(error_of("def f [n] [m] (xs: [n]i32) (ys: [m]i32) = map2 (+) xs ys"),
              HasSubstr("Sizes \"n\" and \"m\" do not match."));
  EXPECT_THAT(error_of("def f (xs: []i32) = map2 (+) (filter (> 0) xs) (filter (< 9) xs)"),
              HasSubstr("Where \"d'\" is the unknown size returned by \"filter\""));
  EXPECT_THAT(error_of("def f (n: i64) : [n]i64 = 1..3...n"), HasSubstr("unknown length of range"));
  EXPECT_THAT(error_of("def f (xs: []i64) = let n = 3 in map2 (+) xs (iota n)"),
              HasSubstr("\"n\" is not in scope where it belongs (scope-violation)"));
}

TEST(Check, SizesThatAreInferred) {
  EXPECT_EQ(type_in("def f (xs: []i32) (ys: []i32) = map2 (+) xs ys"),
            "[d]i32 -> [d]i32 -> *[d]i32");
  EXPECT_EQ(type_in("def f [n] (xs: [n]i32) (i: i64) = (xs[:i], xs[i:])"),
            "[n]i32 -> (i: i64) -> ([i]i32, [n - i]i32)");
  EXPECT_EQ(type_in("def f [n] (xs: [n]i32) (is: []i64) = (xs[:is[0]], xs[is[0]:n])"),
            "[n]i32 -> [d]i64 -> ?[d].([d]i32, [n - d]i32)");
  EXPECT_EQ(type_in("def f (a: i64) (b: i64) = a..<b"), "(a: i64) -> (b: i64) -> *[b - a]i64");
}

TEST(Check, SizesOfLoops) {
  EXPECT_EQ(type_in("def f [n] (xs: [n]i32) = loop ys = xs for _i < 3i32 do map (+ 1) ys"),
            "[n]i32 -> [n]i32");
  EXPECT_EQ(type_in("def f [n] (xs: [n]i32) = loop ys = xs for _i < 3i32 do ys ++ ys"),
            "[n]i32 -> ?[d].[d]i32");
  EXPECT_EQ(type_in("def f [n] [m] (xs: [n][m]i32) = loop ys = xs for _i < 3i32 do transpose ys"),
            "[n][m]i32 -> ?[d][d].[d][d]i32");
}

TEST(Check, FunctionsAreNoData) {
  const char* kArray = "an array cannot contain functions";
  EXPECT_THAT(error_of("def f (x: i32) = [\\y -> y + x]"),
              HasSubstr("an array cannot contain functions"));
  EXPECT_THAT(error_of("def f (x: [](i32 -> i32)) = 0"),
              HasSubstr("Cannot create array with elements of lifted type \"(i32 -> i32)\""));
  EXPECT_THAT(error_of("def f = map (+) [1i32]"), HasSubstr(kArray));
  EXPECT_THAT(error_of("def f = replicate 3 (\\x -> x + 1i32)"), HasSubstr(kArray));
  EXPECT_THAT(error_of("def g 't (x: t) = x\ndef f = g (\\x -> x + 1i32)"), HasSubstr(kArray));
  EXPECT_THAT(error_of("def g x = [x]\ndef f = g (\\x -> x + 1i32)"), HasSubstr(kArray));
  EXPECT_THAT(error_of("def g '^t (x: t) = [x]"), HasSubstr("an array cannot contain functions"));
  EXPECT_THAT(error_of("def g 't (x: t) = x\ndef f '^t (x: t) = g x"), HasSubstr(kArray));
  EXPECT_EQ(type_in("def g '^t (x: t) = x\ndef f = (g (\\x -> x + 1i32)) 2"), "i32");
  EXPECT_EQ(type_in("def g x = x\ndef f = (g (\\x -> x + 1i32)) 2"), "i32");
  EXPECT_THAT(error_of("def f x = if x then (+ 1i32) else (+ 2)"),
              HasSubstr("The result of an if may not be of function type"));
  EXPECT_THAT(error_of("def f x = match x case 1i32 -> (+ 1i32) case _ -> (+ 2)"),
              HasSubstr("The result of a match may not be of function type"));
}

TEST(Check, OnlyMatchesHaveRefutablePatterns) {
  const char* kPartial = "does not fit every value";
  EXPECT_THAT(error_of("def f (x: i32) = let 0 = x in 1"), HasSubstr(kPartial));
  EXPECT_THAT(error_of("def f (1i32, x: i32) = x"), HasSubstr(kPartial));
  EXPECT_THAT(error_of("type t = #a i32 | #b\ndef f (y: t) = let #a x = y in x"),
              HasSubstr(kPartial));
  EXPECT_THAT(error_of("def f = \\(true, x) -> x + 1i32"), HasSubstr(kPartial));
  EXPECT_THAT(error_of("def f (xs: []i32) = loop a = 0 for 1 in xs do a + 1"), HasSubstr(kPartial));
  EXPECT_EQ(type_in("type t = #a i32\ndef f (y: t) = let #a x = y in x"), "(#a i32) -> i32");
}

/// The values that a match with these cases misses.
std::string missing(const std::string& type, const std::string& cases) {
  const std::string text = error_of("type^ s = #a | #b i32 | #c (i32, bool)\ndef f (x: " + type +
                                    ") = match x " + cases);
  const std::string what = "Unmatched cases in match expression:\n  ";
  const size_t at = text.find(what);
  if (at == std::string::npos) return text;
  return text.substr(at + what.size(), text.find('\n', at + what.size()) - at - what.size());
}

TEST(Check, TheCasesOfAMatchFitEveryValue) {
  EXPECT_EQ(missing("i32", "case 0 -> 0 case 1 -> 1"), "2");
  EXPECT_EQ(missing("i32", "case 0 -> 0 case _ -> 1"), "accepted");
  EXPECT_EQ(missing("f32", "case 0 -> 0"), "_");
  EXPECT_EQ(missing("bool", "case true -> 0"), "false");
  EXPECT_EQ(missing("(bool, bool)", "case (true, _) -> 0 case (_, true) -> 1"), "(false, false)");
  EXPECT_EQ(missing("{x: bool, y: i32}", "case {x = true, y = _} -> 0"), "{x = false, y = _}");
  EXPECT_EQ(missing("s", "case #a -> 0 case #c _ -> 1"), "#b _");
  EXPECT_EQ(missing("s", "case #a -> 0 case #b _ -> 1 case #c (_, true) -> 2"), "#c (_, false)");
  EXPECT_EQ(missing("s", "case #a -> 0 case #b _ -> 1 case #c (_, x) -> 2"), "accepted");
  EXPECT_EQ(missing("(s, s)", "case (#a, _) -> 0 case (_, #a) -> 1 case (#b _, #b 1) -> 2"),
            "(#b _, #b 0)");
}

TEST(Check, LocalValuesHideModules) {
  const std::string p = "module p = {def k = 1i32}\n";
  EXPECT_EQ(type_in(p + "def f (p: {x: i64}) = p.x"), "{x: i64} -> i64");
  EXPECT_EQ(type_in(p + "def f (p: {k: i64}) = p.k"), "{k: i64} -> i64");
  EXPECT_THAT(error_of(p + "def f = p.x.y"), HasSubstr("Unknown name \"p.x.y\""));
}

TEST(Check, TheNameOfADefinitionIsTheDefinitionInside) {
  const std::string outer = "def g (x: i32) = x\n";
  EXPECT_THAT(error_of(outer + "module m = {def g (s: i32, k: i32) = g s * k}\ndef f = m.g"),
              HasSubstr("\"g\" is this definition itself here"));
  EXPECT_THAT(error_of(outer + "module m = {def g (s: i32) : i32 = g s 1}\ndef f = m.g"),
              HasSubstr("\"g\" is this definition itself here"));
}

// The arguments that a use of `name` in `main` has.
std::string instance(const std::string& text, const std::string& part) {
  auto r = check_text(text);
  if (!r) return r.error().text();
  for (const auto& p : core::validate(*r, true)) ADD_FAILURE() << p;
  std::string all = core::str(*r);
  size_t at = all.find("def main");
  at = all.find(part, at);
  return at == std::string::npos ? all : all.substr(at, all.find('}', at) - at + 1);
}

TEST(Check, SizesFromTheContext) {
  EXPECT_THAT(instance("def main (k: i64) : [k]i32 = rep 0", "rep_"), HasSubstr("[k_0]}"));
  EXPECT_THAT(instance("def main (xs: []i32) = (unflatten xs : [3][4]i32)", "unflatten_"),
              HasSubstr("[3], [4]}"));
  EXPECT_THAT(instance("def main (a: i64) (b: i64) (xs: [a * b]i32) = unflatten xs", "unflatten_"),
              HasSubstr("[a_0], [b_1]}"));
}

TEST(Check, Loops) {
  auto sizes = [](const std::string& text) {
    auto r = check_text(text);
    if (!r) return r.error().text();
    for (const auto& p : core::validate(*r, true)) ADD_FAILURE() << p;
    std::string all = core::str(*r);
    all = all.substr(all.find("def main"));
    return std::string(all.find("loop [") == std::string::npos ? "fixed" : "varying");
  };
  EXPECT_EQ(sizes("def main (xs: []i32) = loop xs for i < 3 do map (+ 1) xs"), "fixed");
  EXPECT_EQ(sizes("def main (xs: []i32) = loop xs for i < 3 do xs ++ [i]"), "varying");
  EXPECT_EQ(sizes("def main (xs: []i32) = loop xs for i < 3 do if i > 1 then xs else filter (> 0) "
                  "xs"),
            "varying");
  EXPECT_EQ(sizes("def main [n] (xs: [n]i32) (ys: [n]i32) = loop a = xs for i < 3 do "
                  "if i > 1 then map2 (+) a ys else ys"),
            "fixed");
  EXPECT_EQ(sizes("def main [n] (xs: [n]i32) (ys: [n]i32) = loop a = xs for i < 3 do "
                  "if i > 1 then a else ys"),
            "varying");
  EXPECT_EQ(sizes("def main (x: []i32) (y: []i32) = loop (a, b) = (x, y) for i < 3 do (b, a)"),
            "varying");
}

TEST(Check, LocalFunctionsHaveSizesOfTheirOwn) {
  EXPECT_EQ(type_in("def f (a: []i32) (b: []i32) = let g (xs: []i32) = map (+ 1) xs\n"
                    "in (g a, g b)"),
            "[d]i32 -> [d]i32 -> (*[d]i32, *[d]i32)");
  EXPECT_EQ(type_in("def f = let id 't (x: t) = x in (id 1i8, id true)"), "(i8, bool)");
}

TEST(Check, Sums) {
  EXPECT_EQ(type_in("type t = #a i32 | #b\ndef f (x: t) = match x case #a y -> y case #b -> 0"),
            "(#a i32 | #b) -> i32");
  EXPECT_THAT(error_of("def f = #a"), HasSubstr("ambiguous"));
}

TEST(Check, ModulesAreElaborated) {
  const std::string stack = R"(
module type stack = { type t val empty : t val push : i32 -> t -> t val top : t -> i32 }
module pair : stack = {
  type t = (i32, i32)
  def empty = (0i32, 0i32)
  def push x (y: t) = (x, y.0)
  def top (x: t) = x.0
}
)";
  EXPECT_EQ(type_in(stack + "def f = pair.push 1 pair.empty"), "t");
  EXPECT_THAT(error_of(stack + "def f = pair.empty.0"), HasSubstr("field"));
  EXPECT_EQ(type_in("module m (P: {type t val x : t}) = { def y = (P.x, P.x) }\n"
                    "module a = m {type t = i32 def x = 1i32}\n"
                    "module b = m {type t = bool def x = true}\n"
                    "def f = (a.y, b.y)"),
            "((i32, i32), (bool, bool))");
  EXPECT_EQ(type_in("module m : {val id 'a : a -> a val one : i32} = {\n"
                    "  def id x = x def one = 1 def hidden = 2 }\n"
                    "def f = m.id m.one"),
            "i32");
  EXPECT_THAT(error_of("module m : {val one : i32} = {def one = 1 def two = 2}\ndef f = m.two"),
              HasSubstr("Unknown name \"m.two\""));
}

TEST(Check, OperatorsCanBeShadowed) {
  EXPECT_EQ(type_in("module m = {def (+) (x: bool) (y: bool) = x || y}\n"
                    "def f = m.(true + false)"),
            "bool");
  EXPECT_EQ(type_in("def (<+>) x y = x * 2 + y\ndef f = 1 <+> 2"), "i32");
}

TEST(Check, Imports) {
  Files files = {{"main.fut", "import \"lib/a\"\nmodule b = import \"lib/b\"\ndef f = (x, b.y)"},
                 {"lib/a.fut", "open import \"../c\"\ndef x = c + 1"},
                 {"lib/b.fut", "import \"../c\"\ndef y = c"},
                 {"c.fut", "def c = 7i64"}};
  EXPECT_EQ(type_of(check_files(files), "f"), "(i64, i64)");
  files["c.fut"] = "import \"lib/a\"";
  auto cycle = check_files(files);
  ASSERT_FALSE(cycle);
  EXPECT_THAT(cycle.error().text(), HasSubstr("Import cycle"));
}

TEST(Check, Recursion) {
  auto r = check_text("def f (n: i32) : i32 = if n == 0 then 1 else n * f (n - 1)");
  ASSERT_TRUE(r) << r.error().text();
  EXPECT_TRUE(r->defs.back()->recursive);
}

TEST(Check, ALocalMainIsNoEntryPoint) {
  auto r = check_text("local def main = map");
  ASSERT_TRUE(r) << r.error().text();
  EXPECT_TRUE(r->entries.empty());
}

TEST(Check, EntryPoints) {
  auto r = check_text(
      "type point = {y: f32, x: f32}\n"
      "entry move [n] (ps: *[n]point) (by: point) : *[n]point = map (\\p -> p with x = by.x) ps\n"
      "def main (x: i32, y: []bool) = (y, x)\n"
      "entry pick (s: #a i32 | #b i32 [2]f32) = match s case #a x -> x case #b x _ -> x");
  ASSERT_TRUE(r) << r.error().text();
  ASSERT_EQ(r->entries.size(), 3u);
  EXPECT_EQ(r->entries[0].name, "main");
  EXPECT_EQ(r->entries[0].params[0].type, "(i32, []bool)");
  EXPECT_EQ(r->entries[0].result, "([]bool, i32)");
  const auto& move = r->entries[1];
  EXPECT_EQ(move.params[0].type, "[]point");
  EXPECT_EQ(move.params[0].name, "ps");
  EXPECT_TRUE(move.params[0].unique);
  EXPECT_TRUE(move.result_unique);
  const ValueType& point = r->types.at("point");
  EXPECT_EQ(point.kind, TypeKind::kRecord);
  ASSERT_EQ(point.fields.size(), 2u);
  EXPECT_EQ(point.fields[0].name, "x");
  const ValueType& points = r->types.at("[]point");
  EXPECT_EQ(points.elemtype, "point");
  EXPECT_EQ(points.fields[0].type, "[]f32");
  EXPECT_THAT(points.leaves, ElementsAre(LeafType{PrimType::kF32, 1}, LeafType{PrimType::kF32, 1}));
  const ValueType& sum = r->types.at(r->entries[2].params[0].type);
  EXPECT_EQ(sum.kind, TypeKind::kSum);
  EXPECT_THAT(sum.leaves, ElementsAre(LeafType{PrimType::kI8, 0}, LeafType{PrimType::kI32, 0},
                                      LeafType{PrimType::kF32, 1}));
  EXPECT_THAT(sum.variants[1].payload_leaves, ElementsAre(ElementsAre(1), ElementsAre(2)));
  EXPECT_THAT(error_of("entry f 't (x: t) = x"), HasSubstr("may not be polymorphic"));
}

TEST(Check, Errors) {
  EXPECT_THAT(error_of("def f = x"), HasSubstr("Error at main.fut:1:9"));
  EXPECT_THAT(error_of("def f = x"), HasSubstr("Unknown name \"x\""));
  EXPECT_THAT(error_of("def f : t = 1"), HasSubstr("Unknown type \"t\""));
  EXPECT_THAT(error_of("def f = 1 + true"), HasSubstr("Cannot apply \"+\" to \"true\""));
  EXPECT_THAT(error_of("def f = if true then 1 else false"), HasSubstr("Branches differ in type."));
  EXPECT_THAT(error_of("def f = 1\ndef f = 2"), HasSubstr("Duplicate definition of value \"f\""));
  EXPECT_THAT(error_of("def f x = x x"), HasSubstr("Occurs check"));
  EXPECT_THAT(error_of("def f (x, x) = x"), HasSubstr("also bound at"));
}

// Types whose written form grows without bound must end in an error, not in a crash.
TEST(Check, HugeTypesAreRefused) {
  std::string text = "def a0 = [1i32]\n";
  for (int i = 1; i < 2000; i++) {
    text += "def a" + std::to_string(i) + " = [a" + std::to_string(i - 1) + "]\n";
  }
  EXPECT_THAT(error_of(text), HasSubstr("nested too deeply"));
}

TEST(Check, WideTypesAreRefused) {
  std::string text = "def f =\n  let x0 = 1i32\n";
  for (int i = 1; i < 60; i++) {
    const std::string last = "x" + std::to_string(i - 1);
    text += "  let x" + std::to_string(i) + " = (" + last + ", " + last + ")\n";
  }
  EXPECT_THAT(error_of(text + "  in x59"), HasSubstr("too large"));
  text = "def dup x = (x, x)\ndef f = ";
  for (int i = 0; i < 60; i++) text += "dup (";
  text += "1i32" + std::string(60, ')');
  EXPECT_THAT(error_of(text), HasSubstr("too large"));
  text = "type t0 = i32\n";
  for (int i = 1; i < 60; i++) {
    const std::string last = "t" + std::to_string(i - 1);
    text += "type t" + std::to_string(i) + " = (" + last + ", " + last + ")\n";
  }
  EXPECT_THAT(error_of(text), HasSubstr("too large"));
}

TEST(Check, FunctionsOfManyParametersAreRefused) {
  const auto with = [](int count, const std::string& head) {
    std::string text = head;
    for (int i = 0; i < count; i++) text += " (x" + std::to_string(i) + ": i32)";
    return text;
  };
  EXPECT_EQ(error_of(with(400, "def f") + " = x0"), "accepted");
  EXPECT_THAT(error_of(with(100000, "entry f") + " = x0"), HasSubstr("at most 400 parameters"));
  EXPECT_THAT(error_of(with(401, "def f = \\") + " -> x0"), HasSubstr("at most 400 parameters"));
}

TEST(Check, SizesThatGrowAreForgotten) {
  std::string text = "def f (x0: []i32) =\n";
  for (int i = 1; i < 60; i++) {
    const std::string last = "x" + std::to_string(i - 1);
    text += "  let x" + std::to_string(i) + " = " + last + " ++ " + last + "\n";
  }
  EXPECT_THAT(type_in(text + "  in x59"), HasSubstr("?["));
}

TEST(Check, ConstructorsHaveAsManyArgumentsEverywhere) {
  EXPECT_THAT(error_of("def f (b: bool) = if b then #a 1i32 else #a"),
              HasSubstr("Constructor #a has other arguments here than elsewhere in this type.\n"
                        "Arguments of constructor #a differ in arity: 0 here, 1 elsewhere."));
  EXPECT_THAT(error_of("def f : #a i32 | #b = #a"),
              HasSubstr("Arguments of constructor #a differ in arity: 0 here, 1 in its type"));
}

}  // namespace
}  // namespace kenaz::check
