#include "kernels/kir/passes/wide_products.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

/// a * b and `addends`, at most two: two words, which the kernel makes as `low` and `high`; `low`
/// is not valid where nothing has been added and nobody asks for it.
struct WideSum {
  Value a, b;
  std::vector<Value> addends;
  ValId low, high;
};

struct Halves {
  Value low, high;  // of 64 bits each
};

bool is_word(PrimType t) { return t == PrimType::kU32 || t == PrimType::kU64; }

class WideProducts {
 public:
  explicit WideProducts(Kernel& kernel)
      : kernel_(kernel), uses_(kernel.vals.size()), made_(uses_.size()) {
    const auto use = [&](const Value& v) {
      if (!v.is_const()) uses_[v.id().index]++;
    };
    for_each_inst_of(kernel, [&](const Inst& i) {
      visit_operands(i.op, use);
      visit_end_operands(i.op, use);
    });
    for (const Function& f : kernel.functions) {
      for (const Value& r : f.results) use(r);
    }
  }

  /// Whether there are any.
  bool find() {
    for_each_body(kernel_, [&](const Block& b) { look_at(b); });
    for (auto& [high, sum] : sums_) {
      if (sum.low.valid()) by_low_.emplace(sum.low.index, std::move(sum));
    }
    return !by_low_.empty();
  }

  /// Both words are made where the low one was: all operands are known there.
  void replace_in(Block& b) {
    std::vector<Inst> out;
    const size_t mark = order_.size();
    for (Inst& i : b.insts) {
      visit_blocks(i.op, [&](Block& inner) { replace_in(inner); });
      const auto* prim = std::get_if<IPrim>(&i.op);
      const auto sum = prim ? by_low_.find(prim->dst.index) : by_low_.end();
      if (sum != by_low_.end()) {
        const Maker maker{*this, i.prov, out};
        prim->type == PrimType::kU64 ? maker.by_halves(sum->second) : maker.whole(sum->second);
        made_high_.emplace(sum->second.high.index);
      } else if (prim == nullptr || !made_high_.contains(prim->dst.index)) {
        out.push_back(std::move(i));
      }
    }
    for (; order_.size() > mark; order_.pop_back()) halves_.erase(order_.back());
    b.insts = std::move(out);
  }

 private:
  // ---- what there is

  const IPrim* made_by(const Value& v, ScalarOp op) const {
    if (v.is_const()) return nullptr;
    const IPrim* prim = made_[v.id().index];
    return prim && prim->op == op ? prim : nullptr;
  }
  int uses_of(const Value& v) const { return v.is_const() ? 0 : uses_[v.id().index]; }

  void look_at(const Block& b) {
    const size_t mark = products_.size();
    for (const Inst& i : b.insts) {
      visit_blocks(i.op, [&](const Block& inner) { look_at(inner); });
      if (const auto* prim = std::get_if<IPrim>(&i.op)) look_at(*prim);
    }
    products_.resize(mark);
  }

  void look_at(const IPrim& prim) {
    made_[prim.dst.index] = &prim;
    if (!is_word(prim.type)) return;
    if (prim.op == ScalarOp::kMulHi) {
      WideSum sum{prim.args[0], prim.args[1], {}, {}, prim.dst};
      const auto low = std::find_if(products_.rbegin(), products_.rend(),
                                    [&](const IPrim* p) { return is_product(*p, sum); });
      if (low != products_.rend()) sum.low = (*low)->dst;
      sums_.emplace(prim.dst.index, std::move(sum));
    } else if (prim.op == ScalarOp::kMul) {
      products_.push_back(&prim);
    } else if (prim.op == ScalarOp::kAdd && !add(prim, prim.args[0], prim.args[1])) {
      add(prim, prim.args[1], prim.args[0]);
    }
  }

