#include "kernels/body/analysis.h"

#include <algorithm>
#include <map>

#include "protocol/base/overloaded.h"

namespace kenaz::body {
namespace {

using ir::VarId;

bool is_slice(const ir::EIndex& e) {
  for (const auto& d : e.dims) {
    if (std::holds_alternative<ir::DimRange>(d)) return true;
  }
  return false;
}

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
                     if (is_slice(e)) alias(s.pat[0], e.array);
                   },
                   [&](const ir::EUpdate& e) {
                     consume(e.array);
                     alias(s.pat[0], e.array);
                   },
                   [&](const ir::ERearrange& e) { alias(s.pat[0], e.array); },
                   [&](const ir::EReshape& e) { alias(s.pat[0], e.array); },
                   [&](const ir::EIf& e) {
                     body(e.then_body);
                     body(e.else_body);
                     for (size_t i = 0; i < s.pat.size(); i++) {
                       alias(s.pat[i], e.then_body.results[i]);
                       alias(s.pat[i], e.else_body.results[i]);
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

  void call(const ir::Stm& s, const ir::ECall& e) {
    if (depth_ >= kMaxCallDepth) return;
    depth_++;
    const auto& f = program_.functions[e.fun.index];
    for (size_t i = 0; i < f.params.size() && i < e.args.size(); i++) alias(f.params[i], e.args[i]);
    body(f.body);
    for (size_t i = 0; i < s.pat.size() && i < f.body.results.size(); i++) {
      alias(s.pat[i], f.body.results[i]);
    }
    depth_--;
  }

  const ir::Program& program_;
  std::map<VarId, std::set<VarId>> aliases_;
  int depth_ = 0;
};

bool any_in(const ir::Program& program, const ir::Body& body,
            const std::function<bool(const ir::Exp&)>& pred, int depth) {
  for (const auto& s : body.stms) {
    if (pred(s.exp)) return true;
    for (const ir::Body* b : bodies_of(s.exp)) {
      if (any_in(program, *b, pred, depth)) return true;
    }
    if (const auto* call = std::get_if<ir::ECall>(&s.exp); call && depth < kMaxCallDepth) {
      if (any_in(program, program.functions[call->fun.index].body, pred, depth + 1)) return true;
    }
  }
  return false;
}

// Parallel work of at most this many elements is not worth a launch.
constexpr int64_t kTinyWidth = 32;

bool tiny(const ir::Atom& n) { return n.is_const() && n.constant().as_i64() <= kTinyWidth; }
bool tiny(const std::vector<ir::Atom>& dims) {
  int64_t total = 1;
  for (const auto& d : dims) {
    if (!tiny(d)) return false;
    total *= std::max<int64_t>(1, d.constant().as_i64());
  }
  return total <= kTinyWidth;
}

/// Whether the expression does work that should be spread over threads, or makes arrays whose size
/// only the host can provide for.
bool wants_host(const ir::Program& program, const ir::Exp& exp) {
  return std::visit(Overloaded{
                        [](const ir::ESoac& e) { return !tiny(e.width); },
                        [](const ir::EScatter& e) { return !tiny(e.width); },
                        [](const ir::EHist& e) { return !tiny(e.width); },
                        [](const ir::EIota& e) { return !tiny(e.n); },
                        [](const ir::EReplicate& e) { return !tiny(e.dims); },
                        [](const ir::EScratch& e) { return !tiny(e.dims); },
                        [](const ir::EConcat& e) { return !tiny(e.total); },
                        [&](const ir::ECopy& e) { return !tiny(program.type_of(e.array).dims); },
                        [](const ir::EArrayLit& e) { return !tiny(e.elem_type.dims); },
                        [&](const ir::ELoop& e) {
                          // An array that is replaced in each iteration would be copied by one
                          // thread.
                          const auto consumed = consumed_in(program, e.body);
                          for (const auto& p : e.params) {
                            const ir::Type& t = program.type_of(p.var);
                            if (!t.is_scalar() && !tiny(t.dims) && !consumed.count(p.var))
                              return true;
                          }
                          return false;
                        },
                        [&](const ir::EUpdate& e) {
                          for (const auto& d : e.dims) {
                            if (const auto* r = std::get_if<ir::DimRange>(&d); r && !tiny(r->len))
                              return true;
                          }
                          return false;
                        },
                        [](const auto&) { return false; },
                    },
                    exp);
}

}  // namespace

std::vector<const ir::Body*> bodies_of(const ir::Exp& exp) {
  std::vector<const ir::Body*> out;
  const auto monoids = [&](const std::vector<ir::Monoid>& ms) {
    for (const auto& m : ms) out.push_back(&m.op.body);
  };
  std::visit(Overloaded{
                 [&](const ir::EIf& e) {
                   out = {&e.then_body, &e.else_body};
                 },
                 [&](const ir::ELoop& e) { out = {&e.body}; },
                 [&](const ir::ESoac& e) {
                   out = {&e.map.body};
                   monoids(e.scans);
                   monoids(e.reduces);
                 },
                 [&](const ir::EScatter& e) { out = {&e.map.body}; },
                 [&](const ir::EHist& e) {
                   out = {&e.map.body};
                   for (const auto& op : e.ops) out.push_back(&op.monoid.op.body);
                 },
                 [](const auto&) {},
             },
             exp);
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
  return any_in(program, body, pred, 0);
}

bool updates_in_place(const ir::Program& program, const ir::Body& body) {
  return any_exp(program, body, [](const ir::Exp& e) {
    return std::holds_alternative<ir::EUpdate>(e) || std::holds_alternative<ir::EScatter>(e) ||
           std::holds_alternative<ir::EHist>(e);
  });
}

bool is_device_sequential(const ir::Program& program, const ir::Exp& exp) {
  if (!std::holds_alternative<ir::EIf>(exp) && !std::holds_alternative<ir::ELoop>(exp)) {
    return false;
  }
  if (wants_host(program, exp)) return false;
  if (const auto* branch = std::get_if<ir::EIf>(&exp)) {
    for (const auto& r : branch->then_body.results) {
      if (!tiny(program.type_of(r).dims)) return false;
    }
  }
  bool touches = false;
  for (const ir::Body* b : bodies_of(exp)) {
    if (any_exp(program, *b, [&](const ir::Exp& e) { return wants_host(program, e); })) {
      return false;
    }
    touches |= any_exp(program, *b, [](const ir::Exp& e) {
      const auto* index = std::get_if<ir::EIndex>(&e);
      return (index != nullptr && !is_slice(*index)) || std::holds_alternative<ir::EUpdate>(e);
    });
  }
  return touches;
}

}  // namespace kenaz::body
