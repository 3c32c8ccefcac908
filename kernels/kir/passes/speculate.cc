#include "kernels/kir/passes/speculate.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernels/kir/passes/rename.h"
#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

constexpr int kFirstTurns = 8;       // one by one
constexpr size_t kShortTurn = 16;    // operations of a turn of which 16 are made at once
constexpr size_t kLongestTurn = 32;  // of others, eight are
constexpr size_t kMostMade = 1024;   // instructions that a kernel may gain

bool is_cheap(const IPrim& i) {
  switch (i.op) {
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
    case ScalarOp::kMul:
    case ScalarOp::kMad:
    case ScalarOp::kNeg:
    case ScalarOp::kAbs:
    case ScalarOp::kMin:
    case ScalarOp::kMax:
    case ScalarOp::kAnd:
    case ScalarOp::kOr:
    case ScalarOp::kXor:
    case ScalarOp::kNot:
    case ScalarOp::kShl:
    case ScalarOp::kShr:
    case ScalarOp::kLShr:
    case ScalarOp::kEq:
    case ScalarOp::kNe:
    case ScalarOp::kLt:
    case ScalarOp::kLe:
    case ScalarOp::kSelect: return prim_size(i.type) >= 4 || i.type == PrimType::kBool;
    default: return false;
  }
}

/// while (goes) { turn }: the head only reads variables, the body computes their next values.
struct Loop {
  std::vector<std::pair<VarId, ValId>> reads;  // of the head
  std::vector<const IPrim*> prims;
  std::vector<std::pair<VarId, Value>> assigned;
  VarId goes;
  // counter' = counter + step; `stays`, a part of the condition for the next turn, compares it with
  // what the loop does not change.
  VarId counter;
  int64_t step = 0;
  const IPrim* stays = nullptr;
};

class Reader {
 public:
  explicit Reader(const IWhile& loop) : loop_(loop) {}

  std::optional<Loop> read() {
    if (loop_.uniform || loop_.cond.is_const() || !read_head() || !read_body()) return std::nullopt;
    for (const auto& [var, value] : out_.reads) {
      if (value == loop_.cond.id()) out_.goes = var;
    }
    const Value* goes = out_.goes.valid() ? next_of(out_.goes) : nullptr;
    if (goes == nullptr || !find_counter(*goes)) return std::nullopt;
    return std::move(out_);
  }

 private:
  bool read_head() {
    return std::all_of(loop_.head.insts.begin(), loop_.head.insts.end(), [&](const Inst& i) {
      const auto* read = std::get_if<IRead>(&i.op);
      if (read != nullptr) out_.reads.emplace_back(read->var, read->dst);
      return read != nullptr;
    });
  }
  bool read_body() {
    for (const Inst& i : loop_.body.insts) {
      if (const auto* prim = std::get_if<IPrim>(&i.op)) {
        if (!is_cheap(*prim)) return false;
        out_.prims.push_back(prim);
        made_.emplace(prim->dst.index, prim);
      } else if (const auto* assign = std::get_if<IAssign>(&i.op)) {
        if (next_of(assign->var) != nullptr) return false;
        out_.assigned.emplace_back(assign->var, assign->value);
      } else {
        return false;
      }
    }
    return !out_.prims.empty() && out_.prims.size() <= kLongestTurn;
  }
  const Value* next_of(VarId var) const {
    for (const auto& [v, value] : out_.assigned) {
      if (v == var) return &value;
    }
    return nullptr;
  }
  const IPrim* made_by(const Value& v) const {
    if (v.is_const()) return nullptr;
    const auto it = made_.find(v.id().index);
    return it == made_.end() ? nullptr : it->second;
  }
  bool is_of_loop(const Value& v) const {
    return !v.is_const() && (made_by(v) != nullptr ||
                             std::any_of(out_.reads.begin(), out_.reads.end(),
                                         [&](const auto& r) { return r.second == v.id(); }));
  }

