#include "server/workers/signature.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/program/serialise.h"
#include "server/testdata/echo_engine.h"

namespace kenaz {
namespace {

std::string changed(const std::function<void(program::Program&)>& change) {
  const std::string bytes = write_signature(EchoEngine());
  auto program = program::deserialise(std::as_bytes(std::span(bytes)));
  EXPECT_TRUE(program);
  change(*program);
  const auto out = program::serialise(*program);
  const auto read = read_signature({reinterpret_cast<const char*>(out.data()), out.size()});
  return read ? "" : read.error().text();
}

TEST(Signature, ComesBackAsItWas) {
  const EchoEngine engine;
  const auto read = read_signature(write_signature(engine));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_TRUE(same_types({"", read->types}, {"", engine.types()}));
  ASSERT_EQ(read->entries.size(), engine.entries().size());
  for (size_t i = 0; i < read->entries.size(); ++i) {
    const auto &a = read->entries[i], &b = engine.entries()[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.result, b.result);
    EXPECT_EQ(a.attrs, b.attrs);
    ASSERT_EQ(a.params.size(), b.params.size());
    for (size_t k = 0; k < a.params.size(); ++k) {
      EXPECT_EQ(a.params[k].type, b.params[k].type);
      EXPECT_EQ(a.params[k].consumed, b.params[k].consumed);
      EXPECT_EQ(a.params[k].leaves, b.params[k].leaves);
    }
  }
}

TEST(Signature, RefusesTypesThatDoNotFitTogether) {
  using program::Program;
  const std::function<void(Program&)> kChanges[] = {
      [](Program& p) { p.types.erase("i32"); },
      [](Program& p) { p.types["i32"].leaves[0].prim = PrimType::kF64; },
      [](Program& p) { p.types["[]i32"].name = "[]i64"; },
      [](Program& p) { p.types["[]i32"].rank = 2; },
      [](Program& p) { p.types["[]i32"].rank = -1; },
      [](Program& p) { p.types["[]i32"].elemtype = "nosuch"; },
      [](Program& p) { p.types["[]i32"].elemtype = "[]i32"; },
      [](Program& p) { p.types["(i32, bool)"].leaves.pop_back(); },
      [](Program& p) { p.types["(i32, bool)"].fields.pop_back(); },
      [](Program& p) { p.types["(i32, bool)"].fields[1].type = "(i32, bool)"; },
      [](Program& p) { p.types["(i32, bool)"].fields[0].name = "a\n%%% OK"; },
      [](Program& p) { p.types["[](i32, bool)"].leaves[1].prim = PrimType::kI8; },
      [](Program& p) { p.types["sum"].variants.clear(); },
      [](Program& p) { p.types["sum"].leaves[0].prim = PrimType::kI16; },
      [](Program& p) { p.types["sum"].variants[1].payload_leaves[0] = {3}; },
      [](Program& p) { p.types["sum"].variants[1].payload_leaves[0] = {-1}; },
      [](Program& p) { p.types["sum"].variants[1].payload_leaves[0] = {1}; },
      [](Program& p) { p.types["sum"].variants[1].payload_leaves.pop_back(); },
      [](Program& p) { p.types["sum"].variants[1].payload[0] = "sum"; },
  };
  EXPECT_EQ(changed([](Program&) {}), "");
  for (const auto& change : kChanges) {
    EXPECT_NE(changed(change), "") << &change - kChanges;
  }
}

TEST(Signature, RefusesTypesOfTypesWithoutEnd) {
  EXPECT_NE(changed([](program::Program& p) {
              const auto record = [&](const std::string& name, const std::string& of) {
                p.types[name] = {name, TypeKind::kRecord, {}, 0, "", {{"0", of}}, {}};
              };
              record("a", "b");
              record("b", "a");
            }),
            "");
}

TEST(Signature, RefusesEntryPointsThatCannotBeSpokenOf) {
  using program::Program;
  const std::function<void(Program&)> kChanges[] = {
      [](Program& p) { p.entries["id"].name = "other"; },
      [](Program& p) { p.entries["id"].result_type = "nosuch"; },
      [](Program& p) { p.entries["id"].params[0].type = "nosuch"; },
      [](Program& p) { p.entries["id"].params[0].name = "\n"; },
      [](Program& p) { p.entries["id"].attrs = {"a\nb"}; },
      [](Program& p) { p.entries["id"].doc = "\x1b"; },
      [](Program& p) { p.entries["id"].tuning = {1000}; },
      [](Program& p) { p.entries["a\n%%% OK"] = p.entries["id"]; },
  };
  for (const auto& change : kChanges) EXPECT_NE(changed(change), "") << &change - kChanges;
}

TEST(Signature, RefusesAnyOtherBytes) {
  const std::string good = write_signature(EchoEngine());
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(read_signature(good.substr(0, n))) << n;
}

}  // namespace
}  // namespace kenaz
