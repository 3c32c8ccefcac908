// What is refused, where, and with which words.
#include "kernels/mfg/check/check.h"

#include <gmock/gmock.h>

#include <map>

#include "kernels/mfg/check/strings.h"

namespace kenaz::mfg {
namespace {

using ::testing::HasSubstr;

Result<CFilter> check_text(const std::string& text) {
  return check("f.mfg", [&](const std::string& path) -> Result<std::string> {
    if (path == "f.mfg") return text;
    if (path == "strings.json") return R"({"ja": {"A": "x"}, "en": {"A": "Radius \"r\""}})";
    return fail(ErrorKind::kNoSuchFile, "no such file");
  });
}

struct Invalid {
  const char* text;
  const char* place;  // line:column, from which the message is
  const char* words;
};

/// The result of these is of no interest.
#define RESULT "\ndef result_u8 |x, y| { u8[0, 0, 0, 0] }"
/// A block of one expression or more, which begins in line 2.
#define IN_RESULT(code) "def result_u8 |x, y| {\n" code "\nu8[0, 0, 0, 0] }"

const Invalid kInvalid[] = {
    // Text.
    {"let a - 3" RESULT, "1:7-8", "Expected \"=\", but found \"-\"."},
    {"let a = 3 ~" RESULT, "1:11", "Expected the end of the line"},
    {"let a = 3 `" RESULT, "1:11", "This character means nothing here."},
    {"let a = 12x" RESULT, "1:9-12", "\"12x\" is neither a number nor a name."},
    {"let a = 2147483648" RESULT, "1:9-19", "does not fit into i32"},
    {"let a = 0x1ffffffff" RESULT, "1:9-20", "does not fit into i32"},
    {"@title \"soft" RESULT, "1:8", "This string does not end on its line."},
    {"@shape(3)" RESULT, "1:2-7", "There is no attribute @shape"},
    {"def t by load($A)" RESULT, "1:15-16", "Expected a string, but found \"$\"."},
    {"x = 3" RESULT, "1:1-2", "Expected a definition"},
    {"let a = (1 + 2" RESULT, "2:1", "Expected \")\""},
    {"let a = [1, 2" RESULT, "2:1", "Expected \",\""},
    {"let a = 1 +" RESULT, "2:1-4", "Expected an expression, but found \"def\"."},
    {"def result_u8 |x, y| { u8[0, 0, 0, 0]", "1:38", "Expected \"}\""},
    {"def result_u8 x, y { u8[0, 0, 0, 0] }", "1:15-16", "a block begins with its parameters"},
    {IN_RESULT("u8[0, 0, 0, 0]"), "2:1-15", "A block has one expression"},
    {"def result_u8 |x, y| { let a = 1 }", "1:34-35", "ends with an expression, its value"},
    {IN_RESULT("fn f |a: i32| { a }"), "2:1-3", "at the top level only"},
    {IN_RESULT("@title \"a\""), "2:1-2", "@bounds is the only attribute"},
    {"let a = 1 |> abs(2)" RESULT, "1:11-13", "where its left side goes"},
    {"let a = [1, ...]" RESULT, "1:16-17", "last argument of a function only"},
    // Names.
    {IN_RESULT("let a = b"), "2:9-10", "Unknown name \"b\"."},
    {IN_RESULT("let a = sine(1.0)"), "2:9-13", "Did you mean \"sin\"?"},
    {IN_RESULT("let rsum = 3"), "2:5-9", "\"rsum\" is a name of the language"},
    {IN_RESULT("let [a, rsum, b, c] = input_u8(x, y)"), "2:9-13", "\"rsum\" is a name"},
    {IN_RESULT("let length = 3"), "2:5-11", "\"length\" is a name of the language"},
    {"let u8 = 3" RESULT, "1:5-7", "\"u8\" is a name of the language"},
    {IN_RESULT("let a = 1\nlet a = 2"), "3:5-6", "\"a\" is defined already"},
    {IN_RESULT("let x = 1"), "2:5-6", "\"x\" is defined already"},
    {"fn f |a: i32| { a }\nlet f = 1" RESULT, "2:5-6", "\"f\" is defined already"},
    {IN_RESULT("let [a, a] = [1, 2]"), "2:9-10", "\"a\" is defined already"},
    {IN_RESULT("let s = rsum(0..<3) |i| { i }\nlet t = i"), "3:9-10", "Unknown name \"i\""},
    {"fn f |a: i32| { a + b }\nlet b = 1" RESULT, "1:21-22", "Unknown name \"b\""},
    {"fn f |a: i32| { f(a) }" RESULT, "1:17-18", "Unknown name \"f\""},
    {IN_RESULT("let a = input_u8"), "2:9-17", "is a tensor"},
    {IN_RESULT("let a = x(1)"), "2:9-10", "is a value"},
    {IN_RESULT("let a = result_u8.extent()"), "2:9-18", "The result can only be defined"},
    // Types of operands.
    {IN_RESULT("let a = 1 + 1u"), "2:9-15", "The operands of + are i32 and u32"},
    {IN_RESULT("let a = [1, 2] + [1, 2, 3]"), "2:9-27", "The operands of + are i32v2 and i32v3"},
    {IN_RESULT("let a = [1, 2] + [1.0, 2.0]"), "2:9", "i32v2 and f32v2"},
    {IN_RESULT("let a = [1, 2]^[1, 2, 3]"), "2:9", "two tuples must be of the same length"},
    {IN_RESULT("let a = 1.5 & 1"), "2:9-16", "& takes integers"},
    {IN_RESULT("let a = 1.5 && 1"), "2:9-17", "&& takes integers"},
    {IN_RESULT("let a = !1.5"), "2:9-13", "! takes integers, but its operand is f32"},
    {IN_RESULT("let a = [1, [2, 3]]"), "2:13-19", "A component of a tuple is a number"},
    {IN_RESULT("let a = [*x, 1]"), "2:11-12", "* takes a tuple apart; this is i32."},
    {IN_RESULT("let a = [1, 2].z"), "2:9-17", "i32v2 has 2 components; there is no \".z\""},
    {IN_RESULT("let a = [1, 2].2"), "2:9-17", "there is no \".2\""},
    {IN_RESULT("let a = [1, 2].rg"), "2:9-18", "named by the letters xyzw"},
    {IN_RESULT("let a = x.x"), "2:9-12", "Only tuples have components; this is i32."},
    {IN_RESULT("let [a, b, c] = [1, 2]"), "2:1", "Here are 3 names for the components of i32v2."},
    {IN_RESULT("let a = 0..<3"), "2:10", "Expected the end of the line"},
    // Calls.
    {IN_RESULT("let a = log(10)"), "2:13-15", "log takes f32, but this is i32"},
    {IN_RESULT("let a = sin(1.0, 2.0)"), "2:9-22", "sin takes 1 argument, but here are 2"},
    {IN_RESULT("let a = ifel(x, 1, 2.0)"), "2:20-23", "the first one is i32 and this one f32"},
    {IN_RESULT("let a = ifel(1.0, 1, 2)"), "2:14-17", "is of integers, but this is f32"},
    {IN_RESULT("let a = ifel([0, 1], [1, 2, 3], [1, 2, 3])"), "2:14-20", "has 2 components"},
    {IN_RESULT("let a = ifel(x, 1)"), "2:9-19", "ifel takes 3 arguments, but here are 2"},
    {IN_RESULT("let a = max(1, 2.0)"), "2:16-19", "the first one is i32 and this one f32"},
    {IN_RESULT("let a = dot([1.0, 2.0], [1.0])"), "2:25-30", "dot"},
    {IN_RESULT("let a = length([1, 2])"), "2:16-22", "f32 or a vector of 2 to 4 of them"},
    {IN_RESULT("let a = mix([1.0, 2.0], [1.0, 2.0, 3.0], 0.5)"), "2:9", "mix cannot take"},
    {IN_RESULT("let a = to_u8color([1.0, 2.0])"), "2:20", "is of type f32v4, but this is f32v2"},
    {IN_RESULT("let a = rand(1)"), "2:9-16", "rand takes 0 arguments"},
    {IN_RESULT("let a = sin(radius=1.0)"), "2:20-23", "no argument by the name \"radius\""},
    {"fn f |a: i32| { a }\nlet b = f(0.1)" RESULT, "2:11-14", "is of type i32, but this is f32"},
    {"fn f |a: i32| { a }\nlet b = f(1, 2)" RESULT, "2:9", "f takes 1 argument, but here are 2"},
    {"fn f |a: i64| { a }" RESULT, "1:10-13", "There is no type \"i64\"."},
    {"fn f |a| { a + 1u }\nlet b = f(1)" RESULT, "1:12-18", "i32 and u32"},
    // Loops.
    {IN_RESULT("let a = rsum(3) |i| { i }"), "2:14-15", "rsum takes ranges"},
    {IN_RESULT("let a = rsum(0..<1.5) |i| { i }"), "2:18-21", "has integers as its ends"},
    {IN_RESULT("let a = rsum(0..<3) |i, j| { i }"), "2:21", "has 1 parameter, but this one has 2"},
    {IN_RESULT("let a = rsum(0..<3, 0..<3) |i| { i }"), "2:28", "has 2 parameters"},
    {IN_RESULT("let a = reduce(0..<3) |i, c| { i }"), "2:9",
     "reduce takes the value to begin with"},
    {IN_RESULT("let a = reduce(init=0, 0..<3) |i, c| { 1.0 }"), "2:40-43",
     "The block of reduce gives i32, but this is f32"},
    {IN_RESULT("let a = reduce(init=[0, 0], 0..<3) |i, c| { [0, 0, 0] }"), "2:45", "gives i32v2"},
    // Tensors and samplers.
    {"def mid |x, y| { x + y }" RESULT, "1:5-8", "Tensor mid needs its size"},
    {"@bounds(5, 5) def t |x| { x }" RESULT, "1:21", "has 2 parameters, but this one has 1"},
    {"@bounds(1.5) def t |x| { x }" RESULT, "1:9-12", "A tensor's size is an integer"},
    {"@bounds(1, 2, 3) def t |x, y, z| { x }" RESULT, "1:22-23", "Tensor t needs its size"},
    {"def t by [[1, 2], [3]]" RESULT, "1:19", "This row has 1 elements, the first one 2"},
    {"def t by [1, 2.0]" RESULT, "1:14-17", "this one is f32 and the first one i32"},
    {"def t by reduce" RESULT, "2:1-4", "Expected \"<\", but found \"def\"."},
    {"def t by reduce(init=0, 0..<3) |i, c| { i }" RESULT, "1:16-17", "Expected \"<\""},
    {"def a by [1]\ndef t by reduce<a>.accumulate(0, 0) |i, v, c| { v } + 1" RESULT, "2:53-54",
     "Expected the end of the line"},
    {"def a by [1]\ndef t by reduce<a>.accumulate(0, [0, 0]) |i, v, c| { c }.x" RESULT, "2:57-58",
     "Expected the end of the line"},
    {"@bounds(2) def t by load(\"\")" RESULT, "1:26-28", "this names none"},
    {IN_RESULT("let a = input_u8(0.0, 1.0)"), "2:18-21", "A coordinate is an integer"},
    {IN_RESULT("let a = input_u8(x)"), "2:9-20", "has 2 dimensions, but here are 1"},
    {IN_RESULT("let a = input_u8([x, y])"), "2:9", "here are 1 coordinates"},
    {IN_RESULT("let a = input_u8.extent(2)"), "2:25-26", "there is no extent(2)"},
    {IN_RESULT("let a = input_u8.extent(x)"), "2:25-26",
     "must be known when the program is compiled"},
    {"let s = sampler<input_u8>(address=.ClampToBordervalue, border_value=0)" RESULT, "1:35",
     "The address of a sampler is .None, .ClampToEdge, .ClampToBorderValue."},
    {"let s = sampler<input_u8>(address=.ClampToBorderValue, border_value=0)" RESULT, "1:69-70",
     "The elements of input_u8 are u8v4, but border_value is i32."},
    {"let s = sampler<input_u8>(address=.ClampToBorderValue)" RESULT, "1:9",
     "border_value goes with"},
    {"let s = sampler<input_u8>(filter=.Linear)" RESULT, "1:34", "not \"filter\""},
    {"let s = sampler<nothing>()" RESULT, "1:17-24", "Unknown name \"nothing\"."},
    {"let s = sampler<input_u8>(coord=.NormalizedLinear)\n" IN_RESULT("let a = s(x, y)"), "3:11-12",
     "A normalized coordinate is an f32, but this is i32"},
    {"let a = to_ncoord([1, 2])" RESULT, "1:9", "to_ncoord is about the tensor"},
    // Local tensors.
    {IN_RESULT("@bounds(x)\ndef t |i| { 0 }"), "2:9-10", "bounds of a local tensor are constants"},
    {IN_RESULT("def t by reduce"), "3:1-3", "Expected \"<\", but found \"u8\"."},
    {IN_RESULT("@bounds(2) def t by load(\"\")"), "2:26-28", "this names none"},
    {IN_RESULT("@bounds(0)\ndef t |i| { 0 }"), "2:9-10", "has from 1 to 65536 elements"},
    {IN_RESULT("@bounds(3)\ndef t |i| { 0 }\nmut! t(0) += 1.5"), "4:14-17",
     "The elements of t are i32, but this is f32"},
    {IN_RESULT("mut! input_u8(0, 0) += u8[1, 1, 1, 1]"), "2:6-14",
     "Only local tensors can be changed"},
    {IN_RESULT("@bounds(3)\ndef t |i| { 0 }\nlet a = rsum(0..<3) |i| {\nmut! t(i) += 1\n i }"),
     "5:6-7", "not within an expression"},
    {IN_RESULT("@bounds(3)\ndef t |i| { 0 }\nmut! trans<t>.turn!(dim=0)"), "4:15-19",
     "trans has the methods"},
    {IN_RESULT("@bounds(3, 3)\ndef t |i, j| { 0 }\nmut! trans<t>.sort!(dim=0)"), "4:12-13",
     "of one dimension"},
    {IN_RESULT("@bounds(3)\ndef t |i| { 0 }\nmut! trans<t>.cumsum!(dim=1)"), "4:27-28",
     "The dimension is a constant 0"},
    {IN_RESULT("@bounds(3)\ndef t |i| { 0 }\nt.for_each |i, v| { i }"), "4:21-22",
     "gives no value"},
    {IN_RESULT("let a = input_u8.for_each |i, j, v| { }"), "2:9", "it gives no value"},
    // Parameters and results.
    {"@param_u32 a(SLIDER)" RESULT, "1:2-11", "Parameters are of type i32, f32, f32v2 or f32v4."},
    {"@param_i32 a(KNOB)" RESULT, "1:14-18", "A parameter is a SLIDER"},
    {"@param_f32 a(CHECKBOX)" RESULT, "1:14-22", "A CHECKBOX is for parameters of type i32"},
    {"@param_i32 a(SLIDER, init=1.5)" RESULT, "1:27-30", "is of type i32; this is not"},
    {"@param_i32 a(SLIDER, size=1)" RESULT, "1:22-26", "but no size"},
    {"let a = 1", "1:10", "A filter has a result"},
    {"def result_u8 |x, y| { u8[0, 0, 0] }", "1:24-35", "gives u8v4, blue, green, red and alpha"},
    {"def result_u8 |x, y| { [0.0, 0.0, 0.0, 0.0] }", "1:24", "but this is f32v4"},
    {"def result_u8 |x| { u8[0, 0, 0, 0] }", "1:15", "has 2 parameters, but this one has 1"},
    {"@bounds(3, 3) def result_u8 |x, y| { u8[0, 0, 0, 0] }", "1:8", "it has no @bounds"},
    {"def result_u16 |x, y| { u16[0, 0, 0, 0] }" RESULT, "2:5-14", "A filter has one result"},
};