  /// Among the parts of the condition, of which all must hold.
  bool find_counter(const Value& cond) {
    const IPrim* prim = made_by(cond);
    if (prim == nullptr) return false;
    if (prim->op == ScalarOp::kAnd)
      return find_counter(prim->args[0]) || find_counter(prim->args[1]);
    if ((prim->op != ScalarOp::kLt && prim->op != ScalarOp::kLe) || is_of_loop(prim->args[1])) {
      return false;
    }
    if (prim->type != PrimType::kI32 && prim->type != PrimType::kI64) return false;
    for (const auto& [var, value] : out_.reads) {
      const Value* next = next_of(var);
      const IPrim* sum = next == nullptr ? nullptr : made_by(*next);
      if (sum == nullptr || *next != prim->args[0] || sum->op != ScalarOp::kAdd) continue;
      if (sum->args[0].is_const() || sum->args[0].id() != value || !sum->args[1].is_const())
        continue;
      out_.counter = var;
      out_.step = sum->args[1].constant().as_i64();
      out_.stays = prim;
      return out_.step > 0 && out_.step < 1024;
    }
    return false;
  }

  const IWhile& loop_;
  Loop out_;
  std::unordered_map<uint32_t, const IPrim*> made_;
};

/// Makes the loop that replaces another one.
class Maker {
 public:
  Maker(Kernel& kernel, const Inst& inst, const Loop& loop, int turns)
      : kernel_(kernel), inst_(inst), loop_(loop), turns_(turns) {}

  std::vector<Inst> make() {
    std::vector<Inst> out;
    one_by_one(kFirstTurns, out);
    IWhile all;
    all.cond = read(loop_.goes, all.head.insts);
    std::vector<Inst>& body = all.body.insts;
    const VarId more = kernel_.new_var({PrimType::kBool});
    add(body, IDeclare{more, PrimValue::of_bool(true)});
    // A loop of its own: threads that leave it wait for those that go on.
    IWhile wanted;
    wanted.cond = read(more, wanted.head.insts);
    at_once(more, wanted.body.insts);
    add(body, std::move(wanted));
    one_by_one(turns_, body);
    add(out, std::move(all));
    return out;
  }

 private:
  template <class Op>
  void add(std::vector<Inst>& out, Op op) {
    out.push_back({std::move(op), inst_.prov});
  }
  Value read(VarId var, std::vector<Inst>& out) {
    const Type type = kernel_.vars[var.index];
    const ValId dst = kernel_.new_val(type);
    add(out, IRead{dst, var});
    return {type, dst};
  }
  Value prim(ScalarOp op, PrimType type, std::vector<Value> args, std::vector<Inst>& out) {
    const Type result{scalar_op_result(op, type, type), 1};
    const ValId dst = kernel_.new_val(result);
    add(out, IPrim{dst, op, type, result.prim, std::move(args)});
    return {result, dst};
  }
  Value both(const Value& a, const Value& b, std::vector<Inst>& out) {
    if (a.is_bool(true)) return b;
    return b.is_bool(true) ? a : prim(ScalarOp::kAnd, PrimType::kBool, {a, b}, out);
  }

  /// The loop as it was, for so many turns at most.
  void one_by_one(int turns, std::vector<Inst>& out) {
    const VarId left = kernel_.new_var({PrimType::kI32});
    add(out, IDeclare{left, i32(turns)});
    Inst copy = Renaming(kernel_).copy(inst_);
    auto& loop = std::get<IWhile>(copy.op);
    const Value now = read(left, loop.head.insts);
    loop.cond =
        prim(ScalarOp::kAnd, PrimType::kBool,
             {prim(ScalarOp::kLt, PrimType::kI32, {i32(0), now}, loop.head.insts), loop.cond},
             loop.head.insts);
    const Value next = prim(ScalarOp::kAdd, PrimType::kI32, {now, i32(-1)}, loop.body.insts);
    add(loop.body.insts, IAssign{left, next});
    out.push_back(std::move(copy));
  }

