#include "kernels/primitives/hist/plans.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kernels/kir/needs.h"
#include "kernels/primitives/blocks/cells.h"
#include "kernels/primitives/plan_runner.h"

namespace kenaz::primitives {
namespace {

using kir::Builder;
using kir::Values;
using testing::Matrix;
using testing::Rows;
using testing::TestOperator;

struct HistCase {
  Matrix matrix;
  int64_t bins;
  bool all_equal = false;  // every element has the same bin
  bool known = false;      // the number of bins is known when the kernels are made
};

plan::Facts hist_facts(const TestOperator& op, const HistCase& c) {
  plan::Facts f = c.matrix.facts("hist");
  f.op = op.facts;
  f.bins = c.known ? plan::HostExpr(c.bins) : plan::HostExpr::size(2);
  return f;
}

// A bin, or -1.
int64_t bin_of(const HistCase& c, int64_t element, uint64_t seed) {
  if (c.all_equal) return c.bins / 2;
  const auto r =
      static_cast<int64_t>((static_cast<uint64_t>(element) * 2654435761u + seed * 97) % 1000003);
  return r % (c.bins + 1) - 1;
}

plan::Work work_of(testing::Session& session, const TestOperator& op, const HistCase& c,
                   const plan::Plan& plan, const program::Target& target,
                   const std::vector<uint64_t>& in, const std::vector<uint64_t>& out) {
  std::vector<PrimType> types = op.facts.types;
  types.insert(types.begin(), PrimType::kI64);
  return plan.make(hist_facts(op, c), target, [&](plan::Team& t) {
    Builder& k = t.k;
    session.start();
    const Values from = session.blocks(k, in);
    return plan::Problem{op.make(k), c.matrix.load(types, from), {}, session.blocks(k, out)};
  });
}

void check_hist(const TestOperator& op, const HistCase& c, const testing::Trial& trial,
                uint64_t seed) {
  const Matrix& m = c.matrix;
  SCOPED_TRACE(op.name + ", " + trial.plan->name + " on " + trial.device.name + ", " + m.text() +
               ", bins " + std::to_string(c.bins));
  Rows rows = testing::random_rows(op, m.size(), seed);
  Rows bins = testing::random_rows(op, m.segments * c.bins, seed + 1);
  testing::Session session;
  std::vector<uint64_t> in, out;
  for (size_t n = 0; n < op.facts.types.size(); n++) {
    in.push_back(session.upload(rows, n, op.facts.types[n]));
    out.push_back(session.upload(bins, n, op.facts.types[n]));
  }
  for (int64_t i = 0; i < m.size(); i++) {
    rows[static_cast<size_t>(i)].push_back(PrimValue::i64(bin_of(c, i, seed)));
  }
  in.insert(in.begin(), session.upload(rows, op.facts.types.size(), PrimType::kI64));
  const plan::Work work = work_of(session, op, c, *trial.plan, trial.device.target, in, out);
  EXPECT_EQ(session.run(work, {m.segments, m.length, c.bins}, m, trial.device, trial.options),
            m.fails.has_value());
  if (!m.completes() || ::testing::Test::HasFailure()) return;
  for (int64_t s = 0; s < m.segments; s++) {
    for (int64_t i = 0; i < m.length; i++) {
      auto& x = rows[static_cast<size_t>(m.index(s, i))];
      const int64_t bin = x.back().as_i64();
      if (bin < 0) continue;
      x.pop_back();
      auto& old = bins[static_cast<size_t>(s * c.bins + bin)];
      old = testing::combine_on_host(op, old, x);
    }
  }
  for (size_t n = 0; n < op.facts.types.size(); n++) {
    const auto found = session.download(out[n], m.segments * c.bins, op.facts.types[n]);
    for (size_t b = 0; b < bins.size(); b++) {
      ASSERT_EQ(found[b].bits, bins[b][n].bits) << "bin " << b << " scalar " << n;
    }
  }
}

// `own` has no room for many bins.
bool has_room(const testing::Trial& trial, const plan::Facts& f, const HistCase& c) {
  if (trial.plan->name != std::string("own")) return true;
  const int64_t group = trial.options.group_size > 0 ? trial.options.group_size : f.group_size;
  const int64_t sizes[] = {c.matrix.segments, c.matrix.length, c.bins}, specs[] = {group};
  return trial.plan->when(f, trial.device.target).evaluate(sizes, specs) != 0;
}

using Wanted = bool (*)(const testing::Trial&);

void check_all_hists(const std::vector<TestOperator>& ops, const std::vector<HistCase>& cases,
                     Wanted wanted = nullptr) {
  uint64_t seed = 100;
  for (const TestOperator& op : ops) {
    for (const HistCase& c : cases) {
      for (const auto& trial : testing::trials(hist_plans(), hist_facts(op, c))) {
        if (wanted != nullptr && !wanted(trial)) continue;
        const auto& types = op.facts.types;
        const auto has = [&](PrimType t) { return std::ranges::find(types, t) != types.end(); };
        const program::Target& target = trial.device.target;
        if ((has(PrimType::kF64) && !target.f64) || (has(PrimType::kF16) && !target.f16)) continue;
        if (!has_room(trial, hist_facts(op, c), c)) continue;
        check_hist(op, c, trial, seed++);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

// Commuting operators that are in no table.
TestOperator greatest_pair(PrimType key) {
  const plan::Operator known = plan::known_operator(*op::known(ScalarOp::kMax, key), key);
  TestOperator t;
  t.name = "greatest of pairs with " + std::string(prim_name(key));
  t.facts.types = {key, PrimType::kU16};
  t.facts.commutative = true;
  t.facts.known = {nullptr, nullptr};
  t.facts.kept = op::Kept{0, true, op::Kept::Ties::kAsk};
  t.make = [facts = t.facts, least = known.neutral[0]](Builder&) {
    plan::Operator o;
    o.facts = facts;
    o.neutral = {least, PrimValue{PrimType::kU16, 0}};
    o.combine = [](Builder& k, const Values& a, const Values& b) {
      const kir::Value first = k.or_(k.lt(b[0], a[0]), k.and_(k.eq(a[0], b[0]), k.le(b[1], a[1])));
      return Values{k.select(first, a[0], b[0]), k.select(first, a[1], b[1])};
    };
    return o;
  };
  t.sample = [key](size_t n, uint64_t r) {
    return PrimValue::of_int(n == 0 ? key : PrimType::kU16, static_cast<int64_t>(r));
  };
  return t;
}

// Keeps one of two records, whose third scalar says where an element stood.
TestOperator kept_record(PrimType key, bool greatest, op::Kept::Ties ties) {
  using Ties = op::Kept::Ties;
  TestOperator t;
  t.name = fmt::format("{} {}, ties {}", greatest ? "greatest" : "smallest", prim_name(key),
                       static_cast<int>(ties));
  t.facts.types = {PrimType::kF32, key, PrimType::kI64};
  t.facts.commutative = true;
  t.facts.known = {nullptr, nullptr, nullptr};
  t.facts.kept = op::Kept{1, greatest, ties};
  t.make = [facts = t.facts, ties, greatest](Builder&) {
    plan::Operator o;
    o.facts = facts;
    o.neutral = {PrimValue{PrimType::kF32, 0}, PrimValue{facts.types[1], 0}, kir::i64(0)};
    o.combine = [ties, greatest](Builder& k, const Values& a, const Values& b) {
      const kir::Value before = greatest ? k.lt(b[1], a[1]) : k.lt(a[1], b[1]);
      const kir::Value tie = ties == Ties::kAsk ? k.le(a[2], b[2]) : kir::boolean(true);
      const kir::Value equal = k.and_(k.eq(a[1], b[1]), tie);
      const kir::Value first = ties == Ties::kSecond ? before : k.or_(before, equal);
      Values out;
      for (size_t n = 0; n < 3; n++) out.push_back(k.select(first, a[n], b[n]));
      return out;
    };
    return o;
  };
  t.sample = [key](size_t n, uint64_t r) {
    if (n == 0) return PrimValue::of_float(PrimType::kF32, static_cast<double>(r % 1000));
    if (n == 2) return PrimValue::i64(static_cast<int64_t>(r % 100));
    // Few, of either sign, large and small, and 0 and -0.
    const double some[] = {0, -0.0, 1, -1, 1.5, -1.5, 7e4, -7e4};
    if (is_float(key)) return PrimValue::of_float(key, some[r % 8]);
    const int shift = static_cast<int>(r % 3) * (8 * prim_size(key) / 3);
    return PrimValue::of_int(key, (static_cast<int64_t>(r / 3 % 4) - 1) << shift);
  };
  return t;
}

TestOperator add_to(PrimType t) { return testing::known_test_operator(ScalarOp::kAdd, t); }

TEST(HistPlans, AnyNumberOfElementsAndBins) {
  check_all_hists({add_to(PrimType::kI32)}, {{{1, 0}, 3},
                                             {{1, 5}, 0},
                                             {{1, 1}, 1},
                                             {{1, 64}, 7},
                                             {{1, 65}, 100},
                                             {{1, 700}, 20},
                                             {{1, 300, false, 4}, 20},
                                             {{1, 200}, 20, true}});
}

TEST(HistPlans, BinsBeyondSharedMemoryAreDoneInWindows) {
  check_all_hists({add_to(PrimType::kI32)}, {{{1, 400}, 3500}});
}

TEST(HistPlans, BinsThatAreKnownBefore) {
  check_all_hists({add_to(PrimType::kI32), greatest_pair(PrimType::kI32)},
                  {{{1, 0}, 3, false, true},
                   {{1, 3000}, 2, false, true},
                   {{1, 5}, 0, false, true},
                   {{1, 300}, 1, false, true},
                   {{3, 150}, 9, false, true},
                   {{1, 700}, 256, false, true},
                   {{1, 400}, 3500, false, true}});
}

TEST(HistPlans, SeveralSegments) {
  check_all_hists({add_to(PrimType::kI32)},
                  {{{0, 4}, 4}, {{3, 0}, 4}, {{5, 40}, 6}, {{2, 150}, 9}});
}

TEST(HistPlans, ElementsThatFail) {
  Matrix row{1, 200};
  row.fails = {kir::i64(0), kir::i64(77)};
  check_all_hists({add_to(PrimType::kI32), greatest_pair(PrimType::kI64)}, {{row, 7}});
}

TEST(HistPlans, CallsThatTheHostStops) {
  for (const int64_t steps : {0, 300, 2000, 9000}) {
    Matrix row{1, 200};
    row.stop_after = steps;
    check_all_hists({add_to(PrimType::kI32), greatest_pair(PrimType::kI64)}, {{row, 7}});
  }
}

// As a loop does: which of elements with equal keys is kept depends on where they stand, or on the
// operator, and not on what happens first.
TEST(HistPlans, RecordsThatAreKept) {
  using Ties = op::Kept::Ties;
  std::vector<TestOperator> ops;
  for (const PrimType key : {PrimType::kI8, PrimType::kU16, PrimType::kI32, PrimType::kI64,
                             PrimType::kU64, PrimType::kF16, PrimType::kF32, PrimType::kF64}) {
    for (const Ties ties : {Ties::kFirst, Ties::kSecond, Ties::kAsk}) {
      ops.push_back(kept_record(key, ops.size() % 2 == 0, ties));
    }
  }
  const auto keeps = [](const testing::Trial& trial) {
    return std::string_view(trial.plan->name).starts_with("kept");
  };
  check_all_hists(ops, {{{1, 700}, 20}, {{3, 150}, 9}, {{1, 300, false, 4}, 300}}, keeps);
}

TEST(HistPlans, EveryOperatorThatCommutes) { testing::check_every_histogram(); }

// Some of the devices have atomic sums of f32, some of f64, some of neither.
TEST(HistPlans, SumsOfFloats) {
  check_all_hists({add_to(PrimType::kF32), add_to(PrimType::kF64)},
                  {{{1, 260}, 11}, {{1, 300}, 3500}, {{3, 50}, 5}});
}

TEST(HistPlans, FloatsAreSummedAsTheyAreWhereMemoryDoesIt) {
  const auto word = [](PrimType type, bool shared, const program::Target& target) {
    return blocks::Cells::words(add_to(type).facts, target, shared)[0];
  };
  program::Target none;
  none.i64_atomics = none.shared_i64_atomics = true;
  program::Target memory = none, shared = none;
  memory.f32_atomic_add = memory.f64_atomic_add = true;
  shared.shared_f32_atomic_add = shared.shared_f64_atomic_add = true;
  for (const bool in_shared : {false, true}) {
    EXPECT_EQ(word(PrimType::kF32, in_shared, none), PrimType::kU32);
    EXPECT_EQ(word(PrimType::kF64, in_shared, none), PrimType::kU64);
    const program::Target& has = in_shared ? shared : memory;
    const program::Target& lacks = in_shared ? memory : shared;
    EXPECT_EQ(word(PrimType::kF32, in_shared, has), PrimType::kF32);
    EXPECT_EQ(word(PrimType::kF64, in_shared, has), PrimType::kF64);
    EXPECT_EQ(word(PrimType::kF32, in_shared, lacks), PrimType::kU32);
    EXPECT_EQ(word(PrimType::kF64, in_shared, lacks), PrimType::kU64);
  }
  // No 64-bit integers are needed for sums of f64.
  memory.i64_atomics = false;
  EXPECT_EQ(blocks::Cells::kind(add_to(PrimType::kF64).facts, memory, false),
            blocks::Cells::Kind::kScalars);
}

plan::Work shared_work(const TestOperator& op, const HistCase& c, const program::Target& target) {
  testing::Session session;
  const std::vector<uint64_t> in(op.facts.types.size() + 1), out(op.facts.types.size());
  const auto plans = hist_plans();
  const auto is_shared = [](const plan::Plan& p) { return p.name == std::string("shared"); };
  const auto shared = std::find_if(plans.begin(), plans.end(), is_shared);
  return work_of(session, op, c, *shared, target, in, out);
}

// Many workgroups change the same bins at once, which takes long where each of them has to try
// again until no other one comes between.
TEST(HistPlans, WorkgroupsCombineTheirBinsByAtomicsOrInASecondStep) {
  const auto steps = [](const TestOperator& op, const program::Target& target) {
    return shared_work(op, {{1, 1000}, 20}, target).steps.size();
  };
  program::Target target = testing::made_up_devices()[3].target;
  const TestOperator most = testing::known_test_operator(ScalarOp::kMax, PrimType::kF32);
  EXPECT_EQ(steps(add_to(PrimType::kI32), target), 1);
  EXPECT_EQ(steps(add_to(PrimType::kF32), target), 1);
  EXPECT_EQ(steps(most, target), 2);
  target.f32_atomic_add = false;
  EXPECT_EQ(steps(add_to(PrimType::kF32), target), 2);
}

TEST(HistPlans, FewBinsTakeLittleSharedMemory) {
  const program::Target target = testing::made_up_devices()[3].target;
  const auto bytes = [&](int64_t bins, bool known) {
    const HistCase c{{1, 1000}, bins, false, known};
    const plan::Work work = shared_work(add_to(PrimType::kI32), c, target);
    return kir::needs_of(work.steps[0].kernel).shared_bytes;
  };
  EXPECT_LE(bytes(256, true), 10'000);
  EXPECT_GT(bytes(256, false), 30'000);
  EXPECT_GT(bytes(20'000, true), 30'000);
  EXPECT_LE(bytes(20'000, true), target.shared_bytes);
}

TEST(HistPlans, AThreadHasFewElementsAtATime) {
  plan::Facts f = hist_facts(add_to(PrimType::kI32), {{1, 1000}, 20});
  f.items = 0;
  EXPECT_EQ(hist_items(f), 8);
  f.op = add_to(PrimType::kI64).facts;
  EXPECT_EQ(hist_items(f), 8);
  f.slow = true;
  EXPECT_EQ(hist_items(f), 1);
}

TEST(HistPlans, ThePlanFollowsTheSizesAndTheOperator) {
  const program::Target target = testing::made_up_devices()[3].target;
  const auto name_for = [&](const TestOperator& op, int64_t length, int64_t bins) {
    const plan::Facts f = hist_facts(op, {{1, length}, bins});
    const int64_t sizes[] = {1, length, bins}, specs[] = {256};
    for (const auto& c : plan::choose(hist_plans(), f, target)) {
      if (c.when.evaluate(sizes, specs) != 0) return std::string(c.plan->name);
    }
    return std::string();
  };
  EXPECT_EQ(name_for(add_to(PrimType::kI32), 1 << 20, 256), "shared");
  EXPECT_EQ(name_for(add_to(PrimType::kI32), 1 << 24, 50000), "shared");
  EXPECT_EQ(name_for(add_to(PrimType::kI32), 1 << 20, 50000), "global");
  EXPECT_EQ(name_for(add_to(PrimType::kI32), 1 << 20, 1 << 19), "global");
  EXPECT_EQ(name_for(add_to(PrimType::kI32), 10, 256), "global");
  EXPECT_EQ(name_for(add_to(PrimType::kU8), 10, 256), "words");
  EXPECT_EQ(name_for(greatest_pair(PrimType::kI32), 10, 256), "words");
  EXPECT_EQ(name_for(add_to(PrimType::kI32), 1 << 20, 4), "shared");
  EXPECT_EQ(name_for(greatest_pair(PrimType::kI32), 1 << 20, 256), "shared");
  EXPECT_EQ(name_for(greatest_pair(PrimType::kI32), 1 << 20, 20000), "words");
  EXPECT_EQ(name_for(greatest_pair(PrimType::kI64), 1 << 20, 4), "kept_shared");
  EXPECT_EQ(name_for(greatest_pair(PrimType::kI64), 1 << 20, 256), "kept_shared");
  EXPECT_EQ(name_for(greatest_pair(PrimType::kI64), 1 << 20, 20000), "kept");
  EXPECT_EQ(name_for(greatest_pair(PrimType::kI64), 10, 256), "kept");
  EXPECT_EQ(name_for(greatest_pair(PrimType::kI64), int64_t{1} << 33, 256), "copies");
  TestOperator other = greatest_pair(PrimType::kI64);
  other.facts.kept.reset();
  EXPECT_EQ(name_for(other, 1 << 20, 4), "own");
  EXPECT_EQ(name_for(other, 1 << 20, 256), "copies");
}

}  // namespace

void testing::check_every_histogram() {
  std::vector<TestOperator> ops{greatest_pair(PrimType::kI8), greatest_pair(PrimType::kI32),
                                greatest_pair(PrimType::kI64)};
  for (const TestOperator& op : testing::test_operators()) {
    if (op.facts.commutative) ops.push_back(op);
  }
  check_all_hists(ops, {{{1, 260}, 11}, {{3, 50}, 5}});
}

}  // namespace kenaz::primitives
