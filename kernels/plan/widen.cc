#include "kernels/plan/widen.h"

namespace kenaz::plan {

namespace {

constexpr PrimType kWide = PrimType::kI32;

Values convert(Builder& k, const Values& x, PrimType type) { return {k.convert(x[0], type)}; }

std::vector<Values> convert(Builder& k, std::vector<Values> all, PrimType type) {
  for (Values& x : all) x = convert(k, x, type);
  return all;
}

void widen(Elements& e) {
  if (e.at) {
    e.at = [at = e.at](Builder& k, const Place& place) { return convert(k, at(k, place), kWide); };
  }
  if (e.many) {
    e.many = [many = e.many](Builder& k, const Place& first, int n) {
      return convert(k, many(k, first, n), kWide);
    };
  }
  if (e.factors.join) {
    e.factors.join = [join = e.factors.join](Builder& k, const Values& left, const Values& right) {
      return convert(k, join(k, left, right), kWide);
    };
  }
  if (e.ahead.element) {
    e.ahead.element = [of = e.ahead.element](Builder& k, const Value& at, const Values& read) {
      return convert(k, of(k, at, read), kWide);
    };
  }
}

}  // namespace

bool is_narrow_ring(const OpFacts& op) {
  if (op.types.size() != 1 || op.known[0] == nullptr) return false;
  const bool ring = op.known[0]->op == ScalarOp::kAdd || op.known[0]->op == ScalarOp::kMul;
  return ring && is_integer(op.types[0]) && prim_size(op.types[0]) < prim_size(kWide);
}

void widen(OpFacts& op) {
  op.types = {kWide};
  op.known = {op::known(op.known[0]->op, kWide)};
}

void widen(Builder& k, Problem& problem) {
  const PrimType narrow = problem.op.facts.types[0];
  widen(problem.op.facts);
  for (Value& n : problem.op.neutral) n = k.convert(n, kWide);
  problem.op.combine = known_operator(*problem.op.facts.known[0], kWide).combine;
  widen(problem.elements);
  problem.sink.put = [put = problem.sink.put, narrow](Builder& k, const Place& at,
                                                      const Values& x) {
    put(k, at, convert(k, x, narrow));
  };
  if (!problem.sink.put_many) return;
  problem.sink.put_many = [put = problem.sink.put_many, narrow](Builder& k, const Place& first,
                                                                const std::vector<Values>& all) {
    put(k, first, convert(k, all, narrow));
  };
}

}  // namespace kenaz::plan
