// Arrays of i64 whose elements are made of integers of 32 bits hold these, where all that is ever
// done with the array is to take elements: indices that one kernel finds and another one uses, say,
// are half as much to write and to read.
#include <optional>
#include <unordered_map>
#include <utility>

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

bool has_32_bits(PrimType t) { return t == PrimType::kI32 || prim_size(t) < 4; }

/// Makes values of a body as i32.
class Short {
 public:
  Short(Program& p, Body& body) : p_(p), body_(body) {
    for (size_t n = 0; n < body.stms.size(); n++) {
      if (body.stms[n].pat.size() == 1) at_.emplace(body.stms[n].pat[0], n);
    }
  }

  /// The value as i32, whatever it is; nullopt if it may need more than that.
  std::optional<Atom> make(const Atom& a) {
    if (a.is_const()) {
      const int64_t n = a.constant().as_i64();
      if (n < INT32_MIN || n > INT32_MAX) return {};
      return PrimValue::of_int(PrimType::kI32, n);
    }
    const auto at = at_.find(a.var());
    if (at == at_.end()) return {};
    if (const auto known = made_.find(a.var()); known != made_.end()) return known->second;
    const auto made = make(at->second);
    made_.emplace(a.var(), made);
    return made;
  }

 private:
  std::optional<Atom> make(size_t n) {
    const Stm s = body_.stms[n];
    if (const auto* copy = std::get_if<EAtom>(&s.exp)) {
      const auto same = make(copy->atom);
      if (!same) return {};
      return bind(s, EAtom{*same});
    }
    const auto* e = std::get_if<EPrim>(&s.exp);
    if (e == nullptr) return {};
    if (e->op == ScalarOp::kConvert) {
      if (!is_integer(e->type) || !has_32_bits(e->type)) return {};
      if (e->type == PrimType::kI32) {
        return s.certs.empty() ? e->args[0] : bind(s, EAtom{e->args[0]});
      }
      return bind(s, EPrim{ScalarOp::kConvert, e->type, PrimType::kI32, e->args});
    }
    EPrim made{e->op, PrimType::kI32, PrimType::kI32, e->args};
    switch (e->op) {
      case ScalarOp::kSelect:
      case ScalarOp::kMin:
      case ScalarOp::kMax: break;
      default: return {};
    }
    for (size_t k = e->op == ScalarOp::kSelect ? 1 : 0; k < made.args.size(); k++) {
      const auto arg = make(e->args[k]);
      if (!arg) return {};
      made.args[k] = *arg;
    }
    return bind(s, std::move(made));
  }

  /// What stands for the statement.
  Atom bind(const Stm& s, Exp exp) {
    const VarId v = p_.new_var(Type{PrimType::kI32, {}}, p_.vars[s.pat[0].index].name);
    body_.stms.push_back(Stm{{v}, std::move(exp), s.certs, s.prov, {}});
    return v;
  }

  Program& p_;
  Body& body_;
  std::unordered_map<VarId, size_t> at_;  // the body's statements, by what they bind
  std::unordered_map<VarId, std::optional<Atom>> made_;
};

class ShortElements {
 public:
  explicit ShortElements(Program& p) : p_(p), other_uses_(count_uses(p)) {}

  void run() {
    visit_bodies(p_, [&](const Body& b) { count(b); });
    visit_bodies(p_, [&](Body& b) { make(b); });
  }

 private:
  void count(const Body& b) {
    for (const Stm& s : b.stms) {
      const auto* e = std::get_if<EIndex>(&s.exp);
      if (e != nullptr && all_fixed(e->dims)) other_uses_[e->array.index]--;
      visit_bodies(s.exp, [&](const Body& inner) { count(inner); });
    }
  }

  /// Uses come behind what they use: arrays that are made of elements of others follow suit.
  void make(Body& b) {
    std::vector<Stm> stms;
    for (Stm& s : b.stms) {
      visit_bodies(s.exp, [&](Body& inner) { make(inner); });
      if (auto* seg = std::get_if<ESeg>(&s.exp)) shorten(s, *seg);
      std::optional<Stm> widens;
      if (auto* e = std::get_if<EIndex>(&s.exp); e != nullptr && short_.contains(e->array)) {
        const VarId element = p_.new_var(Type{PrimType::kI32, {}}, p_.vars[s.pat[0].index].name);
        widens = Stm{{s.pat[0]},
                     EPrim{ScalarOp::kConvert, PrimType::kI32, PrimType::kI64, {element}},
                     {},
                     s.prov,
                     {}};
        s.pat[0] = element;
      }
      stms.push_back(std::move(s));
      if (widens) stms.push_back(std::move(*widens));
    }
    b.stms = std::move(stms);
  }

  void shorten(Stm& s, ESeg& e) {
    if (is_single(e) || e.kind == SegKind::kPack || e.kind == SegKind::kSort) return;
    Short elements(p_, e.body);
    const size_t first = operands_of(e) + write_results_of(e);
    for (size_t k = first; k < e.body.results.size(); k++) {
      const VarId array = s.pat[s.pat.size() - e.body.results.size() + k];
      const Type& type = p_.type_of(array);
      if (type.prim != PrimType::kI64 || type.dims.size() != e.space.dims.size()) continue;
      if (other_uses_[array.index] > 0) continue;
      const auto element = elements.make(e.body.results[k]);
      if (!element) continue;
      e.body.results[k] = *element;
      p_.vars[array.index].type.prim = PrimType::kI32;
      short_.insert(array);
    }
  }

  Program& p_;
  std::vector<int> other_uses_;  // by variable: what is no element taken
  VarSet short_;
};

}  // namespace

void short_elements(Program& p) { ShortElements(p).run(); }

}  // namespace kenaz::passes
