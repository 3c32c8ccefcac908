#include "kernels/kir/passes/gather_checks.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

bool is_arithmetic(const Inst& i) {
  return std::holds_alternative<IPrim>(i.op) || std::holds_alternative<ICompose>(i.op) ||
         std::holds_alternative<IExtract>(i.op) || std::holds_alternative<IBuiltin>(i.op) ||
         std::holds_alternative<IRead>(i.op);
}

bool is_check(const Inst& i) {
  const auto* branch = std::get_if<IIf>(&i.op);
  if (branch == nullptr || !branch->else_block.insts.empty()) return false;
  const std::vector<Inst>& insts = branch->then_block.insts;
  return !insts.empty() && std::holds_alternative<IFail>(insts.back().op) &&
         std::all_of(insts.begin(), insts.end() - 1, is_arithmetic);
}

bool is_plain_load(const Inst& i) {
  const auto* load = std::get_if<ILoad>(&i.op);
  return load != nullptr && load->order == Order::kPlain;
}

/// A stretch of arithmetic, loads and checks, cut before the first check that depends on a load in
/// it: the checks can stand before all its loads.
class Stretch {
 public:
  explicit Stretch(Kernel& kernel) : kernel_(kernel) {}

  /// Takes the instruction, or says that it does not belong here.
  bool take(Inst& i) {
    const bool check = is_check(i);
    if (!check && !is_arithmetic(i) && !is_plain_load(i)) return false;
    bool late = is_plain_load(i) || depends_on_load(i);
    visit_blocks(i.op, [&](const Block& b) {
      for_each_inst(b, [&](const Inst& inner) { late |= depends_on_load(inner); });
    });
    if (check && late) return false;
    if (check && is_made(std::get<IIf>(i.op).cond)) return true;
    if (late) visit_results(i.op, [&](ValId v) { loaded_.insert(v.index); });
    (check ? checks_ : late ? behind_ : before_).push_back(std::move(i));
    return true;
  }

  /// Appends all of it, and is empty then.
  void finish(std::vector<Inst>& out) {
    const auto move = [&](std::vector<Inst>& insts) {
      std::move(insts.begin(), insts.end(), std::back_inserter(out));
      insts.clear();
    };
    move(before_);
    if (checks_.size() > 1) {
      out.push_back(gathered(out));
    } else {
      move(checks_);
    }
    move(behind_);
    loaded_.clear();
  }

 private:
  /// Whether a check of this stretch has failed where this condition holds.
  bool is_made(const Value& cond) const {
    return std::any_of(checks_.begin(), checks_.end(),
                       [&](const Inst& check) { return std::get<IIf>(check.op).cond == cond; });
  }
  bool depends_on_load(const Inst& i) const {
    bool depends = false;
    visit_operands(i.op, [&](const Value& v) {
      depends = depends || (!v.is_const() && loaded_.contains(v.id().index));
    });
    return depends;
  }

  /// All checks as one; its condition is appended to `out`.
  Inst gathered(std::vector<Inst>& out) {
    const ir::ProvId prov = checks_[0].prov;
    Value any = std::get<IIf>(checks_[0].op).cond;
    for (size_t n = 1; n < checks_.size(); n++) {
      const ValId dst = kernel_.new_val({PrimType::kBool});
      out.push_back({IPrim{dst,
                           ScalarOp::kOr,
                           PrimType::kBool,
                           PrimType::kI32,
                           {any, std::get<IIf>(checks_[n].op).cond}},
                     prov});
      any = {{PrimType::kBool}, dst};
    }
    IIf all;
    all.cond = any;
    all.then_block.insts = std::exchange(checks_, {});
    return {std::move(all), prov};
  }

  Kernel& kernel_;
  std::vector<Inst> before_, checks_, behind_;  // behind_: loads and what depends on them
  std::unordered_set<uint32_t> loaded_;         // values that behind_ makes
};

void gather_in(Kernel& kernel, Block& b) {
  std::vector<Inst> out;
  Stretch stretch(kernel);
  for (Inst& i : b.insts) {
    if (!is_check(i)) visit_blocks(i.op, [&](Block& inner) { gather_in(kernel, inner); });
    if (stretch.take(i)) continue;
    stretch.finish(out);
    if (!stretch.take(i)) out.push_back(std::move(i));
  }
  stretch.finish(out);
  b.insts = std::move(out);
}

}  // namespace

void gather_checks(Kernel& kernel) {
  for_each_body(kernel, [&](Block& b) { gather_in(kernel, b); });
}

}  // namespace kenaz::kir
