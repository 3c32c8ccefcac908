// Unification by itself: types made by hand, no program around them.
#include "kernels/futhark/check/infer.h"

#include <gmock/gmock.h>

#include "kernels/futhark/check/existential.h"

namespace kenaz::check {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Infer : public ::testing::Test {
 protected:
  Size named(const std::string& name) {
    const VarId v = vars.new_var(name);
    vars[v].named = true;
    return Size::of_var(v);
  }
  Size flex() { return Size::of_var(vars.new_flex()); }
  static Size number(int64_t n) { return Size::of_const(n); }
  Size sum(const Size& a, const Size& b) { return sizes.arithmetic(core::Intrinsic::kAdd, a, b); }
  static TypePtr array(const Size& dim) { return core::array_type(dim, i32); }
  static core::MetaId id(const TypePtr& meta) { return std::get<core::TMeta>(meta->node).id; }
  std::string text(const TypePtr& t) { return infer.type_text(t); }
  const std::string& why() const { return comparing.mismatch.why; }

  inline static const TypePtr i32 = core::prim_type(PrimType::kI32);
  inline static const TypePtr i64 = core::prim_type(PrimType::kI64);
  inline static const TypePtr f32 = core::prim_type(PrimType::kF32);
  inline static const TypePtr boolean = core::prim_type(PrimType::kBool);

