// Which of tests/programs/sorting are recognised. What they compute is compared there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "kernels/compiler/test_programs.h"
#include "kernels/ir/visit.h"

namespace kenaz {
namespace {

using testing::UnorderedElementsAre;

/// The partitions and sorts of each entry point, and the loops that they stand in.
void count(const ir::Body& b, std::string& out) {
  for (const ir::Stm& s : b.stms) {
    if (std::holds_alternative<ir::EPack>(s.exp)) out += "pack ";
    if (std::holds_alternative<ir::ESort>(s.exp)) out += "sort ";
    if (std::holds_alternative<ir::ELoop>(s.exp)) out += "loop ";
    ir::visit_bodies(s.exp, [&](const ir::Body& inner) { count(inner, out); });
  }
}
std::map<std::string, std::string> recognised(const std::string& name) {
  std::ifstream file(std::string(KENAZ_SOURCE_DIR) + "/tests/programs/sorting/" + name);
  std::stringstream text;
  text << file.rdbuf();
  const auto program = compiler::testing::optimised(text.str());
  EXPECT_TRUE(program) << program.error().text();
  std::map<std::string, std::string> out;
  if (!program) return out;
  for (const ir::Function& f : program->ir.functions) count(f.body, out[f.name]);
  return out;
}

TEST(Partitions, SumsOfFlagsAndAScatterAreRecognised) {
  EXPECT_THAT(recognised("partitions.fut"),
              UnorderedElementsAre(
                  std::pair("by_bit", "pack "), std::pair("by_truth", "pack "),
                  std::pair("by_complement", "pack "), std::pair("by_number_before", "pack "),
                  std::pair("by_number", "pack "), std::pair("by_reduction", "pack "),
                  std::pair("with_rows", "pack "), std::pair("of_none", "pack "),
                  std::pair("by_digit", "sort "), std::pair("one_bit_each", "sort "),
                  std::pair("two_bits_each", "sort "), std::pair("pairs_of_bits", "sort "),
                  std::pair("of_halves", "sort "), std::pair("of_low_bits", "sort "),
                  std::pair("of_signed", "sort "), std::pair("with_values", "sort ")));
}

TEST(Partitions, WhatOnlyLooksLikeOneStaysAsItIsWritten) {
  EXPECT_THAT(
      recognised("near_misses.fut"),
      UnorderedElementsAre(
          std::pair("all_from_the_start", ""), std::pair("without_one", ""),
          std::pair("reversed", ""), std::pair("of_other_counts", ""),
          std::pair("by_two_conditions", ""), std::pair("of_more", ""),
          std::pair("from_the_highest", "sort "), std::pair("with_a_gap", "sort "),
          std::pair("with_an_overlap", "sort "), std::pair("one_turn_less", "sort "),
          std::pair("by_what_changes", "loop pack "), std::pair("then_written_to", "pack ")));
}

TEST(Partitions, LoopsThatInvertBitsSort) {
  EXPECT_THAT(
      recognised("signed.fut"),
      UnorderedElementsAre(std::pair("ints", "sort "), std::pair("floats", "sort "),
                           std::pair("doubles", "sort "), std::pair("positions", "sort "),
                           std::pair("descending", "sort "), std::pair("by_two_keys", "sort "),
                           std::pair("by_a_bit_of_itself", "sort ")));
}

TEST(Partitions, LoopsInMapsSort) {
  EXPECT_THAT(
      recognised("rows.fut"),
      UnorderedElementsAre(std::pair("u32s", "sort "), std::pair("u64s", "sort "),
                           std::pair("bytes", "sort "), std::pair("pairs", "sort "),
                           std::pair("blocks", "sort "), std::pair("in_turns", "loop sort "),
                           std::pair("greatest", "sort ")));
}

}  // namespace
}  // namespace kenaz
