#include "kernels/kir/passes/fold.h"

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "kernels/kir/passes/rewrite_prim.h"
#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

/// What variables hold at some place, by VarId, where that is known.
using Held = std::map<uint32_t, Value>;

class FoldPass {
 public:
  explicit FoldPass(Kernel& kernel) : kernel_(kernel) {}
  void body(Block& b) {
    held_.clear();
    block(b);
  }
  void replace(Value& v) const {
    if (v.is_const()) return;
    if (auto it = known_.find(v.id().index); it != known_.end()) v = it->second;
  }

 private:
  void block(Block& b) {
    std::vector<Inst> out;
    insts(b.insts, out);
    b.insts = std::move(out);
  }
  void insts(std::vector<Inst>& list, std::vector<Inst>& out) {
    for (Inst& i : list) inst(i, out);
  }
  /// A block inside, which may be run or not: what it assigns is not known behind it.
  void maybe(Block& b) {
    const Held before = held_;
    block(b);
    held_ = before;
  }
  void forget_assigned(const Block& b) {
    for_each_inst(b, [&](const Inst& i) {
      if (!std::holds_alternative<IRead>(i.op)) {
        visit_var(i.op, [&](VarId v) { held_.erase(v.index); });
      }
    });
  }

  void inst(Inst& i, std::vector<Inst>& out) {
    visit_operands(i.op, [&](Value& v) { replace(v); });
    const bool keep = std::visit(
        Overloaded{[&](IPrim& x) {
                     narrow_sum(x, i.prov, out);
                     return prim(x);
                   },
                   [&](ICompose& x) { return compose(x); }, [&](IExtract& x) { return extract(x); },
                   [&](IDeclare& x) { return declare(x); }, [&](IRead& x) { return read(x); },
                   [&](IAssign& x) { return assign(x); }, [&](IIf& x) { return branch(x, out); },
                   [&](IFor& x) { return counted(x, out); },
                   [&](IWhile& x) { return loop(x, out); }, [](auto&) { return true; }},
        i.op);
    if (keep) out.push_back(std::move(i));
  }

  // Each returns whether the instruction stays.
  bool is(ValId v, const Value& same) {
    known_.insert_or_assign(v.index, same);
    return false;
  }
  const IPrim* made_by(const Value& v) const {
    if (v.is_const()) return nullptr;
    const auto it = prims_.find(v.id().index);
    return it == prims_.end() ? nullptr : &it->second;
  }
  /// A sum of 64 bits of which 32 are taken is one of 32 bits: it takes less, and the constant
  /// comes together with others.
  void narrow_sum(IPrim& i, ir::ProvId prov, std::vector<Inst>& out) {
    constexpr int kNarrow = 4;
    if (i.op != ScalarOp::kConvert || !is_integer(i.type) || !is_integer(i.to)) return;
    if (prim_size(i.to) != kNarrow || prim_size(i.type) == kNarrow) return;
    const IPrim* sum = made_by(i.args[0]);
    if (sum == nullptr || sum->op != ScalarOp::kAdd || sum->type != i.type) return;
    if (prim_size(i.type) < kNarrow || !sum->args[1].is_const()) return;
    const PrimValue constant[] = {sum->args[1].constant()};
    const ValId low = kernel_.new_val({i.to});
    Inst converted{IPrim{low, i.op, i.type, i.to, {sum->args[0]}}, prov};
    i = {i.dst,
         ScalarOp::kAdd,
         i.to,
         i.to,
         {Value(Type{i.to}, low), eval_scalar(ScalarOp::kConvert, i.type, i.to, constant)}};
    if (prim(std::get<IPrim>(converted.op))) out.push_back(std::move(converted));
    replace(i.args[0]);
  }
  bool prim(IPrim& i) {
    const auto maker = [&](const Value& v) { return made_by(v); };
    if (auto known = rewrite_prim(i, maker)) return is(i.dst, *known);
    prims_.insert_or_assign(i.dst.index, i);
    return true;
  }
  bool compose(ICompose& i) {
    composed_[i.dst.index] = i.lanes;
    return true;
  }
  bool extract(IExtract& i) {
    const auto it = composed_.find(i.vector.id().index);
    return it == composed_.end() || is(i.dst, it->second[static_cast<size_t>(i.lane)]);
  }

  bool declare(IDeclare& i) {
    held_.erase(i.var.index);
    if (i.init) held_.insert_or_assign(i.var.index, *i.init);
    return true;
  }
  bool read(IRead& i) {
    const auto [it, is_new] =
        held_.try_emplace(i.var.index, Value(kernel_.vals[i.dst.index], i.dst));
    return is_new || is(i.dst, it->second);
  }
  bool assign(IAssign& i) {
    const auto it = held_.find(i.var.index);
    if (it != held_.end() && it->second == i.value) return false;
    held_.insert_or_assign(i.var.index, i.value);
    return true;
  }

  bool branch(IIf& i, std::vector<Inst>& out) {
    if (i.cond.is_const()) {
      insts((i.cond.is_bool(true) ? i.then_block : i.else_block).insts, out);
      return false;
    }
    maybe(i.then_block);
    maybe(i.else_block);
    forget_assigned(i.then_block);
    forget_assigned(i.else_block);
    return true;
  }
  bool counted(IFor& i, std::vector<Inst>& out) {
    const auto length = length_of(i);
    if (length == 0) return false;
    if (length && i.step.is_const() && *length <= bits_of(i.step)) {
      is(i.index, i.from);  // one iteration
      insts(i.body.insts, out);
      return false;
    }
    forget_assigned(i.body);
    maybe(i.body);
    return true;
  }
  static uint64_t bits_of(const Value& v) { return static_cast<uint64_t>(v.constant().as_i64()); }
  /// to - from, or 0 if that is negative; nullopt if it is not known.
  static std::optional<uint64_t> length_of(const IFor& i) {
    if (!i.from.is_const() || !i.to.is_const()) return std::nullopt;
    const PrimValue ends[] = {i.from.constant(), i.to.constant()};
    const PrimType t = ends[0].type;
    if (!eval_scalar(ScalarOp::kLt, t, t, ends).as_bool()) return 0;
    return bits_of(i.to) - bits_of(i.from);
  }
  bool loop(IWhile& i, std::vector<Inst>& out) {
    forget_assigned(i.head);
    forget_assigned(i.body);
    const Held before = held_;
    block(i.head);
    replace(i.cond);
    if (i.cond.is_bool(false)) {
      for (Inst& x : i.head.insts) out.push_back(std::move(x));
      return false;
    }
    block(i.body);
    held_ = before;
    return true;
  }

  Kernel& kernel_;
  std::unordered_map<uint32_t, Value> known_;  // by ValId: what is the same
  std::unordered_map<uint32_t, IPrim> prims_;  // by ValId: what makes it
  std::unordered_map<uint32_t, std::vector<Value>> composed_;
  Held held_;
};

}  // namespace

void fold(Kernel& kernel) {
  FoldPass pass(kernel);
  for (Function& f : kernel.functions) {
    pass.body(f.body);
    for (Value& r : f.results) pass.replace(r);
  }
  pass.body(kernel.main);
}

}  // namespace kenaz::kir
