// Lowering, tested through the front end: the IR of small programs, and what the reference
// evaluator makes of it.
#include <gmock/gmock.h>

#include <string>

#include "kernels/compiler/test_programs.h"
#include "kernels/ir/eval/evaluator.h"
#include "kernels/ir/print.h"

namespace kenaz {
namespace {

using compiler::testing::lowered;
using testing::HasSubstr;
using testing::Not;

std::string ir_of(const std::string& text) {
  auto l = lowered(text);
  if (!l) return l.error().text();
  ir::PrintOptions options;
  options.renumber = true;
  return ir::print(l->ir, options);
}

/// Runs entry main on i64 scalars; the first leaf of the result, or the failure's text.
std::string run(const std::string& text, std::vector<int64_t> args) {
  auto l = lowered(text);
  if (!l) return l.error().text();
  auto machine = ir::eval::Evaluator::make(std::move(l->ir));
  if (!machine) return machine.error().text();
  std::vector<ir::eval::Value> values;
  for (int64_t a : args) {
    ir::eval::Value v;
    v.type.prim = PrimType::kI64;
    v.bits = static_cast<uint64_t>(a);
    values.push_back(v);
  }
  auto result = machine->call(machine->program().entries[0].fun, std::move(values));
  if (!result) return result.error().text();
  const ir::eval::Value& v = result->at(0);
  if (!v.array.shape.empty()) return "array of " + std::to_string(v.array.shape[0]);
  return std::to_string(static_cast<int64_t>(v.bits));
}

TEST(Lower, functions_records_and_types_vanish) {
  std::string text = ir_of(
      "type point 't = {x: t, y: t}\n"
      "def twice 'a (f: a -> a) (x: a) = f (f x)\n"
      "def swap 't (p: point t) : point t = {x = p.y, y = p.x}\n"
      "def main (a: i32) (b: i32) = (twice (+ 1) (twice swap {x = a, y = b}).x)\n");
  EXPECT_EQ(text,
            "fun main(a_0: i32, b_1: i32) -> (i32) {\n"
            "  let add_2: i32 = add.i32(a_0, 1i32)\n"
            "  let add_3: i32 = add.i32(add_2, 1i32)\n"
            "  return add_3\n"
            "}\n"
            "entry main = main\n");
}

TEST(Lower, arrays_of_tuples_are_tuples_of_arrays) {
  std::string text = ir_of(
      "def main [n] (xs: [n]i32) (ys: [n]i32) =\n"
      "  map (\\(x, y) -> (y, x + 1)) (zip xs ys)\n");
  EXPECT_THAT(text, HasSubstr("entry point arguments have invalid sizes."));
  EXPECT_THAT(text, HasSubstr("-> ([n_1]i32, [n_1]i32)"));
  EXPECT_THAT(text, Not(HasSubstr("zip")));
}

TEST(Lower, sizes_that_change_become_loop_parameters) {
  const char* text =
      "def main (n: i64) = length (loop xs = [1i64] for _i < n do xs ++ [2] ++ xs)\n";
  EXPECT_EQ(run(text, {0}), "1");
  EXPECT_EQ(run(text, {4}), "31");
}

TEST(Lower, branches_of_different_sizes) {
  const char* text =
      "def main (n: i64) = let xs = if n > 3 then iota n else replicate 2 n\n"
      "                    in i64.sum xs + length xs\n";
  EXPECT_EQ(run(text, {5}), "15");
  EXPECT_EQ(run(text, {3}), "8");
}

TEST(Lower, sums_share_scalar_slots) {
  const char* text =
      "type t = #a i64 | #b i64 bool | #c\n"
      "def f (x: t) : i64 = match x case #a k -> k case #b k true -> k * 10\n"
      "                     case #b _ _ -> 5 case #c -> -1\n"
      "def pick (n: i64) : t = if n == 0 then #a 3 else if n == 1 then #b 4 true\n"
      "                        else if n == 2 then #b 4 false else #c\n"
      "def main (n: i64) = f (pick n)\n";
  EXPECT_EQ(run(text, {0}), "3");
  EXPECT_EQ(run(text, {1}), "40");
  EXPECT_EQ(run(text, {2}), "5");
  EXPECT_EQ(run(text, {3}), "-1");
}

TEST(Lower, covered_matches_have_no_check) {
  const std::string sum = "type t = #a bool | #b i32 | #c\n";
  const char* covered[] = {
      "def main (x: i32) = match x case 1 -> 2 case 2 -> 3 case y -> y",
      "def main (x: bool) = match x case true -> 1i32 case false -> 2",
      "def main (x: bool) (y: bool) : i32 =\n"
      "  match (x, y) case (true, _) -> 1 case (_, true) -> 2 case (false, false) -> 3",
      "def main (x: t) : i32 = match x case #a _ -> 1 case #b y -> y case #c -> 3",
      "def main (x: t) : i32 =\n"
      "  match x case #a true -> 1 case #b 1 -> 2 case #c -> 3 case #a false -> 4 case #b y -> y",
      "def main (x: {k: t, l: t}) : i32 =\n"
      "  match x case {k = #a _, l = _} -> 1 case {k = _, l = #a _} -> 2\n"
      "  case {k = #b _, l = #b y} -> y case {k = #c, l = #b _} -> 3 case {k = _, l = #c} -> 4"};
  for (const char* text : covered) EXPECT_THAT(ir_of(sum + text), Not(HasSubstr("assert"))) << text;
  const char* open[] = {
      "def main (x: i32) = match x case 1 -> 2 case 2 -> 3",
      "def main (x: bool) = match x case true -> 1i32",
      "def main (x: bool) (y: bool) : i32 =\n"
      "  match (x, y) case (true, _) -> 1 case (_, true) -> 2",
      "def main (x: t) : i32 = match x case #a _ -> 1 case #b y -> y",
      "def main (x: t) : i32 = match x case #a true -> 1 case #b y -> y case #c -> 3",
      "def main (x: {k: t, l: t}) : i32 =\n"
      "  match x case {k = #a _, l = _} -> 1 case {k = _, l = #a _} -> 2\n"
      "  case {k = #b _, l = #b y} -> y case {k = _, l = #c} -> 4"};
  for (const char* text : open)
    EXPECT_THAT(ir_of(sum + text), HasSubstr("Unmatched cases")) << text;
}

TEST(Lower, proofs_of_coverage_end) {
  std::string text = "def main";
  for (int k = 0; k < 40; ++k) text += " (x" + std::to_string(k) + ": bool)";
  text += " : i32 = match (true";
  for (int k = 0; k < 40; ++k) text += ", x" + std::to_string(k);
  text += ")";
  for (int k = 0; k < 40; ++k) {
    text += "\n  case (true";
    for (int i = 0; i < 40; ++i) text += (i == k || i == 39 - k) ? ", true" : ", _";
    text += ") -> " + std::to_string(k);
  }
  EXPECT_THAT(ir_of(text), HasSubstr("Unmatched cases"));
}

TEST(Lower, parts_of_sums_are_chosen_alone) {
  const char* text =
      "type t = #go bool | #wait | #stop\n"
      "def pick (n: i64) : t = match n case 1 -> #wait case 2 -> #go true case _ -> #go false\n"
      "def main (n: i64) : i64 = match pick n case #go b -> i64.bool b case #wait -> 2\n"
      "                          case #stop -> 3\n";
  EXPECT_EQ(run(text, {1}), "2");
  EXPECT_EQ(run(text, {2}), "1");
  EXPECT_EQ(run(text, {3}), "0");
}

TEST(Lower, calls_that_double_are_refused) {
  std::string text = "def f0 'a (x: a) : a = x\n";
  for (int k = 1; k < 40; ++k) {
    const std::string inner = "f" + std::to_string(k - 1);
    text += "def f" + std::to_string(k) + " 'a (x: a) : a = " + inner + " (" + inner + " x)\n";
  }
  EXPECT_THAT(ir_of(text + "def main (x: i32) = f39 x\n"),
              HasSubstr("the program becomes too large when its functions are inlined"));
}

TEST(Lower, sizes_that_nothing_states_are_refused) {
  EXPECT_THAT(ir_of("def f [n] [m] (xss: [n][]i32) = (length xss, m)\n"
                    "def main (xss: [][]i32) = f xss"),
              HasSubstr("Size [m] unused in pattern"));
}

TEST(Lower, inner_sizes_leave_the_lambda) {
  const char* text =
      "def main (n: i64) = length (head (map (\\i -> map (+ i) (iota (n * 2))) (iota 3)))\n";
  EXPECT_EQ(run(text, {4}), "8");
}

TEST(Lower, nested_updates_keep_the_rest) {
  const char* text =
      "def main (n: i64) =\n"
      "  let xs = [{a = [1i64, 2], b = n}, {a = [3, 4], b = 7}]\n"
      "  let ys = xs with [0].a[1] = 9\n"
      "  in ys[0].a[0] + ys[0].a[1] * 10 + ys[0].b * 100 + ys[1].a[1] * 1000\n";
  EXPECT_EQ(run(text, {5}), "4591");
}

TEST(Lower, failures_tell_the_calls) {
  std::string text =
      run("def f (xs: []i64) (i: i64) = xs[i]\n"
          "def g (n: i64) = f (iota n) 7\n"
          "def main (n: i64) = g n\n",
          {3});
  EXPECT_THAT(text, HasSubstr("Index [7] out of bounds for array of shape [3]."));
  EXPECT_THAT(text, testing::ContainsRegex("t.fut:1:30.*\n.*t.fut:2:18.*\n.*t.fut:3:21"));
}

// Passes leave alone what has an attribute; this one is not about scalars.
TEST(Lower, AttributesOfCombinatorsAreOnTheseOnly) {
  const std::string text = ir_of(
      "def main (xs: []i64) = #[sequential_inner] map (\\x -> if x > 0 then x * 2 else x) xs\n");
  EXPECT_THAT(text, testing::ContainsRegex("#\\[sequential_inner\\] let [^\n]* = soac"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("#[sequential_inner] let mul")));
  EXPECT_THAT(ir_of("def main (x: i64) = #[opaque] (x * 2)\n"),
              testing::HasSubstr("#[opaque] let mul"));
}

TEST(Lower, slices) {
  const char* text = "def main (i: i64) (j: i64) (s: i64) = i64.sum (iota 10)[i:j:s]\n";
  EXPECT_EQ(run(text, {0, 10, 3}), "18");
  EXPECT_EQ(run(text, {9, -1, -2}), "25");
  EXPECT_EQ(run(text, {4, 4, 1}), "0");
  EXPECT_THAT(run(text, {0, 11, 1}), HasSubstr("Index [0:11:1] out of bounds"));
  EXPECT_THAT(run(text, {10, -1, -1}), HasSubstr("out of bounds"));
  EXPECT_THAT(run(text, {0, 10, 0}), HasSubstr("out of bounds"));
}

TEST(Lower, ranges) {
  EXPECT_EQ(run("def main (a: i64) (b: i64) = i64.sum (a..3...b)\n", {1, 7}), "16");
  EXPECT_EQ(run("def main (a: i64) (b: i64) = i64.sum (a..3..>b)\n", {5, 0}), "9");
  EXPECT_THAT(run("def main (a: i64) (b: i64) = i64.sum (a..3..<b)\n", {4, 9}),
              HasSubstr("Range 4..3..<9 is invalid."));
}

TEST(Lower, refusals_name_construct_and_place) {
  std::string text = ir_of(
      "def g (h: i64 -> i64) (n: i64) : i64 = if n == 0 then h n else g h (n - 1)\n"
      "def f (k: i64 -> i64) (n: i64) : i64 = if n == 0 then k 0 else g (\\_ -> f k (n - 1)) n\n"
      "def main (n: i64) (m: i64) = f (\\x -> x + m) n\n");
  EXPECT_THAT(text, HasSubstr("t.fut:"));
  EXPECT_THAT(text, HasSubstr("functions with captured values are not supported yet: f"));
}

TEST(Lower, recursive_functions_are_made_once_for_each_use_that_differs) {
  const std::string text = ir_of(
      "def f 'a (x: a) (n: i64) : a = if n == 0 then x else f x (n - 1)\n"
      "def twice (g: i64 -> i64) (n: i64) : i64 = if n == 0 then 0 else g (twice g (n - 1))\n"
      "def main (n: i64) (m: i64) =\n"
      "  (f n m, f m 3, f (n, true) m, twice (+ n) m, twice (+ n) n)\n");
  const auto count = [&](const std::string& what) {
    size_t found = 0, at = 0;
    for (; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("fun f"), 2u) << text;
  EXPECT_EQ(count("fun twice"), 2u) << text;
}

/// The leaves of type t as lowering has them in parameters and as it has them in results; empty if
/// these differ from each other or from what the checker tells clients.
std::string leaves_of(const std::string& type) {
  auto l = lowered("type t = " + type + "\nentry f (x: t): t = x\n");
  if (!l) return l.error().text();
  const ir::Function& f = l->ir.functions.at(0);
  auto text = [](PrimType prim, int rank) {
    return std::string(static_cast<size_t>(rank), '*') + std::string(prim_name(prim)) + " ";
  };
  std::string told, params, results;
  for (const LeafType& leaf : l->types.at("t").leaves) told += text(leaf.prim, leaf.rank);
  for (ir::VarId v : f.params) params += text(l->ir.type_of(v).prim, l->ir.type_of(v).rank());
  for (size_t i = f.ret_size_vars.size(); i < f.ret.size(); ++i) {
    results += text(f.ret[i].prim, f.ret[i].rank());
  }
  return told == params && params == results ? told : "";
}

TEST(Lower, clients_and_code_agree_on_leaves) {
  EXPECT_EQ(leaves_of("(i32, [2][3]f32)"), "i32 **f32 ");
  EXPECT_EQ(leaves_of("()"), "");
  EXPECT_EQ(leaves_of("[3]()"), "i64 ");
  EXPECT_EQ(leaves_of("[3][4]()"), "i64 i64 ");
  EXPECT_EQ(leaves_of("[3](i32, ())"), "*i32 i64 ");
  EXPECT_EQ(leaves_of("[3]((), [4](), [2]i8)"), "i64 i64 i64 **i8 ");
  EXPECT_EQ(leaves_of("[3]{a: {}, b: {c: ()}}"), "i64 i64 ");
  EXPECT_EQ(leaves_of("#one"), "");
  EXPECT_EQ(leaves_of("[3](#one)"), "i64 ");
  EXPECT_EQ(leaves_of("[3](#one i32)"), "*i32 ");
  EXPECT_EQ(leaves_of("#one | #two"), "i8 ");
}

TEST(Lower, payloads_of_equal_leaves_share_slots) {
  EXPECT_EQ(leaves_of("#a i32 | #b i32 f32 | #c f32 i32 i32"), "i8 i32 f32 i32 ");
  EXPECT_EQ(leaves_of("#a (i32, i32) | #b i32 i32"), "i8 i32 i32 i32 i32 ");
  EXPECT_EQ(leaves_of("#a (i32, i32) | #b {x: i32, y: i32}"), "i8 i32 i32 ");
  EXPECT_EQ(leaves_of("#a ([2]i32) | #b ([2]i32)"), "i8 *i32 *i32 ");
  EXPECT_EQ(leaves_of("[5](#a ([2]()) i64 | #b i64)"), "*i8 *i64 *i64 ");
}

TEST(Lower, inlining_is_bounded) {
  std::string text = "def f0 (x: i32) (y: i32) : i32 = x * y + 1\n";
  for (int i = 1; i < 40; ++i) {
    std::string f = "f" + std::to_string(i - 1);
    text +=
        "def f" + std::to_string(i) + " (x: i32) (y: i32) : i32 = " + f + " (" + f + " x y) y\n";
  }
  EXPECT_THAT(ir_of(text + "def main (x: i32) = f39 x x\n"), HasSubstr("too large"));
  text = "def f0 (x: i32) : i32 = x + 1\n";
  for (int i = 1; i < 1500; ++i) {
    text +=
        "def f" + std::to_string(i) + " (x: i32) : i32 = f" + std::to_string(i - 1) + " x + x\n";
  }
  EXPECT_THAT(ir_of(text + "def main (x: i32) = f1499 x\n"), HasSubstr("calls are nested"));
}

TEST(Lower, constants_are_computed_once) {
  std::string text = ir_of(
      "def table = map (* 2) (iota 10)\n"
      "def n : i64 = 3 + 4\n"
      "entry a (i: i64) = table[i]\n"
      "entry b (i: i64) = table[i + n]\n");
  EXPECT_THAT(text, HasSubstr("constants"));
  EXPECT_THAT(text, HasSubstr(", 7i64)"));
  EXPECT_EQ(text.find("iota.i64"), text.rfind("iota.i64")) << text;
}

constexpr const char* kStream =
    "def write [n] (acc: *intrinsics.acc ([n]i32)) (i: i64) = intrinsics.acc_write acc i 1\n"
    "entry main [n] (xs: *[n]i32) (is: []i64) = intrinsics.";

TEST(Lower, StreamsOfOneWriteAreOneHistogramOrScatter) {
  const std::string hist = ir_of(std::string(kStream) +
                                 "hist_stream xs (+) 0 (\\(a: *intrinsics.acc ([n]i32)) i -> "
                                 "if i > 3 then write a i else a) is");
  EXPECT_THAT(hist, HasSubstr(" hist "));
  EXPECT_THAT(hist, Not(HasSubstr("loop")));
  EXPECT_EQ(hist.find(" hist "), hist.rfind(" hist ")) << hist;
  const std::string scatter =
      ir_of(std::string(kStream) +
            "scatter_stream xs (\\(a: *intrinsics.acc ([n]i32)) i -> write a i) is");
  EXPECT_THAT(scatter, HasSubstr(" scatter "));
  EXPECT_THAT(scatter, Not(HasSubstr("hist")));
  EXPECT_THAT(scatter, Not(HasSubstr("loop")));
}

TEST(Lower, StreamsWithoutWritesAreNothing) {
  const std::string ir =
      ir_of(std::string(kStream) + "scatter_stream xs (\\(a: *intrinsics.acc ([n]i32)) _ -> a) is");
  EXPECT_THAT(ir, Not(HasSubstr("scatter")));
  EXPECT_THAT(ir, Not(HasSubstr("map")));
}

}  // namespace
}  // namespace kenaz
