#include "kernels/kir/passes/known_sums.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kernels/kir/identities.h"
#include "kernels/kir/passes/put_before.h"
#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

/// What a turn adds to a variable: values times factors.
using Sum = std::vector<std::pair<Value, int64_t>>;

Sum with(Sum sum, const Value& v, int64_t factor) {
  const auto same =
      std::find_if(sum.begin(), sum.end(), [&](const auto& term) { return term.first == v; });
  if (same == sum.end()) {
    sum.emplace_back(v, factor);
  } else {
    same->second += factor;
  }
  return sum;
}

bool is_counted(PrimType t) {
  return t == PrimType::kI32 || t == PrimType::kI64 || t == PrimType::kU32 || t == PrimType::kU64;
}

/// One loop, and what it does to its variables.
class KnownSums {
 public:
  KnownSums(Kernel& kernel, Inst& inst)
      : kernel_(kernel), loop_(std::get<IFor>(inst.op)), prov_(inst.prov) {
    inside_.insert(loop_.index.index);
    for_each_inst(loop_.body, [&](const Inst& i) {
      visit_results(i.op, [&](ValId v) { inside_.insert(v.index); });
      visit_binders(i.op, [&](ValId v) { inside_.insert(v.index); });
    });
  }

  /// Takes sums out of the loop; what makes them goes to `out`, which stands before it.
  void take(std::vector<Inst>& out) {
    if (!loop_.step.is_const() || !is_counted(loop_.step.type.prim)) return;
    for (const VarId var : variables()) {
      const Type type = kernel_.vars[var.index];
      if (type.lanes != 1 || !is_integer(type.prim)) continue;
      if (const auto sum = remove(var)) add(var, *sum, out);
    }
  }

 private:
  /// Those that are assigned in the loop, in their order.
  std::vector<VarId> variables() const {
    std::vector<VarId> all;
    for (const Inst& i : loop_.body.insts) {
      const auto* assign = std::get_if<IAssign>(&i.op);
      if (assign && std::find(all.begin(), all.end(), assign->var) == all.end()) {
        all.push_back(assign->var);
      }
    }
    return all;
  }

  bool is_outside(const Value& v) const { return v.is_const() || !inside_.contains(v.id().index); }

  /// What a turn adds to the variable, if it does nothing else with it; then none of it is left.
  std::optional<Sum> remove(VarId var) {
    std::unordered_map<uint32_t, Sum>
        sums;  // by value: the variable's at first, and what was added
    Sum now;
    const auto known = [&](const Value& v) -> const Sum* {
      const auto it = v.is_const() ? sums.end() : sums.find(v.id().index);
      return it == sums.end() ? nullptr : &it->second;
    };
    std::vector<bool> made;  // of the body's instructions: those that make the sum
    for (const Inst& i : loop_.body.insts) {
      made.push_back(true);
      const auto* read = std::get_if<IRead>(&i.op);
      const auto* assign = std::get_if<IAssign>(&i.op);
      const auto* prim = std::get_if<IPrim>(&i.op);
      if (read && read->var == var) {
        sums[read->dst.index] = now;
      } else if (assign && assign->var == var) {
        const Sum* sum = known(assign->value);
        if (sum == nullptr) return std::nullopt;
        now = *sum;
      } else if (const auto sum = prim ? sum_of(*prim, known) : std::nullopt) {
        sums[prim->dst.index] = *sum;
      } else if (mentions(i, var, known)) {
        return std::nullopt;
      } else {
        made.back() = false;
      }
    }
    size_t at = 0;
    std::erase_if(loop_.body.insts, [&](const Inst&) { return made[at++]; });
    return now;
  }

  template <class F>
  std::optional<Sum> sum_of(const IPrim& prim, const F& known) const {
    if (prim.op != ScalarOp::kAdd && prim.op != ScalarOp::kSub) return std::nullopt;
    const Value &a = prim.args[0], &b = prim.args[1];
    const bool minus = prim.op == ScalarOp::kSub;
    if (const Sum* sum = known(a); sum && is_outside(b)) return with(*sum, b, minus ? -1 : 1);
    if (const Sum* sum = known(b); sum && is_outside(a) && !minus) return with(*sum, a, 1);
    return std::nullopt;
  }

