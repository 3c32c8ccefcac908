#include "kernels/kir/passes/split_loops.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kernels/kir/passes/rename.h"
#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

constexpr size_t kLongestLoop = 64;  // instructions of a loop that is split
constexpr size_t kMostGained = 512;  // that a kernel may gain

/// Whether all that the branch may do is to fail.
bool only_fails(const Inst& inst) {
  const auto* branch = std::get_if<IIf>(&inst.op);
  if (branch == nullptr || !branch->else_block.insts.empty()) return false;
  bool fails = false, other = false;
  for_each_inst(branch->then_block, [&](const Inst& i) {
    fails = fails || std::holds_alternative<IFail>(i.op);
    other = other || !(std::holds_alternative<IFail>(i.op) || std::holds_alternative<IPrim>(i.op) ||
                       std::holds_alternative<IRead>(i.op) || std::holds_alternative<IIf>(i.op));
  });
  return fails && !other;
}

/// Calls f on the checks of the block and of the blocks inside; says whether there are checks, and
/// nothing else may stop the thread.
template <class F>
bool visit_checks(const Block& b, const F& f) {
  bool found = false;
  for (const Inst& i : b.insts) {
    if (only_fails(i)) {
      f(std::get<IIf>(i.op));
      found = true;
      continue;
    }
    visit_blocks(i.op, [&](const Block& inner) { found |= visit_checks(inner, f); });
  }
  return found;
}

bool may_stop_elsewhere(const Block& b) {
  return std::any_of(b.insts.begin(), b.insts.end(), [](const Inst& i) {
    if (only_fails(i)) return false;
    bool may = std::holds_alternative<IFail>(i.op) || std::holds_alternative<IStop>(i.op) ||
               std::holds_alternative<ICall>(i.op) || std::holds_alternative<IBarrier>(i.op) ||
               std::holds_alternative<ISubgroup>(i.op);
    visit_blocks(i.op, [&](const Block& inner) { may = may || may_stop_elsewhere(inner); });
    return may;
  });
}

/// How a value goes from one iteration to the next.
enum class Slope { kFlat, kUp, kDown, kUnknown };

Slope opposite(Slope s) {
  return s == Slope::kUp ? Slope::kDown : s == Slope::kDown ? Slope::kUp : s;
}

/// Makes the condition under which no check of a loop fails.
class Precondition {
 public:
  Precondition(Kernel& kernel, const Inst& loop)
      : kernel_(kernel), loop_(std::get<IFor>(loop.op)), prov_(loop.prov) {
    inside_.insert(loop_.index.index);
    for_each_inst(loop_.body, [&](const Inst& i) {
      visit_binders(i.op, [&](ValId v) { inside_.insert(v.index); });
      visit_results(i.op, [&](ValId v) { inside_.insert(v.index); });
      if (const auto* prim = std::get_if<IPrim>(&i.op)) made_.emplace(prim->dst.index, prim);
    });
    const PrimType type = loop_.from.type.prim;
    last_ = emit(ScalarOp::kSub, type, type, {loop_.to, PrimValue::of_int(type, 1)});
  }

  /// Adds that `cond` is `truth` in all iterations; false if that cannot be said.
  bool require(const Value& cond, bool truth) {
    if (is_flat(cond)) {
      also(truth ? cond : emit(ScalarOp::kNot, PrimType::kBool, PrimType::kBool, {cond}));
      return true;
    }
    const IPrim* prim = made_by(cond);
    if (prim == nullptr) return false;
    switch (prim->op) {
      case ScalarOp::kNot: return require(prim->args[0], !truth);
      case ScalarOp::kAnd:
      case ScalarOp::kOr:
        if ((prim->op == ScalarOp::kAnd) != truth) return false;
        return require(prim->args[0], truth) && require(prim->args[1], truth);
      case ScalarOp::kLt:
      case ScalarOp::kLe: {
        const Value &a = prim->args[0], &b = prim->args[1];
        if (truth) return require_less(prim->op, prim->type, a, b);
        return require_less(prim->op == ScalarOp::kLt ? ScalarOp::kLe : ScalarOp::kLt, prim->type,
                            b, a);
      }
      default: return false;
    }
  }

  const Value& condition() const { return all_; }
  std::vector<Inst> take() { return std::move(out_); }

 private:
  bool is_flat(const Value& v) const { return v.is_const() || !inside_.contains(v.id().index); }
  const IPrim* made_by(const Value& v) const {
    const auto it = made_.find(v.id().index);
    return it == made_.end() ? nullptr : it->second;
  }

  Value emit(ScalarOp op, PrimType type, PrimType to, std::vector<Value> args) {
    const Type result{scalar_op_result(op, type, to), 1};
    if (std::all_of(args.begin(), args.end(), [](const Value& v) { return v.is_const(); })) {
      std::vector<PrimValue> constants;
      for (const Value& v : args) constants.push_back(v.constant());
      return eval_scalar(op, type, to, constants);
    }
    for (const Inst& i : out_) {
      const auto& same = std::get<IPrim>(i.op);
      if (same.op == op && same.type == type && same.to == to && same.args == args) {
        return {result, same.dst};
      }
    }
    const ValId dst = kernel_.new_val(result);
    out_.push_back({IPrim{dst, op, type, to, std::move(args)}, prov_});
    return {result, dst};
  }
  void also(const Value& cond) {
    if (cond.is_bool(true) || std::count(parts_.begin(), parts_.end(), cond) > 0) return;
    parts_.push_back(cond);
    all_ = all_.is_bool(true)
               ? cond
               : emit(ScalarOp::kAnd, PrimType::kBool, PrimType::kBool, {all_, cond});
  }

