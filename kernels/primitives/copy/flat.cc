#include "kernels/primitives/blocks/places.h"
#include "kernels/primitives/blocks/stripes.h"
#include "kernels/primitives/copy/plan_functions.h"

namespace kenaz::primitives::copy::flat {

namespace {

using kir::Value;
using kir::Values;
using plan::Facts;
using plan::HostExpr;
using plan::Team;
using program::Target;

constexpr int kPiecesInFlight = 4;  // vectors of a thread that are loaded before any is stored

// Pieces of `widest` neighbours, then one element at a time: segments whose length is no multiple
// of it have their last elements copied by themselves.
void copy_pieces(Team& t, const Value& from, const Value& n_pieces, const blocks::Places& places) {
  kir::Builder& k = t.k;
  const Value size = t.group_size_i64(), local = k.to_i64(k.local());
  const int n = t.facts.widest;
  std::vector<Value> live;
  std::vector<kir::Vars> loaded;
  std::vector<plan::Place> at;
  const auto first_of = [&](int j) {
    return k.add(from, k.add(k.mul(size, static_cast<int64_t>(j)), local));
  };
  for (int j = 0; j < kPiecesInFlight; j++) {
    const Value piece = first_of(j);
    live.push_back(k.lt(piece, n_pieces));
    plan::Place p = places.at(k, piece);
    p.position = k.mul(p.position, n);
    at.push_back(p);
    Values none;
    for (int i = 0; i < n; i++) {
      for (const PrimType type : t.facts.carried) none.emplace_back(PrimValue{type, 0});
    }
    loaded.push_back(k.declare(none));
    k.if_(live.back(), [&] {
      Values all;
      for (const Values& x : blocks::neighbours(t, p.segment, p.position, n)) {
        all.insert(all.end(), x.begin(), x.end());
      }
      k.assign(loaded.back(), all);
    });
  }
  for (size_t j = 0; j < live.size(); j++) {
    k.if_(live[j], [&] {
      const Values all = k.read(loaded[j]);
      const auto width = static_cast<std::ptrdiff_t>(t.facts.carried.size());
      std::vector<Values> rows;
      for (auto x = all.begin(); x != all.end(); x += width) rows.emplace_back(x, x + width);
      if (n > 1 && t.problem.sink.put_many) {
        t.problem.sink.put_many(k, at[j], rows);
        return;
      }
      for (int i = 0; i < n; i++) {
        const plan::Place p{at[j].segment, k.add(at[j].position, i)};
        t.problem.sink.put(k, p, rows[static_cast<size_t>(i)]);
      }
    });
  }
}

}  // namespace

bool applies(const Facts&, const Target&) { return true; }

HostExpr when(const Facts&, const Target&) { return HostExpr::boolean(true); }

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  const HostExpr width = f.widest;
  const HostExpr per_segment = HostExpr::op(ScalarOp::kQuot, {f.length, width});
  const HostExpr rest = f.length - per_segment * width;
  const HostExpr pieces = f.segments * per_segment;
  m.step("_flat", div_up(pieces, m.group_size() * kPiecesInFlight), [&](Team& t) {
    kir::Builder& k = t.k;
    blocks::Places places(t.host(per_segment));
    const Value from = k.mul(k.group(), k.mul(t.group_size_i64(), kPiecesInFlight));
    places.begin(k, from);
    copy_pieces(t, from, t.host(pieces), places);
  });
  if (f.widest == 1) return m.take();
  const HostExpr left = f.segments * rest;
  m.step("_rest", div_up(left, m.group_size()), [&](Team& t) {
    kir::Builder& k = t.k;
    const Value i = k.global(), n = t.host(rest);
    k.if_(k.lt(i, t.host(left)), [&] {
      const Value segment = k.quot(i, n);
      const Value position = k.add(t.host(per_segment * width), k.sub(i, k.mul(segment, n)));
      const plan::Place at{segment, position};
      t.problem.sink.put(k, at, t.problem.elements.at(k, at));
    });
  });
  return m.take();
}

}  // namespace kenaz::primitives::copy::flat