TEST(Invalid, IsRefusedAtTheRightPlace) {
  for (const Invalid& i : kInvalid) {
    const auto filter = check_text(i.text);
    ASSERT_FALSE(filter) << "accepted:\n" << i.text;
    EXPECT_THAT(filter.error().text(), HasSubstr(std::string("Error at f.mfg:") + i.place))
        << i.text;
    EXPECT_THAT(filter.error().text(), HasSubstr(i.words)) << i.text;
  }
  EXPECT_GE(std::size(kInvalid), 60U);
}

TEST(Check, ParametersHaveDefaultsAndTexts) {
  const auto filter = check_text(
      "@title $A\n"
      "@param_f32 r(SLIDER, label=$A, min=-1.5, max=3, init=2)\n"
      "@param_f32v4 c(COLOR_PICKER)\n@param_pos p(POINTER)\n"
      "@param_i32 d(DROPDOWN, items=[\"a\", $B])\n" RESULT);
  ASSERT_TRUE(filter) << filter.error().text();
  EXPECT_EQ(filter->title, "Radius \"r\"");
  ASSERT_EQ(filter->params.size(), 4U);
  EXPECT_EQ(filter->params[0].label, "Radius \"r\"");
  EXPECT_EQ(filter->params[0].min[0], PrimValue::f32(-1.5F));
  EXPECT_EQ(filter->params[0].init[0], PrimValue::f32(2));
  EXPECT_EQ(filter->params[1].init[3], PrimValue::f32(1));
  EXPECT_EQ(filter->params[2].init[0], PrimValue::f32(0.5F));
  EXPECT_THAT(filter->params[3].items, ::testing::ElementsAre("a", "B"));
}

