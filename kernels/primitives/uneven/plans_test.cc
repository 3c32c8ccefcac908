#include "kernels/primitives/uneven/plans.h"

#include <gtest/gtest.h>

#include <numeric>

#include "kernels/primitives/plan_runner.h"

namespace kenaz::primitives {
namespace {

using kir::Builder;
using kir::Value;
using kir::Values;
using testing::TestOperator;

/// Segments one behind the other in memory, and what goes wrong in them.
struct UnevenRows {
  std::vector<int64_t> lengths;
  int stages = 1;
  int64_t fails_to_enter = -1;  // a segment
  int64_t fails_at = -1;        // an element

  int64_t elements() const { return std::accumulate(lengths.begin(), lengths.end(), int64_t{0}); }
  bool fails() const { return fails_to_enter >= 0 || fails_at >= 0; }
};

plan::Facts uneven_facts(const TestOperator& op, const UnevenRows& rows) {
  plan::Facts f;
  f.name = "uneven";
  f.segments = plan::HostExpr::size(0);
  f.op = op.facts;
  f.carried = {PrimType::kI64};
  f.fails = rows.fails();
  f.group_size = 64;
  return f;
}

/// The rows' starts and lengths, their elements, and the results of each stage in memory.
struct UnevenBlocks {
  uint64_t starts = 0, lengths = 0;
  std::vector<uint64_t> in, out;

