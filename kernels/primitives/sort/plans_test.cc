#include "kernels/primitives/sort/plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "kernels/primitives/plan_runner.h"

namespace kenaz::primitives {
namespace {

using kir::Builder;
using kir::Values;
using testing::Matrix;
using testing::Rows;

/// What the keys are: any, a few, all the same, in order, the other way.
enum class Keys { kAny, kFew, kSame, kRising, kFalling };

struct Case {
  PrimType key;
  std::vector<PrimType> carried;
  Keys keys = Keys::kAny;

  std::vector<PrimType> types() const {
    std::vector<PrimType> all = carried;
    all.insert(all.begin(), key);
    return all;
  }
};

plan::Facts sort_facts(const Matrix& m, const Case& c) {
  plan::Facts f = m.facts("sort");
  f.carried = c.carried;
  f.key = c.key;
  f.fails = false;  // no element stops its thread
  return f;
}

int64_t key_of(const Case& c, const Matrix& m, int64_t i, uint64_t seed) {
  const auto n = static_cast<uint64_t>(i) + 1;
  switch (c.keys) {
    case Keys::kFew: return static_cast<int64_t>((n * 2654435761u + seed) % 7 * 41);
    case Keys::kSame: return -1;
    case Keys::kRising: return i;
    case Keys::kFalling: return m.length - i;
    default: {
      uint64_t x = n * 0x9e3779b97f4a7c15u + seed * 0xbf58476d1ce4e5b9u;
      x ^= x >> 29;
      x *= 0x94d049bb133111ebu;
      return static_cast<int64_t>(x ^ (x >> 32));
    }
  }
}

// The carried scalars are the element's number.
Rows rows_of(const Matrix& m, const Case& c, uint64_t seed) {
  Rows rows;
  for (int64_t i = 0; i < m.length; i++) {
    rows.push_back({PrimValue::of_int(c.key, key_of(c, m, i, seed))});
    for (const PrimType type : c.carried) rows.back().push_back(PrimValue::of_int(type, i));
  }
  return rows;
}

void check_sort(const Matrix& m, const Case& c, const testing::Trial& trial, uint64_t seed) {
  SCOPED_TRACE(std::string(trial.plan->name) + " on " + trial.device.name + ", " + m.text() +
               ", keys " + std::to_string(static_cast<int>(c.keys)) + " of " +
               std::string(prim_name(c.key)) + ", " + std::to_string(trial.options.group_size) +
               " threads");
  const plan::Facts facts = sort_facts(m, c);
  const std::vector<int64_t> sizes = {1, m.length}, specs = {trial.options.group_size};
  if (trial.plan->when(facts, trial.device.target).evaluate(sizes, specs) == 0) return;
  const std::vector<PrimType> types = c.types();
  Rows rows = rows_of(m, c, seed);
  testing::Session session;
  std::vector<uint64_t> in, out;
  for (size_t n = 0; n < types.size(); n++) {
    in.push_back(session.upload(rows, n, types[n]));
    out.push_back(session.reserve(m.length, types[n]));
  }
  const plan::Work work = trial.plan->make(facts, trial.device.target, [&](plan::Team& t) {
    Builder& k = t.k;
    session.start();
    const Values from = session.blocks(k, in), to = session.blocks(k, out);
    plan::Problem p;
    p.elements = m.load(types, from);
    p.dry_elements = m.load({c.key}, {from[0]});
    p.sink.put = [=](Builder& b, const plan::Place& at, const Values& x) {
      for (size_t n = 0; n < x.size(); n++) b.store(to[n], at.position, x[n]);
    };
    return p;
  });
  EXPECT_FALSE(session.run(work, sizes, m, trial.device, trial.options));
  if (!m.completes() || ::testing::Test::HasFailure()) return;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a[0].bits < b[0].bits; });
  for (size_t n = 0; n < types.size(); n++) {
    const auto found = session.download(out[n], m.length, types[n]);
    for (size_t i = 0; i < rows.size(); i++) ASSERT_EQ(found[i], rows[i][n]) << i;
  }
}

void check_all_sorts(const std::vector<Case>& cases, const std::vector<Matrix>& shapes) {
  uint64_t seed = 7;
  for (const Case& c : cases) {
    for (const Matrix& m : shapes) {
      for (const auto& trial : testing::trials(sort_plans(), sort_facts(m, c))) {
        check_sort(m, c, trial, seed++);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

const Case kPairs{PrimType::kU32, {PrimType::kI32}};

TEST(SortPlans, AnyNumberOfElements) {
  check_all_sorts({kPairs}, {{1, 0}, {1, 1}, {1, 9}, {1, 64}, {1, 129}});
}

TEST(SortPlans, KeysOfAnySize) {
  check_all_sorts({{PrimType::kU8, {PrimType::kI32, PrimType::kU8}},
                   {PrimType::kU16, {}},
                   {PrimType::kU64, {PrimType::kI64}}},
                  {{1, 260}});
}

TEST(SortPlans, EqualKeysKeepTheirOrder) {
  for (const Keys keys : {Keys::kFew, Keys::kSame, Keys::kRising, Keys::kFalling}) {
    check_all_sorts({{PrimType::kU8, {PrimType::kI32}, keys}}, {{1, 515}});
  }
}

TEST(SortPlans, VectorsOfNeighbours) {
  check_all_sorts({{PrimType::kU16, {PrimType::kI32}}}, {{1, 1, false, 4}, {1, 515, false, 4}});
}

TEST(SortPlans, ThePlanFollowsTheSizeAndTheDevice) {
  const std::vector<testing::Device> devices = testing::made_up_devices();
  const auto name_for = [&](int64_t length, const program::Target& target) {
    const int64_t sizes[] = {1, length}, specs[] = {256};
    plan::Facts facts = sort_facts({1, length}, kPairs);
    facts.items = 0;
    for (const auto& c : plan::choose(sort_plans(), facts, target)) {
      if (c.when.evaluate(sizes, specs) != 0) return std::string(c.plan->name);
    }
    return std::string();
  };
  const program::Target &least = devices[0].target, &desktop = devices[3].target;
  EXPECT_EQ(name_for(500, desktop), "group");
  EXPECT_EQ(name_for(1 << 20, desktop), "one_sweep");
  EXPECT_EQ(name_for(int64_t{1} << 30, desktop), "digits");  // more than a word counts
  EXPECT_EQ(name_for(1 << 20, least), "digits");
}

TEST(SortPlans, CallsThatTheHostStops) {
  for (const int64_t steps : {300, 9000, 40000}) {
    Matrix row{1, 300};
    row.stop_after = steps;
    check_all_sorts({kPairs}, {row});
  }
}

}  // namespace

void testing::check_every_sort() {
  check_all_sorts({kPairs, {PrimType::kU64, {}}}, {{1, 0}, {1, 260}, {1, 3000}});
}

}  // namespace kenaz::primitives
