#include "kernels/kir/passes/compare_roots.h"

#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

/// How r * r is changed for the thresholds, in proportion: 16 of its units in the last place at
/// least, where both its rounding and the root's are one.
double margin(PrimType t) { return std::ldexp(1.0, t == PrimType::kF64 ? -48 : -19); }
/// Of r, so that r * r is a normal number.
double most(PrimType t) { return std::ldexp(1.0, t == PrimType::kF64 ? 500 : 60); }

struct Thresholds {
  Value low, high;  // below -0 and infinity if no square can tell
};

class CompareRoots {
 public:
  explicit CompareRoots(Kernel& kernel) : kernel_(kernel), uses_(kernel.vals.size()) {
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

  void in(Block& b) { in(b, nullptr); }

 private:
  struct Loop {
    std::unordered_set<uint32_t> inside;  // values that the loop makes
    std::vector<Inst> before;             // goes before it
    bool stays(const Value& v) const { return v.is_const() || !inside.contains(v.id().index); }
  };

  void in(Block& b, Loop* loop) {
    std::vector<Inst> out;
    std::unordered_map<uint32_t, size_t> roots;  // where they stand in `out`, by their value
    for (Inst& i : b.insts) {
      if (std::holds_alternative<IFor>(i.op) || std::holds_alternative<IWhile>(i.op)) {
        Loop inner = loop_of(i);
        visit_blocks(i.op, [&](Block& body) { in(body, &inner); });
        std::move(inner.before.begin(), inner.before.end(), std::back_inserter(out));
      } else {
        visit_blocks(i.op, [&](Block& inner) { in(inner, loop); });
      }
      if (const auto* prim = std::get_if<IPrim>(&i.op); prim != nullptr && loop != nullptr) {
        const bool wide = prim->type == PrimType::kF32 || prim->type == PrimType::kF64;
        const bool whole = prim->form == Form::kWhole;
        if (prim->op == ScalarOp::kSqrt && whole && wide && uses_[prim->dst.index] == 1) {
          roots.emplace(prim->dst.index, out.size());
        }
        const bool compares = prim->op == ScalarOp::kLt || prim->op == ScalarOp::kLe;
        if (compares && replace(i, roots, *loop, out)) continue;
      }
      out.push_back(std::move(i));
    }
    b.insts = std::move(out);
  }

  static Loop loop_of(const Inst& loop) {
    Loop made;
    visit_binders(loop.op, [&](ValId v) { made.inside.insert(v.index); });
    visit_blocks(loop.op, [&](const Block& b) {
      for_each_inst(b, [&](const Inst& i) {
        visit_results(i.op, [&](ValId v) { made.inside.insert(v.index); });
        visit_binders(i.op, [&](ValId v) { made.inside.insert(v.index); });
      });
    });
    return made;
  }

  bool replace(const Inst& compare, const std::unordered_map<uint32_t, size_t>& roots, Loop& loop,
               std::vector<Inst>& out) {
    const auto& prim = std::get<IPrim>(compare.op);
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const Value &root = prim.args[side], &r = prim.args[1 - side];
      if (root.is_const() || !loop.stays(r)) continue;
      const auto found = roots.find(root.id().index);
      if (found == roots.end()) continue;
      Inst taken = out[found->second];
      // What is not used is removed by dead_code.
      const Value x = std::get<IPrim>(taken.op).args[0];
      const Thresholds t = thresholds(r, compare.prov, loop.before);
      decide(compare, std::move(taken), x, side == 0, t, out);
      return true;
    }
    return false;
  }

  Thresholds thresholds(const Value& r, ir::ProvId prov, std::vector<Inst>& out) {
    const PrimType t = r.type.prim;
    const auto number = [&](double d) { return Value(PrimValue::of_float(t, d)); };
    const auto op = [&](ScalarOp o, PrimType type, std::vector<Value> args) {
      return emit(o, type, std::move(args), prov, out);
    };
    const Value square = op(ScalarOp::kMul, t, {r, r});
    const Value usual = op(ScalarOp::kAnd, PrimType::kBool,
                           {op(ScalarOp::kLe, t, {number(1 / most(t)), r}),
                            op(ScalarOp::kLe, t, {r, number(most(t))})});
    const Value low = op(ScalarOp::kMul, t, {square, number(1 - margin(t))});
    const Value high = op(ScalarOp::kMul, t, {square, number(1 + margin(t))});
    const double inf = std::numeric_limits<double>::infinity();
    return {op(ScalarOp::kSelect, t, {usual, low, number(-1)}),
            op(ScalarOp::kSelect, t, {usual, high, number(inf)})};
  }

  /// `less`: the root stands on the left.
  void decide(const Inst& compare, Inst root, const Value& x, bool less, const Thresholds& t,
              std::vector<Inst>& out) {
    const PrimType type = x.type.prim;
    const ir::ProvId prov = compare.prov;
    const auto op = [&](ScalarOp o, PrimType of, std::vector<Value> args) {
      return emit(o, of, std::move(args), prov, out);
    };
    const Value positive = op(ScalarOp::kLe, type, {PrimValue::of_float(type, 0), x});
    const Value below =
        op(ScalarOp::kAnd, PrimType::kBool, {positive, op(ScalarOp::kLt, type, {x, t.low})});
    const Value above = op(ScalarOp::kLt, type, {t.high, x});
    const Value told = op(ScalarOp::kOr, PrimType::kBool, {below, above});
    const VarId outcome = kernel_.new_var({PrimType::kBool});
    out.push_back({IDeclare{outcome, less ? below : above}, prov});

    IPrim exact = std::get<IPrim>(compare.op);
    const ValId result = exact.dst;
    exact.dst = kernel_.new_val({PrimType::kBool});
    auto& taken = std::get<IPrim>(root.op);
    const ValId fresh = kernel_.new_val(kernel_.vals[taken.dst.index]);
    for (Value& v : exact.args) {
      if (!v.is_const() && v.id() == taken.dst) v = Value(v.type, fresh);
    }
    taken.dst = fresh;
    IIf branch;
    branch.cond = op(ScalarOp::kNot, PrimType::kBool, {told});
    const Value exactly({PrimType::kBool}, exact.dst);
    branch.then_block.insts.push_back(std::move(root));
    branch.then_block.insts.push_back({std::move(exact), prov});
    branch.then_block.insts.push_back({IAssign{outcome, exactly}, prov});
    out.push_back({std::move(branch), prov});
    out.push_back({IRead{result, outcome}, prov});
  }

  Value emit(ScalarOp op, PrimType type, std::vector<Value> args, ir::ProvId prov,
             std::vector<Inst>& out) {
    const Type result{scalar_op_result(op, type, type), 1};
    const ValId dst = kernel_.new_val(result);
    out.push_back({IPrim{dst, op, type, type, std::move(args)}, prov});
    return {result, dst};
  }

  Kernel& kernel_;
  std::vector<int> uses_;
};

}  // namespace

void compare_roots(Kernel& kernel) {
  CompareRoots pass(kernel);
  for_each_body(kernel, [&](Block& b) { pass.in(b); });
}

}  // namespace kenaz::kir
