#include "kernels/primitives/pack/plans.h"

#include <gtest/gtest.h>

#include "kernels/kir/needs.h"
#include "kernels/primitives/plan_runner.h"

namespace kenaz::primitives {
namespace {

using kir::Builder;
using kir::Values;
using testing::Matrix;
using testing::Rows;

const std::vector<PrimType> kTypes{PrimType::kI32, PrimType::kU8, PrimType::kI64};

struct Classes {
  int counted;
  bool rest;
};

plan::Facts pack_facts(const Matrix& m, const Classes& classes) {
  plan::Facts f = m.facts("pack");
  f.carried = {kTypes.begin() + 1, kTypes.end()};
  f.fails = false;  // no element stops its thread
  if (m.widest > 1) f.read_bytes = 4 + 1 + 8;
  f.classes = classes.counted;
  f.rest = classes.rest;
  return f;
}

// From -1 to one class too many: both are of the rest.
Rows rows_of(const Matrix& m, const Classes& classes, uint64_t seed) {
  Rows rows;
  for (int64_t i = 0; i < m.length; i++) {
    const auto r = (static_cast<uint64_t>(i) * 2654435761u + seed * 97) % 1009;
    const auto cls = static_cast<int32_t>(r % static_cast<uint64_t>(classes.counted + 2)) - 1;
    rows.push_back({PrimValue::i32(cls), PrimValue::of_int(PrimType::kU8, i), PrimValue::i64(i)});
  }
  return rows;
}

Rows pack_on_host(const Classes& classes, const Rows& rows, std::vector<int64_t>& counts) {
  std::vector<Rows> by_class(static_cast<size_t>(classes.counted) + 1);
  for (const auto& row : rows) {
    const auto cls = static_cast<size_t>(row[0].as_i64());
    by_class[std::min(cls, by_class.size() - 1)].push_back(row);
  }
  if (!classes.rest) by_class.back().clear();
  Rows out;
  for (const Rows& some : by_class) {
    counts.push_back(static_cast<int64_t>(some.size()));
    out.insert(out.end(), some.begin(), some.end());
  }
  counts.pop_back();
  return out;
}

void check_pack(const Matrix& m, const Classes& classes, const testing::Trial& trial,
                uint64_t seed) {
  SCOPED_TRACE(std::string(trial.plan->name) + " on " + trial.device.name + ", " + m.text() +
               ", classes " + std::to_string(classes.counted) + (classes.rest ? " and rest" : ""));
  const Rows rows = rows_of(m, classes, seed);
  testing::Session session;
  std::vector<uint64_t> in, out;
  for (size_t n = 0; n < kTypes.size(); n++) in.push_back(session.upload(rows, n, kTypes[n]));
  for (size_t n = 1; n < kTypes.size(); n++) out.push_back(session.reserve(m.length, kTypes[n]));
  out.push_back(session.reserve(classes.counted, PrimType::kI64));
  const plan::Facts facts = pack_facts(m, classes);
  const plan::Work work = trial.plan->make(facts, trial.device.target, [&](plan::Team& t) {
    Builder& k = t.k;
    session.start();
    const Values from = session.blocks(k, in), to = session.blocks(k, out);
    plan::Problem p;
    p.elements = m.load(kTypes, from);
    p.sink.put = [=](Builder& b, const plan::Place& at, const Values& x) {
      for (size_t n = 0; n < x.size(); n++) b.store(to[n], at.position, x[n]);
    };
    p.counts = [=](Builder& b, const Values& counts) {
      for (size_t c = 0; c < counts.size(); c++) {
        b.store(to.back(), kir::i64(static_cast<int64_t>(c)), counts[c]);
      }
    };
    return p;
  });
  EXPECT_FALSE(session.run(work, {1, m.length}, m, trial.device, trial.options));
  if (!m.completes() || ::testing::Test::HasFailure()) return;
  std::vector<int64_t> counts;
  const Rows want = pack_on_host(classes, rows, counts);
  const auto found_counts = session.download(out.back(), classes.counted, PrimType::kI64);
  for (size_t c = 0; c < counts.size(); c++) ASSERT_EQ(found_counts[c].as_i64(), counts[c]);
  for (size_t n = 1; n < kTypes.size(); n++) {
    const auto found = session.download(out[n - 1], static_cast<int64_t>(want.size()), kTypes[n]);
    for (size_t i = 0; i < want.size(); i++) ASSERT_EQ(found[i], want[i][n]);
  }
}

constexpr Classes kFilter{1, false}, kPartition{1, true}, kPartition2{2, true};

void check_all_packings(const std::vector<Classes>& classes, const std::vector<Matrix>& shapes) {
  uint64_t seed = 7;
  for (const Classes& c : classes) {
    for (const Matrix& m : shapes) {
      for (const auto& trial : testing::trials(pack_plans(), pack_facts(m, c))) {
        check_pack(m, c, trial, seed++);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(PackPlans, AnyNumberOfElementsAndClasses) {
  check_all_packings({kFilter, kPartition, {2, false}, kPartition2},
                     {{1, 0}, {1, 1}, {1, 7}, {1, 8}, {1, 9}, {1, 64}, {1, 129}, {1, 260}});
}

TEST(PackPlans, VectorsOfNeighbours) {
  check_all_packings(
      {kFilter, kPartition2},
      {{1, 1, false, 4}, {1, 128, false, 4}, {1, 515, false, 4}, {1, 260, false, 2}});
  // Several rows of the tiles of "one_pass".
  check_all_packings({kFilter}, {{1, 9001, false, 4}});
}

// A packing of elements that come from nowhere and go nowhere.
plan::Problem nothing_of(const plan::Facts& f) {
  Values none = {kir::i32(0)};
  for (const PrimType type : f.carried) none.push_back(PrimValue{type, 0});
  plan::Problem problem;
  problem.elements.at = [none](Builder&, const plan::Place&) { return none; };
  problem.elements.many = [none](Builder&, const plan::Place&, int n) {
    return std::vector(static_cast<size_t>(n), none);
  };
  problem.sink.put = [](Builder&, const plan::Place&, const Values&) {};
  problem.counts = [](Builder&, const Values&) {};
  return problem;
}

void check_needs(const plan::Plan& p, const plan::Facts& f, const program::Target& target) {
  if (!p.applies(f, target)) return;
  const plan::Work work = p.make(f, target, [&](plan::Team&) { return nothing_of(f); });
  const std::vector<PrimValue> specs = {PrimValue::i32(static_cast<int>(work.specs[0].fallback))};
  for (const plan::Step& step : work.steps) {
    EXPECT_EQ(kir::unmet(kir::needs_of(step.kernel, specs), target), std::nullopt) << p.name;
  }
}

// Whatever elements carry, kernels of as many threads as the plans want have room for a tile.
TEST(PackPlans, SharedMemoryHasRoomForTiles) {
  for (int bytes = 1; bytes <= 66; bytes++) {
    plan::Facts f = pack_facts({1, 1000, false, 4}, kFilter);
    f.items = 0;
    f.carried = std::vector(static_cast<size_t>(bytes / 4), PrimType::kI32);
    f.carried.resize(f.carried.size() + static_cast<size_t>(bytes % 4), PrimType::kU8);
    f.read_bytes = bytes;
    for (const testing::Device& d : testing::made_up_devices()) {
      SCOPED_TRACE(d.name + ", " + std::to_string(bytes) + " bytes");
      for (const plan::Plan& p : pack_plans()) check_needs(p, f, d.target);
    }
  }
}

TEST(PackPlans, CallsThatTheHostStops) {
  for (const int64_t steps : {0, 300, 2000, 9000}) {
    Matrix row{1, 300};
    row.stop_after = steps;
    check_all_packings({kFilter, kPartition2}, {row});
    row.widest = 4;
    check_all_packings({kFilter}, {row});
  }
}

TEST(PackPlans, ThePlanFollowsTheSize) {
  program::Target target = testing::made_up_devices()[4].target;
  const auto name_for = [&](int64_t length, const Classes& classes, int widest = 1) {
    const int64_t sizes[] = {1, length}, specs[] = {256};
    const plan::Facts facts = pack_facts({1, length, false, widest}, classes);
    for (const auto& c : plan::choose(pack_plans(), facts, target)) {
      if (c.when.evaluate(sizes, specs) != 0) return std::string(c.plan->name);
    }
    return std::string();
  };
  EXPECT_EQ(name_for(1000, kFilter), "group");
  EXPECT_EQ(name_for(1 << 20, kFilter), "count_then_place");
  EXPECT_EQ(name_for(1000, kFilter, 4), "group");
  EXPECT_EQ(name_for(1 << 20, kFilter, 4), "one_pass");
  EXPECT_EQ(name_for(1 << 20, kPartition, 4), "count_then_place");
  target.fixed_subgroups = false;
  EXPECT_EQ(name_for(1 << 20, kFilter, 4), "count_then_place");
}

}  // namespace

void testing::check_every_packing() {
  check_all_packings({kFilter, kPartition2}, {{1, 0}, {1, 260}});
}

}  // namespace kenaz::primitives