  /// `prim` adds the two: whether these are a high word and the carry of its low one.
  bool add(const IPrim& prim, const Value& high, const Value& carry) {
    if (uses_of(high) != 1 || uses_of(carry) != 1) return false;
    const auto found = sums_.find(high.id().index);
    if (found == sums_.end() || found->second.addends.size() == 2) return false;
    const IPrim* compare = condition(carry);
    const IPrim* total = compare ? made_by(compare->args[0], ScalarOp::kAdd) : nullptr;
    if (total == nullptr || total->type != prim.type || compare->type != prim.type) return false;
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const Value &low = total->args[side], &addend = total->args[1 - side];
      if (low == addend || !is_low(found->second, low)) continue;
      const bool of_low = compare->args[1] == low;
      if (!of_low && compare->args[1] != addend) continue;
      // Whoever else asks for the low word as it was would have it made once more.
      const bool was_compared = !found->second.addends.empty();
      if (uses_of(low) != 1 + (of_low ? 1 : 0) + (was_compared ? 1 : 0)) continue;
      WideSum sum = std::move(found->second);
      sums_.erase(found);
      sum.addends.push_back(addend);
      sum.low = total->dst;
      sum.high = prim.dst;
      sums_[prim.dst.index] = std::move(sum);
      return true;
    }
    return false;
  }

  /// The comparison that the number, 0 or 1, stands for.
  const IPrim* condition(const Value& number) const {
    const IPrim* made = made_by(number, ScalarOp::kSelect);
    const bool chooses = made && made->args[1].is_int(1) && made->args[2].is_int(0);
    if (!chooses) made = made_by(number, ScalarOp::kConvert);
    if (made == nullptr || uses_of(made->args[0]) != 1) return nullptr;
    return made_by(made->args[0], ScalarOp::kLt);
  }

  bool is_low(const WideSum& sum, const Value& v) const {
    if (v.is_const()) return false;
    if (sum.low.valid()) return v.id() == sum.low;
    const IPrim* product = made_by(v, ScalarOp::kMul);
    return product != nullptr && is_product(*product, sum);
  }
  static bool is_product(const IPrim& prim, const WideSum& sum) {
    const Value &a = prim.args[0], &b = prim.args[1];
    return (a == sum.a && b == sum.b) || (a == sum.b && b == sum.a);
  }

  // ---- what becomes of it

  struct Maker {
    WideProducts& pass;
    ir::ProvId prov;
    std::vector<Inst>& out;

    void set(ValId dst, ScalarOp op, PrimType type, PrimType to, std::vector<Value> args) const {
      out.push_back({IPrim{dst, op, type, to, std::move(args)}, prov});
    }
    Value op(ScalarOp op, PrimType type, PrimType to, std::vector<Value> args) const {
      const ValId dst = pass.kernel_.new_val({to, 1});
      set(dst, op, type, to, std::move(args));
      return {{to, 1}, dst};
    }
    Value of_u64(ScalarOp o, const Value& a, const Value& b) const {
      return op(o, PrimType::kU64, PrimType::kU64, {a, b});
    }
    static Value number(uint64_t n) {
      return PrimValue::of_int(PrimType::kU64, static_cast<int64_t>(n));
    }
    Value wide(const Value& v) const {
      return op(ScalarOp::kConvert, PrimType::kU32, PrimType::kU64, {v});
    }
    Value low_half(const Value& v) const {
      return wide(op(ScalarOp::kConvert, PrimType::kU64, PrimType::kU32, {v}));
    }
    Value high_half(const Value& v) const { return of_u64(ScalarOp::kLShr, v, number(32)); }

    Halves halves(const Value& v) const {
      if (v.is_const()) {
        const uint64_t n = v.constant().bits;
        return {number(n & 0xffffffff), number(n >> 32)};
      }
      const auto known = pass.halves_.find(v.id().index);
      if (known != pass.halves_.end()) return known->second;
      const Halves made{low_half(v), high_half(v)};
      pass.halves_.emplace(v.id().index, made);
      pass.order_.push_back(v.id().index);
      return made;
    }

    void whole(const WideSum& sum) const {
      const Value a = wide(sum.a), b = wide(sum.b);
      Value all = of_u64(ScalarOp::kMul, a, b);
      for (const Value& v : sum.addends) all = of_u64(ScalarOp::kAdd, all, wide(v));
      set(sum.low, ScalarOp::kConvert, PrimType::kU64, PrimType::kU32, {all});
      set(sum.high, ScalarOp::kConvert, PrimType::kU64, PrimType::kU32, {high_half(all)});
    }

    /// With n = 2^32 - 1, a product of halves is n * n at most, and two more halves are just what
    /// 64 bits still hold.
    void by_halves(const WideSum& sum) const {
      const Halves a = halves(sum.a), b = halves(sum.b);
      Value last = of_u64(ScalarOp::kMul, a.low, b.low);
      for (const Value& v : sum.addends) last = of_u64(ScalarOp::kAdd, last, halves(v).low);
      Value one = of_u64(ScalarOp::kMul, a.high, b.low);
      one = of_u64(ScalarOp::kAdd, one, high_half(last));
      if (!sum.addends.empty()) one = of_u64(ScalarOp::kAdd, one, halves(sum.addends[0]).high);
      Value other = of_u64(ScalarOp::kMul, a.low, b.high);
      other = of_u64(ScalarOp::kAdd, other, low_half(one));
      if (sum.addends.size() > 1) {
        other = of_u64(ScalarOp::kAdd, other, halves(sum.addends[1]).high);
      }
      const Value first = of_u64(ScalarOp::kMul, a.high, b.high);
      const Value carried = of_u64(ScalarOp::kAdd, first, high_half(one));
      set(sum.high, ScalarOp::kAdd, PrimType::kU64, PrimType::kU64, {carried, high_half(other)});
      const Value upper = of_u64(ScalarOp::kShl, other, number(32));
      set(sum.low, ScalarOp::kOr, PrimType::kU64, PrimType::kU64, {upper, low_half(last)});
    }
  };

  Kernel& kernel_;
  std::vector<int> uses_;
  std::vector<const IPrim*> made_;              // by ValId; until something is replaced
  std::vector<const IPrim*> products_;          // visible ones
  std::unordered_map<uint32_t, WideSum> sums_;  // by the high word
  std::unordered_map<uint32_t, WideSum> by_low_;
  std::unordered_set<uint32_t> made_high_;
  std::unordered_map<uint32_t, Halves> halves_;  // of what is visible
  std::vector<uint32_t> order_;                  // in which they came, to forget them again
};

}  // namespace

void wide_products(Kernel& kernel) {
  bool any = false;
  for_each_inst_of(kernel, [&](const Inst& i) {
    const auto* prim = std::get_if<IPrim>(&i.op);
    any = any || (prim && prim->op == ScalarOp::kMulHi && is_word(prim->type));
  });
  if (!any) return;
  WideProducts pass(kernel);
  if (!pass.find()) return;
  for_each_body(kernel, [&](Block& b) { pass.replace_in(b); });
}

}  // namespace kenaz::kir
