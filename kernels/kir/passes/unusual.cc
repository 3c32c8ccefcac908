#include "kernels/kir/passes/unusual.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernels/kir/passes/rename.h"
#include "kernels/kir/visit.h"
#include "protocol/base/check.h"

namespace kenaz::kir {
namespace {

/// More of them would keep the operands of the first alive for long.
constexpr int kMost = 8;
/// Of one alone nothing is gained.
constexpr int kFewest = 2;

bool is_arithmetic(const Inst& i) {
  return std::holds_alternative<IPrim>(i.op) || std::holds_alternative<ICompose>(i.op) ||
         std::holds_alternative<IExtract>(i.op);
}

bool has_forms(const Inst& i) {
  const auto* prim = std::get_if<IPrim>(&i.op);
  return prim != nullptr && has_usual_form(prim->op, prim->type);
}

using UseCounts = std::unordered_map<uint32_t, int>;

UseCounts uses_of(const Kernel& kernel) {
  UseCounts uses;
  const auto use = [&](const Value& v) {
    if (!v.is_const()) uses[v.id().index]++;
  };
  for_each_inst_of(kernel, [&](const Inst& i) {
    visit_operands(i.op, use);
    visit_end_operands(i.op, use);
  });
  for (const Function& f : kernel.functions) {
    for (const Value& r : f.results) use(r);
  }
  return uses;
}

/// Instructions of a block, from an operation with forms up to what needs its value.
class Stretch {
 public:
  Stretch(Kernel& kernel, const UseCounts& uses) : kernel_(kernel), uses_(uses) {}

  /// Takes the instruction, or says that it needs what this stretch computes.
  bool take(Inst& i) {
    const bool forms = has_forms(i);
    if (forms && count_ == kMost) return false;
    const bool depends = this->depends(i);
    if (depends && !is_arithmetic(i)) return false;
    if (!forms && !depends) {
      insts_.push_back({std::move(i), false});
      return true;
    }
    count_ += forms ? 1 : 0;
    visit_results(i.op, [&](ValId v) { made_.insert(v.index); });
    insts_.push_back({std::move(i), true});
    return true;
  }

  /// Appends all of it, and is empty then.
  void finish(std::vector<Inst>& out) {
    if (count_ >= kFewest) {
      gather(out);
    } else {
      for (Part& p : insts_) out.push_back(std::move(p.inst));
    }
    insts_.clear();
    made_.clear();
    count_ = 0;
  }

 private:
  struct Part {
    Inst inst;
    bool again = false;  // it is computed a second time for unusual operands
  };

  bool depends(const Inst& i) const {
    if (made_.empty()) return false;
    bool any = false;
    const auto look = [&](const Value& v) {
      any = any || (!v.is_const() && made_.contains(v.id().index));
    };
    visit_operands(i.op, look);
    visit_end_operands(i.op, look);
    visit_blocks(i.op, [&](const Block& b) {
      for_each_inst(b, [&](const Inst& inner) {
        visit_operands(inner.op, look);
        visit_end_operands(inner.op, look);
      });
    });
    return any;
  }

  Value prim(std::vector<Inst>& out, IPrim p, ir::ProvId prov) {
    p.dst = kernel_.new_val({result_type(p)});
    const Value made{{result_type(p)}, p.dst};
    out.push_back({std::move(p), prov});
    return made;
  }

  void gather(std::vector<Inst>& out) {
    Renaming usual(kernel_), whole(kernel_);
    std::optional<Value> all;  // whether all operands are usual
    Block again;
    ir::ProvId prov;
    for (const Part& p : insts_) {
      if (!p.again) {
        out.push_back(p.inst);
        continue;
      }
      again.insts.push_back(whole.copy(p.inst));
      Inst copy = usual.copy(p.inst);
      if (has_forms(copy)) {
        auto& form = std::get<IPrim>(copy.op);
        IPrim is_usual = form;
        is_usual.form = Form::kIsUsual;
        form.form = Form::kUsual;
        const Value one = prim(out, std::move(is_usual), copy.prov);
        all = all ? prim(out, {{}, ScalarOp::kAnd, PrimType::kBool, {}, {*all, one}}, copy.prov)
                  : one;
        prov = copy.prov;
      }
      out.push_back(std::move(copy));
    }
    const Value not_all = prim(out, {{}, ScalarOp::kNot, PrimType::kBool, {}, {*all}}, prov);
    std::vector<std::pair<ValId, VarId>> wanted;
    for (const ValId v : wanted_behind()) {
      const Type type = kernel_.vals[v.index];
      const VarId var = kernel_.new_var(type);
      Value first(type, v), second(type, v);
      usual.rename(first);
      whole.rename(second);
      out.push_back({IDeclare{var, first}, prov});
      again.insts.push_back({IAssign{var, second}, prov});
      wanted.emplace_back(v, var);
    }
    out.push_back({IIf{not_all, std::move(again), {}}, prov});
    for (const auto& [v, var] : wanted) out.push_back({IRead{v, var}, prov});
  }

  /// What is computed twice and used behind the stretch.
  std::vector<ValId> wanted_behind() const {
    UseCounts inside;
    for (const Part& p : insts_) {
      visit_operands(p.inst.op, [&](const Value& v) {
        if (!v.is_const()) inside[v.id().index]++;
      });
    }
    std::vector<ValId> wanted;
    for (const Part& p : insts_) {
      if (!p.again) continue;
      visit_results(p.inst.op, [&](ValId v) {
        const auto all = uses_.find(v.index);
        if (all != uses_.end() && all->second > inside[v.index]) wanted.push_back(v);
      });
    }
    return wanted;
  }

  Kernel& kernel_;
  const UseCounts& uses_;
  std::vector<Part> insts_;
  std::unordered_set<uint32_t> made_;  // values that are computed twice
  int count_ = 0;                      // of operations with forms
};

void gather_in(Kernel& kernel, const UseCounts& uses, Block& b) {
  std::vector<Inst> out;
  Stretch stretch(kernel, uses);
  for (Inst& i : b.insts) {
    visit_blocks(i.op, [&](Block& inner) { gather_in(kernel, uses, inner); });
    if (stretch.take(i)) continue;
    stretch.finish(out);
    CHECK(stretch.take(i));
  }
  stretch.finish(out);
  b.insts = std::move(out);
}

}  // namespace

void gather_unusual(Kernel& kernel) {
  const UseCounts uses = uses_of(kernel);
  for_each_body(kernel, [&](Block& b) { gather_in(kernel, uses, b); });
}

}  // namespace kenaz::kir
