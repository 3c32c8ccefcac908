#include "kernels/primitives/scan/plans.h"

#include <gtest/gtest.h>

#include "kernels/kir/needs.h"
#include "kernels/primitives/plan_runner.h"

namespace kenaz::primitives {
namespace {

using kir::Builder;
using kir::Value;
using kir::Values;
using testing::Matrix;
using testing::Rows;
using testing::TestOperator;

plan::Facts scan_facts(const TestOperator& op, const Matrix& m,
                       const std::vector<PrimType>& carried) {
  plan::Facts f = m.facts("scan");
  f.op = op.facts;
  f.carried = carried;
  f.ahead = plan::Ahead{op.facts.types};
  return f;
}

Rows scan_on_host(const TestOperator& op, const Matrix& m, const Rows& rows) {
  Rows out(rows.size());
  const size_t scanned = op.facts.types.size();
  for (int64_t i = 0; i < m.segments; i++) {
    auto acc = testing::neutral_on_host(op);
    for (int64_t j = 0; j < m.length; j++) {
      const auto at = static_cast<size_t>(m.index(i, j));
      auto x = rows[at];
      const std::vector<PrimValue> carried(x.begin() + static_cast<long>(scanned), x.end());
      x.resize(scanned);
      acc = testing::combine_on_host(op, acc, x);
      out[at] = acc;
      out[at].insert(out[at].end(), carried.begin(), carried.end());
    }
  }
  return out;
}

void check_scan(const TestOperator& op, const Matrix& m, const std::vector<PrimType>& carried,
                const testing::Trial& trial, uint64_t seed) {
  SCOPED_TRACE(op.name + ", " + trial.plan->name + " on " + trial.device.name + ", " + m.text());
  Rows rows = testing::random_rows(op, m.size(), seed);
  std::vector<PrimType> types = op.facts.types;
  types.insert(types.end(), carried.begin(), carried.end());
  for (size_t i = 0; i < rows.size(); i++) {
    for (const PrimType t : carried) {
      rows[i].push_back(PrimValue::of_int(t, static_cast<int64_t>(i * 7 + 1)));
    }
  }
  testing::Session session;
  std::vector<uint64_t> in, out;
  for (size_t n = 0; n < types.size(); n++) {
    in.push_back(session.upload(rows, n, types[n]));
    out.push_back(session.reserve(m.size(), types[n]));
  }
  plan::Facts facts = scan_facts(op, m, carried);
  // Threads that take strips find that they stop only where they wait for others.
  const std::string plan = trial.plan->name;
  facts.fails = facts.fails &&
                !(m.stop_after >= 0 && m.widest > 1 && plan::has_subgroups(trial.device.target) &&
                  (plan == "at_once" || plan == "look_back"));
  const plan::Work work = trial.plan->make(facts, trial.device.target, [&](plan::Team& t) {
    Builder& k = t.k;
    session.start();
    const Values from = session.blocks(k, in), to = session.blocks(k, out);
    return plan::Problem{op.make(k), m.load(types, from), m.store(to), {}};
  });
  EXPECT_EQ(session.run(work, {m.segments, m.length}, m, trial.device, trial.options),
            m.fails.has_value());
  if (!m.completes() || ::testing::Test::HasFailure()) return;
  const Rows want = scan_on_host(op, m, rows);
  for (size_t n = 0; n < types.size(); n++) {
    const auto found = session.download(out[n], m.size(), types[n]);
    for (size_t i = 0; i < want.size(); i++) {
      ASSERT_EQ(found[i].bits, want[i][n].bits) << "element " << i << " scalar " << n;
    }
  }
}

void check_all_scans(const std::vector<TestOperator>& ops, const std::vector<Matrix>& shapes,
                     const std::vector<PrimType>& carried = {}) {
  uint64_t seed = 100;
  for (const TestOperator& op : ops) {
    for (const Matrix& m : shapes) {
      for (const auto& trial : testing::trials(scan_plans(), scan_facts(op, m, carried))) {
        if (!testing::is_right(*trial.plan, m)) continue;
        check_scan(op, m, carried, trial, seed++);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TestOperator add_i32() { return testing::known_test_operator(ScalarOp::kAdd, PrimType::kI32); }

TEST(ScanPlans, OneSegmentOfAnyLength) {
  check_all_scans(
      {add_i32(), testing::affine_maps()},
      {{1, 0}, {1, 1}, {1, 7}, {1, 8}, {1, 9}, {1, 16}, {1, 63}, {1, 128}, {1, 129}, {1, 777}});
}

TEST(ScanPlans, OneSegmentAsFoundAtRunTime) {
  std::vector<Matrix> shapes = {{1, 0}, {1, 1}, {1, 128}, {1, 129}, {1, 777}, {1, 300, true}};
  for (Matrix& m : shapes) m.asked = true;
  check_all_scans({add_i32(), testing::affine_maps()}, shapes);
}

TEST(ScanPlans, VectorsOfNeighbours) {
  check_all_scans({add_i32(), testing::affine_maps()}, {{1, 1, false, 4},
                                                        {1, 515, false, 4},
                                                        {5, 0, false, 4},
                                                        {5, 64, false, 2},
                                                        {67, 12, false, 4},
                                                        {9, 100, false, 4}});
}

TEST(ScanPlans, SeveralSegments) {
  check_all_scans({add_i32(), testing::affine_maps()},
                  {{0, 5}, {3, 0}, {2, 1}, {67, 3}, {17, 8}, {9, 33}, {3, 200}});
}

TEST(ScanPlans, Columns) {
  check_all_scans({add_i32()}, {{40, 0, true}, {33, 1, true}, {70, 9, true}, {3, 100, true}});
  check_all_scans({testing::affine_maps()}, {{40, 16, true}, {130, 35, true}});
}

TEST(ScanPlans, ElementsThatFail) {
  Matrix row{1, 300}, rows{5, 40};
  row.fails = {kir::i64(0), kir::i64(0)};
  rows.fails = {kir::i64(2), kir::i64(33)};
  check_all_scans({add_i32(), testing::affine_maps()}, {row, rows});
}

TEST(ScanPlans, CallsThatTheHostStops) {
  for (const int64_t steps : {0, 300, 2000, 9000}) {
    Matrix row{1, 300}, rows{5, 40}, vectors{1, 515, false, 4};
    row.stop_after = rows.stop_after = vectors.stop_after = steps;
    check_all_scans({testing::affine_maps()}, {row, rows});
    check_all_scans({add_i32()}, {vectors});
  }
}

TEST(ScanPlans, EveryOperator) { testing::check_every_scan(); }

// As large as they are on devices, where tests take smaller ones.
TEST(ScanPlans, TilesHaveRoomForAllThatIsShared) {
  program::Target target = testing::made_up_devices()[3].target;
  target.max_group_size = std::max(target.max_group_size, 256);
  for (const int bytes : {16128, 32512, 48896}) {
    target.shared_bytes = bytes;
    for (const PrimType type : {PrimType::kI32, PrimType::kI64}) {
      const TestOperator op = testing::known_test_operator(ScalarOp::kAdd, type);
      const Matrix m{6, 37};
      plan::Facts f = scan_facts(op, m, {});
      f.group_size = 0;
      f.items = 0;
      f.segments = plan::HostExpr::size(0);
      for (const plan::Plan& plan : scan_plans()) {
        if (!plan.applies(f, target)) continue;
        const plan::Work work = plan.make(f, target, [&](plan::Team& t) {
          const Values base(f.op.types.size(), t.k.block_arg("data"));
          return plan::Problem{op.make(t.k), m.load(f.op.types, base), m.store(base), {}};
        });
        std::vector<PrimValue> specs;
        for (const auto& spec : work.specs) specs.push_back(PrimValue::i32(spec.fallback));
        for (const auto& step : work.steps) {
          EXPECT_EQ(kir::unmet(kir::needs_of(step.kernel, specs), target), std::nullopt)
              << plan.name << ", " << bytes << " bytes, " << prim_size(type);
        }
      }
    }
  }
}

TEST(ScanPlans, ScalarsAreCarriedThrough) {
  check_all_scans({add_i32(), testing::matrices()}, {{1, 150}, {6, 37}, {1, 301, false, 4}},
                  {PrimType::kU16, PrimType::kI64});
}

// What it would gather again it takes by one tile after the other.
TEST(ScanPlans, ElementsThatGatherAreMadeOnce) {
  const testing::Device device = testing::made_up_devices()[3];
  const Matrix m{1, 1 << 20};
  const auto groups = [&](bool gathers) {
    const TestOperator op = testing::affine_maps();
    plan::Facts f = scan_facts(op, m, {});
    f.gathers = gathers;
    for (const plan::Plan& plan : scan_plans()) {
      if (std::string(plan.name) != "look_back") continue;
      const plan::Work work = plan.make(f, device.target, [&](plan::Team& t) {
        const Values base(f.op.types.size(), t.k.block_arg("data"));
        return plan::Problem{op.make(t.k), m.load(f.op.types, base), m.store(base), {}};
      });
      const int64_t sizes[] = {1, m.length}, specs[] = {64};
      return work.steps[0].groups.evaluate(sizes, specs);
    }
    return int64_t{0};
  };
  EXPECT_GT(groups(true), groups(false));
}

TEST(ScanPlans, ThePlanFollowsTheSizesAndTheTarget) {
  program::Target target = testing::made_up_devices()[3].target;
  target.threads = 1 << 16;
  const auto name_for = [&](int64_t segments, int64_t length, bool across = false,
                            bool asked = false) {
    Matrix m{segments, length, across};
    m.asked = asked;
    const plan::Facts f = scan_facts(add_i32(), m, {});
    const int64_t sizes[] = {segments, length}, specs[] = {256};
    for (const auto& c : plan::choose(scan_plans(), f, target)) {
      if (c.when.evaluate(sizes, specs) != 0) return std::string(c.plan->name);
    }
    return std::string();
  };
  EXPECT_EQ(name_for(1, 1000), "group");
  EXPECT_EQ(name_for(1, 100'000), "at_once");
  EXPECT_EQ(name_for(1, 1 << 20), "look_back");
  EXPECT_EQ(name_for(1 << 20, 4), "thread");
  EXPECT_EQ(name_for(1 << 20, 20), "subgroup");
  EXPECT_EQ(name_for(1 << 14, 1000), "subgroup");
  EXPECT_EQ(name_for(100, 1000), "group");
  EXPECT_EQ(name_for(1 << 14, 1 << 14), "group");
  EXPECT_EQ(name_for(8, 1 << 20), "row_tiles");
  EXPECT_EQ(name_for(100, 100'000), "row_tiles");
  EXPECT_EQ(name_for(20, 1 << 20), "reduce_then_scan");
  EXPECT_EQ(name_for(1 << 15, 1 << 10, true), "columns");
  EXPECT_EQ(name_for(1 << 15, 12, true), "thread");
  EXPECT_EQ(name_for(1, 1 << 20, false, true), "one");
  EXPECT_EQ(name_for(1, 1000, false, true), "group");
  EXPECT_EQ(name_for(0, 1 << 20, false, true), "at_once");
  target.forward_progress = false;
  EXPECT_EQ(name_for(1, 1 << 20), "reduce_then_scan");
  target.reads_ahead = true;
  EXPECT_EQ(name_for(1, 100), "group");
  EXPECT_EQ(name_for(1, 1 << 20), "ahead");
  EXPECT_EQ(name_for(8, 1 << 20), "reduce_then_scan");
}

}  // namespace

void testing::check_every_scan() { check_all_scans(test_operators(), {{1, 150}, {6, 37}}); }

}  // namespace kenaz::primitives