  core::Checked program;
  Reports reports;
  Variables vars{program, reports};
  Comparison comparing;
  Sizes sizes{vars, comparing};
  Inference infer{vars, sizes, comparing, reports};
  Existentials existentials{vars, sizes, infer, reports};
};

TEST_F(Infer, ATypeVariableBecomesWhatItIsUnifiedWith) {
  const TypePtr elem = vars.new_meta(), size_and_elem = core::array_type(flex(), elem);
  EXPECT_EQ(text(size_and_elem), "[n]_");
  EXPECT_TRUE(infer.unify(size_and_elem, core::array_type(number(3), array(number(4)))));
  EXPECT_EQ(text(size_and_elem), "[3][4]i32");
  EXPECT_EQ(text(vars.resolve(elem)), "[4]i32");
  EXPECT_FALSE(infer.unify(elem, array(number(5))));
  EXPECT_THAT(why(), HasSubstr("Sizes \"4\" and \"5\" do not match."));
}

TEST_F(Infer, TwoTypeVariablesAreOneAfterwards) {
  const TypePtr a = vars.new_meta(kMaskNum), b = vars.new_meta(kMaskScalar), c = vars.new_meta();
  EXPECT_TRUE(infer.unify(a, b));
  EXPECT_TRUE(infer.unify(c, b));
  EXPECT_EQ(id(vars.resolve(a)), id(vars.resolve(c)));
  EXPECT_EQ(text(c), "a numeric type");
  EXPECT_FALSE(infer.unify(c, boolean));
  EXPECT_EQ(why(), "Cannot unify a numeric type with bool.");
  EXPECT_TRUE(infer.unify(c, f32));
  EXPECT_EQ(text(a), "f32");
}

TEST_F(Infer, NoTypeContainsItself) {
  const TypePtr a = vars.new_meta();
  EXPECT_FALSE(infer.unify(a, core::tuple_type({i32, core::array_type(number(1), a)})));
  EXPECT_TRUE(comparing.mismatch.occurs);
  EXPECT_TRUE(infer.unify(a, a));
}

TEST_F(Infer, FieldsAreAskedForBeforeTheRecordIsKnown) {
  const TypePtr r = vars.new_meta(), x = infer.field_of(r, "x", {});
  EXPECT_EQ(infer.field_of(r, "x", {}), x);
  EXPECT_EQ(text(r), "a record with x");
  EXPECT_FALSE(infer.unify(r, core::record_type({{"y", i32}})));
  EXPECT_THAT(why(), HasSubstr("has no field \"x\""));
  EXPECT_TRUE(infer.unify(r, core::record_type({{"x", f32}, {"y", i32}})));
  EXPECT_EQ(text(vars.resolve(x)), "f32");
  EXPECT_FALSE(reports.failed());
  infer.field_of(r, "z", {});
  EXPECT_THAT(reports.current()->message, HasSubstr("Attempt to access field \"z\""));
}

TEST_F(Infer, ConstraintsLookInside) {
  const TypePtr part = vars.new_meta();
  const TypePtr function = core::make_type(core::TArrow{{}, false, i32, {}, i32});
  EXPECT_TRUE(infer.is_data(core::tuple_type({i32, part})));
  EXPECT_FALSE(infer.unify(part, function));  // it is part of data by now
  EXPECT_FALSE(infer.is_data(core::array_type(number(1), function)));
  EXPECT_FALSE(infer.constrain(f32, kMaskInt));
  EXPECT_TRUE(infer.constrain(i64, kMaskInt));
}

TEST_F(Infer, SizesAreTheSameIfTheyMeanTheSame) {
  const Size n = named("n"), m = named("m"), open = flex();
  EXPECT_FALSE(sizes.unify_size(n, m));
  EXPECT_TRUE(sizes.unify_size(open, sum(n, number(1))));
  EXPECT_FALSE(sizes.unify_size(open, sum(m, number(1))));
  vars[m.var].means = n;
  EXPECT_TRUE(sizes.unify_size(n, m));
  EXPECT_TRUE(sizes.unify_size(open, sum(m, number(1))));
  EXPECT_EQ(sizes.size_text(m), "\"m\"");  // the name stays
}

TEST_F(Infer, OfTwoOpenSizesTheNewerOneIsSolved) {
  const Size older = flex(), newer = flex();
  EXPECT_TRUE(sizes.unify_size(newer, older));
  EXPECT_TRUE(vars[newer.var].solved);
  EXPECT_FALSE(vars[older.var].solved);
  EXPECT_FALSE(sizes.unify_size(older, sum(newer, number(1))));
  EXPECT_THAT(why(), HasSubstr("Occurs check"));
}

TEST_F(Infer, ASizeFromInsideIsNoSolutionForAnOuterOne) {
  const Size outer = flex();
  vars.level()++;
  const Size inner = named("k"), inner_open = flex();
  EXPECT_FALSE(sizes.unify_size(outer, inner));
  EXPECT_THAT(why(), HasSubstr("\"k\" is not in scope where it belongs"));
  EXPECT_TRUE(sizes.unify_size(outer, inner_open));  // lives outside now
  EXPECT_FALSE(sizes.unify_size(inner_open, inner));
}

TEST_F(Infer, ATypeVariableOutsideLeavesSizesFromInsideOpen) {
  const TypePtr outer = vars.new_meta();
  Frame frame{1, {}};
  Frame* before = vars.enter(&frame);
  EXPECT_FALSE(infer.unify(outer, array(named("k"))));  // but for names
  EXPECT_THAT(why(), HasSubstr("\"k\" is not in scope where it belongs"));
  EXPECT_TRUE(infer.unify(outer, array(Size::of_var(vars.new_var("d")))));
  EXPECT_EQ(vars.unsolved_flex(outer).size(), 1U);
  const VarId unknown = vars.new_unknown("size of something", {});
  EXPECT_THAT(frame.open_sizes, IsEmpty());
  vars.enter(before);
  const TypePtr other = vars.new_meta();
  vars.enter(&frame);
  EXPECT_TRUE(infer.unify(other, array(Size::of_var(unknown))));
  ASSERT_EQ(frame.open_sizes.size(), 1U);  // what the value is says nothing yet
  EXPECT_EQ(frame.open_sizes[0].of, unknown);
  vars.enter(before);
}

TEST_F(Infer, SizesThatMayDifferAreJoined) {
  const TypePtr a = array(named("n")), b = array(named("m"));
  EXPECT_FALSE(infer.unify(a, b));
  {
    const Restore branches(comparing.sizes, CompareSizes::kNone);
    EXPECT_TRUE(infer.unify(a, b));
  }
  EXPECT_EQ(text(existentials.join(a, a)), "[n]i32");
  const TypePtr joined = existentials.join(a, b);
  EXPECT_EQ(text(joined), "[d]i32");
  EXPECT_EQ(text(existentials.join(a, b)), text(joined));
  EXPECT_EQ(program.var_names.size(), 3U);  // the same size for the same pair
}

TEST_F(Infer, AnExpectedResultMayBeOfAnySize) {
  const VarId any = vars.new_var("any");
  const auto function = [&](std::vector<VarId> ext, const Size& size) {
    return core::make_type(core::TArrow{{}, false, i64, std::move(ext), array(size)});
  };
  const TypePtr existential = function({any}, Size::of_var(any)), fixed = function({}, number(3));
  EXPECT_TRUE(infer.unify(existential, fixed));
  EXPECT_FALSE(infer.unify(fixed, existential));
  const VarId other = vars.new_var("other");
  EXPECT_TRUE(infer.unify(existential, function({other}, Size::of_var(other))));
  EXPECT_FALSE(infer.unify(existential, core::make_type(core::TArrow{{}, false, i32, {}, i32})));
}

TEST_F(Infer, SizesThatEndWithTheirScopeAreHidden) {
  const Size n = named("n");
  const uint32_t start = vars.next_var();
  const Size k = named("k");
  EXPECT_EQ(text(existentials.hide(array(sum(n, number(1))), start)), "[n + 1]i32");
  EXPECT_EQ(text(existentials.hide(array(k), start)), "[k]i32");
  EXPECT_EQ(text(existentials.hide(array(sum(k, number(1))), start)), "[d]i32");
}

TEST_F(Infer, WhatNothingDeterminesTakesADefault) {
  const TypePtr number_type = vars.new_meta(kMaskNum), record = vars.new_meta();
  std::vector<core::MetaId> unsolved;
  vars.unsolved_metas(core::tuple_type({number_type, i32, number_type}), unsolved);
  EXPECT_THAT(unsolved, ElementsAre(id(number_type)));
  EXPECT_EQ(vars.zonk(number_type, Zonk::kKeep), number_type);
  EXPECT_EQ(text(vars.zonk(number_type, Zonk::kFinal)), "i32");
  const auto file = std::make_shared<const SourceFile>(SourceFile{"a.fut", ""});
  infer.field_of(record, "x", {file, {1, 1}, {1, 2}});
  EXPECT_FALSE(reports.failed());
  vars.zonk(record, Zonk::kFinal);
  EXPECT_THAT(reports.current()->message,
              HasSubstr("Type is ambiguous (must be a record with fields x)"));
}

}  // namespace
}  // namespace kenaz::check
