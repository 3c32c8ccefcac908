#include "client/bench/table.h"

#include <gtest/gtest.h>

namespace kenaz::bench {
namespace {

TEST(BenchTable, RatesAndTheirKind) {
  Table table({"f a", "f bb"}, 4000);
  EXPECT_EQ(table.header(),
            "           median      least       most    runs     device     GB/s  of copy\n");
  Dataset d;
  d.name = "a";
  d.runtimes = {90, 100, 130};
  EXPECT_EQ(table.row("f a", d),
            "  f a      100 us      90 us     130 us       3          -        -        -\n");
  EXPECT_EQ(table.notes(), "");
  d.figures = {0, 0, 300000};  // 300,000 bytes in 100 us
  EXPECT_EQ(table.row("f a", d),
            "  f a      100 us      90 us     130 us       3          -    3.00*        -\n");
  EXPECT_EQ(table.notes(), "* arguments and results, by the time of the call\n");
  d.figures = {50, 100000, 300000};  // 100,000 bytes in 50 us: 2 GB/s, of 4
  EXPECT_EQ(table.row("f a", d),
            "  f a      100 us      90 us     130 us       3      50 us     2.00    50.0%\n");
  EXPECT_NE(table.notes().find("kernels read and write"), std::string::npos);
  d.settled = false;
  EXPECT_NE(table.row("f a", d).find(" 3! "), std::string::npos);
  EXPECT_NE(table.notes().find("! run times that had not settled\n"), std::string::npos);
  d.error = "no";
  EXPECT_EQ(table.row("f bb", d), "  f bb no\n");
}

}  // namespace
}  // namespace kenaz::bench
