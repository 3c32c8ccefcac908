#include "kernels/body/analysis.h"

#include <algorithm>
#include <map>

#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"
#include "protocol/base/overloaded.h"

namespace kenaz::body {
namespace {

using ir::VarId;

/// Follows aliases through a body, statement by statement.
class Consumption {
 public:
  explicit Consumption(const ir::Program& program) : program_(program) {}

  void body(const ir::Body& b) {
    for (const auto& s : b.stms) stm(s);
  }
  std::set<VarId> consumed;

 private:
  void alias(VarId name, const ir::Atom& of) {
    if (!of.is_const() && !program_.type_of(of.var()).is_scalar()) {
      if (name != of.var()) aliases_[name].insert(of.var());
    }
  }
  void consume(VarId v) {
    if (!consumed.insert(v).second) return;
    if (auto it = aliases_.find(v); it != aliases_.end()) {
      const auto of = it->second;
      for (VarId a : of) consume(a);
    }
  }
  void lambda(const ir::Lambda& l, const std::vector<VarId>& inputs) {
    body(l.body);
    for (size_t i = 0; i < inputs.size() && i < l.params.size(); i++) {
      if (consumed.count(l.params[i])) consume(inputs[i]);
    }
  }

  void stm(const ir::Stm& s) {
    std::visit(Overloaded{
                   [&](const ir::EAtom& e) { alias(s.pat[0], e.atom); },
                   [&](const ir::EIndex& e) {
                     if (!ir::all_fixed(e.dims)) alias(s.pat[0], e.array);
                   },
                   [&](const ir::EUpdate& e) {
                     consume(e.array);
                     alias(s.pat[0], e.array);
                   },
                   [&](const ir::ERearrange& e) { alias(s.pat[0], e.array); },
                   [&](const ir::EReshape& e) { alias(s.pat[0], e.array); },
                   [&](const ir::EIf& e) { branches(s, e); },
                   [&](const ir::ESeg& e) {
                     branches(s, e);
                     if (!is_single(e)) body(e.body);
                     size_t k = operands_of(e);
                     for (const auto& w : e.writes) {
                       for (VarId d : w.dests) {
                         consume(d);
                         alias(s.pat[k++], d);
                       }
                     }
                   },
                   [&](const ir::ELoop& e) {
                     body(e.body);
                     for (size_t i = 0; i < e.params.size(); i++) {
                       const auto& p = e.params[i];
                       alias(s.pat[i], p.init);
                       if (consumed.count(p.var) && !p.init.is_const()) consume(p.init.var());
                     }
                   },
                   [&](const ir::ECall& e) { call(s, e); },
                   [&](const ir::ESoac& e) { lambda(e.map, e.inputs); },
                   [&](const ir::EPack& e) { lambda(e.map, e.inputs); },
                   [&](const ir::ESort& e) { lambda(e.map, e.inputs); },
                   [&](const ir::EScatter& e) {
                     lambda(e.map, e.inputs);
                     for (size_t i = 0; i < e.dests.size(); i++) {
                       consume(e.dests[i].array);
                       alias(s.pat[i], e.dests[i].array);
                     }
                   },
                   [&](const ir::EHist& e) {
                     lambda(e.map, e.inputs);
                     size_t k = 0;
                     for (const auto& op : e.ops) {
                       for (VarId d : op.dests) {
                         consume(d);
                         alias(s.pat[k++], d);
                       }
                     }
                   },
                   [](const auto&) {},
               },
               s.exp);
  }

  void branches(const ir::Stm& s, const ir::Exp& e) {
    ir::visit_branches(e, [&](const ir::Body& b) {
      body(b);
      for (size_t i = 0; i < s.pat.size(); i++) alias(s.pat[i], b.results[i]);
    });
  }

  /// What a function does is what its signature says, since it may call itself.
  void call(const ir::Stm& s, const ir::ECall& e) {
    const auto& f = program_.functions[e.fun.index];
    for (size_t i = 0; i < e.args.size(); i++) {
      if (e.args[i].is_const()) continue;
      if (f.consumed[i]) consume(e.args[i].var());
      for (VarId v : s.pat) alias(v, e.args[i]);
    }
  }

  const ir::Program& program_;
  std::map<VarId, std::set<VarId>> aliases_;
};

/// `seen`: the functions that were looked into.
bool any_in(const ir::Program& program, const ir::Body& body,
            const std::function<bool(const ir::Exp&)>& pred, std::set<uint32_t>& seen) {
  for (const auto& s : body.stms) {
    if (pred(s.exp)) return true;
    for (const ir::Body* b : bodies_of(s.exp)) {
      if (any_in(program, *b, pred, seen)) return true;
    }
    const auto* call = std::get_if<ir::ECall>(&s.exp);
    if (call == nullptr || !seen.insert(call->fun.index).second) continue;
    if (any_in(program, program.functions[call->fun.index].body, pred, seen)) return true;
  }
  return false;
}

}  // namespace

std::vector<const ir::Body*> bodies_of(const ir::Exp& exp) {
  std::vector<const ir::Body*> out;
  ir::visit_bodies(exp, [&](const ir::Body& b) { out.push_back(&b); });
  return out;
}

std::vector<std::pair<VarId, std::pair<size_t, size_t>>> size_variables(const ir::Program& program,
                                                                        const ir::Function& f) {
  std::set<VarId> known(f.params.begin(), f.params.end());
  for (const auto& r : program.constants.results) {
    if (!r.is_const()) known.insert(r.var());
  }
  std::vector<std::pair<VarId, std::pair<size_t, size_t>>> out;
  for (size_t p = 0; p < f.params.size(); p++) {
    const auto& dims = program.type_of(f.params[p]).dims;
    for (size_t d = 0; d < dims.size(); d++) {
      if (!dims[d].is_const() && known.insert(dims[d].var()).second) {
        out.push_back({dims[d].var(), {p, d}});
      }
    }
  }
  return out;
}

std::set<VarId> consumed_in(const ir::Program& program, const ir::Body& body) {
  Consumption c(program);
  c.body(body);
  return c.consumed;
}

bool any_exp(const ir::Program& program, const ir::Body& body,
             const std::function<bool(const ir::Exp&)>& pred) {
  std::set<uint32_t> seen;
  return any_in(program, body, pred, seen);
}

bool updates_in_place(const ir::Program& program, const ir::Body& body) {
  return any_exp(program, body, [](const ir::Exp& e) {
    const auto* seg = std::get_if<ir::ESeg>(&e);
    return std::holds_alternative<ir::EUpdate>(e) || std::holds_alternative<ir::EScatter>(e) ||
           std::holds_alternative<ir::EHist>(e) || (seg && !seg->writes.empty());
  });
}

}  // namespace kenaz::body
