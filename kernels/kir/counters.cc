#include "kernels/kir/counters.h"

#include <map>

#include "kernels/kir/visit.h"

namespace kenaz::kir {

namespace {

/// What stands in a loop's head and body, but in no block inside.
class Turn {
 public:
  explicit Turn(const IWhile& loop) {
    for (const Inst& i : loop.head.insts) {
      if (const auto* read = std::get_if<IRead>(&i.op)) reads_.emplace(read->dst.index, read->var);
    }
    for (const Block* block : {&loop.head, &loop.body}) {
      for (const Inst& i : block->insts) {
        if (const auto* prim = std::get_if<IPrim>(&i.op)) prims_.emplace(prim->dst.index, prim);
      }
    }
    note_comparisons(loop.cond);
  }

  /// Which all hold where the loop goes on.
  const std::vector<const IPrim*>& comparisons() const { return comparisons_; }

  const IPrim* made_by(const Value& v) const {
    const auto it = v.is_const() ? prims_.end() : prims_.find(v.id().index);
    return it == prims_.end() ? nullptr : it->second;
  }

  /// The variable whose value it is at the beginning of the turn.
  std::optional<VarId> read_of(const Value& v) const {
    const auto it = v.is_const() ? reads_.end() : reads_.find(v.id().index);
    return it == reads_.end() ? std::nullopt : std::optional(it->second);
  }

 private:
  void note_comparisons(const Value& cond) {
    const IPrim* prim = made_by(cond);
    if (prim == nullptr || prim->form != Form::kWhole) return;
    if (prim->op == ScalarOp::kLt && prim_kind(prim->type) == PrimKind::kSigned) {
      comparisons_.push_back(prim);
    }
    if (prim->op != ScalarOp::kAnd || prim->type != PrimType::kBool) return;
    for (const Value& both : prim->args) note_comparisons(both);
  }

  std::map<uint32_t, VarId> reads_;         // by ValId
  std::map<uint32_t, const IPrim*> prims_;  // by ValId
  std::vector<const IPrim*> comparisons_;
};

}  // namespace

Counters::Counters(const Kernel& kernel) : variables_(kernel.vars.size()) {
  for_each_inst_of(kernel, [&](const Inst& i) {
    if (const auto* declare = std::get_if<IDeclare>(&i.op)) {
      variables_[declare->var.index].first = declare->init;
    }
    if (const auto* assign = std::get_if<IAssign>(&i.op)) {
      variables_[assign->var.index].assignments++;
    }
  });
}

std::optional<Counters::Span> Counters::of(const IWhile& loop) const {
  const Turn turn(loop);
  /// What the variable begins with whose value at the beginning of a turn this is.
  const auto counted = [&](const Value& v, int64_t by) -> std::optional<Value> {
    const auto var = turn.read_of(v);
    if (!var || variables_[var->index].assignments != 1) return std::nullopt;
    for (const Inst& i : loop.body.insts) {
      const auto* assign = std::get_if<IAssign>(&i.op);
      if (assign == nullptr || assign->var != *var) continue;
      const IPrim* sum = turn.made_by(assign->value);
      const bool counts = sum != nullptr && sum->op == ScalarOp::kAdd && sum->args[0] == v &&
                          sum->args[1].is_int(by);
      return counts ? variables_[var->index].first : std::nullopt;
    }
    return std::nullopt;
  };
  for (const IPrim* less : turn.comparisons()) {
    if (const auto first = counted(less->args[0], 1)) return Span{*first, less->args[1]};
    if (const auto first = counted(less->args[1], -1)) return Span{less->args[0], *first};
  }
  return std::nullopt;
}

}  // namespace kenaz::kir
