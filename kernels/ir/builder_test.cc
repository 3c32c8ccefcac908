#include "kernels/ir/builder.h"

#include <gtest/gtest.h>

#include "kernels/ir/print.h"
#include "kernels/ir/validate.h"

namespace kenaz::ir {
namespace {

const Type kI32Scalar{PrimType::kI32, {}};

Monoid addition(Builder& b) {
  Monoid m;
  m.op = b.lambda({kI32Scalar, kI32Scalar},
                  [](Builder& in, const std::vector<VarId>& p) -> std::vector<Atom> {
                    return {in.add(p[0], p[1])};
                  });
  m.neutral = {PrimValue::of_int(PrimType::kI32, 0)};
  m.commutative = true;
  return m;
}

TEST(Builder, SegmentedOperationsHaveTheTypesOfTheirResults) {
  Program p;
  p.stage = Stage::kSeg;
  Function f;
  f.name = "main";
  const VarId n = p.new_var({PrimType::kI64, {}}, "n"), h = p.new_var({PrimType::kI32, {n}}, "h");
  f.params = {n, h};
  f.consumed = {false, true};
  Builder b(p, f.body);
  const auto map = b.seg_map({n, i64(3)}, [&](Builder& in, const std::vector<VarId>& i) {
    return std::vector<Atom>{in.add(i[0], i[1]), in.replicate({i64(2)}, i[0])};
  });
  EXPECT_EQ(p.type_of(map[0]), (Type{PrimType::kI64, {n, i64(3)}}));
  EXPECT_EQ(p.type_of(map[1]), (Type{PrimType::kI64, {n, i64(3), i64(2)}}));

  ESeg reduce;
  reduce.kind = SegKind::kReduce;
  reduce.space = b.space({n, n});
  reduce.monoids = {{addition(b), {i64(4)}}};
  reduce.writes = {{{h}, 1, 0, std::nullopt}};
  const auto made = b.seg(std::move(reduce), [&](Builder& in, const std::vector<VarId>& i) {
    const Atom one = PrimValue::of_int(PrimType::kI32, 1);
    return std::vector<Atom>{in.replicate({i64(4)}, one), i[1], one, i[0]};
  });
  EXPECT_EQ(p.type_of(made[0]), (Type{PrimType::kI32, {n, i64(4)}}));  // reduced
  EXPECT_EQ(p.type_of(made[1]), (Type{PrimType::kI32, {n}}));          // written to
  EXPECT_EQ(p.type_of(made[2]), (Type{PrimType::kI64, {n, n}}));       // plain

  for (const VarId v : made) {
    f.body.results.emplace_back(v);
    f.ret.push_back(p.type_of(v));
  }
  p.functions.push_back(std::move(f));
  const auto valid = validate(p);
  EXPECT_TRUE(valid) << valid.error().text() << print(p);
}

}  // namespace
}  // namespace kenaz::ir
