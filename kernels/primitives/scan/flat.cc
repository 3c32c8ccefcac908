#include "kernels/primitives/scan/flat.h"

namespace kenaz::primitives::scan {

using kir::Builder;
using kir::Value;
using kir::Values;

plan::OpFacts flagged_facts(plan::OpFacts op) {
  op.commutative = false;
  op.types.insert(op.types.begin(), PrimType::kBool);
  op.known.assign(op.types.size(), nullptr);
  return op;
}

plan::Operator flagged_operator(const plan::Operator& op) {
  plan::Operator out;
  out.facts = flagged_facts(op.facts);
  out.neutral = {kir::boolean(false)};
  out.neutral.insert(out.neutral.end(), op.neutral.begin(), op.neutral.end());
  out.combine = [op](Builder& k, const Values& a, const Values& b) {
    const Values x(a.begin() + 1, a.end()), y(b.begin() + 1, b.end());
    // Not a select: the operator may fail on values that do not belong together.
    Values r = k.if_values(
        b[0], [&] { return y; }, [&] { return op.combine(k, x, y); });
    r.insert(r.begin(), k.or_(a[0], b[0]));
    return r;
  };
  return out;
}

Flat::Flat(const plan::Facts& facts, const plan::Bind& bind)
    : facts_(facts), length_(facts.length), bind_(bind), one_(facts.segments.is(1)) {
  flat_bind_ = [this](plan::Team& t) { return wrap(t); };
  if (one_) return;
  facts_.length = facts.segments * facts.length;
  facts_.segments = 1;
  facts_.across = false;
  facts_.widest = 1;  // segments may begin anywhere
  facts_.op = flagged_facts(facts_.op);
}

plan::Problem Flat::wrap(plan::Team& t) {
  inner_ = bind_(t);
  if (one_) return inner_;
  places_.emplace(t.host(length_));
  plan::Problem p;
  p.op = flagged_operator(inner_.op);
  const auto flagged_at = [this](const plan::Elements& elements) {
    return [this, at = elements.at](Builder& b, const plan::Place& place) {
      const plan::Place here = places_->at(b, place.position);
      Values x = at(b, here);
      x.insert(x.begin(), b.eq(here.position, 0));
      return x;
    };
  };
  p.elements.at = flagged_at(inner_.elements);
  if (inner_.dry_elements.at) p.dry_elements.at = flagged_at(inner_.dry_elements);
  p.sink.put = [this](Builder& b, const plan::Place& at, const Values& x) {
    inner_.sink.put(b, places_->at(b, at.position), Values(x.begin() + 1, x.end()));
  };
  return p;
}

void Flat::begin(Builder& k, const Value& from) {
  if (!one_) places_->begin(k, from);
}

}  // namespace kenaz::primitives::scan