  /// Whether the instruction, or one inside of it, knows the variable or what was made of it.
  template <class F>
  static bool mentions(const Inst& inst, VarId var, const F& known) {
    bool found = false;
    const auto look = [&](const Inst& i) {
      visit_var(i.op, [&](VarId v) { found = found || v == var; });
      const auto operand = [&](const Value& v) { found = found || known(v) != nullptr; };
      visit_operands(i.op, operand);
      visit_end_operands(i.op, operand);
    };
    look(inst);
    visit_blocks(inst.op, [&](const Block& b) { for_each_inst(b, look); });
    return found;
  }

  void add(VarId var, const Sum& sum, std::vector<Inst>& out) {
    const PrimType type = kernel_.vars[var.index].prim;
    const Value count = emit(ScalarOp::kConvert, turns_type(), type, {turns(out)}, out);
    Value all = PrimValue::of_int(type, 0);
    for (const auto& [v, factor] : sum) {
      const Value times = binary(ScalarOp::kMul, v, PrimValue::of_int(type, factor), out);
      all = binary(ScalarOp::kAdd, all, times, out);
    }
    const ValId before = kernel_.new_val({type, 1});
    out.push_back({IRead{before, var}, prov_});
    const Value more = binary(ScalarOp::kMul, count, all, out);
    const Value after = binary(ScalarOp::kAdd, Value({type, 1}, before), more, out);
    out.push_back({IAssign{var, after}, prov_});
  }

  PrimType turns_type() const {
    return prim_size(loop_.step.type.prim) == 4 ? PrimType::kU32 : PrimType::kU64;
  }

  /// Without a sign, so that no difference overflows.
  Value turns(std::vector<Inst>& out) {
    if (turns_) return *turns_;
    const PrimType type = loop_.step.type.prim, counts = turns_type();
    const auto constant = [&](int64_t n) { return Value(PrimValue::of_int(counts, n)); };
    const Value length = binary(ScalarOp::kSub, loop_.to, loop_.from, out);
    Value n = emit(ScalarOp::kConvert, type, counts, {length}, out);
    if (!loop_.step.is_int(1)) {
      n = binary(ScalarOp::kSub, n, constant(1), out);
      n = binary(ScalarOp::kQuot, n, constant(loop_.step.constant().as_i64()), out);
      n = binary(ScalarOp::kAdd, n, constant(1), out);
    }
    const Value any = binary(ScalarOp::kLt, loop_.from, loop_.to, out);
    turns_ = emit(ScalarOp::kSelect, counts, counts, {any, n, constant(0)}, out);
    return *turns_;
  }

  Value binary(ScalarOp op, const Value& a, const Value& b, std::vector<Inst>& out) {
    return emit(op, a.type.prim, a.type.prim, {a, b}, out);
  }
  Value emit(ScalarOp op, PrimType type, PrimType to, std::vector<Value> args,
             std::vector<Inst>& out) {
    if (op == ScalarOp::kConvert && type == to) return args[0];
    if (auto known = known_result(op, type, to, args)) return *known;
    const Type result{scalar_op_result(op, type, to), 1};
    const ValId dst = kernel_.new_val(result);
    out.push_back({IPrim{dst, op, type, to, std::move(args)}, prov_});
    return {result, dst};
  }

  Kernel& kernel_;
  IFor& loop_;
  const ir::ProvId prov_;
  std::unordered_set<uint32_t> inside_;  // values that the loop makes
  std::optional<Value> turns_;           // once they are counted
};

}  // namespace

void known_sums(Kernel& kernel) {
  // Innermost loops first: what they add may be the same in all turns of the loop around them.
  put_before(kernel, [&](Inst& i, std::vector<Inst>& out) {
    if (std::holds_alternative<IFor>(i.op)) KnownSums(kernel, i).take(out);
  });
}

}  // namespace kenaz::kir
