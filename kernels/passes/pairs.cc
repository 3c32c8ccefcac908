// Two small integers in a word: sums of a pixel's channels, say, are made of two channels at once.
//
//   (b0 + 4 b1 + b2) / 8, (r0 + 4 r1 + r2) / 8
//     = (p & 0xffff) / 8, (p >> 16) / 8   where p = (b0 | r0 << 16) + 4 (b1 | r1 << 16) + ..
//
// That is so where nothing leaves its half: where all that is added up and multiplied lies between
// 0 and 65535 by the intervals of its operands. Halves come together where bytes are loaded.
#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "kernels/ir/analysis/intervals.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

constexpr int64_t kMostOfHalf = 0xffff;
constexpr int kBitsOfHalf = 16;
/// Larger bodies are not looked at.
constexpr size_t kMostStatements = 2000;
/// Operations that must be spared: what joins the halves and takes them apart is not counted
/// exactly.
constexpr int kLeastSpared = 8;

Atom u32(int64_t n) { return PrimValue::of_int(PrimType::kU32, n); }
Atom both_halves(int64_t low, int64_t high) { return u32(low | high << kBitsOfHalf); }

class Pairs {
 public:
  Pairs(Program& p, ESeg& e) : p_(p), body_(e.body), builder_(p, made_) {
    for (size_t n = 0; n < body_.stms.size(); n++) {
      intervals_.define(p, body_.stms[n]);
      for (const VarId v : body_.stms[n].pat) at_[v] = n;
    }
  }

  void run() {
    for (const Stm& s : body_.stms) {
      if (const auto* row = std::get_if<EArrayLit>(&s.exp)) roots_of(row->elems);
    }
    roots_of(body_.results);
    if (instead_.empty()) return;
    auto changed = ordered();
    if (changed && work(*changed) + kLeastSpared <= work(body_)) body_ = std::move(*changed);
  }

 private:
  using Pair = std::pair<Atom, Atom>;

  /// What it is a copy of.
  Atom origin(Atom a) const {
    while (const Stm* s = maker(a)) {
      const auto* copy = std::get_if<EAtom>(&s->exp);
      if (copy == nullptr) break;
      a = copy->atom;
    }
    return a;
  }
  const Stm* maker(const Atom& a) const {
    if (a.is_const()) return nullptr;
    const auto it = at_.find(a.var());
    return it == at_.end() ? nullptr : &body_.stms[it->second];
  }
  const EPrim* prim(const Atom& a) const {
    const Stm* s = maker(a);
    const auto* e = s == nullptr ? nullptr : std::get_if<EPrim>(&s->exp);
    return e != nullptr && is_integer(e->type) ? e : nullptr;
  }
  bool fits(const Atom& a) const {
    const auto range = intervals_.of(p_, a);
    return range && range->is_in(0, kMostOfHalf);
  }
  /// Whether its exact result is in a half, and so are its operands.
  bool stays_in_half(const EPrim& e) const {
    const auto range = intervals_.exact(p_, e);
    return range && range->is_in(0, kMostOfHalf) &&
           std::all_of(e.args.begin(), e.args.end(), [&](const Atom& a) { return fits(a); });
  }
  static bool are_alike(const EPrim& x, const EPrim& y) {
    return x.op == y.op && x.type == y.type && x.to == y.to && x.args.size() == y.args.size();
  }

  // ---- where pairs end

  /// Of values that a point makes, those in the odd bytes of a word belong together, and those in
  /// the even ones: both come out of the word by one operation.
  void roots_of(const std::vector<Atom>& values) {
    const size_t n = values.size();
    for (size_t from = 0; from + 1 < n; from += 4) {
      if (from + 3 < n) {
        root(values[from], values[from + 2]);
        root(values[from + 1], values[from + 3]);
      } else {
        root(values[from], values[from + 1]);
      }
    }
  }

  /// Looks for sums that both are made from in the same way, and has them made as a pair.
  void root(Atom a, Atom b) {
    while (true) {
      a = origin(a), b = origin(b);
      const EPrim *x = prim(a), *y = prim(b);
      if (x == nullptr || y == nullptr || !are_alike(*x, *y) || a == b) return;
      if (is_arithmetic(*x, *y)) break;
      size_t differ = 0;
      for (size_t k = 0; k < x->args.size(); k++) {
        if (x->args[k] != y->args[k]) differ++;
        if (x->args[k] != y->args[k]) a = x->args[k], b = y->args[k];
      }
      if (differ != 1) return;
    }
    if (instead_.contains(at_.at(a.var())) || instead_.contains(at_.at(b.var()))) return;
    const Atom both = pair(a, b);
    take_apart(a, builder_.prim(ScalarOp::kAnd, {both, u32(kMostOfHalf)}));
    take_apart(b, builder_.prim(ScalarOp::kLShr, {both, u32(kBitsOfHalf)}));
  }

