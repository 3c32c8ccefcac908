#include "client/script/expr.h"

#include <gmock/gmock.h>

#include "client/script/interpreter.h"
#include "protocol/data/text_format.h"

namespace kenaz::script {
namespace {

using ::testing::HasSubstr;

TEST(Script, CallsWithArguments) {
  const auto e = parse("f 10 (g x) [1.0, 2.0] \"file\" r.0");
  ASSERT_TRUE(e) << e.error().text();
  const auto& call = std::get<Apply>((*e)->node);
  EXPECT_EQ(call.name, "f");
  ASSERT_EQ(call.args.size(), 5u);
  const auto& ten = std::get<Constant>(call.args[0]->node);
  EXPECT_EQ(data::to_text(ten.value), "10i32");
  EXPECT_EQ(ten.written, "10");
  EXPECT_EQ(std::get<Apply>(call.args[1]->node).args.size(), 1u);
  EXPECT_EQ(data::to_text(std::get<Constant>(call.args[2]->node).value), "[1f64, 2f64]");
  EXPECT_EQ(std::get<Text>(call.args[3]->node).text, "file");
  EXPECT_EQ(std::get<Field>(call.args[4]->node).name, "0");
}

/// The constant as a value of the type, or why it is none.
std::string as(const std::string& text, const std::string& type) {
  const auto e = parse(text);
  if (!e) return e.error().text();
  const auto* constant = std::get_if<Constant>(&(*e)->node);
  if (constant == nullptr) return "no constant";
  const auto value = as_type(*constant, type);
  return value ? data::to_text(*value) : value.error().text();
}

TEST(Script, ConstantsHaveTheTypeThatIsAskedFor) {
  EXPECT_EQ(as("3000000000", "i64"), "3000000000i64");
  EXPECT_EQ(as("18446744073709551615", "u64"), "18446744073709551615u64");
  EXPECT_EQ(as("0xf16", "i64"), "3862i64");
  EXPECT_EQ(as("[[1, 3000000000]]", "[][]i64"), "[[1i64, 3000000000i64]]");
  EXPECT_EQ(as("[1, 2.5]", "[]f32"), "[1f32, 2.5f32]");
  EXPECT_EQ(as("7", "f16"), "7f16");
  EXPECT_EQ(as("5u8", "u8"), "5u8");
  EXPECT_THAT(as("300", "i8"), HasSubstr("300 does not fit in i8"));
  EXPECT_THAT(as("[[256, 1]]", "[][]u8"), HasSubstr("256 does not fit in u8"));
  EXPECT_THAT(as("1i32", "i64"), HasSubstr("expected a value of type i64, but found 1i32"));
  EXPECT_THAT(as("1.5", "i64"), HasSubstr("a value of type f64 for i64"));
  EXPECT_THAT(as("1", "bool"), HasSubstr("a value of type i32 for bool"));
  EXPECT_THAT(as("[1]", "i32"), HasSubstr("a value of type []i32 for i32"));
  EXPECT_THAT(as("1", "point"), HasSubstr("a value of type i32 for point"));
}

TEST(Script, ConstantsMayBeginLikeNames) {
  EXPECT_EQ(as("f32.inf", "f32"), "f32.inf");
  EXPECT_EQ(as("f64.nan", "f64"), "f64.nan");
  EXPECT_EQ(as("[1, f32.inf]", "[]f32"), "[1f32, f32.inf]");
  EXPECT_EQ(as("empty([0][3]f32)", "[][]f32"), "empty([0][3]f32)");
  EXPECT_EQ(as("empty ( [0]i8)", "[]i8"), "empty([0]i8)");
  EXPECT_THAT(as("f32.inf", "f64"), HasSubstr("expected a value of type f64"));
  const auto e = parse("f f32.nan empty([0]f32) empty f32.x");
  ASSERT_TRUE(e) << e.error().text();
  const auto& call = std::get<Apply>((*e)->node);
  ASSERT_EQ(call.args.size(), 4u);
  EXPECT_TRUE(std::holds_alternative<Constant>(call.args[0]->node));
  EXPECT_TRUE(std::holds_alternative<Constant>(call.args[1]->node));
  EXPECT_TRUE(std::holds_alternative<Apply>(call.args[2]->node));
  EXPECT_TRUE(std::holds_alternative<Field>(call.args[3]->node));
}

TEST(Script, LetsTuplesAndRecords) {
  const auto e = parse("let (a, b) = (2f32, $loaddata \"x\") in {a, c = (b, a)}");
  ASSERT_TRUE(e) << e.error().text();
  const auto& let = std::get<Let>((*e)->node);
  EXPECT_THAT(let.names, ::testing::ElementsAre("a", "b"));
  const auto& pair = std::get<TupleExpr>(let.bound->node);
  EXPECT_EQ(std::get<Constant>(pair.parts[0]->node).written, "2f32");
  EXPECT_EQ(std::get<Apply>(pair.parts[1]->node).name, "$loaddata");
  EXPECT_EQ(std::get<RecordExpr>(let.body->node).fields.size(), 2u);
}

TEST(Script, Constructors) {
  const auto e = parse("f #nothing (#circle {x = 1} 2.0)");
  ASSERT_TRUE(e) << e.error().text();
  const auto& call = std::get<Apply>((*e)->node);
  ASSERT_EQ(call.args.size(), 2u);
  EXPECT_TRUE(std::get<Construct>(call.args[0]->node).payload.empty());
  const auto& circle = std::get<Construct>(call.args[1]->node);
  EXPECT_EQ(circle.name, "circle");
  ASSERT_EQ(circle.payload.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<RecordExpr>(circle.payload[0]->node));
}

TEST(Script, Errors) {
  for (const auto* text :
       {"", "#", "f # 1", "#a )", "f (", "let x = 1", "(1, 2", "f )", "\"x", "[1, 2", "r. x"}) {
    EXPECT_FALSE(parse(text)) << text;
  }
  const auto deep = parse(std::string(100000, '('));
  ASSERT_FALSE(deep);
  EXPECT_THAT(deep.error().message, HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace kenaz::script
