#include "server/programs/programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testdata/echo_engine.h"

namespace kenaz {
namespace {

using testing::ElementsAre;

/// With one more type, which tells versions apart.
class TypedEngine : public EchoEngine {
 public:
  explicit TypedEngine(LeafType number, std::shared_ptr<int> life = nullptr)
      : table_(EchoEngine::types()), life_(std::move(life)) {
    table_["number"] = {
        "number", TypeKind::kRecord, {number}, 0, "", {{"n", std::string(prim_name(number.prim))}},
        {}};
  }
  const TypeTable& types() const override { return table_; }

 private:
  TypeTable table_;
  std::shared_ptr<int> life_;
};

const LeafType kIntLeaf{PrimType::kI32, 0}, kFloatLeaf{PrimType::kF32, 0};

LoadedProgram made_program(const std::string& name, LeafType number = kIntLeaf,
                           std::shared_ptr<int> life = nullptr) {
  return loaded_program(name, name + ".fut", "1",
                        std::make_unique<TypedEngine>(number, std::move(life)));
}

std::vector<std::string> names_of(const Programs& programs) {
  std::vector<std::string> all;
  for (const auto& p : programs.all()) all.push_back(p->name);
  return all;
}

TEST(Programs, AreServedByName) {
  Programs programs;
  programs.put(made_program("b"));
  programs.put(made_program("a"));
  EXPECT_THAT(names_of(programs), ElementsAre("a", "b"));
  EXPECT_EQ(programs.find("b")->path, "b.fut");
  EXPECT_EQ(programs.find("c"), nullptr);
  EXPECT_NE(programs.new_owner(), programs.new_owner());
}

TEST(Programs, WithoutAChoiceTheFirstIsMeant) {
  Programs programs;
  programs.put(made_program("b"));
  programs.put(made_program("a"));
  EXPECT_EQ(programs.preferred(), "a");
  programs.set_preferred("b");
  EXPECT_EQ(programs.preferred(), "b");
  EXPECT_TRUE(programs.remove("b"));
  EXPECT_EQ(programs.preferred(), "a");
}

TEST(Programs, TheLastOneStays) {
  Programs programs;
  programs.put(made_program("a"));
  EXPECT_FALSE(programs.remove("a"));
  EXPECT_NE(programs.find("a"), nullptr);
  EXPECT_FALSE(programs.free_later());
}

TEST(Programs, WhatIsReplacedLivesAsLongAsSomebodyHasIt) {
  Programs programs;
  const auto life = std::make_shared<int>();
  programs.put(made_program("a", kIntLeaf, life));
  ProgramPtr old = programs.find("a");
  programs.put(made_program("a"));
  EXPECT_NE(programs.find("a"), old);
  programs.free_unused();
  EXPECT_EQ(life.use_count(), 2);
  EXPECT_TRUE(programs.free_later());
  old.reset();
  EXPECT_EQ(life.use_count(), 2);  // it goes where programs are freed
  programs.free_unused();
  EXPECT_EQ(life.use_count(), 1);
  EXPECT_FALSE(programs.free_later());
}

TEST(Programs, VersionsOfTheSameTypesShareTheirTable) {
  Programs programs;
  programs.put(made_program("a"));
  const TypesPtr first = programs.find("a")->types;
  programs.put(made_program("a"));
  EXPECT_EQ(programs.find("a")->types, first);
  programs.put(made_program("a", kFloatLeaf));
  EXPECT_NE(programs.find("a")->types, first);
}

}  // namespace
}  // namespace kenaz