  void take_apart(const Atom& a, const Atom& half) {
    Stm s = *maker(a);
    s.exp = EPrim{ScalarOp::kConvert, PrimType::kU32, p_.type_of(a).prim, {half}};
    if (p_.type_of(a).prim == PrimType::kU32) s.exp = EAtom{half};
    s.certs = certs_;
    std::sort(s.certs.begin(), s.certs.end());
    s.certs.erase(std::unique(s.certs.begin(), s.certs.end()), s.certs.end());
    instead_.emplace(at_.at(a.var()), std::move(s));
  }

  // ---- pairs

  /// Sums, differences, and products with the same constant, that stay in their halves.
  bool is_arithmetic(const EPrim& x, const EPrim& y) const {
    if (!are_alike(x, y) || !stays_in_half(x) || !stays_in_half(y)) return false;
    if (x.op == ScalarOp::kAdd || x.op == ScalarOp::kSub) return true;
    return x.op == ScalarOp::kMul && factor(x) && factor(x) == factor(y);
  }
  static std::optional<int64_t> factor(const EPrim& e) {
    if (e.args[0].is_const() == e.args[1].is_const()) return {};
    return e.args[e.args[0].is_const() ? 0 : 1].constant().as_i64();
  }
  static const Atom& multiplied(const EPrim& e) { return e.args[e.args[0].is_const() ? 1 : 0]; }

  /// A word with both, which fit into halves: `a` in the lower one.
  Atom pair(Atom a, Atom b) {
    a = origin(a), b = origin(b);
    if (a.is_const() && b.is_const()) {
      return both_halves(a.constant().as_i64(), b.constant().as_i64());
    }
    if (const Atom* known = find({a, b})) return *known;
    for (const Atom& x : {a, b}) {
      const Stm* s = maker(x);
      if (s != nullptr) certs_.insert(certs_.end(), s->certs.begin(), s->certs.end());
    }
    const Atom made = make(a, b);
    pairs_.emplace_back(Pair{a, b}, made);
    if (!a.is_const()) by_low_[a.var()].push_back(pairs_.size() - 1);
    return made;
  }
  const Atom* find(const Pair& wanted) const {
    if (wanted.first.is_const()) return nullptr;
    const auto it = by_low_.find(wanted.first.var());
    if (it == by_low_.end()) return nullptr;
    for (const size_t n : it->second) {
      if (pairs_[n].first == wanted) return &pairs_[n].second;
    }
    return nullptr;
  }

  Atom make(const Atom& a, const Atom& b) {
    const EPrim *x = prim(a), *y = prim(b);
    if (x != nullptr && y != nullptr && are_alike(*x, *y)) {
      if (x->op == ScalarOp::kConvert && stays_in_half(*x) && stays_in_half(*y)) {
        return pair(x->args[0], y->args[0]);
      }
      if (is_arithmetic(*x, *y)) {
        if (x->op == ScalarOp::kMul) {
          return builder_.mul(pair(multiplied(*x), multiplied(*y)), u32(*factor(*x)));
        }
        const Atom first = pair(x->args[0], y->args[0]), second = pair(x->args[1], y->args[1]);
        return builder_.prim(x->op, {first, second});
      }
    }
    // The upper half is shifted, and the lower one added on the way.
    const bool in_a_row = are_in_a_row(a, b);
    const Atom low = builder_.convert(a, PrimType::kU32),
               high = builder_.convert(b, PrimType::kU32);
    const Atom shifted = builder_.prim(ScalarOp::kShl, {high, u32(kBitsOfHalf)});
    free(shifted);
    const Atom both = builder_.prim(ScalarOp::kOr, {low, shifted});
    if (in_a_row) free(both);
    return both;
  }
  void free(const Atom& a) {
    if (!a.is_const()) free_.insert(a.var());
  }

  /// Whether they are loaded from neighbouring places, as bytes of a word: they come out of it as a
  /// pair with no more work than one by one.
  bool are_in_a_row(const Atom& a, const Atom& b) const {
    const Stm *s = maker(a), *t = maker(b);
    const auto* x = s == nullptr ? nullptr : std::get_if<EIndex>(&s->exp);
    const auto* y = t == nullptr ? nullptr : std::get_if<EIndex>(&t->exp);
    if (x == nullptr || y == nullptr || x->array != y->array) return false;
    if (prim_size(p_.type_of(a).prim) != 1 || x->dims.empty()) return false;
    for (size_t d = 0; d < x->dims.size(); d++) {
      const auto *i = std::get_if<DimFix>(&x->dims[d]), *j = std::get_if<DimFix>(&y->dims[d]);
      if (i == nullptr || j == nullptr) return false;
      if (d + 1 == x->dims.size()) return i->index.is_const() && j->index.is_const();
      if (i->index != j->index) return false;
    }
    return false;
  }

