#include "kernels/host_code/group_code.h"

#include <algorithm>
#include <utility>

#include "kernels/host_code/monoids.h"
#include "kernels/ir/analysis/group.h"
#include "kernels/ir/visit.h"

namespace kenaz::host_code {

namespace {

kir::Value u32(uint32_t n) { return PrimValue{PrimType::kU32, n}; }

bool reshapes(const ir::Body& b) {
  return std::ranges::any_of(b.stms, [](const ir::Stm& s) {
    bool found = std::holds_alternative<ir::EReshape>(s.exp);
    ir::visit_bodies(s.exp, [&](const ir::Body& inner) { found = found || reshapes(inner); });
    return found;
  });
}

}  // namespace

GroupCode::GroupCode(HostArrays& host, body::Thread& t, plan::Team& team, GroupMemory& memory,
                     const ir::Body& b)
    : host_(host),
      t_(t),
      memory_(memory),
      group_size_(team.group_size_i64()),
      has_subgroups_(team.has_subgroups()) {
  if (!reshapes(b)) memory.pad_rows();  // what is not dense would be moved
  kir::Builder& k = t.k;
  arrived_ = team.k.thread_counts("arrived", 2);
  by_one([&] {
    for (const int at : {0, 1}) k.store(arrived_, kir::i32(at), u32(0));
  });
  counted_ = k.declare(u32(0));
  find_combiners(b, team);
  k.barrier();
}

void GroupCode::find_combiners(const ir::Body& b, plan::Team& team) {
  for (const ir::Stm& s : b.stms) {
    const auto* e = std::get_if<ir::ESeg>(&s.exp);
    if (e == nullptr) {
      ir::visit_bodies(s.exp, [&](const ir::Body& inner) { find_combiners(inner, team); });
    } else if (!e->monoids.empty()) {
      Monoids monoids;
      for (const ir::SegMonoid& m : e->monoids) monoids.push_back(&m.op);
      combiners_.emplace(
          e, std::make_unique<primitives::blocks::Combiner>(team, operator_in_place(t_, monoids)));
    }
  }
}

// ---- statements

void GroupCode::run(const ir::Body& b, const std::vector<Array>& dests) {
  for (size_t k = 0; k < dests.size(); k++) want(b, b.results[k], dests[k]);
  const std::vector<Result> results = body(b);
  for (size_t k = 0; k < dests.size() && !host_.failed(); k++) {
    const auto* a = std::get_if<Array>(&results[k]);
    if (a == nullptr || !body::identical(*a, dests[k])) put(results[k], dests[k]);
  }
}

// Only what an ESeg makes is made where it is wanted: a loop would work in device memory.
void GroupCode::want(const ir::Body& b, const ir::Atom& result, const Array& dest) {
  if (result.is_const() || dest.layout.dims.empty()) return;
  for (auto s = b.stms.rbegin(); s != b.stms.rend(); ++s) {
    if (std::find(s->pat.begin(), s->pat.end(), result.var()) == s->pat.end()) continue;
    if (const auto* same = std::get_if<ir::EAtom>(&s->exp)) want(b, same->atom, dest);
    if (std::holds_alternative<ir::ESeg>(s->exp)) wanted_.emplace(result.var(), dest);
    return;
  }
}

std::vector<GroupCode::Result> GroupCode::body(const ir::Body& b) {
  for (const ir::Stm& s : b.stms) {
    if (host_.failed()) break;
    stm(s);
  }
  std::vector<Result> results(b.results.size());
  for (size_t k = 0; k < results.size() && !host_.failed(); k++) {
    results[k] = t_.env.value(b.results[k]);
  }
  return results;
}

void GroupCode::stm(const ir::Stm& s) {
  t_.k.set_prov(s.prov);
  if (const auto* e = std::get_if<ir::ESeg>(&s.exp)) {
    t_.env.define(s);
    seg(s, *e);
  } else if (ir::is_joint(t_.ir(), s)) {
    t_.env.define(s);
    const auto* choice = std::get_if<ir::EIf>(&s.exp);
    choice != nullptr ? branch(s, *choice) : loop(s, std::get<ir::ELoop>(s.exp));
  } else if (!arrays(s)) {
    body::translate(t_, s);
    // Arithmetic reads no memory.
    dirty_ = dirty_ || !std::holds_alternative<ir::EPrim>(s.exp);
    stopping_ = stopping_ || std::holds_alternative<ir::ELoop>(s.exp) ||
                std::holds_alternative<ir::EIf>(s.exp);
  }
}

// ---- the threads

void GroupCode::before_write() {
  if (std::exchange(dirty_, false)) t_.k.barrier();
}
void GroupCode::after_write() {
  if (std::exchange(stopping_, false)) {
    count_threads();
  } else {
    t_.k.barrier();
  }
  dirty_ = false;
}

void GroupCode::count_threads() {
  kir::Builder& k = t_.k;
  const Value before = k.read(counted_), one = u32(1);
  const Value place = k.to_i32(k.and_(before, one));
  k.atomic(kir::AtomicOp::kAdd, PrimType::kU32, {arrived_, place}, one);
  k.barrier();
  const Value size = k.convert(group_size_, PrimType::kU32);
  const Value all = k.mul(k.add(k.lshr(before, one), one), size);
  k.if_(k.ne(k.load(arrived_, place), all), [&] { k.stop(); });
  k.assign(counted_, k.add(before, one));
}

void GroupCode::strided(const Value& count, const std::function<void(const Value&)>& f) {
  t_.k.for_(t_.k.to_i64(t_.k.local()), count, group_size_, f);
}

kir::Value GroupCode::count(const Values& sizes) {
  Value n = kir::i64(1);
  for (const Value& s : sizes) n = t_.k.mul(n, t_.k.max(s, kir::i64(0)));
  return n;
}

kir::Values GroupCode::indices(const Values& sizes, const Value& linear) {
  Values at(sizes.size());
  if (at.empty()) return at;
  at[0] = linear;
  for (size_t n = sizes.size(); n-- > 1;) {
    const Value q = t_.k.quot(at[0], sizes[n]);
    at[n] = t_.k.sub(at[0], t_.k.mul(q, sizes[n]));
    at[0] = q;
  }
  return at;
}

void GroupCode::points(const Values& sizes, const AtIndex& f) {
  strided(count(sizes), [&](const Value& linear) { f(indices(sizes, linear)); });
}

void GroupCode::by_one(const std::function<void()>& f) { t_.k.if_(t_.k.eq(t_.k.local(), 0), f); }

}  // namespace kenaz::host_code
