#include "kernels/primitives/pack/counting.h"

#include "protocol/base/check.h"

namespace kenaz::primitives::pack {

using kir::Builder;
using kir::Value;
using kir::Values;

namespace {

const op::Known& addition(PrimType t) { return *op::known(ScalarOp::kAdd, t); }

}  // namespace

Counting::Counting(const plan::Facts& facts, const plan::Bind& bind, PrimType type)
    : of_pack_(facts), bind_(bind), type_(type), facts_(facts) {
  CHECK(facts.segments.is(1) && facts.classes >= 1 && facts.classes <= 4);
  const plan::OpFacts one = plan::known_operator(addition(type), type).facts;
  facts_.op = plan::join(std::vector(static_cast<size_t>(facts.classes), one));
  facts_.carried.insert(facts_.carried.begin(), PrimType::kI32);  // the class
  facts_.widest = 1;
  scan_bind_ = [this](plan::Team& t) { return wrap(t); };
}

plan::Problem Counting::wrap(plan::Team& t) {
  inner_ = bind_(t);
  length_ = t.host(of_pack_.length);
  plan::Problem p;
  const auto classes = static_cast<size_t>(of_pack_.classes);
  p.op = plan::join(std::vector(classes, plan::known_operator(addition(type_), type_)));
  p.elements.at = [this](Builder& b, const plan::Place& at) {
    const Values element = inner_.elements.at(b, at);
    Values out;
    for (int c = 0; c < of_pack_.classes; c++) {
      out.push_back(b.convert(b.eq(element[0], c), type_));
    }
    out.insert(out.end(), element.begin(), element.end());
    return out;
  };
  p.sink.put = [this](Builder& b, const plan::Place& at, const Values& x) { put(b, at, x); };
  return p;
}

void Counting::put(Builder& k, const plan::Place& at, const Values& x) const {
  const auto classes = static_cast<size_t>(of_pack_.classes);
  const Value cls = x[classes];
  Values counts;
  for (size_t c = 0; c < classes; c++) counts.push_back(k.to_i64(x[c]));
  Value count = counts[0];
  for (size_t c = 1; c < classes; c++) {
    count = k.select(k.eq(cls, static_cast<int64_t>(c)), counts[c], count);
  }
  const Value kept = k.and_(k.le(kir::i32(0), cls), k.lt(cls, of_pack_.classes));
  k.if_(kept, [&] {
    const Values carried(x.begin() + static_cast<std::ptrdiff_t>(classes) + 1, x.end());
    inner_.sink.put(k, {k.to_i64(cls), k.sub(count, 1)}, carried);
  });
  k.if_(k.eq(at.position, k.sub(length_, 1)), [&] { inner_.counts(k, counts); });
}

plan::Work Counting::with_empty(plan::Work work, const program::Target& target) const {
  plan::Maker m(of_pack_, target, bind_);
  const auto empty = plan::HostExpr(1) - min(of_pack_.length, 1);
  m.step("_empty", empty, [&](plan::Team& t) {
    const Values none(static_cast<size_t>(of_pack_.classes), kir::i64(0));
    t.k.if_(t.k.eq(t.k.local(), 0), [&] { t.problem.counts(t.k, none); });
  });
  plan::Work extra = m.take();
  work.steps.push_back(std::move(extra.steps[0]));
  return work;
}

}  // namespace kenaz::primitives::pack
