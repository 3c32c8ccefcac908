// Arithmetic on what kernels leave in device memory is done by the kernels that need it:
//
//   let s = seg reduce (+) xs
//   let m = s / n
//   in seg map (i < n) { xs[i] - m }
//
// Host code would wait for the sum to divide it, and the device for the host. Each element divides
// instead, which is little beside what it loads.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"
#include "kernels/scalar/quick.h"

namespace kenaz::passes {
namespace {

using namespace ir;

/// Operations that an element does more, and those of them that take long.
constexpr size_t kMostSunk = 8, kMostSlowSunk = 2;

bool is_slow(const EPrim& e) { return !scalar_op_is_quick(e.op) || scalar_op_divides(e.op); }

/// Of the code of one function, or of the constants.
class SinkScalars {
 public:
  explicit SinkScalars(Program& p) : p_(p) {}

  void run(Body& b) {
    for (const VarInfo& v : p_.vars) {
      for (const Atom& size : v.type.dims) host_needs(size);
    }
    look(b);
    for (const Atom& r : b.results) host_needs(r);
    settle_carried();
    choose();
    keep_carried();
    if (!chosen_.empty()) rewrite(b);
  }

 private:
  using Stms = std::vector<Stm>;

  // ---- what there is
  void look(Body& b) {
    for (Stm& s : b.stms) look(s);
  }

  void look(Stm& s) {
    if (const auto* e = std::get_if<EPrim>(&s.exp); e != nullptr && s.certs.empty()) {
      arithmetic_.emplace(s.pat[0], &s);
      order_.push_back(s.pat[0]);
      for (const Atom& a : e->args) {
        if (a.is_const()) continue;
        operand_of_[a.var()].push_back(s.pat[0]);
        operands_[s.pat[0]].push_back(a.var());
      }
      return;
    }
    const auto* seg = std::get_if<ESeg>(&s.exp);
    if (seg != nullptr || std::holds_alternative<EIndex>(s.exp)) {
      for (const VarId v : s.pat) {
        if (p_.type_of(v).is_scalar()) on_device_.insert(v);
      }
    }
    if (seg != nullptr && seg->level == SegLevel::kDevice) {
      around(s);
      visit_lambdas(s.exp, [&](const Lambda& l) {
        for (const VarId v : free_vars(p_, l)) host_needs(v);
      });
    } else if (auto* loop = std::get_if<ELoop>(&s.exp)) {
      look(s, *loop);
    } else if (std::holds_alternative<EIf>(s.exp) || std::holds_alternative<EVersions>(s.exp)) {
      around(s);
      visit_bodies(s.exp, [&](Body& inner) {
        look(inner);
        for (const Atom& r : inner.results) host_needs(r);
      });
    } else {
      // Of a workgroup's code as well: what decides about barriers must be known before.
      for_each_use(p_, s, [&](VarId v) { host_needs(v); });
    }
  }

  void look(const Stm& s, ELoop& loop) {
    for (const VarId c : s.certs) host_needs(c);
    if (const auto* form = std::get_if<LoopWhile>(&loop.form)) {
      host_needs(form->cond);
    } else {
      host_needs(std::get<LoopFor>(loop.form).bound);
    }
    look(loop.body);
    VarSet made;  // by kernels, in each turn
    for (const Stm& inner : loop.body.stms) {
      if (std::holds_alternative<ESeg>(inner.exp)) made.insert(inner.pat.begin(), inner.pat.end());
    }
    for (size_t n = 0; n < loop.params.size(); n++) {
      const Atom& r = loop.body.results[n];
      const Type& type = p_.type_of(loop.params[n].var);
      if (type.is_scalar() && type.prim != PrimType::kI64 && !r.is_const() &&
          made.contains(r.var())) {
        carried_.push_back({&loop.params[n], r.var(), s.pat[n]});
        on_device_.insert(loop.params[n].var);
        on_device_.insert(s.pat[n]);
        continue;
      }
      host_needs(loop.params[n].init);
      host_needs(r);
    }
  }

  /// What the statement uses beside its bodies.
  void around(const Stm& s) {
    visit_operands(s.exp, [&](const auto& a) { host_needs(a); });
    for (const VarId c : s.certs) host_needs(c);
  }

  void host_needs(const Atom& a) {
    if (!a.is_const()) on_host_.insert(a.var());
  }
  void host_needs(VarId v) { on_host_.insert(v); }

  // ---- what loops carry
  /// A scalar of a loop that kernels make, and that in the loop only kernels need, stays in device
  /// memory. Host code would wait for the device in each turn to have it in a register.
  void settle_carried() {
    for (size_t before = carried_.size() + 1; before != carried_.size();) {
      before = carried_.size();
      const VarSet bound = needed_on_host();
      std::erase_if(carried_, [&](const Carried& c) {
        if (!bound.contains(c.param->var) && !bound.contains(c.made)) return false;
        on_device_.erase(c.param->var);
        on_device_.erase(c.result);
        host_needs(c.param->init);
        host_needs(c.made);
        return true;
      });
    }
  }

