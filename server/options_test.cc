#include "server/options.h"

#include <gtest/gtest.h>

namespace kenaz {
namespace {

std::variant<Options, int> parse(std::vector<const char*> args) {
  args.insert(args.begin(), "kenaz-server");
  return parse_options(static_cast<int>(args.size()), args.data());
}

TEST(Options, LongNamesMayBeAbbreviated) {
  const auto parsed = parse({"a.fut", "--ref", "--dev=#1", "--cache", "c", "-L"});
  const auto* o = std::get_if<Options>(&parsed);
  ASSERT_NE(o, nullptr);
  EXPECT_EQ(o->program, "a.fut");
  EXPECT_TRUE(o->reference && o->log && !o->profile);
  EXPECT_EQ(o->device, "#1");
  EXPECT_EQ(o->cache_file, "c");
}

TEST(Options, BadOnesEndWithStatusOne) {
  EXPECT_EQ(std::get<int>(parse({"a.fut", "--p"})), 1);  // --param, --profile, --print-params
  EXPECT_EQ(std::get<int>(parse({"a.fut", "--nosuch"})), 1);
  EXPECT_EQ(std::get<int>(parse({"a.fut", "b.fut"})), 1);
  EXPECT_EQ(std::get<int>(parse({})), 1);
  EXPECT_EQ(std::get<int>(parse({"a.fut", "--dump", "x"})), 1);
  EXPECT_EQ(std::get<int>(parse({"a.fut", "--socket-mode", "0888"})), 1);
  EXPECT_EQ(std::get<int>(parse({"a.fut", "--socket-mode", "1777"})), 1);
  EXPECT_EQ(std::get<int>(parse({"--help"})), 0);
  EXPECT_EQ(std::get<int>(parse({"--version"})), 0);
}

TEST(Options, ModesAreOctal) {
  const auto parsed = parse({"a.fut", "--socket-mode", "660"});
  ASSERT_TRUE(std::holds_alternative<Options>(parsed));
  EXPECT_EQ(mode_bits(std::get<Options>(parsed).socket_mode), 0660u);
}

TEST(Tuning, NamesLines) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(*tuning_names("\n  -- x\n"), Names{});
  EXPECT_EQ(*tuning_names("-- x\na=1\nmain.b_2=-7\n"), (Names{"a", "main.b_2"}));
  EXPECT_EQ(tuning_names("a=1x").error().text(), "Invalid line 1 (must be NAME=INT).");
}

}  // namespace
}  // namespace kenaz
