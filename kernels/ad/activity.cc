#include "kernels/ad/activity.h"

#include <algorithm>

#include "kernels/ad/derivatives.h"
#include "kernels/ir/visit.h"

namespace kenaz::ad {

using namespace ir;

void Activity::mark(const Body& b) {
  for (const Stm& s : b.stms) mark(s);
}

bool Activity::monoid(const Monoid& m, bool operands) {
  if (operands) {
    for (const VarId v : m.op.params) add(v);
  }
  mark(m.op.body);
  const auto varied = [&](const Atom& a) { return has(a); };
  if (!std::any_of(m.op.body.results.begin(), m.op.body.results.end(), varied)) return false;
  if (!operands) monoid(m, true);  // the first operand is a result of the operator
  return true;
}

void Activity::mark_soac(const Stm& s, const ESoac& e) {
  for (size_t k = 0; k < e.inputs.size(); ++k) {
    if (has(e.inputs[k])) add(e.map.params[k]);
  }
  mark(e.map.body);
  size_t at = 0;
  const auto monoids = [&](const std::vector<Monoid>& all) {
    for (const Monoid& m : all) {
      bool operands = false;
      for (size_t k = 0; k < m.neutral.size(); ++k) {
        operands = operands || has(e.map.body.results[at + k]);
      }
      const bool varied = monoid(m, operands);
      for (size_t k = 0; k < m.neutral.size(); ++k, ++at) {
        if (varied) add(s.pat[at]);
      }
    }
  };
  monoids(e.scans);
  monoids(e.reduces);
  for (; at < s.pat.size(); ++at) {
    if (has(e.map.body.results[at])) add(s.pat[at]);
  }
}

void Activity::mark_loop(const Stm& s, const ELoop& e) {
  for (const auto& param : e.params) {
    if (has(param.init)) add(param.var);
  }
  for (bool changed = true; changed;) {
    changed = false;
    mark(e.body);
    for (size_t k = 0; k < e.params.size(); ++k) {
      if (!has(e.body.results[k]) || has(e.params[k].var)) continue;
      add(e.params[k].var);
      changed = true;
    }
  }
  for (size_t k = 0; k < s.pat.size(); ++k) {
    if (has(e.params[k].var)) add(s.pat[k]);
  }
}

void Activity::mark(const Stm& s) {
  if (const auto* e = std::get_if<ESoac>(&s.exp)) return mark_soac(s, *e);
  if (const auto* e = std::get_if<ELoop>(&s.exp)) return mark_loop(s, *e);
  if (const auto* e = std::get_if<EIf>(&s.exp)) {
    mark(e->then_body);
    mark(e->else_body);
    for (size_t k = 0; k < s.pat.size(); ++k) {
      if (has(e->then_body.results[k]) || has(e->else_body.results[k])) add(s.pat[k]);
    }
    return;
  }
  bool varied = false;
  if (const auto* e = std::get_if<EPrim>(&s.exp)) {
    for (size_t k = 0; k < e->args.size(); ++k) {
      varied = varied || (has(e->args[k]) && !is_always_zero(*e, k));
    }
  } else if (const auto* e = std::get_if<EIndex>(&s.exp)) {
    varied = has(e->array);
  } else if (const auto* e = std::get_if<EUpdate>(&s.exp)) {
    varied = has(e->array) || has(e->value);
  } else if (const auto* e = std::get_if<EReplicate>(&s.exp)) {
    varied = has(e->value);
  } else if (std::holds_alternative<EAssert>(s.exp) || std::holds_alternative<EScratch>(s.exp)) {
    return;
  } else {
    visit_operands(s.exp, [&](const auto& a) { varied = varied || has(a); });
    if (const auto* h = std::get_if<EHist>(&s.exp)) {
      for (const auto& op : h->ops) varied = monoid(op.monoid, varied) || varied;
    }
  }
  if (!varied) return;
  for (const VarId v : s.pat) add(v);
}

}  // namespace kenaz::ad
