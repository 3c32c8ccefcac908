#include "kernels/ad/differentiate.h"

#include <optional>

#include "kernels/ad/forward.h"
#include "kernels/ad/loops_apart.h"
#include "kernels/ad/normalise.h"
#include "kernels/ad/reverse.h"
#include "kernels/ad/values.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"

namespace kenaz::ad {
namespace {

using namespace ir;

/// More variables than this are not waited for.
constexpr size_t kMaxVars = 1500000;

class Differentiate {
 public:
  explicit Differentiate(Program& p) : p_(p) {}

  Status run() {
    visit_bodies(p_, [&](Body& b) { body(b, {}); });
    if (error_) return tl::make_unexpected(*error_);
    return {};
  }

 private:
  /// What stands around a statement.
  struct Around {
    int depth = 0;  // of differential operators
    bool map = false;
  };

  void body(Body& b, Around around) {
    std::vector<Stm> old = std::exchange(b.stms, {});
    for (Stm& s : old) {
      if (error_) return;
      if (p_.vars.size() > kMaxVars) {
        error_ = refusal(p_, s, "the program becomes too large when it is differentiated");
        return;
      }
      stm(b, s, around);
    }
  }

  void stm(Body& out, Stm& s, Around around) {
    Around inside = around;
    if (std::holds_alternative<EJvp>(s.exp) || std::holds_alternative<EVjp>(s.exp)) inside.depth++;
    if (std::holds_alternative<ESoac>(s.exp) || std::holds_alternative<EScatter>(s.exp) ||
        std::holds_alternative<EHist>(s.exp)) {
      inside.map = true;
    }
    visit_bodies(s.exp, [&](Body& b) { body(b, inside); });
    if (error_) return;
    Builder b(p_, out, s.prov);
    if (auto* e = std::get_if<EJvp>(&s.exp)) {
      replace(b, s, e->fun, false, [&] { return forward_mode(b, e->fun, e->args, e->tangents); });
    } else if (auto* e = std::get_if<EVjp>(&s.exp)) {
      replace(b, s, e->fun, true, [&] {
        if (!around.map) set_loops_apart(p_, e->fun);
        return reverse_mode(b, e->fun, e->args, e->adjoints, around.map);
      });
    } else if (auto* e = std::get_if<EWithVjp>(&s.exp); e && around.depth == 0) {
      const auto results = inline_lambda(b, e->fun, e->args);
      for (size_t k = 0; k < s.pat.size(); ++k) b.emit_to({s.pat[k]}, EAtom{results[k]});
    } else {
      out.stms.push_back(std::move(s));
    }
  }

  template <class F>
  void replace(Builder& b, const Stm& s, Lambda& fun, bool reverse, F&& mode) {
    if (auto status = normalise(p_, fun.body, reverse); !status) {
      error_ = std::move(status).error();
      return;
    }
    auto results = mode();
    if (!results) {
      error_ = std::move(results).error();
      return;
    }
    for (size_t k = 0; k < s.pat.size(); ++k) b.emit_to({s.pat[k]}, EAtom{(*results)[k]});
  }

  Program& p_;
  std::optional<Error> error_;
};

bool has_operators(const Body& b) {
  bool found = false;
  for (const Stm& s : b.stms) {
    found = found || std::holds_alternative<EJvp>(s.exp) || std::holds_alternative<EVjp>(s.exp) ||
            std::holds_alternative<EWithVjp>(s.exp);
    visit_bodies(s.exp, [&](const Body& inner) { found = found || has_operators(inner); });
  }
  return found;
}

}  // namespace

Status differentiate(Program& p) {
  bool found = has_operators(p.constants);
  for (const Function& f : p.functions) found = found || has_operators(f.body);
  if (!found) return {};
  // Loops have rules, calls have none.
  passes::tail_calls(p);
  passes::inline_calls(p);
  // Sizes and iotas of inner maps are those of all elements: seen from outside, too.
  passes::hoist(p);
  KENAZ_TRY(Differentiate(p).run());
  KENAZ_TRY(Differentiate(p).run());  // functions with derivatives of their own, now outside
  passes::copy_shared(p);
  passes::simplify(p);
  passes::remove_dead_code(p);
  return {};
}

}  // namespace kenaz::ad