TEST(Check, QuotedTextsAreNoNames) {
  const auto filter = check_text(
      "@title \"$A\"\n@version \"$5 off\"\n"
      "@param_i32 d(DROPDOWN, label=\"$A\", items=[\"$A\", $A])\n" RESULT);
  ASSERT_TRUE(filter) << filter.error().text();
  EXPECT_EQ(filter->title, "$A");
  EXPECT_EQ(filter->version, "$5 off");
  EXPECT_EQ(filter->params[0].label, "$A");
  EXPECT_THAT(filter->params[0].items, ::testing::ElementsAre("$A", "Radius \"r\""));
}

TEST(Check, AStringsFileThatCannotBeReadIsWarnedOfOnce) {
  const std::string text = "@title $A\n@param_i32 d(SLIDER, label=$B)\n" RESULT;
  const auto with = [&](const Result<std::string>& strings) {
    return check("f.mfg", [&](const std::string& path) -> Result<std::string> {
      if (path == "f.mfg") return text;
      return strings;
    });
  };
  const auto absent = with(fail(ErrorKind::kNoSuchFile, "no such file"));
  ASSERT_TRUE(absent) << absent.error().text();
  EXPECT_TRUE(absent->warnings.empty());
  const auto broken = with("{\"en\": {\"A\": \"a\"");
  ASSERT_TRUE(broken) << broken.error().text();
  EXPECT_EQ(broken->title, "A");
  ASSERT_EQ(broken->warnings.size(), 1U);
  EXPECT_THAT(broken->warnings[0].str(),
              HasSubstr("f.mfg:1:8-10:\nstrings.json, beside this filter, "
                        "is not a JSON object."));
  const auto secret = with(bad_request("Permission denied"));
  ASSERT_EQ(secret->warnings.size(), 1U);
  EXPECT_THAT(secret->warnings[0].message, HasSubstr("cannot be read: Permission denied."));
}

