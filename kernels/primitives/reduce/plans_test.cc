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
  f.ahead = plan::Ahead{op.facts.types};
  return f;
}

/// That `out` holds what the operator makes of each segment's elements; element(segment, position).
template <class Element>
void expect_sums(const TestOperator& op, testing::Session& session,
                 const std::vector<uint64_t>& out, int64_t segments, int64_t length,
                 const Element& element) {
  std::vector<std::vector<PrimValue>> found;
  for (size_t n = 0; n < out.size(); n++) {
    found.push_back(session.download(out[n], segments, op.facts.types[n]));
  }
  for (int64_t i = 0; i < segments; i++) {
    auto want = testing::neutral_on_host(op);
    for (int64_t j = 0; j < length; j++) {
      want = testing::combine_on_host(op, want, element(i, j));
    }
    for (size_t n = 0; n < want.size(); n++) {
      ASSERT_EQ(found[n][static_cast<size_t>(i)].bits, want[n].bits)
          << "segment " << i << " scalar " << n;
    }
  }
}

/// Stores the results of neighbouring segments as vectors.
decltype(plan::Sink::put_many) put_neighbours(const Values& to) {
  return [to](Builder& k, const plan::Place& first, const std::vector<Values>& all) {
    for (size_t n = 0; n < to.size(); n++) {
      Values lanes;
      for (const Values& x : all) lanes.push_back(x[n]);
      k.store(to[n], first.segment, k.compose(lanes));
    }
  };
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
    if (t.asks == plan::Asks::kByGrid) {
      p.elements.at = [=, of = p.elements.at](Builder& b, const plan::Place& at) {
        const kir::Value row = b.add(b.mul(at.segment, m.rows), at.row);
        return of(b, {b.add(b.mul(row, m.columns), at.column), at.position});
      };
    }
    p.sink.put = [to](Builder& b, const plan::Place& at, const Values& x) {
      for (size_t n = 0; n < to.size(); n++) b.store(to[n], at.segment, x[n]);
    };
    if (m.widest > 1) p.sink.put_many = put_neighbours(to);
    return p;
  });
  EXPECT_EQ(session.run(work, {m.segments, m.length}, m, trial.device, trial.options),
            m.fails.has_value());
  if (!m.completes() || ::testing::Test::HasFailure()) return;
  expect_sums(op, session, out, m.segments, m.length,
              [&](int64_t i, int64_t j) { return rows[static_cast<size_t>(m.index(i, j))]; });
}

