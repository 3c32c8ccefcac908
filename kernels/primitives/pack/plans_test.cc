#include "kernels/primitives/pack/plans.h"

#include <gtest/gtest.h>

#include "kernels/primitives/plan_runner.h"

namespace kenaz::primitives {
namespace {

using kir::Builder;
using kir::Values;
using testing::Matrix;
using testing::Rows;

const std::vector<PrimType> kTypes{PrimType::kI32, PrimType::kU8, PrimType::kI64};

plan::Facts pack_facts(int64_t length, int classes) {
  plan::Facts f = Matrix{1, length}.facts("pack");
  f.carried = {kTypes.begin() + 1, kTypes.end()};
  f.classes = classes;
  return f;
}

void check_pack(int64_t length, int classes, const testing::Trial& trial, uint64_t seed) {
  SCOPED_TRACE(std::string(trial.plan->name) + " on " + trial.device.name + ", " +
               std::to_string(length) + " elements, classes " + std::to_string(classes));
  const Matrix m{1, length};
  Rows rows;
  std::vector<Rows> want(static_cast<size_t>(classes));
  for (int64_t i = 0; i < length; i++) {
    // From -1, which is dropped, to one class too many.
    const auto r = (static_cast<uint64_t>(i) * 2654435761u + seed * 97) % 1009;
    const auto cls = static_cast<int32_t>(r % static_cast<uint64_t>(classes + 2)) - 1;
    rows.push_back({PrimValue::i32(cls), PrimValue::of_int(PrimType::kU8, i), PrimValue::i64(i)});
    if (cls >= 0 && cls < classes) want[static_cast<size_t>(cls)].push_back(rows.back());
  }
  testing::Session session;
  std::vector<uint64_t> in, out;
  for (size_t n = 0; n < kTypes.size(); n++) in.push_back(session.upload(rows, n, kTypes[n]));
  for (size_t n = 1; n < kTypes.size(); n++) {
    out.push_back(session.reserve(length * classes, kTypes[n]));
  }
  out.push_back(session.reserve(classes, PrimType::kI64));
  const plan::Facts facts = pack_facts(length, classes);
  const plan::Work work = trial.plan->make(facts, trial.device.target, [&](plan::Team& t) {
    Builder& k = t.k;
    session.start();
    const Values from = session.blocks(k, in), to = session.blocks(k, out);
    plan::Problem p;
    p.elements = m.load(kTypes, from);
    p.sink.put = [=](Builder& b, const plan::Place& at, const Values& x) {
      const kir::Value index = b.add(b.mul(at.segment, length), at.position);
      for (size_t n = 0; n < x.size(); n++) b.store(to[n], index, x[n]);
    };
    p.counts = [=](Builder& b, const Values& counts) {
      for (size_t c = 0; c < counts.size(); c++) {
        b.store(to.back(), kir::i64(static_cast<int64_t>(c)), counts[c]);
      }
    };
    return p;
  });
  EXPECT_EQ(session.run(work, {1, length}, m, trial.device, trial.options), false);
  if (::testing::Test::HasFailure()) return;
  const auto counts = session.download(out.back(), classes, PrimType::kI64);
  for (size_t c = 0; c < want.size(); c++) {
    ASSERT_EQ(counts[c].as_i64(), static_cast<int64_t>(want[c].size()));
    for (size_t n = 1; n < kTypes.size(); n++) {
      const uint64_t first = out[n - 1] + c * static_cast<uint64_t>(length * prim_size(kTypes[n]));
      const auto found = session.download_at(out[n - 1], first, counts[c].as_i64(), kTypes[n]);
      for (size_t i = 0; i < want[c].size(); i++) ASSERT_EQ(found[i], want[c][i][n]);
    }
  }
}

void check_all_packings(const std::vector<int>& classes, const std::vector<int64_t>& lengths) {
  uint64_t seed = 7;
  for (const int n : classes) {
    for (const int64_t length : lengths) {
      for (const auto& trial : testing::trials(pack_plans(), pack_facts(length, n))) {
        check_pack(length, n, trial, seed++);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(PackPlans, AnyNumberOfElementsAndClasses) { check_all_packings({1, 2, 3, 4}, {0, 1, 9, 260}); }

TEST(PackPlans, MoreElementsThanAnI32CountsAreCountedInAnI64) {
  program::Target target = testing::made_up_devices()[3].target;
  target.threads = 1 << 16;
  const auto name_for = [&](int64_t length) {
    const int64_t sizes[] = {1, length}, specs[] = {256};
    for (const auto& c : plan::choose(pack_plans(), pack_facts(length, 2), target)) {
      if (c.when.evaluate(sizes, specs) != 0) return std::string(c.plan->name);
    }
    return std::string();
  };
  EXPECT_EQ(name_for(1000), "group");
  EXPECT_EQ(name_for(1 << 20), "look_back");
  EXPECT_EQ(name_for(0x7fffffff), "reduce_then_scan");
  EXPECT_EQ(name_for(0x80000000), "wide");
}

}  // namespace

void testing::check_every_packing() { check_all_packings({1, 3}, {0, 260}); }

}  // namespace kenaz::primitives