  std::vector<uint64_t> all() const {
    std::vector<uint64_t> blocks = {starts, lengths};
    blocks.insert(blocks.end(), in.begin(), in.end());
    blocks.insert(blocks.end(), out.begin(), out.end());
    return blocks;
  }
};

/// Every stage reduces the same elements. What a stage gave is kept for the end.
plan::Uneven uneven_sums(Builder& k, const TestOperator& op, const UnevenRows& rows,
                         const Values& blocks) {
  const size_t scalars = op.facts.types.size();
  plan::Uneven u;
  for (int s = 0; s < rows.stages; s++) {
    plan::Uneven::Stage stage;
    stage.op = op.make(k);
    stage.enter = [=](Builder& b, const Value& segment, const Values& before) {
      b.if_(b.eq(segment, rows.fails_to_enter), [&] { b.fail(0, {}); });
      const Value from = b.load(PrimType::kI64, blocks[0], segment);
      // Behind the first value, which is shared.
      const Values kept = before.empty() ? Values{} : Values(before.begin() + 1, before.end());
      return plan::Uneven::Entered{b.load(PrimType::kI64, blocks[1], segment), {from}, kept};
    };
    stage.read = [=](Builder& b, const Values& shared, const Value& position) {
      Values x;
      for (size_t n = 0; n < scalars; n++) {
        x.push_back(b.load(op.facts.types[n], blocks[2 + n], b.add(shared[0], position)));
      }
      return x;
    };
    stage.at = [=](Builder& b, const Values& shared, const Value& position, const Values& read) {
      const Value at = b.add(shared[0], position);
      if (rows.fails_at >= 0) b.if_(b.eq(at, rows.fails_at), [&] { b.fail(0, {}); });
      return read;
    };
    u.stages.push_back(stage);
  }
  u.leave = [=](Builder& b, const Value& segment, const Values& known) {
    const size_t results = blocks.size() - 2 - scalars;
    for (size_t n = 0; n < results; n++) {
      b.store(blocks[2 + scalars + n], segment, known[known.size() - results + n]);
    }
  };
  return u;
}

void check_uneven(const TestOperator& op, const UnevenRows& rows, const testing::Trial& trial,
                  uint64_t seed) {
  const auto segments = static_cast<int64_t>(rows.lengths.size());
  SCOPED_TRACE(op.name + ", " + trial.plan->name + " on " + trial.device.name + ", " +
               std::to_string(segments) + " segments of " + std::to_string(rows.elements()));
  testing::Session session;
  testing::Rows starts, lengths;
  int64_t start = 0;
  for (const int64_t length : rows.lengths) {
    starts.push_back({PrimValue::i64(start)});
    lengths.push_back({PrimValue::i64(length)});
    start += length;
  }
  const testing::Rows elements = testing::random_rows(op, rows.elements(), seed);
  UnevenBlocks blocks{session.upload(starts, 0, PrimType::kI64),
                      session.upload(lengths, 0, PrimType::kI64),
                      {},
                      {}};
  for (size_t n = 0; n < op.facts.types.size(); n++) {
    blocks.in.push_back(session.upload(elements, n, op.facts.types[n]));
  }
  for (int s = 0; s < rows.stages; s++) {
    for (const PrimType t : op.facts.types) blocks.out.push_back(session.reserve(segments, t));
  }
  const plan::Facts facts = uneven_facts(op, rows);
  const plan::Work work = trial.plan->make(facts, trial.device.target, [&](plan::Team& t) {
    session.start();
    plan::Problem p;
    p.uneven = uneven_sums(t.k, op, rows, session.blocks(t.k, blocks.all()));
    return p;
  });
  testing::Matrix m;
  if (rows.fails()) m.fails = plan::Place{};
  EXPECT_EQ(session.run(work, {segments}, m, trial.device, trial.options), rows.fails());
  if (rows.fails() || ::testing::Test::HasFailure()) return;
  for (size_t n = 0; n < blocks.out.size(); n++) {
    const size_t scalar = n % op.facts.types.size();
    const auto found = session.download(blocks.out[n], segments, op.facts.types[scalar]);
    size_t at = 0;
    for (size_t i = 0; i < rows.lengths.size(); i++) {
      auto want = testing::neutral_on_host(op);
      for (int64_t j = 0; j < rows.lengths[i]; j++) {
        want = testing::combine_on_host(op, want, elements[at++]);
      }
      ASSERT_EQ(found[i].bits, want[scalar].bits) << "segment " << i << " result " << n;
    }
  }
}

void check_uneven_plans(const TestOperator& op, const std::vector<UnevenRows>& shapes) {
  uint64_t seed = 1;
  for (const UnevenRows& rows : shapes) {
    for (const auto& trial : testing::trials(uneven_plans(), uneven_facts(op, rows))) {
      check_uneven(op, rows, trial, seed++);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TestOperator integer_sum() { return testing::known_test_operator(ScalarOp::kAdd, PrimType::kI32); }

std::vector<int64_t> repeated_lengths(size_t count, std::vector<int64_t> lengths) {
  std::vector<int64_t> out;
  while (out.size() < count) out.push_back(lengths[out.size() % lengths.size()]);
  return out;
}

std::vector<UnevenRows> uneven_shapes() {
  return {{{}},
          {{0}},
          {{1}},
          {{5000}},
          {{0, 3000, 1}},
          {{1, 2, 3, 4, 5, 6, 7, 8, 9}},
          {repeated_lengths(63, {3})},
          {repeated_lengths(200, {0, 1, 2, 31, 32, 33, 1})},
          {repeated_lengths(130, {40})},
          {repeated_lengths(150, {1, 1, 0, 2, 600, 0, 0, 3, 5, 7, 1})},
          {repeated_lengths(65, {8, 9, 300, 64})}};
}

TEST(UnevenPlans, Sums) { check_uneven_plans(integer_sum(), uneven_shapes()); }

TEST(UnevenPlans, OperatorsThatKeepTheirOrder) {
  check_uneven_plans(testing::affine_maps(), uneven_shapes());
}

TEST(UnevenPlans, EveryOperator) {
  for (const TestOperator& op : testing::test_operators()) {
    check_uneven_plans(op, {{repeated_lengths(70, {1, 0, 5, 200, 3})}});
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(UnevenPlans, SeveralStages) {
  check_uneven_plans(integer_sum(), {{repeated_lengths(70, {1, 0, 5, 200, 3}), 2},
                                     {repeated_lengths(20, {1, 500}), 3}});
  check_uneven_plans(testing::affine_maps(), {{repeated_lengths(70, {1, 0, 5, 200, 3}), 2}});
}

TEST(UnevenPlans, SegmentsThatFail) {
  const auto lengths = repeated_lengths(90, {1, 0, 5, 700, 3});
  check_uneven_plans(integer_sum(), {{lengths, 1, 0},
                                     {lengths, 2, 3},
                                     {lengths, 1, 89},
                                     {lengths, 1, -1, 0},
                                     {lengths, 2, -1, 500},
                                     {lengths, 1, -1, 1000}});
}

}  // namespace
}  // namespace kenaz::primitives
