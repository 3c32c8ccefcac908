#include "kernels/primitives/blocks/ticket.h"

namespace kenaz::primitives::blocks {

using kir::AtomicOp;
using kir::AtomicOrder;
using kir::Builder;

namespace {
Value u32(uint32_t n) { return PrimValue{PrimType::kU32, n}; }

// Counted from `first`. Threads that have stopped load 0.
Value next(Team& team, const kir::Address& ticket, uint32_t first) {
  Builder& k = team.k;
  const kir::SharedId number = team.shared_scalar("start_number", PrimType::kU32);
  k.if_(k.eq(k.local(), 0), [&] {
    const Value n = k.atomic(AtomicOp::kAdd, PrimType::kU32, ticket, u32(1));
    k.store(number, kir::i32(0), first > 0 ? k.add(n, u32(first)) : n);
  });
  k.barrier();
  return k.to_i64(k.load(number, kir::i32(0)));
}

}  // namespace

LastArrival::LastArrival(Team& team)
    : t_(team),
      answer_(team.shared_scalar("is_last", PrimType::kBool)),
      before_(team.k.declare(u32(0))) {
  Builder& k = team.k;
  k.if_(k.eq(k.local(), 0), [&] { k.store(answer_, kir::i32(0), kir::boolean(false)); });
}

void LastArrival::arrive(const kir::Address& ticket) {
  Builder& k = t_.k;
  k.if_(k.eq(k.local(), 0), [&] {
    k.assign(before_, k.atomic(AtomicOp::kAdd, PrimType::kU32, ticket, u32(1),
                               AtomicOrder::kAcquireRelease));
  });
}

Value LastArrival::was_last(const kir::Address& ticket, const Value& count) {
  Builder& k = t_.k;
  k.if_(k.eq(k.local(), 0), [&] {
    const Value last = k.eq(k.to_i64(k.read(before_)), k.sub(count, 1));
    k.if_(last, [&] { reset_ticket(t_, ticket); });
    k.store(answer_, kir::i32(0), last);
  });
  k.barrier();
  return k.load(answer_, kir::i32(0));
}

Value LastArrival::arrives(const kir::Address& ticket, const Value& count) {
  t_.k.barrier();  // all stores of the workgroup come before its arrival
  arrive(ticket);
  return was_last(ticket, count);
}

// It takes long to count.
Value start_number(Team& team, const kir::Address& ticket) {
  return team.target.starts_in_order ? team.k.to_i64(team.k.group()) : next(team, ticket, 0);
}

Value start_number_or_none(Team& team, const kir::Address& ticket) {
  return team.k.sub(next(team, ticket, 1), 1);
}

void reset_ticket(Team& team, const kir::Address& ticket) {
  team.k.atomic(AtomicOp::kStore, PrimType::kU32, ticket, u32(0));
}

kir::Address Mailboxes::at(size_t n, const Value& index) {
  Builder& k = t_.k;
  const Value slot = k.add(k.mul(count_, static_cast<int64_t>(n)), index);
  return {base_, k.mul(slot, 8 / prim_size(types_[n]))};
}
void Mailboxes::store(const Value& index, const Values& x) {
  for (size_t n = 0; n < x.size(); n++) t_.k.store(at(n, index), x[n], order_);
}
Values Mailboxes::load(const Value& index) {
  Values out;
  for (size_t n = 0; n < types_.size(); n++) {
    out.push_back(t_.k.load(kir::Type{types_[n]}, at(n, index), order_));
  }
  return out;
}

void Mailboxes::for_each(const Value& from, const Value& to,
                         const std::function<void(const Value& index, const Values& x)>& body) {
  Builder& k = t_.k;
  Value rest = from;
  if (!t_.facts.slow) {
    constexpr int kTogether = 4;
    const Value count = k.max(k.sub(to, from), kir::i64(0));
    rest = k.add(from, k.mul(k.quot(count, kir::i64(kTogether)), kTogether));
    k.for_(from, rest, kir::i64(kTogether), [&](const Value& first) {
      std::vector<Values> loaded;
      for (int j = 0; j < kTogether; j++) loaded.push_back(load(k.add(first, j)));
      for (int j = 0; j < kTogether; j++) {
        body(k.add(first, j), loaded[static_cast<size_t>(j)]);
      }
    });
  }
  k.for_(rest, to, kir::i64(1), [&](const Value& n) { body(n, load(n)); });
}

}  // namespace kenaz::primitives::blocks