  /// Sums and differences go up or down by the loop's step, as long as they do not wrap.
  Slope slope(const Value& v) const {
    if (is_flat(v)) return Slope::kFlat;
    if (v.id() == loop_.index) return Slope::kUp;
    const IPrim* prim = made_by(v);
    if (prim == nullptr) return Slope::kUnknown;
    if (prim->op == ScalarOp::kConvert) {
      const bool widens = prim->type == PrimType::kI32 && prim->to == PrimType::kI64;
      return widens ? slope(prim->args[0]) : Slope::kUnknown;
    }
    if (prim->op != ScalarOp::kAdd && prim->op != ScalarOp::kSub) return Slope::kUnknown;
    const Slope a = slope(prim->args[0]), b = slope(prim->args[1]);
    if (b == Slope::kFlat) return a;
    if (a != Slope::kFlat) return Slope::kUnknown;
    return prim->op == ScalarOp::kAdd ? b : opposite(b);
  }

  /// The value in the iteration whose index this is.
  Value at(const Value& v, const Value& index) {
    if (is_flat(v)) return v;
    if (v.id() == loop_.index) return index;
    const IPrim& prim = *made_by(v);
    std::vector<Value> args;
    for (const Value& a : prim.args) args.push_back(at(a, index));
    return emit(prim.op, prim.type, prim.to, std::move(args));
  }

  /// Adds that the value does not wrap on the way: its ends are in their order then, for there are
  /// fewer iterations than numbers. What is widened must not wrap before.
  bool require_no_wrap(const Value& v) {
    const Slope s = slope(v);
    if (s == Slope::kUnknown ||
        (s != Slope::kFlat && prim_kind(v.type.prim) != PrimKind::kSigned)) {
      return false;
    }
    if (s == Slope::kFlat || v.id() == loop_.index) return true;
    for (const Value* part = &v; !is_flat(*part) && part->id() != loop_.index;) {
      const IPrim& prim = *made_by(*part);
      if (prim.op == ScalarOp::kConvert) return require_no_wrap(prim.args[0]) && require_ends(v, s);
      part = slope(prim.args[0]) == Slope::kFlat ? &prim.args[1] : &prim.args[0];
    }
    return require_ends(v, s);
  }
  bool require_ends(const Value& v, Slope s) {
    const Value first = at(v, loop_.from), last = at(v, last_);
    const PrimType type = v.type.prim;
    also(emit(ScalarOp::kLe, type, type,
              s == Slope::kUp ? std::vector{first, last} : std::vector{last, first}));
    return true;
  }

  /// Adds that a is less than b, or not greater, in all iterations.
  bool require_less(ScalarOp op, PrimType type, const Value& a, const Value& b) {
    if (!require_no_wrap(a) || !require_no_wrap(b)) return false;
    const Value most = at(a, slope(a) == Slope::kUp ? last_ : loop_.from);
    const Value least = at(b, slope(b) == Slope::kDown ? last_ : loop_.from);
    also(emit(op, type, type, {most, least}));
    return true;
  }

  Kernel& kernel_;
  const IFor& loop_;
  const ir::ProvId prov_;
  std::unordered_set<uint32_t> inside_;              // values that the loop makes
  std::unordered_map<uint32_t, const IPrim*> made_;  // by their results
  Value last_, all_ = PrimValue::of_bool(true);
  std::vector<Value> parts_;  // of all_
  std::vector<Inst> out_;
};

void remove_checks(Block& b) {
  std::erase_if(b.insts, only_fails);
  for (Inst& i : b.insts) {
    visit_blocks(i.op, [](Block& inner) { remove_checks(inner); });
  }
}

class SplitLoops {
 public:
  explicit SplitLoops(Kernel& kernel) : kernel_(kernel) {}

  void in(Block& b) {
    std::vector<Inst> out;
    for (Inst& i : b.insts) {
      visit_blocks(i.op, [&](Block& inner) { in(inner); });
      if (!split(i, out)) out.push_back(std::move(i));
    }
    b.insts = std::move(out);
  }

 private:
  bool split(Inst& i, std::vector<Inst>& out) {
    const auto* loop = std::get_if<IFor>(&i.op);
    if (loop == nullptr || loop->uniform || loop->unroll) return false;
    const PrimType type = loop->from.type.prim;
    if (type != PrimType::kI32 && type != PrimType::kI64) return false;
    size_t size = 0;
    for_each_inst(loop->body, [&](const Inst&) { size++; });
    if (size > kLongestLoop || gained_ + size > kMostGained || may_stop_elsewhere(loop->body))
      return false;
    Precondition condition(kernel_, i);
    bool known = true;
    const bool any = visit_checks(loop->body, [&](const IIf& check) {
      known = known && condition.require(check.cond, false);
    });
    if (!any || !known || condition.condition().is_bool(false)) return false;
    gained_ += size;
    IIf branch;
    branch.cond = condition.condition();
    for (Inst& made : condition.take()) out.push_back(std::move(made));
    Inst without = i;
    remove_checks(std::get<IFor>(without.op).body);
    Renaming(kernel_).rename(without);
    if (branch.cond.is_bool(true)) {
      out.push_back(std::move(without));
      return true;
    }
    const ir::ProvId prov = i.prov;
    branch.then_block.insts.push_back(std::move(without));
    branch.else_block.insts.push_back(std::move(i));
    out.push_back({std::move(branch), prov});
    return true;
  }

  Kernel& kernel_;
  size_t gained_ = 0;
};

}  // namespace

void split_loops(Kernel& kernel) {
  SplitLoops pass(kernel);
  for_each_body(kernel, [&](Block& b) { pass.in(b); });
}

}  // namespace kenaz::kir