  /// Makes turns, unless not all are wanted: then `more` becomes false.
  void at_once(VarId more, std::vector<Inst>& out) {
    std::unordered_map<uint32_t, Value> now;  // by VarId
    for (const auto& [var, value] : loop_.reads) {
      if (!now.contains(var.index)) now.emplace(var.index, read(var, out));
    }
    const PrimType type = loop_.stays->type;
    const Value& counter = now.at(loop_.counter.index);
    const Value last =
        prim(ScalarOp::kAdd, type, {counter, PrimValue::of_int(type, turns_ * loop_.step)}, out);
    IIf far;
    const Value does_not_wrap = prim(ScalarOp::kLt, type, {counter, last}, out);
    far.cond =
        both(prim(loop_.stays->op, type, {last, loop_.stays->args[1]}, out), does_not_wrap, out);
    std::vector<Inst>& inside = far.then_block.insts;
    IIf wanted;
    wanted.cond = PrimValue::of_bool(true);
    for (int n = 0; n < turns_; n++) turn(now, wanted.cond, inside);
    for (const auto& [var, value] : loop_.assigned) {
      if (var != loop_.goes) add(wanted.then_block.insts, IAssign{var, now.at(var.index)});
    }
    add(wanted.else_block.insts, IAssign{more, PrimValue::of_bool(false)});
    add(inside, std::move(wanted));
    add(far.else_block.insts, IAssign{more, PrimValue::of_bool(false)});
    add(out, std::move(far));
  }

  void turn(std::unordered_map<uint32_t, Value>& now, Value& wanted, std::vector<Inst>& out) {
    Renaming names(kernel_);
    for (const auto& [var, value] : loop_.reads) names.replace(value, now.at(var.index));
    for (const IPrim* p : loop_.prims) {
      if (p == loop_.stays) {
        names.replace(p->dst, PrimValue::of_bool(true));
        continue;
      }
      Inst copy{*p, inst_.prov};
      visit_operands(copy.op, [&](Value& v) { names.rename(v); });
      auto& made = std::get<IPrim>(copy.op);
      if (made.op == ScalarOp::kAnd && (made.args[0].is_bool(true) || made.args[1].is_bool(true))) {
        names.replace(p->dst, made.args[made.args[0].is_bool(true) ? 1 : 0]);
        continue;
      }
      made.dst = kernel_.new_val(kernel_.vals[p->dst.index]);
      names.replace(p->dst, Value(kernel_.vals[p->dst.index], made.dst));
      out.push_back(std::move(copy));
    }
    for (const auto& [var, value] : loop_.assigned) {
      Value next = value;
      names.rename(next);
      now.insert_or_assign(var.index, next);
    }
    wanted = both(wanted, now.at(loop_.goes.index), out);
  }

  Kernel& kernel_;
  const Inst& inst_;
  const Loop& loop_;
  const int turns_;
};

class Speculate {
 public:
  explicit Speculate(Kernel& kernel) : kernel_(kernel) {}

  void in(Block& b) {
    std::vector<Inst> out;
    for (Inst& i : b.insts) {
      visit_blocks(i.op, [&](Block& inner) { in(inner); });
      const auto* loop = std::get_if<IWhile>(&i.op);
      const auto found = loop == nullptr ? std::nullopt : Reader(*loop).read();
      const int turns = found && found->prims.size() <= kShortTurn ? 16 : 8;
      const size_t gain = found ? found->prims.size() * static_cast<size_t>(turns) : 0;
      if (!found || gained_ + gain > kMostMade) {
        out.push_back(std::move(i));
        continue;
      }
      gained_ += gain;
      for (Inst& made : Maker(kernel_, i, *found, turns).make()) out.push_back(std::move(made));
    }
    b.insts = std::move(out);
  }

 private:
  Kernel& kernel_;
  size_t gained_ = 0;
};

}  // namespace

void speculate(Kernel& kernel) {
  Speculate pass(kernel);
  for_each_body(kernel, [&](Block& b) { pass.in(b); });
}

}  // namespace kenaz::kir
