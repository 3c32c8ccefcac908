#include "kernels/primitives/copy/plans.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernels/primitives/plan_runner.h"

namespace kenaz::primitives {
namespace {

using kir::Builder;
using kir::Values;
using testing::Matrix;

struct CopyCase {
  Matrix source;
  int64_t matrices = 1;  // of source.segments segments each
};

plan::Facts copy_facts(const CopyCase& c, PrimType type) {
  plan::Facts f = c.source.facts("copy");
  f.carried = {type};
  f.aligned = c.source.segments | c.source.length;
  f.step = c.source.segments;
  f.begins = 0;
  if (c.matrices == 1) return f;
  f.begins = c.source.size();
  f.matrix = plan::HostExpr::size(0);
  f.segments = f.matrix * plan::HostExpr::size(2);
  return f;
}

// Of dense matrices with `width` elements in a row.
plan::Rows rows_of(const kir::Value& base, const Matrix& m, int64_t width) {
  plan::Rows rows;
  rows.base = base;
  rows.first = [size = m.size(), width](Builder& k, const kir::Value& matrix,
                                        const kir::Value& row) {
    return k.add(k.mul(matrix, size), k.mul(row, width));
  };
  rows.step = kir::i64(width);
  return rows;
}

void check_copy(const CopyCase& c, PrimType type, const testing::Trial& trial, uint64_t seed) {
  const Matrix& m = c.source;
  SCOPED_TRACE(std::string(trial.plan->name) + " on " + trial.device.name + ", " + m.text() + ", " +
               std::string(prim_name(type)));
  const auto op = testing::known_test_operator(ScalarOp::kAdd, type);
  const auto rows = testing::random_rows(op, m.size() * c.matrices, seed);
  testing::Session session;
  const uint64_t in = session.upload(rows, 0, type);
  const uint64_t out = session.reserve(m.size() * c.matrices, type);
  Matrix dense = m;
  dense.across = false;
  const plan::Facts facts = copy_facts(c, type);
  const plan::Work work = trial.plan->make(facts, trial.device.target, [&](plan::Team& t) {
    Builder& k = t.k;
    session.start();
    plan::Problem p;
    const Values from = session.blocks(k, {in});
    p.elements = m.load({type}, from);
    if (c.matrices > 1) {
      p.elements.at = [=](Builder& b, const plan::Place& at) {
        const kir::Value number = b.quot(at.segment, kir::i64(m.segments));
        const kir::Value row = b.sub(at.segment, b.mul(number, m.segments));
        // The element's index in its matrix, and the matrices before.
        const kir::Value index = b.add(m.index(b, {row, at.position}), b.mul(number, m.size()));
        return Values{b.load(type, from[0], index)};
      };
    }
    const Values to = session.blocks(k, {out});
    p.sink = dense.store(to);
    p.from = rows_of(from[0], m, m.segments);
    p.to = rows_of(to[0], m, m.length);
    // Of rows whose distance is not known each is asked for.
    if (m.segments % 2 == 1) p.from.step.reset();
    return p;
  });
  EXPECT_EQ(session.run(work, {m.segments, m.length, c.matrices}, m, trial.device, trial.options),
            false);
  if (::testing::Test::HasFailure()) return;
  const auto found = session.download(out, m.size() * c.matrices, type);
  for (int64_t a = 0; a < c.matrices; a++) {
    for (int64_t s = 0; s < m.segments; s++) {
      for (int64_t i = 0; i < m.length; i++) {
        const auto from = static_cast<size_t>(a * m.size() + m.index(s, i));
        const auto to = static_cast<size_t>(a * m.size() + dense.index(s, i));
        ASSERT_EQ(found[to], rows[from][0]) << "segment " << s << " position " << i;
      }
    }
  }
}

// Words are right where rows are aligned, strips where they are preferred; others always.
bool is_right(const plan::Plan& plan, const CopyCase& c, const plan::Facts& facts,
              const testing::Trial& trial) {
  const std::string name = plan.name;
  if (name == "words") return facts.aligned.constant().as_i64() % 4 == 0;
  if (name.find("strips") == std::string::npos) return true;
  const int64_t sizes[] = {c.source.segments, c.source.length, c.matrices};
  return plan.when(facts, trial.device.target).evaluate(sizes, {}) != 0;
}

// `tried`: the plans that were right for any of them.
void check_all_copies(const std::vector<CopyCase>& cases, const std::vector<PrimType>& types,
                      std::set<std::string>* tried = nullptr) {
  uint64_t seed = 3;
  for (const PrimType type : types) {
    for (const CopyCase& c : cases) {
      const plan::Facts facts = copy_facts(c, type);
      for (const auto& trial : testing::trials(copy_plans(), facts)) {
        if (!is_right(*trial.plan, c, facts, trial)) continue;
        if (tried != nullptr) tried->insert(trial.plan->name);
        check_copy(c, type, trial, seed++);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(CopyPlans, RowsOfAnyLength) {
  check_all_copies({{{1, 0}},
                    {{0, 7}},
                    {{1, 1}},
                    {{1, 1000}},
                    {{1, 1003, false, 4}},
                    {{1, 3, false, 4}},
                    {{3, 100}},
                    {{200, 3}},
                    {{7, 64, false, 2}}},
                   {PrimType::kI32, PrimType::kU8, PrimType::kI64});
}

TEST(CopyPlans, Transposes) {
  check_all_copies({{{31, 33, true}},
                    {{1, 70, true}},
                    {{70, 1, true}},
                    {{65, 40, true}},
                    {{0, 5, true}},
                    {{5, 0, true}},
                    {{9, 35, true}, 3}},
                   {PrimType::kI32, PrimType::kU8, PrimType::kI64});
}

// Whole tiles, and parts of one at the edges.
TEST(CopyPlans, TransposesByWords) {
  check_all_copies({{{64, 132, true}}, {{20, 36, true}, 3}},
                   {PrimType::kI32, PrimType::kU8, PrimType::kU16, PrimType::kI64});
  check_all_copies({{{132, 128, true}}}, {PrimType::kU8});
}

// Whole blocks and the rest of a row; rows that words are too wide for. (In tests blocks have 512
// elements or words.)
TEST(CopyPlans, TransposesByStrips) {
  std::set<std::string> tried;
  check_all_copies({{{1, 700, true}},
                    {{2, 1024, true}},
                    {{3, 403, true}},
                    {{403, 3, true}},
                    {{10, 516, true}},
                    {{516, 10, true}},
                    {{31, 37, true}},
                    {{37, 31, true}},
                    {{5, 404, true}, 3},
                    {{404, 5, true}, 3}},
                   {PrimType::kI32, PrimType::kU8, PrimType::kU16, PrimType::kI64}, &tried);
  // More strips, of narrow elements.
  check_all_copies({{{63, 71, true}}, {{72, 61, true}}}, {PrimType::kU8}, &tried);
  for (const char* name :
       {"into_strips", "into_strips_by_words", "of_strips", "of_strips_by_words"}) {
    EXPECT_EQ(tried.count(name), 1U) << name;
  }
}

}  // namespace

void testing::check_every_copy() {
  check_all_copies({{{1, 1003, false, 4}},
                    {{200, 3}},
                    {{65, 40, true}},
                    {{9, 35, true}, 3},
                    {{5, 404, true}, 3},
                    {{404, 5, true}, 3},
                    {{200, 136, true}, 2}},
                   {PrimType::kI32, PrimType::kU8, PrimType::kI64});
}

}  // namespace kenaz::primitives