void check_all_plans(const std::vector<TestOperator>& ops, const std::vector<Matrix>& shapes) {
  uint64_t seed = 100;
  for (const TestOperator& op : ops) {
    for (const Matrix& m : shapes) {
      for (const auto& trial : testing::trials(reduce_plans(), reduce_facts(op, m))) {
        if (!testing::is_right(*trial.plan, m)) continue;
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
  check_all_plans({add, testing::affine_maps()}, {{1, 0, false, 4},
                                                  {1, 3, false, 4},
                                                  {1, 1027, false, 4},
                                                  {5, 0, false, 4},
                                                  {5, 64, false, 2},
                                                  {67, 12, false, 4},
                                                  {9, 100, false, 4}});
}

TEST(ReducePlans, SegmentsStoredAsVectors) {
  std::vector<Matrix> shapes;
  for (const int64_t segments : {2, 3, 4, 5, 67, 128}) shapes.push_back({segments, 2, false, 2});
  shapes.push_back({9, 0, false, 2});
  check_all_plans(
      {testing::known_test_operator(ScalarOp::kAdd, PrimType::kI32),
       testing::known_test_operator(ScalarOp::kAdd, PrimType::kU8),
       testing::known_test_operator(ScalarOp::kAdd, PrimType::kI64), testing::affine_maps()},
      shapes);
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

// Products of matrices: `count` of them, [rows][length] by [length][columns].
struct Product {
  int64_t count, rows, columns, length;
  bool left_along = true, right_along = false;
  int64_t between = 1;  // of the matrices, so many stand between rows and columns

  Matrix matrix() const {
    Matrix m{count * rows * columns, length};
    m.rows = rows;
    m.columns = columns;
    return m;
  }
  int64_t left(int64_t matrix, int64_t row, int64_t position) const {
    return left_along ? (matrix * rows + row) * length + position
                      : (matrix * length + position) * rows + row;
  }
  int64_t right(int64_t matrix, int64_t column, int64_t position) const {
    return right_along ? (matrix * columns + column) * length + position
                       : (matrix * length + position) * columns + column;
  }
  std::string text() const {
    return std::to_string(count) + " x " + std::to_string(rows) + " x " + std::to_string(columns) +
           " x " + std::to_string(length) + (left_along ? " along" : "") +
           (right_along ? ", along" : "") + ", " + std::to_string(between) + " between";
  }
  plan::Factors factors(const std::vector<PrimType>& types) const {
    plan::Factors f{types, types, left_along, right_along};
    f.rows = plan::HostExpr(rows);
    f.columns = plan::HostExpr(columns);
    f.between = plan::HostExpr(between);
    return f;
  }
  /// Of a segment.
  struct At {
    int64_t matrix, row, column;
  };
  At at(int64_t segment) const {
    const int64_t line = segment / columns, outer = line / between / rows;
    return {outer * between + line % between, line / between % rows, segment % columns};
  }
};

/// The arrays of a product's factors on a device.
struct FactorArrays {
  const TestOperator& op;
  const Product& p;
  std::vector<uint64_t> left, right;

  /// The element is what the operator makes of its factors. Where a place is outside of the arrays,
  /// the interpreter says so.
  plan::Elements::Factors bind(Builder& k, testing::Session& session) const {
    const auto loads = [types = op.facts.types](Values from, const auto& index) {
      return [types, from, index](Builder& b, const Values& of, const kir::Value& own,
                                  const kir::Value& position) {
        Values out;
        for (size_t n = 0; n < from.size(); n++) {
          out.push_back(b.load(types[n], from[n], index(b, of[0], own, position)));
        }
        return out;
      };
    };
    const auto place = [](int64_t size, int64_t length, bool along) {
      return [=](Builder& b, const kir::Value& matrix, const kir::Value& own,
                 const kir::Value& position) {
        return along ? b.add(b.mul(b.add(b.mul(matrix, size), own), length), position)
                     : b.add(b.mul(b.add(b.mul(matrix, length), position), size), own);
      };
    };
    plan::Elements::Factors f;
    f.enter = [](Builder&, const kir::Value& matrix) { return Values{matrix}; };
    f.left = loads(session.blocks(k, left), place(p.rows, p.length, p.left_along));
    f.right = loads(session.blocks(k, right), place(p.columns, p.length, p.right_along));
    f.join = op.make(k).combine;
    return f;
  }
};

void check_product(const TestOperator& op, const Product& p, const testing::Trial& trial,
                   uint64_t seed) {
  SCOPED_TRACE(op.name + ", " + trial.plan->name + " on " + trial.device.name + ", " + p.text());
  const Matrix m = p.matrix();
  const auto lefts = testing::random_rows(op, p.count * p.rows * p.length, seed);
  const auto rights = testing::random_rows(op, p.count * p.columns * p.length, seed + 1);
  testing::Session session;
  FactorArrays arrays{op, p, {}, {}};
  std::vector<uint64_t> out;
  for (size_t n = 0; n < op.facts.types.size(); n++) {
    arrays.left.push_back(session.upload(lefts, n, op.facts.types[n]));
    arrays.right.push_back(session.upload(rights, n, op.facts.types[n]));
    out.push_back(session.reserve(m.segments, op.facts.types[n]));
  }
  plan::Facts facts = reduce_facts(op, m);
  facts.factors = p.factors(op.facts.types);
  const plan::Work work = trial.plan->make(facts, trial.device.target, [&](plan::Team& t) {
    session.start();
    const Values to = session.blocks(t.k, out);
    plan::Problem problem;
    problem.op = op.make(t.k);
    problem.elements.factors = arrays.bind(t.k, session);
    problem.sink.put = [to](Builder& b, const plan::Place& at, const Values& x) {
      for (size_t n = 0; n < to.size(); n++) b.store(to[n], at.segment, x[n]);
    };
    return problem;
  });
  session.run(work, {m.segments, m.length}, m, trial.device, trial.options);
  if (::testing::Test::HasFailure()) return;
  expect_sums(op, session, out, m.segments, p.length, [&](int64_t i, int64_t j) {
    const auto [matrix, row, column] = p.at(i);
    const auto& left = lefts[static_cast<size_t>(p.left(matrix, row, j))];
    const auto& right = rights[static_cast<size_t>(p.right(matrix, column, j))];
    return testing::combine_on_host(op, left, right);
  });
}

/// By the plans whose names contain `plans`.
void check_products(const std::vector<TestOperator>& ops, const std::vector<Product>& products,
                    std::string_view plans = "tiles") {
  uint64_t seed = 900;
  for (const TestOperator& op : ops) {
    for (const Product& p : products) {
      plan::Facts facts = reduce_facts(op, p.matrix());
      facts.factors = p.factors(op.facts.types);
      for (const auto& trial : testing::trials(reduce_plans(), facts)) {
        if (!testing::is_right(*trial.plan, p.matrix())) continue;
        if (std::string_view(trial.plan->name).find(plans) == std::string_view::npos) continue;
        check_product(op, p, trial, seed += 2);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(ReducePlans, TilesOfProducts) {
  const auto add = testing::known_test_operator(ScalarOp::kAdd, PrimType::kI32);
  // A workgroup of the tests has tiles of 4 x 16 up to 96 x 128, in steps of 16 positions.
  check_products({add}, {{0, 3, 4, 5},
                         {1, 0, 4, 5},
                         {2, 3, 4, 0},
                         {1, 1, 1, 1},
                         {1, 3, 17, 15},
                         {1, 4, 16, 16},
                         {1, 5, 15, 17},
                         {1, 9, 33, 32},
                         {2, 12, 40, 33}});
  check_products({testing::affine_maps()}, {{3, 9, 19, 18}, {1, 5, 35, 3}});
}

// Parts of 64 positions and more.
TEST(ReducePlans, TilesOfLongProducts) {
  check_products({testing::known_test_operator(ScalarOp::kAdd, PrimType::kI32)},
                 {{1, 5, 17, 128}, {2, 9, 33, 140}, {1, 2, 3, 500}}, "split_tiles");
  check_products({testing::affine_maps()}, {{1, 3, 5, 130}}, "split_tiles");
}

// Blocks of 8 x 8 segments and 32 positions, of which the second kernel takes eight at a time.
TEST(ReducePlans, ProductsThatAreReadAhead) {
  check_products({testing::known_test_operator(ScalarOp::kAdd, PrimType::kI32),
                  testing::known_test_operator(ScalarOp::kMax, PrimType::kI64)},
                 {{1, 8, 8, 32},
                  {1, 9, 8, 33},
                  {1, 15, 17, 64, false, true},
                  {1, 16, 9, 256, true, true},
                  {1, 8, 11, 300, false, false}});
}

TEST(ReducePlans, TilesOfProductsInEveryLayout) {
  const auto add = testing::known_test_operator(ScalarOp::kAdd, PrimType::kF32);
  check_products(
      {add},
      {{2, 5, 17, 18, false, false}, {2, 5, 17, 18, false, true}, {2, 5, 17, 18, true, true}});
}

TEST(ReducePlans, TilesOfProductsWithMatricesBetweenRowsAndColumns) {
  const auto add = testing::known_test_operator(ScalarOp::kAdd, PrimType::kI32);
  check_products({add}, {{3, 5, 17, 18, true, false, 3},
                         {6, 9, 5, 16, true, true, 2},
                         {4, 1, 3, 20, false, false, 4}});
}

TEST(ReducePlans, TilesOfEveryType) {
  check_products({testing::known_test_operator(ScalarOp::kAdd, PrimType::kI64),
                  testing::known_test_operator(ScalarOp::kAdd, PrimType::kU8),
                  testing::known_test_operator(ScalarOp::kXor, PrimType::kBool),
                  testing::known_test_operator(ScalarOp::kMin, PrimType::kF32), testing::tuples()},
                 {{1, 5, 18, 17}});
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

TEST(ReducePlans, FewWorkgroupsAndNoneWithoutElements) {
  program::Target target = testing::made_up_devices()[3].target;
  target.threads = 1 << 18;
  const auto groups_for = [&](const TestOperator& op, int64_t length) {
    plan::Facts f = reduce_facts(op, {1, length});
    f.items = f.group_size = 0;
    const plan::Bind bind = [&](plan::Team& t) {
      plan::Problem p;
      p.op = op.make(t.k);
      p.elements.at = [&](Builder& k, const plan::Place&) { return op.make(k).neutral; };
      p.sink.put = [](Builder&, const plan::Place&, const Values&) {};
      return p;
    };
    const int64_t sizes[] = {1, length}, specs[] = {256};
    for (const plan::Plan& plan : reduce_plans()) {
      if (plan.name != std::string("groups")) continue;
      return plan.make(f, target, bind).steps[0].groups.evaluate(sizes, specs);
    }
    return int64_t{0};
  };
  const auto add = testing::known_test_operator(ScalarOp::kAdd, PrimType::kI32);
  EXPECT_EQ(groups_for(add, 1), 1);
  EXPECT_EQ(groups_for(add, 1'000'000), 245);   // a tile of 4,096 elements each
  EXPECT_EQ(groups_for(add, 10'000'000), 814);  // three each
  // 16 elements of a thread, then twice as many workgroups as fill the device.
  EXPECT_EQ(groups_for(testing::affine_maps(), 1'000'000), 245);
  EXPECT_EQ(groups_for(testing::affine_maps(), 1 << 28), 2048);
}

TEST(ReducePlans, ThePlanFollowsTheSizes) {
  const auto add = testing::known_test_operator(ScalarOp::kAdd, PrimType::kI32);
  program::Target target = testing::made_up_devices()[3].target;
  target.threads = 1 << 16;
  const auto name_of = [&](const Matrix& m, bool factors = false) {
    plan::Facts f = reduce_facts(add, m);
    if (factors) {
      f.factors = {add.facts.types, add.facts.types, true, false};
      f.factors->rows = f.grid.rows;
      f.factors->columns = f.grid.columns;
    }
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
  EXPECT_EQ(name_for(1 << 20, 4), "neighbours");
  EXPECT_EQ(name_for(1 << 20, 5), "thread");
  EXPECT_EQ(name_for(1 << 10, 4), "thread");
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
  const auto name_for_product = [&](int64_t count, int64_t rows, int64_t columns, int64_t length) {
    return name_of(Product{count, rows, columns, length}.matrix(), true);
  };
  EXPECT_EQ(name_for_product(1, 1 << 10, 1 << 10, 1 << 10), "tiles128");
  EXPECT_EQ(name_for_product(1, 1 << 9, 1 << 9, 1 << 10), "tiles64");
  EXPECT_EQ(name_for_product(1, 1 << 8, 1 << 8, 1 << 10), "tiles32");
  EXPECT_EQ(name_for_product(1, 100, 100, 1 << 10), "split_tiles");
  EXPECT_EQ(name_for_product(1, 100, 100, 100), "tiles32");
  EXPECT_EQ(name_for_product(1 << 12, 32, 32, 32), "tiles32");
  EXPECT_EQ(name_for_product(1 << 16, 8, 8, 8), "block");
  EXPECT_EQ(name_for_product(1, 32, 32, 1 << 10), "subgroup");
  target.reads_ahead = true;
  EXPECT_EQ(name_for(1, 100), "group");
  EXPECT_EQ(name_for(1, 1 << 20), "ahead");
  EXPECT_EQ(name_for(10, 1 << 20), "groups");
  target.threads = 1024;
  EXPECT_EQ(name_for_product(1, 200, 200, 200), "ahead_tiles");
  EXPECT_EQ(name_for_product(2, 200, 200, 200), "block");
  EXPECT_EQ(name_for_product(1, 200, 200, 16), "block");
}

}  // namespace

void testing::check_every_reduction() {
  check_all_plans(test_operators(), {{1, 333}, {6, 37}, {19, 21, true}});
  check_products({known_test_operator(ScalarOp::kAdd, PrimType::kF32), tuples()},
                 {{2, 9, 35, 33}, {1, 33, 18, 20, false, true}, {1, 9, 35, 33}});
}

}  // namespace kenaz::primitives
