#include "kernels/host_code/monoids.h"

#include "kernels/op/operators.h"

namespace kenaz::host_code {

using body::Thread;
using kir::Values;

namespace {

plan::OpFacts facts_of(const ir::Program& p, const ir::Monoid& m) {
  plan::OpFacts f;
  for (const auto& n : m.neutral) f.types.push_back(p.type_of(n).prim);
  f.commutative = op::is_commutative(m);
  f.known.assign(f.types.size(), nullptr);
  if (f.types.size() == 1) f.known[0] = op::recognise(m);
  f.kept = op::keeps(p, m.op);
  return f;
}

plan::Operator operator_of(Thread& t, const ir::Monoid& m, size_t number) {
  plan::Operator o;
  o.facts = facts_of(t.ir(), m);
  o.neutral = t.env.scalars(m.neutral);
  if (const op::Known* row = o.facts.known[0]) {
    // The program's own neutral element: it is the result where there are no elements.
    o.combine = plan::known_operator(*row, o.facts.types[0]).combine;
    return o;
  }
  const kir::FunctionId f = body::operator_function(t, "op" + std::to_string(number), m);
  o.combine = [f](kir::Builder& k, Values a, const Values& b) {
    a.insert(a.end(), b.begin(), b.end());
    return k.call(f, std::move(a));
  };
  return o;
}

}  // namespace

plan::OpFacts joined_facts(const ir::Program& p, const Monoids& monoids) {
  std::vector<plan::OpFacts> parts;
  for (const ir::Monoid* m : monoids) parts.push_back(facts_of(p, *m));
  return plan::join(parts);
}

plan::Operator joined_operator(Thread& t, const Monoids& monoids, size_t first) {
  std::vector<plan::Operator> parts;
  for (const ir::Monoid* m : monoids) parts.push_back(operator_of(t, *m, first + parts.size()));
  return plan::join(std::move(parts));
}

plan::Operator operator_in_place(Thread& t, const Monoids& monoids) {
  std::vector<plan::Operator> parts;
  for (const ir::Monoid* m : monoids) {
    plan::Operator o;
    o.facts = facts_of(t.ir(), *m);
    o.neutral = t.env.scalars(m->neutral);
    if (const op::Known* row = o.facts.known[0]) {
      o.combine = plan::known_operator(*row, o.facts.types[0]).combine;
    } else {
      o.combine = [&t, m](kir::Builder&, const Values& a, const Values& b) {
        body::forget(t, m->op.body);
        const auto results = body::combine(t, *m, {a.begin(), a.end()}, {b.begin(), b.end()});
        Values out;
        for (const body::KernelValue& r : results) out.push_back(std::get<kir::Value>(r));
        return out;
      };
    }
    parts.push_back(std::move(o));
  }
  return plan::join(std::move(parts));
}

}  // namespace kenaz::host_code