TEST(Check, AByteOrderMarkIsSkipped) {
  EXPECT_TRUE(check_text("\xef\xbb\xbf@title \"A\"" RESULT));
  EXPECT_THAT(check_text("\xef\xbb\xbf@shape(3)" RESULT).error().text(), HasSubstr("f.mfg:1:2-7"));
}

TEST(Check, AFileThatCannotBeReadIsNamed) {
  const auto filter = check("none.mfg", [](const std::string& /*path*/) -> Result<std::string> {
    return fail(ErrorKind::kNoSuchFile, "No such file or directory");
  });
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().message, "Could not read file \"none.mfg\": No such file or directory");
  EXPECT_EQ(filter.error().kind, ErrorKind::kNoSuchFile);
}

TEST(Check, ColoursAreTheLastParameters) {
  const auto filter = check_text(
      "let back = back_color()\nlet fore = fore_color()\n@param_i32 n(SLIDER)\n"
      "def result_u8 |x, y| { ifel(n == x, to_u8color(back), to_u8color(fore)) }");
  ASSERT_TRUE(filter) << filter.error().text();
  std::vector<std::string> names;
  for (const ParamInfo& p : filter->params) names.push_back(p.name);
  EXPECT_THAT(names, ::testing::ElementsAre("n", "fore_color", "back_color"));
  EXPECT_EQ(filter->params[1].init[0], PrimValue::f32(0));
  EXPECT_EQ(filter->params[2].init[0], PrimValue::f32(1));
}

