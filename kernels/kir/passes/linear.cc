#include "kernels/kir/passes/linear.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

constexpr int64_t kFar = int64_t{1} << 30;
constexpr size_t kMostTerms = 8;
constexpr int kDeepest = 8;

/// The power of two in it.
int part(int64_t n) {
  const int zeros = std::countr_zero(static_cast<uint64_t>(n));
  return 1 << std::min(zeros, std::countr_zero(unsigned{LinearForms::kMostDivisor}));
}

bool is_near(int64_t n) { return n < kFar && n > -kFar; }

}  // namespace

LinearForms::LinearForms(const Kernel& kernel) {
  for_each_inst_of(kernel, [&](const Inst& i) {
    if (const auto* prim = std::get_if<IPrim>(&i.op)) prims_.emplace(prim->dst.index, *prim);
    if (const auto* loop = std::get_if<IFor>(&i.op)) {
      loops_.emplace(loop->index.index, std::pair(loop->from, loop->step));
    }
  });
}

const IPrim* LinearForms::prim(uint32_t v) const {
  const auto it = prims_.find(v);
  return it == prims_.end() || !is_integer(it->second.type) ? nullptr : &it->second;
}

const Linear& LinearForms::of(const Value& v) {
  if (v.is_const()) {
    constant_ = {{}, v.constant().as_i64()};
    return constant_;
  }
  const uint32_t id = v.id().index;
  if (const auto it = forms_.find(id); it != forms_.end()) return it->second;
  Linear form = made(v);
  const bool near =
      is_near(form.constant) &&
      std::all_of(form.terms.begin(), form.terms.end(), [](auto& t) { return is_near(t.second); });
  if (!near || form.terms.size() > kMostTerms) form = {{{id, 1}}, 0};
  return forms_[id] = std::move(form);
}

Linear LinearForms::made(const Value& v) {
  const Linear itself{{{v.id().index, 1}}, 0};
  const IPrim* p = prim(v.id().index);
  if (p == nullptr) return itself;
  if (p->op == ScalarOp::kConvert) {
    const bool all = is_integer(p->to) && prim_size(p->to) == prim_size(p->type);
    return all ? of(p->args[0]) : itself;
  }
  if (p->op == ScalarOp::kAdd || p->op == ScalarOp::kSub) {
    const Linear first = of(p->args[0]);
    return sum(first, of(p->args[1]), p->op == ScalarOp::kAdd ? 1 : -1);
  }
  if (p->op != ScalarOp::kMul) return itself;
  for (const size_t n : {size_t{0}, size_t{1}}) {
    if (!p->args[n].is_const() || !is_near(p->args[n].constant().as_i64())) continue;
    return sum({}, of(p->args[1 - n]), p->args[n].constant().as_i64());
  }
  return itself;
}

Linear sum(Linear a, const Linear& b, int64_t factor) {
  Linear out = std::move(a);
  out.constant += factor * b.constant;
  for (const auto& [value, times] : b.terms) {
    const auto at = std::lower_bound(out.terms.begin(), out.terms.end(), value,
                                     [](const auto& t, uint32_t x) { return t.first < x; });
    if (at != out.terms.end() && at->first == value) {
      at->second += factor * times;
    } else {
      out.terms.insert(at, {value, factor * times});
    }
  }
  std::erase_if(out.terms, [](const auto& t) { return t.second == 0; });
  return out;
}

int LinearForms::divisor(const Linear& form) const {
  int out = kMostDivisor;
  for (const auto& [value, factor] : form.terms) {
    const Value v({PrimType::kI64, 1}, ValId{value});
    out = std::min(out, std::min(kMostDivisor, part(factor) * divisor(v, 0)));
  }
  return out;
}

int LinearForms::divisor(const Value& v, int depth) const {
  if (v.is_const()) return part(v.constant().as_i64());
  if (depth == kDeepest) return 1;
  if (const auto loop = loops_.find(v.id().index); loop != loops_.end()) {
    const auto& [from, step] = loop->second;
    return std::min(divisor(from, depth + 1), divisor(step, depth + 1));
  }
  const IPrim* p = prim(v.id().index);
  if (p == nullptr) return 1;
  const auto of = [&](size_t n) { return divisor(p->args[n], depth + 1); };
  switch (p->op) {
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
    case ScalarOp::kMin:
    case ScalarOp::kMax: return std::min(of(0), of(1));
    case ScalarOp::kMul: return std::min(kMostDivisor, of(0) * of(1));
    case ScalarOp::kConvert: return is_integer(p->to) && prim_size(p->to) >= 4 ? of(0) : 1;
    default: return 1;
  }
}

}  // namespace kenaz::kir
