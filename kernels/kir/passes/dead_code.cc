#include "kernels/kir/passes/dead_code.h"

#include <unordered_map>
#include <utility>

#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

/// Marks what one body needs, from its effects and results on, and removes the rest.
class DeadCode {
 public:
  /// `effects`: which functions have one.
  DeadCode(Block& body, const std::vector<bool>& effects) : body_(body), effects_(effects) {
    collect(body, kNoParent);
  }
  void need(const Value& v) {
    if (v.is_const()) return;
    if (auto it = made_by_.find(v.id().index); it != made_by_.end()) {
      used_.insert_or_assign(v.id().index, true);
      mark(it->second);
    }
  }
  /// Returns whether the body has effects.
  bool mark_effects() {
    bool any = false;
    for (size_t n = 0; n < nodes_.size(); n++) {
      if (!has_effect(*nodes_[n].inst)) continue;
      any = true;
      mark(n);
    }
    return any;
  }
  void sweep() {
    while (!ahead_.empty()) {
      const size_t n = ahead_.back();
      ahead_.pop_back();
      follow(nodes_[n]);
    }
    size_t next = 0;
    sweep(body_, next);
  }

 private:
  static constexpr size_t kNoParent = ~size_t{0};
  struct Node {
    Inst* inst;
    size_t parent;  // the condition or loop around it
    bool live = false;
  };

  void collect(Block& b, size_t parent) {
    for (Inst& i : b.insts) {
      const size_t n = nodes_.size();
      nodes_.push_back({&i, parent});
      visit_results(i.op, [&](ValId v) { made_by_[v.index] = n; });
      if (!std::holds_alternative<IRead>(i.op)) {
        visit_var(i.op, [&](VarId v) { set_by_[v.index].push_back(n); });
      }
      visit_blocks(i.op, [&](Block& inner) { collect(inner, n); });
    }
  }
  bool has_effect(const Inst& i) const {
    if (const auto* load = std::get_if<ILoad>(&i.op)) return load->order == Order::kCoherent;
    if (const auto* call = std::get_if<ICall>(&i.op)) return effects_[call->function.index];
    return std::holds_alternative<IStore>(i.op) || std::holds_alternative<IAtomic>(i.op) ||
           std::holds_alternative<IBarrier>(i.op) || std::holds_alternative<IFence>(i.op) ||
           std::holds_alternative<IFail>(i.op) || std::holds_alternative<IStop>(i.op);
  }
  void mark(size_t n) {
    if (n == kNoParent || nodes_[n].live) return;
    nodes_[n].live = true;
    ahead_.push_back(n);
  }
  void follow(const Node& node) {
    mark(node.parent);
    visit_operands(node.inst->op, [&](const Value& v) { need(v); });
    visit_end_operands(node.inst->op, [&](const Value& v) { need(v); });
    if (const auto* read = std::get_if<IRead>(&node.inst->op)) {
      for (const size_t n : set_by_[read->var.index]) mark(n);
    }
  }
  /// `next`: the number of the block's first instruction.
  void sweep(Block& b, size_t& next) {
    std::vector<Inst> out;
    for (Inst& i : b.insts) {
      const bool live = nodes_[next++].live;
      visit_blocks(i.op, [&](Block& inner) { sweep(inner, next); });
      if (!live) continue;
      auto* atomic = std::get_if<IAtomic>(&i.op);
      if (atomic && atomic->op != AtomicOp::kLoad && !used_.contains(atomic->dst.index)) {
        atomic->dst = {};
      }
      out.push_back(std::move(i));
    }
    b.insts = std::move(out);
  }

  Block& body_;
  const std::vector<bool>& effects_;
  std::vector<Node> nodes_;  // in the order of for_each_inst
  std::vector<size_t> ahead_;
  std::unordered_map<uint32_t, size_t> made_by_;              // by ValId
  std::unordered_map<uint32_t, bool> used_;                   // by ValId
  std::unordered_map<uint32_t, std::vector<size_t>> set_by_;  // by VarId
};

void remove_uncalled(Kernel& kernel) {
  std::vector<bool> called(kernel.functions.size());
  const auto note = [&](const Inst& i) {
    if (const auto* call = std::get_if<ICall>(&i.op)) called[call->function.index] = true;
  };
  for_each_inst(kernel.main, note);
  for (size_t f = kernel.functions.size(); f-- > 0;) {
    if (called[f]) for_each_inst(kernel.functions[f].body, note);
  }
  std::vector<uint32_t> numbers;
  std::vector<Function> kept;
  for (size_t f = 0; f < kernel.functions.size(); f++) {
    numbers.push_back(static_cast<uint32_t>(kept.size()));
    if (called[f]) kept.push_back(std::move(kernel.functions[f]));
  }
  kernel.functions = std::move(kept);
  for_each_inst_of(kernel, [&](Inst& i) {
    if (auto* call = std::get_if<ICall>(&i.op))
      call->function.index = numbers[call->function.index];
  });
}

}  // namespace

void dead_code(Kernel& kernel) {
  std::vector<bool> effects;
  for (Function& f : kernel.functions) {
    DeadCode pass(f.body, effects);
    const bool any = pass.mark_effects();
    for (const Value& r : f.results) pass.need(r);
    pass.sweep();
    effects.push_back(any);
  }
  DeadCode pass(kernel.main, effects);
  pass.mark_effects();
  pass.sweep();
  remove_uncalled(kernel);
}

}  // namespace kenaz::kir
