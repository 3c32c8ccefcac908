#include "kernels/kir/passes/cse.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "kernels/kir/access.h"
#include "kernels/kir/origins.h"
#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

/// The kind of an instruction, its fields and operands: equal keys make equal values.
using InstKey = std::vector<uint64_t>;

std::pair<uint64_t, uint64_t> operand_key(const Value& v) {
  if (v.is_const()) return {static_cast<uint64_t>(v.constant().type), v.constant().bits};
  return {~uint64_t{0}, v.id().index};
}

/// Exactly, so no floats: which of two NaNs, or of 0 and -0, comes out may depend on the order.
bool commutes_exactly(const IPrim& i) { return !is_float(i.type) && scalar_op_commutes(i.op); }

class CsePass {
 public:
  explicit CsePass(Kernel& k) : k_(k), origins_(k), access_(access_of(k)) {}

  void run() {
    for (Function& f : k_.functions) {
      const size_t mark = order_.size();
      write_between_++;
      insts(f.body.insts);
      for (Value& r : f.results) replace(r);
      leave(mark);
      writes_.push_back(writes(f.body));
    }
    insts(k_.main.insts);
  }

 private:
  void replace(Value& v) const {
    if (v.is_const()) return;
    if (auto it = same_.find(v.id().index); it != same_.end()) v = it->second;
  }
  void leave(size_t mark) {
    for (; order_.size() > mark; order_.pop_back()) seen_.erase(order_.back());
  }
  void scope(Block& b) {
    const size_t mark = order_.size();
    insts(b.insts);
    leave(mark);
  }

  void insts(std::vector<Inst>& list) {
    std::vector<Inst> out;
    for (Inst& i : list) {
      if (inst(i)) out.push_back(std::move(i));
    }
    list = std::move(out);
  }
  /// Whether the instruction stays.
  bool inst(Inst& i) {
    visit_operands(i.op, [&](Value& v) { replace(v); });
    if (auto* loop = std::get_if<IWhile>(&i.op)) {
      if (writes(i)) write_between_++;  // also by what stands behind, in the iteration before
      const size_t mark = order_.size();
      insts(loop->head.insts);
      replace(loop->cond);
      insts(loop->body.insts);
      leave(mark);
      return true;
    }
    if (std::holds_alternative<IFor>(i.op) && writes(i)) write_between_++;
    visit_blocks(i.op, [&](Block& b) { scope(b); });
    if (writes_itself(i)) write_between_++;
    auto key = key_of(i);
    if (!key) return true;
    ValId dst;
    visit_results(i.op, [&](ValId v) { dst = v; });
    const auto [it, is_new] = seen_.try_emplace(std::move(*key), Value(k_.vals[dst.index], dst));
    if (is_new) {
      order_.push_back(it);
    } else {
      same_.insert_or_assign(dst.index, it->second);
    }
    return is_new;
  }

  /// Whether a load behind it may see something else than before it.
  bool writes_itself(const Inst& i) const {
    if (const auto* store = std::get_if<IStore>(&i.op)) {
      return std::holds_alternative<Value>(store->to.base);
    }
    if (const auto* call = std::get_if<ICall>(&i.op)) return writes_[call->function.index];
    return std::holds_alternative<IAtomic>(i.op) || std::holds_alternative<IBarrier>(i.op) ||
           std::holds_alternative<IFence>(i.op);
  }
  bool writes(const Inst& i) const {
    bool any = writes_itself(i);
    visit_blocks(i.op, [&](const Block& b) { any = any || writes(b); });
    return any;
  }
  bool writes(const Block& b) const {
    return std::any_of(b.insts.begin(), b.insts.end(), [&](const Inst& i) { return writes(i); });
  }

  bool is_pure(const ILoad& load) const {
    const auto* base = std::get_if<Value>(&load.from.base);
    if (base == nullptr || load.order != Order::kPlain) return false;
    const auto blocks = origins_.blocks_of(*base);
    return !blocks.empty() && std::all_of(blocks.begin(), blocks.end(), [&](size_t arg) {
      return access_[arg] == Access::kRead;
    });
  }
  /// nullopt if the instruction is not pure.
  std::optional<InstKey> key_of(const Inst& inst) const {
    InstKey key{inst.op.index()};
    bool commutes = false;
    if (const auto* prim = std::get_if<IPrim>(&inst.op)) {
      key.push_back(static_cast<uint64_t>(prim->op));
      key.push_back(static_cast<uint64_t>(prim->type));
      key.push_back(static_cast<uint64_t>(scalar_op_result(prim->op, prim->type, prim->to)));
      key.push_back(static_cast<uint64_t>(prim->form));
      commutes = commutes_exactly(*prim);
    } else if (const auto* builtin = std::get_if<IBuiltin>(&inst.op)) {
      key.push_back(static_cast<uint64_t>(builtin->kind));
    } else if (const auto* extract = std::get_if<IExtract>(&inst.op)) {
      key.push_back(static_cast<uint64_t>(extract->lane));
    } else if (const auto* load = std::get_if<ILoad>(&inst.op)) {
      if (!is_pure(*load)) return std::nullopt;
      key.push_back(static_cast<uint64_t>(load->type.prim));
      key.push_back(load->type.lanes);
      key.push_back(write_between_);
    } else if (!std::holds_alternative<ICompose>(inst.op)) {
      return std::nullopt;
    }
    std::vector<std::pair<uint64_t, uint64_t>> operands;
    visit_operands(inst.op, [&](const Value& v) { operands.push_back(operand_key(v)); });
    if (commutes) std::sort(operands.begin(), operands.end());
    for (const auto& [kind, id] : operands) {
      key.push_back(kind);
      key.push_back(id);
    }
    return key;
  }

  using Seen = std::map<InstKey, Value>;
  Kernel& k_;
  const Origins origins_;
  const std::vector<Access> access_;
  std::vector<bool> writes_;    // by FunctionId, of those before
  uint64_t write_between_ = 0;  // how many writes have been passed
  std::unordered_map<uint32_t, Value> same_;
  Seen seen_;
  std::vector<Seen::iterator> order_;  // to forget what is no longer visible
};

}  // namespace

void cse(Kernel& kernel) { CsePass(kernel).run(); }

}  // namespace kenaz::kir