  // ---- the body with pairs

  /// How many operations making the results takes, conversions not counted.
  int work(const Body& b) const {
    VarSet live;
    for (const Atom& r : b.results) {
      if (!r.is_const()) live.insert(r.var());
    }
    int count = 0;
    for (size_t n = b.stms.size(); n-- > 0;) {
      const Stm& s = b.stms[n];
      if (std::none_of(s.pat.begin(), s.pat.end(), [&](VarId v) { return live.contains(v); })) {
        continue;
      }
      for_each_use(p_, s, [&](VarId v) { live.insert(v); });
      const auto* e = std::get_if<EPrim>(&s.exp);
      if (e != nullptr && e->op != ScalarOp::kConvert && !free_.contains(s.pat[0])) count++;
    }
    return count;
  }

  bool writes(const Stm& s) const {
    return !consumed_by(p_, s).empty() ||
           any_inside(s.exp, [&](const Stm& t) { return !consumed_by(p_, t).empty(); });
  }
  /// Checks and writes, also in bodies: these cannot wait for others.
  bool acts(const Stm& s) const {
    const auto checks = [](const Stm& t) { return std::holds_alternative<EAssert>(t.exp); };
    return checks(s) || any_inside(s.exp, checks) || writes(s);
  }

  /// Each statement stands as early as it did, or behind the last one that it uses; null if checks
  /// would be made in another order, or something read after it was written.
  std::optional<Body> ordered() const {
    std::vector<Stm> waiting = made_.stms;
    VarSet missing;
    for (const auto* stms : {&std::as_const(body_.stms), &made_.stms}) {
      for (const Stm& s : *stms) missing.insert(s.pat.begin(), s.pat.end());
    }
    Body out;
    int readers = 0;  // statements of the body that wait, or have waited
    const auto is_ready = [&](const Stm& s) {
      bool ready = true;
      for_each_use(p_, s, [&](VarId v) { ready = ready && !missing.contains(v); });
      return ready;
    };
    const auto place = [&](Stm s) {
      for (const VarId v : s.pat) missing.erase(v);
      out.stms.push_back(std::move(s));
    };
    for (size_t n = 0; n < body_.stms.size(); n++) {
      const auto it = instead_.find(n);
      const Stm& s = it == instead_.end() ? body_.stms[n] : it->second;
      if (!is_ready(s)) {
        if (acts(s)) return {};
        readers += it == instead_.end() ? 1 : 0;
        waiting.push_back(s);
        continue;
      }
      if (readers > 0 && writes(s)) return {};
      place(s);
      for (size_t before = 0; before != waiting.size();) {
        before = waiting.size();
        std::vector<Stm> rest;
        for (Stm& w : waiting) {
          if (is_ready(w)) {
            place(std::move(w));
          } else {
            rest.push_back(std::move(w));
          }
        }
        waiting = std::move(rest);
      }
    }
    if (!waiting.empty()) return {};
    out.results = body_.results;
    return out;
  }

  Program& p_;
  Body& body_;
  Intervals intervals_;
  std::unordered_map<VarId, size_t> at_;  // the statements that bind variables
  Body made_;                             // what makes pairs
  Builder builder_;
  std::vector<std::pair<Pair, Atom>> pairs_;
  std::unordered_map<VarId, std::vector<size_t>> by_low_;  // places in `pairs_`
  std::vector<VarId> certs_;                               // of all that is in pairs
  std::map<size_t, Stm> instead_;                          // of statements of the body
  VarSet free_;                                            // operations that cost nothing
};

void pairs_in(Program& p, Body& b) {
  for (Stm& s : b.stms) {
    auto* e = std::get_if<ESeg>(&s.exp);
    if (e == nullptr) {
      visit_bodies(s.exp, [&](Body& inner) { pairs_in(p, inner); });
    } else if (e->kind == SegKind::kMap && e->level == SegLevel::kDevice &&
               e->body.stms.size() <= kMostStatements) {
      Pairs(p, *e).run();
    }
  }
}

}  // namespace

void pairs(Program& p) {
  visit_bodies(p, [&](Body& b) { pairs_in(p, b); });
}

}  // namespace kenaz::passes