TEST(Check, LayersAreListedOnce) {
  const auto filter = check_text(
      "def result_u8 |x, y| { input_u8[2](x, y) + input_u8[-1](x, y) + input_u8[2](y, x) }");
  ASSERT_TRUE(filter) << filter.error().text();
  EXPECT_THAT(filter->layers, ::testing::ElementsAre(-1, 2));
}

TEST(Check, DeepAndLargeProgramsAreRefused) {
  std::string deep = "let a = ";
  for (int k = 0; k < 5000; ++k) deep += "(";
  EXPECT_THAT(check_text(deep).error().text(), HasSubstr("nested too deeply"));
  std::string chain = "let a = 1";
  for (int k = 0; k < 5000; ++k) chain += " + 1";
  EXPECT_THAT(check_text(chain + RESULT).error().text(), HasSubstr("nested too deeply"));
  std::string twice = "fn g0 |a| { a + a }\n";
  for (int k = 1; k < 40; ++k) {
    const std::string before = "g" + std::to_string(k - 1);
    twice += "fn g" + std::to_string(k) + " |a| { " + before + "(a) + " + before + "(a + 1) }\n";
  }
  EXPECT_THAT(check_text(twice + "let b = g39(1)" + RESULT).error().text(),
              HasSubstr("too large when its functions are inlined"));
}

