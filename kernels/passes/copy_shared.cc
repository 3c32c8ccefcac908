// Lowering takes tuples apart and evaluates in an order of its own, so one array may stand for two
// values, and a value may be read after it was written in place. A copy before the consumer keeps
// the others' value; everything after this pass may rely on what validate() checks.
#include "kernels/ir/builder.h"
#include "kernels/ir/validate.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

/// More would mean that copies do not help.
constexpr int kMaxCopies = 10000;

/// Replaces one use of `from` by the statement: the one that consumes.
void replace_consumed(Stm& s, VarId from, VarId to) {
  bool done = false;
  const auto one = [&](VarId& v) {
    if (!done && v == from) {
      v = to;
      done = true;
    }
  };
  if (auto* u = std::get_if<EUpdate>(&s.exp)) one(u->array);
  if (auto* c = std::get_if<EScatter>(&s.exp)) {
    for (auto& d : c->dests) one(d.array);
  }
  if (auto* h = std::get_if<EHist>(&s.exp)) {
    for (auto& op : h->ops) {
      for (VarId& d : op.dests) one(d);
    }
  }
  if (auto* seg = std::get_if<ESeg>(&s.exp)) {
    for (auto& w : seg->writes) {
      for (VarId& d : w.dests) one(d);
    }
  }
  const auto one_atom = [&](Atom& a) {
    if (!done && a == Atom(from)) {
      a = to;
      done = true;
    }
  };
  if (auto* call = std::get_if<ECall>(&s.exp)) {
    for (Atom& a : call->args) one_atom(a);
  }
  if (auto* l = std::get_if<ELoop>(&s.exp)) {
    for (auto& param : l->params) one_atom(param.init);
  }
}

bool insert_copy(Program& p, Body& b, const Stm* consumer, VarId consumed) {
  for (size_t i = 0; i < b.stms.size(); i++) {
    if (&b.stms[i] != consumer) {
      bool found = false;
      visit_bodies(b.stms[i].exp, [&](Body& inner) {
        found = found || insert_copy(p, inner, consumer, consumed);
      });
      if (found) return true;
      continue;
    }
    const VarId copy = p.new_var(p.type_of(consumed), p.vars[consumed.index].name);
    replace_consumed(b.stms[i], consumed, copy);
    Stm s{{copy}, ECopy{consumed}, {}, b.stms[i].prov, {}};
    b.stms.insert(b.stms.begin() + static_cast<std::ptrdiff_t>(i), std::move(s));
    return true;
  }
  return false;
}

}  // namespace

void copy_shared(Program& p) {
  for (int n = 0; n < kMaxCopies; n++) {
    const auto error = find_consumption_error(p);
    if (!error || !error->consumer) return;
    bool found = insert_copy(p, p.constants, error->consumer, error->consumed);
    for (Function& f : p.functions) {
      found = found || insert_copy(p, f.body, error->consumer, error->consumed);
    }
    if (!found) return;
  }
}

}  // namespace kenaz::passes
