// Calls of functions that do not come to call themselves: the functions' bodies take their place.
#include "kernels/ir/analysis/calls.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

class InlineCalls {
 public:
  explicit InlineCalls(Program& p)
      : p_(p), recursive_(recursive_functions(p)), done_(p.functions.size()) {}

  void run() {
    body(p_.constants);
    for (size_t i = 0; i < p_.functions.size(); ++i) function(i);
    remove_unused();
  }

 private:
  /// What neither an entry point nor a constant comes to call.
  void remove_unused() {
    std::vector<bool> used(p_.functions.size());
    std::vector<uint32_t> ahead;
    const auto use = [&](const ECall& call) { ahead.push_back(call.fun.index); };
    for (const Entry& e : p_.entries) ahead.push_back(e.fun.index);
    for_each_call(p_.constants, use);
    while (!ahead.empty()) {
      const uint32_t id = ahead.back();
      ahead.pop_back();
      if (used[id]) continue;
      used[id] = true;
      for_each_call(p_.functions[id].body, use);
    }
    for (size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) p_.functions[i] = Function{};
    }
  }

  void function(size_t id) {
    if (done_[id]) return;
    done_[id] = true;
    body(p_.functions[id].body);
  }

  void body(Body& b) {
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      const auto* call = std::get_if<ECall>(&s.exp);
      if (call != nullptr && !recursive_[call->fun.index]) {
        function(call->fun.index);
        replace(s, *call, out);
        continue;
      }
      visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      out.push_back(std::move(s));
    }
    b.stms = std::move(out);
  }

  void replace(const Stm& s, const ECall& call, std::vector<Stm>& out) {
    const Function& f = p_.functions[call.fun.index];
    Subst subst;
    for (size_t k = 0; k < f.params.size(); ++k) {
      subst[f.params[k]] = call.args[k];
      const Type have = p_.type_of(call.args[k]), param = p_.type_of(f.params[k]);
      for (size_t d = 0; d < param.dims.size(); ++d) {
        if (!param.dims[d].is_const()) subst.try_emplace(param.dims[d].var(), have.dims[d]);
      }
    }
    // A dim that is a parameter itself stands for the argument, whichever comes first.
    for (size_t k = 0; k < f.params.size(); ++k) subst[f.params[k]] = call.args[k];
    Body copy = copy_renamed(p_, f.body, std::move(subst));
    for (Stm& inner : copy.stms) out.push_back(std::move(inner));
    for (size_t k = 0; k < s.pat.size(); ++k) {
      const Type& t = p_.type_of(s.pat[k]);
      Stm result{{s.pat[k]}, EAtom{copy.results[k]}, {}, s.prov, {}};
      if (!t.is_scalar()) result.exp = EReshape{t.dims, copy.results[k].var()};
      out.push_back(std::move(result));
    }
  }

  Program& p_;
  const std::vector<bool> recursive_;
  std::vector<bool> done_;
};

}  // namespace

void inline_calls(Program& p) { InlineCalls(p).run(); }

}  // namespace kenaz::passes
