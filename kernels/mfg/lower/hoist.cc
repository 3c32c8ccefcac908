#include "kernels/mfg/check/walk.h"
#include "kernels/mfg/lower/lowerer.h"

namespace kenaz::mfg {

/// Whether the value is the same for all pixels: it reads no variable but those known by now and
/// those in `inner`, no local tensor and no random number.
bool Lowerer::is_global(const CExp& e, std::set<uint32_t>& inner) const {
  if (const auto* v = std::get_if<CVar>(&e.node)) {
    return vars_.count(v->var.index) != 0 || inner.count(v->var.index) != 0;
  }
  if (std::holds_alternative<CRand>(e.node)) return false;
  const auto add = [&](const std::vector<VarId>& vars) {
    for (const VarId v : vars) inner.insert(v.index);
  };
  const TensorId* tensor = nullptr;
  if (const auto* r = std::get_if<CRead>(&e.node)) tensor = &r->tensor;
  if (const auto* s = std::get_if<CTensorSum>(&e.node)) {
    tensor = &s->tensor;
    add(s->indices);
    add({s->value});
  }
  if (const auto* r = std::get_if<CReduce>(&e.node)) {
    tensor = &r->source;
    add(r->indices);
    add({r->value, r->acc});
  }
  if (const auto* l = std::get_if<CLoop>(&e.node)) {
    add(l->indices);
    add({l->acc});
  }
  if (tensor != nullptr && filter_.tensors[tensor->index].kind == TensorInfo::kLocal) return false;
  bool global = true;
  walk(
      e, [&](const CExp& x) { global = global && is_global(x, inner); },
      [&](const CStm& s) {
        const auto* l = std::get_if<CLet>(&s.node);
        if (l == nullptr) global = false;
        if (!global) return;
        global = is_global(*l->value, inner);
        inner.insert(l->var.index);
      });
  return global;
}

void Lowerer::hoist_sums(const CBody& body, Builder& b) {
  std::function<void(const CExp&)> on_exp;
  std::function<void(const CStm&)> on_stm = [&](const CStm& s) { walk(s, on_exp, on_stm); };
  on_exp = [&](const CExp& e) {
    std::set<uint32_t> inner;
    if (std::holds_alternative<CTensorSum>(e.node) && hoisted_.count(&e) == 0 &&
        is_global(e, inner)) {
      hoisted_.emplace(&e, eval(e, b));
    } else {
      walk(e, on_exp, on_stm);
    }
  };
  walk(body, on_exp, on_stm);
}

}  // namespace kenaz::mfg