std::string text_of(std::string_view json, const std::string& name) {
  const auto texts = english_texts(json);
  if (!texts) return "no JSON";
  const auto found = texts->find(name);
  return found == texts->end() ? "none" : found->second;
}

TEST(Strings, OnlyWellFormedFilesGiveTexts) {
  EXPECT_EQ(text_of(R"({"en": {"A": "b", "C": "d"}})", "C"), "d");
  EXPECT_EQ(text_of(R"({"ja": {"A": "b"}})", "A"), "none");
  for (const char* bad :
       {R"({"en": {"A": "b)", "", "[]", R"({"en": {"A": "b", "C": }})", R"({"en": {"A": "\u12"}})",
        R"({"en": {"A": "\u12g4"}})", R"({"en": [1)", R"({"en": {"A": "b"})"}) {
    EXPECT_EQ(text_of(bad, "A"), "no JSON") << bad;
  }
  EXPECT_EQ(text_of(R"({"x": )" + std::string(100'000, '['), "A"), "no JSON");
}

TEST(Strings, EscapesStandForCharacters) {
  EXPECT_EQ(text_of(R"({"en": {"A": "\u30ec\u00e4\u0041\ud83d\udd25\n\t\/\\\""}})", "A"),
            "\xe3\x83\xac\xc3\xa4"
            "A\xf0\x9f\x94\xa5\n\t/\\\"");
  EXPECT_EQ(text_of(R"({"\u0065n": {"\u0041": "b"}})", "A"), "b");
  EXPECT_EQ(text_of(R"({"en": {"A": "\udd25\ud83dx\ud83d\u0041"}})", "A"),
            "\xef\xbf\xbd\xef\xbf\xbdx\xef\xbf\xbd"
            "A");
  EXPECT_EQ(text_of("\xef\xbb\xbf{\"en\": {\"A\": \"b\"}}", "A"), "b");
}

TEST(Strings, OtherValuesAreSkipped) {
  EXPECT_EQ(text_of(R"({"version": 1.5e-3, "de": null, "all": [], "x": [1, {"a": [true]}],
                        "en": {"N": -1, "L": ["a", "b"], "O": {"A": "c"}, "A": "b"}})",
                    "A"),
            "b");
  EXPECT_EQ(text_of(R"({"en": {"N": 1}})", "N"), "none");
  EXPECT_EQ(text_of(R"({"en": "A"})", "A"), "none");
}

}  // namespace
}  // namespace kenaz::mfg