  /// What host code cannot do without, if all arithmetic is sunk that can be.
  VarSet needed_on_host() const {
    VarSet bound = on_host_;
    for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
      if (arithmetic_.contains(*v) && !bound.contains(*v)) continue;
      const auto of = operands_.find(*v);
      if (of != operands_.end()) bound.insert(of->second.begin(), of->second.end());
    }
    return bound;
  }

  /// Of which no arithmetic was left to the host: it would read them in each turn all the same.
  void keep_carried() {
    const auto is_sunk = [&](VarId v) {
      const auto users = operand_of_.find(v);
      return users == operand_of_.end() ||
             std::ranges::all_of(users->second, [&](VarId user) { return chosen_.contains(user); });
    };
    for (const Carried& c : carried_) c.param->kept = is_sunk(c.param->var) && is_sunk(c.made);
  }

  // ---- what is worth it
  void choose() {
    for (const VarId v : order_) {
      const auto it = arithmetic_.find(v);
      if (it == arithmetic_.end()) continue;
      const auto& e = std::get<EPrim>(it->second->exp);
      if (waits(e) && !on_host_.contains(v) && is_little(v)) chosen_.insert(v);
    }
    // Last to first: what the host computes further needs its operands there.
    for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
      const std::vector<VarId>& users = operand_of_[*v];
      if (std::any_of(users.begin(), users.end(),
                      [&](VarId user) { return !chosen_.contains(user); })) {
        chosen_.erase(*v);
      }
    }
    for (const VarId v : order_) {
      if (chosen_.contains(v) && !waits(std::get<EPrim>(arithmetic_.at(v)->exp))) chosen_.erase(v);
    }
  }

  /// Whether it needs what a kernel makes, and what the host does not have anyway.
  bool waits(const EPrim& e) const {
    return std::any_of(e.args.begin(), e.args.end(), [&](const Atom& a) {
      if (a.is_const()) return false;
      const VarId v = a.var();
      return chosen_.contains(v) || (on_device_.contains(v) && !on_host_.contains(v));
    });
  }

  bool is_little(VarId v) {
    size_t slow = 0;
    const Stms made = recipe({v}, true);
    for (const Stm& s : made) slow += is_slow(std::get<EPrim>(s.exp)) ? 1 : 0;
    return made.size() <= kMostSunk && slow <= kMostSlowSunk;
  }

  /// The chosen statements that make these, in order; `first`: the variables themselves count as
  /// chosen.
  Stms recipe(const VarSet& wanted, bool first) const {
    VarSet needed = wanted;
    Stms made;
    for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
      if (!needed.contains(*v) || !(chosen_.contains(*v) || (first && wanted.contains(*v)))) {
        continue;
      }
      const Stm& s = *arithmetic_.at(*v);
      made.push_back(s);
      for (const Atom& a : std::get<EPrim>(s.exp).args) {
        if (!a.is_const()) needed.insert(a.var());
      }
    }
    std::reverse(made.begin(), made.end());
    return made;
  }

  // ---- the kernels
  void rewrite(Body& b) {
    // First the recipes, from code that is still as it was.
    std::vector<std::pair<ESeg*, Stms>> kernels;
    visit_segs(b, [&](ESeg& e) {
      if (e.level != SegLevel::kDevice) return;
      VarSet wanted;
      for (const VarId v : free_vars(p_, e.body)) {
        if (chosen_.contains(v)) wanted.insert(v);
      }
      if (!wanted.empty()) kernels.emplace_back(&e, recipe(wanted, false));
    });
    for (auto& [e, stms] : kernels) {
      Subst names;
      Stms made;
      for (const Stm& s : stms) made.push_back(copy_renamed(p_, s, &names));
      substitute(p_, e->body, names);
      for (Stm& s : e->body.stms) made.push_back(std::move(s));
      e->body.stms = std::move(made);
    }
  }

  Program& p_;
  std::unordered_map<VarId, const Stm*> arithmetic_;  // of host code
  std::vector<VarId> order_;                          // what it binds, as it stands
  std::unordered_map<VarId, std::vector<VarId>> operand_of_, operands_;
  VarSet on_device_, on_host_;  // made by kernels; needed by host code that is no arithmetic
  VarSet chosen_;
  struct Carried {
    ELoop::Param* param;
    VarId made, result;  // in a turn; of the loop
  };
  std::vector<Carried> carried_;
};

}  // namespace

void sink_scalars(Program& p) {
  visit_bodies(p, [&](Body& b) { SinkScalars(p).run(b); });
  remove_dead_code(p);
}

}  // namespace kenaz::passes
