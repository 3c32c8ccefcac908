#include "kernels/primitives/reduce/plans.h"

#include <gtest/gtest.h>

#include "kernels/primitives/plan_runner.h"

namespace kenaz::primitives {
namespace {

using kir::Builder;
using kir::Values;
using testing::Matrix;
using testing::TestOperator;

plan::Facts reduce_facts(const TestOperator& op, const Matrix& m) {
  plan::Facts f = m.facts("reduce");
  f.op = op.facts;
  return f;
}

void check(const TestOperator& op, const Matrix& m, const testing::Trial& trial, uint64_t seed) {
  SCOPED_TRACE(op.name + ", " + trial.plan->name + " on " + trial.device.name + ", " + m.text());
  const auto rows = testing::random_rows(op, m.size(), seed);
  testing::Session session;
  std::vector<uint64_t> in, out;
  for (size_t n = 0; n < op.facts.types.size(); n++) {
    in.push_back(session.upload(rows, n, op.facts.types[n]));
    out.push_back(session.reserve(m.segments, op.facts.types[n]));
  }
  const plan::Facts facts = reduce_facts(op, m);
  const plan::Work work = trial.plan->make(facts, trial.device.target, [&](plan::Team& t) {
    Builder& k = t.k;
    session.start();
    const Values from = session.blocks(k, in), to = session.blocks(k, out);
    plan::Problem p;
    p.op = op.make(k);
    p.elements = m.load(op.facts.types, from);
    if (t.by_grid) {
      p.elements.at = [=, of = p.elements.at](Builder& b, const plan::Place& at) {
        const kir::Value row = b.add(b.mul(at.segment, m.rows), at.row);
        return of(b, {b.add(b.mul(row, m.columns), at.column), at.position});
      };
    }
    p.sink.put = [to](Builder& b, const plan::Place& at, const Values& x) {
      for (size_t n = 0; n < to.size(); n++) b.store(to[n], at.segment, x[n]);
    };
    return p;
  });
  EXPECT_EQ(session.run(work, {m.segments, m.length}, m, trial.device, trial.options),
            m.fails.has_value());
  if (!m.completes() || ::testing::Test::HasFailure()) return;
  std::vector<std::vector<PrimValue>> found;
  for (size_t n = 0; n < out.size(); n++) {
    found.push_back(session.download(out[n], m.segments, op.facts.types[n]));
  }
  for (int64_t i = 0; i < m.segments; i++) {
    auto want = testing::neutral_on_host(op);
    for (int64_t j = 0; j < m.length; j++) {
      want = testing::combine_on_host(op, want, rows[static_cast<size_t>(m.index(i, j))]);
    }
    for (size_t n = 0; n < want.size(); n++) {
      ASSERT_EQ(found[n][static_cast<size_t>(i)].bits, want[n].bits)
          << "segment " << i << " scalar " << n;
    }
  }
}

void check_all_plans(const std::vector<TestOperator>& ops, const std::vector<Matrix>& shapes) {
  uint64_t seed = 100;
  for (const TestOperator& op : ops) {
    for (const Matrix& m : shapes) {
      for (const auto& trial : testing::trials(reduce_plans(), reduce_facts(op, m))) {
        check(op, m, trial, seed++);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(ReducePlans, OneSegmentOfAnyLength) {
  const auto add = testing::known_test_operator(ScalarOp::kAdd, PrimType::kI32);
  check_all_plans({add, testing::affine_maps()}, {{1, 0},
                                                  {1, 1},
                                                  {1, 7},
                                                  {1, 8},
                                                  {1, 9},
                                                  {1, 31},
                                                  {1, 64},
                                                  {1, 127},
                                                  {1, 128},
                                                  {1, 129},
                                                  {1, 300},
                                                  {1, 1111},
                                                  {1, 3333}});
}

TEST(ReducePlans, VectorsOfNeighbours) {
  const auto add = testing::known_test_operator(ScalarOp::kAdd, PrimType::kI32);
  check_all_plans({add, testing::affine_maps()},
                  {{1, 0, false, 4}, {1, 3, false, 4}, {1, 1027, false, 4}, {5, 64, false, 2}});
}

TEST(ReducePlans, SeveralSegments) {
  const auto add = testing::known_test_operator(ScalarOp::kAdd, PrimType::kI32);
  check_all_plans({add, testing::affine_maps()},
                  {{0, 5}, {3, 0}, {2, 1}, {67, 3}, {17, 8}, {9, 33}, {3, 200}, {2, 500}});
}

TEST(ReducePlans, Columns) {
  const auto add = testing::known_test_operator(ScalarOp::kAdd, PrimType::kI32);
  check_all_plans(
      {add, testing::affine_maps()},
      {{0, 3, true}, {40, 0, true}, {1, 50, true}, {33, 1, true}, {70, 17, true}, {5, 300, true}});
}

TEST(ReducePlans, BlocksOfMatrices) {
  const auto add = testing::known_test_operator(ScalarOp::kAdd, PrimType::kI32);
  const auto matrices = [](int64_t count, int64_t rows, int64_t columns, int64_t length) {
    Matrix m{count * rows * columns, length};
    m.rows = rows;
    m.columns = columns;
    return m;
  };
  check_all_plans({add, testing::affine_maps()}, {matrices(2, 5, 9, 10)});
  check_all_plans({add}, {matrices(1, 1, 1, 3), matrices(1, 4, 4, 0), matrices(1, 1, 37, 7),
                          matrices(3, 9, 2, 5), matrices(0, 3, 4, 5), matrices(1, 3, 34, 3)});
}

TEST(ReducePlans, ElementsThatFail) {
  Matrix row{1, 300}, rows{5, 40}, columns{20, 40, true};
  row.fails = {kir::i64(0), kir::i64(77)};
  rows.fails = columns.fails = {kir::i64(2), kir::i64(33)};
  check_all_plans({testing::affine_maps()}, {row, rows, columns});
}

TEST(ReducePlans, CallsThatTheHostStops) {
  for (const int64_t steps : {0, 300, 2000, 9000}) {
    Matrix row{1, 300}, columns{20, 40, true};
    row.stop_after = columns.stop_after = steps;
    check_all_plans({testing::affine_maps()}, {row, columns});
  }
}

TEST(ReducePlans, EveryOperator) { testing::check_every_reduction(); }

TEST(ReducePlans, ThePlanFollowsTheSizes) {
  const auto add = testing::known_test_operator(ScalarOp::kAdd, PrimType::kI32);
  program::Target target = testing::made_up_devices()[3].target;
  target.threads = 1 << 16;
  const auto name_of = [&](const Matrix& m) {
    const plan::Facts f = reduce_facts(add, m);
    const int64_t sizes[] = {m.segments, m.length}, specs[] = {256};
    for (const auto& c : plan::choose(reduce_plans(), f, target)) {
      if (c.when.evaluate(sizes, specs) != 0) return std::string(c.plan->name);
    }
    return std::string();
  };
  const auto name_for = [&](int64_t segments, int64_t length, bool across = false) {
    return name_of({segments, length, across});
  };
  EXPECT_EQ(name_for(1, 100), "group");
  EXPECT_EQ(name_for(1, 1 << 20), "groups");
  EXPECT_EQ(name_for(1 << 20, 4), "thread");
  EXPECT_EQ(name_for(1 << 20, 20), "subgroup");
  EXPECT_EQ(name_for(1 << 14, 1000), "subgroup");
  EXPECT_EQ(name_for(1 << 14, 1 << 14), "group");
  EXPECT_EQ(name_for(10, 1 << 20), "groups");
  EXPECT_EQ(name_for(1 << 10, 1 << 10, true), "column");
  EXPECT_EQ(name_for(1 << 17, 1 << 10, true), "thread");
  EXPECT_EQ(name_for(3, 1 << 20, true), "groups");
  Matrix product{1 << 20, 1 << 10, true};
  product.rows = product.columns = 1 << 10;
  EXPECT_EQ(name_of(product), "block");
}

}  // namespace

void testing::check_every_reduction() {
  check_all_plans(test_operators(), {{1, 333}, {6, 37}, {19, 21, true}});
}

}  // namespace kenaz::primitives
