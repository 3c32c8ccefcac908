#include "kernels/plan/host_expr.h"

#include <gtest/gtest.h>

#include <limits>

namespace kenaz::plan {
namespace {

TEST(HostExpr, ItsValueIsThatOfItsSizesAndSpecs) {
  const HostExpr n = HostExpr::size(1), group = HostExpr::spec(0);
  const HostExpr tiles = div_up(n, group * 4);
  const int64_t sizes[] = {7, 1000}, specs[] = {64};
  EXPECT_EQ(tiles.evaluate(sizes, specs), 4);
  EXPECT_EQ(and_(lt(3, n), le(n, 1000)).evaluate(sizes, specs), 1);
  EXPECT_EQ(or_(lt(n, 3), le(n, 999)).evaluate(sizes, specs), 0);
}

TEST(HostExpr, ConstantsAreFolded) {
  EXPECT_TRUE((HostExpr(3) + 4 * HostExpr(5)).is(23));
  EXPECT_TRUE(lt(3, 4).is_true());
  EXPECT_TRUE(and_(lt(HostExpr::size(0), 4), HostExpr::boolean(false)).is_false());
  EXPECT_FALSE(max(HostExpr::size(0), 1).is_const());
}

TEST(HostExpr, DivisionRoundsUpFromZeroToTheGreatestNumber) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE(div_up(0, 8).is(0));
  EXPECT_TRUE(div_up(1, 8).is(1));
  EXPECT_TRUE(div_up(8, 8).is(1));
  EXPECT_TRUE(div_up(9, 8).is(2));
  EXPECT_TRUE(div_up(kMax, 8).is((kMax >> 3) + 1));
}

}  // namespace
}  // namespace kenaz::plan
