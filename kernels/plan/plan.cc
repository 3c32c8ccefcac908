#include "kernels/plan/plan.h"

#include "protocol/base/check.h"

namespace kenaz::plan {

std::vector<Choice> choose(std::span<const Plan> table, const Facts& facts,
                           const program::Target& target) {
  std::vector<Choice> out;
  for (const Plan& p : table) {
    if (!p.applies(facts, target)) continue;
    HostExpr when = p.when(facts, target);
    if (when.is_false()) continue;
    const bool always = when.is_true();
    out.push_back({&p, std::move(when)});
    if (always) return out;
  }
  CHECK(!out.empty());
  out.back().when = HostExpr::boolean(true);
  return out;
}

Operator known_operator(const op::Known& row, PrimType type) {
  Operator o;
  o.facts.types = {type};
  o.facts.commutative = row.commutative;
  o.facts.known = {&row};
  o.neutral = {Value(op::neutral_of(row, type))};
  o.combine = [scalar = row.op](Builder& k, const Values& a, const Values& b) {
    return Values{k.prim(scalar, {a[0], b[0]})};
  };
  return o;
}

OpFacts join(const std::vector<OpFacts>& parts) {
  OpFacts out;
  out.commutative = true;
  for (const OpFacts& p : parts) {
    out.types.insert(out.types.end(), p.types.begin(), p.types.end());
    out.known.insert(out.known.end(), p.known.begin(), p.known.end());
    out.commutative = out.commutative && p.commutative;
  }
  if (parts.size() == 1) out.kept = parts[0].kept;
  return out;
}

Operator join(std::vector<Operator> parts) {
  if (parts.size() == 1) return std::move(parts[0]);
  Operator out;
  std::vector<OpFacts> facts;
  for (const Operator& p : parts) {
    facts.push_back(p.facts);
    out.neutral.insert(out.neutral.end(), p.neutral.begin(), p.neutral.end());
  }
  out.facts = join(facts);
  out.combine = [parts = std::move(parts)](Builder& k, const Values& a, const Values& b) {
    Values result;
    auto from_a = a.begin(), from_b = b.begin();
    for (const Operator& p : parts) {
      const auto n = static_cast<std::ptrdiff_t>(p.facts.types.size());
      const Values r = p.combine(k, Values(from_a, from_a + n), Values(from_b, from_b + n));
      result.insert(result.end(), r.begin(), r.end());
      from_a += n;
      from_b += n;
    }
    return result;
  };
  return out;
}

}  // namespace kenaz::plan
