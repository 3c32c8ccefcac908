#include "kernels/kir/passes/hoist.h"

#include <unordered_set>
#include <utility>

#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

/// Moves instructions out of one loop, innermost loops first.
class LoopInvariants {
 public:
  explicit LoopInvariants(const Inst& loop) {
    visit_binders(loop.op, [&](ValId v) { inside_.insert(v.index); });
    visit_blocks(loop.op, [&](const Block& b) {
      for_each_inst(b, [&](const Inst& i) {
        visit_results(i.op, [&](ValId v) { inside_.insert(v.index); });
        visit_binders(i.op, [&](ValId v) { inside_.insert(v.index); });
        if (!std::holds_alternative<IRead>(i.op)) {
          visit_var(i.op, [&](VarId v) { assigned_.insert(v.index); });
        }
      });
    });
  }
  void move_out(Block& b, std::vector<Inst>& out) {
    std::vector<Inst> kept;
    for (Inst& i : b.insts) {
      if (is_invariant(i)) {
        visit_results(i.op, [&](ValId v) { inside_.erase(v.index); });
        out.push_back(std::move(i));
      } else {
        kept.push_back(std::move(i));
      }
    }
    b.insts = std::move(kept);
  }

 private:
  bool is_invariant(const Inst& i) const {
    if (const auto* read = std::get_if<IRead>(&i.op)) return !assigned_.contains(read->var.index);
    if (!std::holds_alternative<IPrim>(i.op) && !std::holds_alternative<IBuiltin>(i.op) &&
        !std::holds_alternative<ICompose>(i.op) && !std::holds_alternative<IExtract>(i.op)) {
      return false;
    }
    bool outside = true;
    visit_operands(i.op, [&](const Value& v) {
      outside = outside && (v.is_const() || !inside_.contains(v.id().index));
    });
    return outside;
  }

  std::unordered_set<uint32_t> inside_;    // values that the loop makes
  std::unordered_set<uint32_t> assigned_;  // variables that it declares or assigns
};

void hoist_in(Block& b) {
  std::vector<Inst> out;
  for (Inst& i : b.insts) {
    visit_blocks(i.op, [](Block& inner) { hoist_in(inner); });
    if (std::holds_alternative<IFor>(i.op) || std::holds_alternative<IWhile>(i.op)) {
      LoopInvariants invariants(i);
      visit_blocks(i.op, [&](Block& inner) { invariants.move_out(inner, out); });
    }
    out.push_back(std::move(i));
  }
  b.insts = std::move(out);
}

}  // namespace

void hoist(Kernel& kernel) {
  for_each_body(kernel, [](Block& b) { hoist_in(b); });
}

}  // namespace kenaz::kir
