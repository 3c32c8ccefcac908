#include "kernels/ad/reverse.h"

#include "kernels/ad/normalise.h"
#include "kernels/ad/reverse_sweep.h"
#include "kernels/ir/analysis/uses.h"

namespace kenaz::ad {

using namespace ir;

namespace {
/// More variables than this are not waited for.
constexpr size_t kMaxVars = 3000000;
}  // namespace

Result<std::vector<Atom>> reverse_mode(Builder& b, const Lambda& f, const std::vector<Atom>& args,
                                       const std::vector<Atom>& adjoints, bool in_map) {
  Reverse reverse(b.program(), in_map);
  auto results = reverse.run(b, f, args, adjoints);
  if (reverse.error()) return tl::make_unexpected(*reverse.error());
  return results;
}

std::vector<Atom> Reverse::run(Builder& b, const Lambda& f, const Atoms& args,
                               const Atoms& adjoints) {
  Subst s;
  const Vars vars = bind_arguments(b, f, args, s);
  for (const VarId v : vars) activity_.add(v);
  for (const VarId v : vars) counters_.bind(v);
  for (const VarId v : free_vars(p_, f)) counters_.bind(v);
  const Sweep sweep = forward(b, copy_renamed(p_, f.body, s));
  Atoms out = sweep.body.results;
  for (size_t k = 0; k < adjoints.size(); ++k) contribute(b, out[k], adjoints[k]);
  backward(b, sweep);
  for (const VarId v : vars) out.push_back(take_or_zero(b, v));
  return out;
}

void Reverse::refuse(const Stm& s, const std::string& what) {
  if (!error_) error_ = refusal(p_, s, what);
}

// ---- scopes

Reverse::Sweep Reverse::forward(Builder& b, Body body) {
  activity_.mark(body);
  counters_.note(body);
  Sweep sweep{std::move(body), {}};
  for (size_t i = 0; i < sweep.body.stms.size(); ++i) {
    const Stm& s = sweep.body.stms[i];
    if (p_.vars.size() > kMaxVars) {
      refuse(s, "the program becomes too large when it is differentiated");
    }
    if (error_) break;
    // A loop that only counts iterations (normalise.h) is not gone back through.
    const auto* e = std::get_if<ELoop>(&s.exp);
    if (e != nullptr && std::holds_alternative<LoopWhile>(e->form)) e = nullptr;
    bool varied = false;
    for (const VarId v : s.pat) varied = varied || activity_.has(v);
    if (e != nullptr && varied) {
      Builder here(p_, b.body(), s.prov);
      here.certs() = s.certs;
      forward_loop(here, s, *e, sweep.tapes[i]);
    } else {
      b.body().stms.push_back(s);
    }
  }
  return sweep;
}

void Reverse::backward(Builder& b, const Sweep& sweep) {
  for (size_t i = sweep.body.stms.size(); i-- > 0 && !error_;) {
    const Stm& s = sweep.body.stms[i];
    const auto tape = sweep.tapes.find(i);
    Builder here(p_, b.body(), s.prov);
    backward(here, s, tape == sweep.tapes.end() ? nullptr : &tape->second);
  }
}

// ---- statements

void Reverse::backward(Builder& b, const Stm& s, const Tape* tape) {
  const auto* soac = std::get_if<ESoac>(&s.exp);
  const bool is_map = soac != nullptr && soac->scans.empty() && soac->reduces.empty();
  if (is_map && elements(b, s, *soac)) return;
  std::vector<Maybe> adj;
  bool any = false;
  for (const VarId v : s.pat) {
    adj.push_back(take(b, v));
    any = any || adj.back();
  }
  if (!any) return;
  if (const auto* e = std::get_if<EIf>(&s.exp)) return branches(b, s, *e, adj);
  if (const auto* e = std::get_if<ELoop>(&s.exp)) return loop(b, s, *e, adj, *tape);
  if (const auto* e = std::get_if<ESoac>(&s.exp)) {
    if (!e->scans.empty()) return scan(b, s, *e, adj);
    if (!e->reduces.empty()) return reduce(b, s, *e, adj);
    return map(b, *e, adj);
  }
  if (const auto* e = std::get_if<EScatter>(&s.exp)) return scatter(b, *e, *adj[0]);
  if (const auto* e = std::get_if<EHist>(&s.exp)) return hist(b, s, *e, adj);
  if (const auto* e = std::get_if<EWithVjp>(&s.exp)) return with_vjp(b, s, *e, adj);
  contribute_linear(*this, b, s, *adj[0]);
}

void Reverse::with_vjp(Builder& b, const Stm& s, const EWithVjp& e, const std::vector<Maybe>& adj) {
  Atoms given(s.pat.begin(), s.pat.end());
  for (size_t k = 0; k < adj.size(); ++k) {
    given.push_back(adj[k] ? *adj[k] : zero_of(b, p_.type_of(s.pat[k])));
  }
  const Atoms back = inline_lambda(b, e.adjoint, given);
  for (size_t k = 0; k < e.args.size(); ++k) contribute(b, e.args[k], back[k]);
}

}  // namespace kenaz::ad
