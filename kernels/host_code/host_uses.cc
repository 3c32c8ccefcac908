#include "kernels/host_code/host_uses.h"

#include "kernels/ir/visit.h"

namespace kenaz::host_code {

namespace {

using namespace ir;

class HostUses {
 public:
  explicit HostUses(const Program& p) : p_(p) {}

  void all_of(const Body& b) {
    for (const Stm& s : b.stms) look(s);
    for (const Atom& r : b.results) use(r);
  }
  VarSet take() { return std::move(used_); }

 private:
  void use(const Atom& a) {
    if (!a.is_const()) used_.insert(a.var());
  }
  void use(VarId v) { used_.insert(v); }

  void look(const Stm& s) {
    const auto* seg = std::get_if<ESeg>(&s.exp);
    const auto* loop = std::get_if<ELoop>(&s.exp);
    const bool branches = std::holds_alternative<EIf>(s.exp);
    if (loop == nullptr && !branches && (seg == nullptr || seg->level != SegLevel::kDevice)) {
      for_each_use(p_, s, [&](VarId v) { use(v); });
      return;
    }
    for (const VarId c : s.certs) use(c);
    if (loop == nullptr) {
      visit_operands(s.exp, [&](const auto& a) { use(a); });
      if (branches) visit_bodies(s.exp, [&](const Body& b) { all_of(b); });
      return;
    }
    if (const auto* counted = std::get_if<LoopFor>(&loop->form)) {
      use(counted->bound);
    } else {
      use(std::get<LoopWhile>(loop->form).cond);
    }
    for (const Stm& inner : loop->body.stms) look(inner);
    for (size_t n = 0; n < loop->params.size(); n++) {
      if (loop->params[n].kept) continue;
      use(loop->params[n].init);
      use(loop->body.results[n]);
    }
  }

  const Program& p_;
  VarSet used_;
};

}  // namespace

VarSet host_uses(const Program& p) {
  HostUses uses(p);
  visit_bodies(p, [&](const Body& b) { uses.all_of(b); });
  return uses.take();
}

}  // namespace kenaz::host_code
