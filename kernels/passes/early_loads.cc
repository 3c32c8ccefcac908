// Elements at a point's own index that a branch of a map loads are loaded before the branch, if the
// point reads the array anyway: then little may be left in the branch, and neighbours load side by
// side.
#include <algorithm>

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

class EarlyLoads {
 public:
  EarlyLoads(const Program& p, ESeg& e) : p_(p), e_(e) {
    for_each_bound(e.body, [&](VarId v) { bound_.insert(v); });
    for (const Stm& s : e.body.stms) {
      if (const auto* read = std::get_if<EIndex>(&s.exp)) read_.insert(read->array);
    }
  }

  void run() {
    std::vector<Stm> stms;
    for (Stm& s : e_.body.stms) {
      take_out(s, stms);
      stms.push_back(std::move(s));
    }
    e_.body.stms = std::move(stms);
  }

 private:
  void take_out(Stm& s, std::vector<Stm>& out) {
    auto* branch = std::get_if<EIf>(&s.exp);
    if (branch == nullptr) return;
    for (Body* b : {&branch->then_body, &branch->else_body}) {
      for (Stm& inner : b->stms) {
        take_out(inner, out);
        if (is_own(inner)) out.push_back(inner);
      }
      std::erase_if(b->stms, [&](const Stm& inner) { return is_own(inner); });
    }
  }
  /// Whether it loads an element that there certainly is.
  bool is_own(const Stm& s) const {
    const auto* read = std::get_if<EIndex>(&s.exp);
    const auto& dims = e_.space.dims;
    const auto inside = [&](VarId v) { return bound_.contains(v); };
    if (read == nullptr || !read_.contains(read->array) || inside(read->array)) return false;
    if (read->dims.size() != dims.size()) return false;
    if (std::any_of(s.certs.begin(), s.certs.end(), inside)) return false;
    const Type& type = p_.type_of(read->array);
    for (size_t d = 0; d < dims.size(); d++) {
      const auto* fix = std::get_if<DimFix>(&read->dims[d]);
      if (fix == nullptr || fix->index != Atom(dims[d].index)) return false;
      if (type.dims[d] != dims[d].size) return false;
    }
    return type.dims.size() == dims.size();
  }

  const Program& p_;
  ESeg& e_;
  VarSet bound_;  // in the body
  VarSet read_;   // arrays
};

}  // namespace

void early_loads(Program& p) {
  visit_segs(p, [&](ESeg& e) {
    if (e.kind == SegKind::kMap && e.level == SegLevel::kDevice && !e.space.dims.empty() &&
        e.writes.empty()) {
      EarlyLoads(p, e).run();
    }
  });
}

}  // namespace kenaz::passes
