#include "kernels/kir/passes/drop_counts.h"

#include <algorithm>
#include <unordered_set>

#include "kernels/kir/looks.h"
#include "kernels/kir/passes/dead_code.h"
#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

class DropCounts {
 public:
  explicit DropCounts(Kernel& kernel) : kernel_(kernel) {
    for_each_inst_of(kernel, [&](const Inst& i) {
      const auto* load = std::get_if<ILoad>(&i.op);
      if (load != nullptr && counts(load->from)) counted_.insert(load->dst.index);
      // What is compared with a count says whether somebody has stopped.
      const auto* prim = std::get_if<IPrim>(&i.op);
      if (prim == nullptr || prim->op != ScalarOp::kNe) return;
      const bool compares = std::ranges::any_of(prim->args, [&](const Value& v) {
        return !v.is_const() && counted_.contains(v.id().index);
      });
      if (compares) missing_.insert(prim->dst.index);
    });
  }

  bool any() const { return !counted_.empty(); }

  bool is_count(const Inst& i) const {
    if (const auto* atomic = std::get_if<IAtomic>(&i.op)) return counts(atomic->at);
    if (const auto* store = std::get_if<IStore>(&i.op)) return counts(store->to);
    const auto* branch = std::get_if<IIf>(&i.op);
    return branch != nullptr && !branch->cond.is_const() &&
           missing_.contains(branch->cond.id().index);
  }

  /// Whether a thread may stop, but because others have.
  bool may_stop() const {
    if (Looks(kernel_).any()) return true;
    bool found = false;
    for_each_body(kernel_, [&](const Block& b) { found = found || may_stop(b); });
    return found;
  }

  void in(Block& b) {
    std::erase_if(b.insts, [&](const Inst& i) { return is_count(i); });
    for (Inst& i : b.insts) visit_blocks(i.op, [&](Block& inner) { in(inner); });
  }

 private:
  bool counts(const Address& a) const {
    const auto* shared = std::get_if<SharedId>(&a.base);
    return shared != nullptr && kernel_.shared[shared->index].counts_threads;
  }

  bool may_stop(const Block& b) const {
    return std::ranges::any_of(b.insts, [&](const Inst& i) {
      if (is_count(i)) return false;
      bool stops = std::holds_alternative<IFail>(i.op) || std::holds_alternative<IStop>(i.op);
      visit_blocks(i.op, [&](const Block& inner) { stops = stops || may_stop(inner); });
      return stops;
    });
  }

  Kernel& kernel_;
  std::unordered_set<uint32_t> counted_, missing_;  // by ValId
};

}  // namespace

void drop_counts(Kernel& kernel) {
  DropCounts pass(kernel);
  if (!pass.any() || pass.may_stop()) return;
  for_each_body(kernel, [&](Block& b) { pass.in(b); });
  dead_code(kernel);
}

}  // namespace kenaz::kir
