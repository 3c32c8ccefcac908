// Fusion: a combinator whose plain results are inputs of a later one moves into it.
//
// The producer moves down to the consumer, so nothing between the two may use what it makes or
// consume what it reads. Results that others need as well become additional results of the fused
// combinator, so no work is done twice.
#include <algorithm>
#include <optional>

#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

/// What ESoac, EScatter and EHist have in common.
struct Combinator {
  Atom* width = nullptr;
  std::vector<VarId>* inputs = nullptr;
  Lambda* map = nullptr;
  ESoac* soac = nullptr;  // null for the others
};

std::optional<Combinator> combinator(Stm& s) {
  if (auto* e = std::get_if<ESoac>(&s.exp)) return Combinator{&e->width, &e->inputs, &e->map, e};
  if (auto* e = std::get_if<EScatter>(&s.exp)) {
    return Combinator{&e->width, &e->inputs, &e->map, nullptr};
  }
  if (auto* e = std::get_if<EHist>(&s.exp))
    return Combinator{&e->width, &e->inputs, &e->map, nullptr};
  return std::nullopt;
}

size_t values_of(const std::vector<Monoid>& monoids) {
  size_t n = 0;
  for (const Monoid& m : monoids) n += m.neutral.size();
  return n;
}

template <class T>
bool contains(const std::vector<T>& list, const T& x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

class Fuse {
 public:
  explicit Fuse(Program& p) : p_(p) {}

  void body(Body& b) {
    for (Stm& s : b.stms) visit_bodies(s.exp, [&](Body& inner) { body(inner); });
    for (size_t c = 0; c < b.stms.size(); c++) {
      while (const auto producer = find_producer(b, c)) {
        merge(b, *producer, c);
        b.stms.erase(b.stms.begin() + static_cast<std::ptrdiff_t>(*producer));
        c--;
      }
    }
  }

 private:
  /// A statement before `c` that can move into it.
  std::optional<size_t> find_producer(Body& b, size_t c) {
    const auto consumer = combinator(b.stms[c]);
    if (!consumer || consumer->inputs->empty()) return std::nullopt;
    for (size_t i = c; i-- > 0;) {
      const auto* e = std::get_if<ESoac>(&b.stms[i].exp);
      if (!e) continue;
      const auto& pat = b.stms[i].pat;
      const bool feeds = std::any_of(consumer->inputs->begin(), consumer->inputs->end(),
                                     [&](VarId v) { return contains(pat, v); });
      if (feeds && e->width == *consumer->width && can_merge(b, i, c)) return i;
    }
    return std::nullopt;
  }

  bool can_merge(Body& b, size_t producer, size_t c) {
    const Stm& s = b.stms[producer];
    const auto& e = std::get<ESoac>(s.exp);
    const auto consumer = *combinator(b.stms[c]);
    VarSet made(s.pat.begin(), s.pat.end());
    VarSet reads;
    for_each_use(p_, s, [&](VarId v) { reads.insert(v); });
    bool ok = true;
    for (size_t i = producer + 1; i < c && ok; i++) {
      for_each_use(p_, b.stms[i], [&](VarId v) { ok = ok && !made.contains(v); });
      for (const VarId v : consumed_in(b.stms[i])) ok = ok && !aliases_any(b, v, reads);
    }
    // The consumer may use the plain results as inputs and nothing else of what is made.
    for (const VarId v : consumed_in(b.stms[c])) {
      ok = ok && !aliases_any(b, v, reads) && !made.contains(v);
    }
    const size_t special = values_of(e.scans) + values_of(e.reduces);
    Stm probe = b.stms[c];
    auto& inputs = *combinator(probe)->inputs;
    std::vector<VarId> others;
    for (const VarId v : inputs) {
      const auto at = std::find(s.pat.begin(), s.pat.end(), v);
      if (at == s.pat.end()) continue;
      if (static_cast<size_t>(at - s.pat.begin()) < special) ok = false;
    }
    std::erase_if(inputs, [&](VarId v) { return made.contains(v); });
    for_each_use(p_, probe, [&](VarId v) { ok = ok && !made.contains(v); });
    if (!ok) return false;
    return consumer.soac != nullptr || !used_elsewhere(b, made, producer, c);
  }

  /// What a statement consumes, in the branches of an if too.
  std::vector<VarId> consumed_in(const Stm& s) {
    std::vector<VarId> all = consumed_by(p_, s);
    if (std::holds_alternative<EIf>(s.exp)) {
      visit_bodies(s.exp, [&](const Body& branch) {
        for (const Stm& inner : branch.stms) {
          const auto more = consumed_in(inner);
          all.insert(all.end(), more.begin(), more.end());
        }
      });
    }
    return all;
  }

  /// Whether the consumed variable or something that it shares memory with is in the set. Views
  /// are found by walking back through the body; beyond it, any array in the set may be meant.
  bool aliases_any(const Body& b, VarId consumed, const VarSet& set) {
    VarSet same{consumed};
    for (size_t round = 0; round < 2; round++) {
      for (const Stm& s : b.stms) {
        const VarId* source = nullptr;
        if (const auto* e = std::get_if<EIndex>(&s.exp)) source = &e->array;
        if (const auto* e = std::get_if<ERearrange>(&s.exp)) source = &e->array;
        if (const auto* e = std::get_if<EReshape>(&s.exp)) source = &e->array;
        if (const auto* e = std::get_if<EUpdate>(&s.exp)) source = &e->array;
        if (const auto* e = std::get_if<EAtom>(&s.exp); e && !e->atom.is_const()) {
          const VarId v = e->atom.var();
          if (same.contains(v) || same.contains(s.pat[0])) same.insert({v, s.pat[0]});
        }
        if (source && !p_.type_of(s.pat[0]).dims.empty() &&
            (same.contains(*source) || same.contains(s.pat[0]))) {
          same.insert({*source, s.pat[0]});
        }
        // Branches and loops may pass an array through.
        const bool passes =
            std::holds_alternative<EIf>(s.exp) || std::holds_alternative<ELoop>(s.exp);
        if (passes &&
            std::any_of(s.pat.begin(), s.pat.end(), [&](VarId v) { return same.contains(v); })) {
          for_each_use(p_, s, [&](VarId v) {
            if (!p_.type_of(v).dims.empty()) same.insert(v);
          });
        }
      }
    }
    return std::any_of(same.begin(), same.end(), [&](VarId v) { return set.contains(v); });
  }

  bool used_elsewhere(const Body& b, const VarSet& made, size_t producer, size_t c) {
    bool used = false;
    for (size_t i = 0; i < b.stms.size(); i++) {
      if (i == producer || i == c) continue;
      for_each_use(p_, b.stms[i], [&](VarId v) { used = used || made.contains(v); });
    }
    for (const Atom& r : b.results) used = used || (!r.is_const() && made.contains(r.var()));
    return used;
  }

  void merge(Body& b, size_t producer, size_t c) {
    Stm& s = b.stms[producer];
    Stm& t = b.stms[c];
    auto& e = std::get<ESoac>(s.exp);
    const auto consumer = *combinator(t);

    // Inputs: the producer's, then those of the consumer that the producer did not make.
    Subst subst;
    std::vector<VarId> inputs = std::move(e.inputs);
    std::vector<VarId> params = std::move(e.map.params);
    for (size_t k = 0; k < consumer.inputs->size(); k++) {
      const VarId input = (*consumer.inputs)[k];
      const VarId param = consumer.map->params[k];
      const auto made = std::find(s.pat.begin(), s.pat.end(), input);
      const auto same = std::find(inputs.begin(), inputs.end(), input);
      if (made != s.pat.end()) {
        subst[param] = e.map.body.results[static_cast<size_t>(made - s.pat.begin())];
      } else if (same != inputs.end()) {
        subst[param] = params[static_cast<size_t>(same - inputs.begin())];
      } else {
        inputs.push_back(input);
        params.push_back(param);
      }
    }
    Body fused = std::move(e.map.body);
    substitute(p_, consumer.map->body, subst);
    for (Stm& inner : consumer.map->body.stms) fused.stms.push_back(std::move(inner));
    if (consumer.soac) {
      merge_results(s, t, e, *consumer.soac, fused.results);
    }
    fused.results = std::move(consumer.map->body.results);
    consumer.map->body = std::move(fused);
    *consumer.inputs = std::move(inputs);
    consumer.map->params = std::move(params);
    for (const VarId cert : s.certs) {
      if (!contains(t.certs, cert)) t.certs.push_back(cert);
    }
    for (auto& a : s.attrs) {
      if (!contains(t.attrs, a)) t.attrs.push_back(std::move(a));
    }
  }

  /// The producer's own results join the consumer's: scans, reductions, plain results.
  static void merge_results(Stm& s, Stm& t, ESoac& e, ESoac& into, const std::vector<Atom>& made) {
    auto& results = into.map.body.results;
    const size_t scans = values_of(into.scans);
    const size_t reduces = values_of(into.reduces);
    const size_t own_scans = values_of(e.scans);
    const size_t own_special = own_scans + values_of(e.reduces);
    const auto insert = [&](size_t at, size_t from, size_t to) {
      const auto pos = static_cast<std::ptrdiff_t>(at);
      const auto first = static_cast<std::ptrdiff_t>(from);
      const auto last = static_cast<std::ptrdiff_t>(to);
      t.pat.insert(t.pat.begin() + pos, s.pat.begin() + first, s.pat.begin() + last);
      results.insert(results.begin() + pos, made.begin() + first, made.begin() + last);
      into.map.ret.insert(into.map.ret.begin() + pos, e.map.ret.begin() + first,
                          e.map.ret.begin() + last);
    };
    insert(results.size(), own_special, made.size());
    insert(scans + reduces, own_scans, own_special);
    insert(scans, 0, own_scans);
    for (Monoid& m : e.scans) into.scans.push_back(std::move(m));
    for (Monoid& m : e.reduces) into.reduces.push_back(std::move(m));
  }

  Program& p_;
};

}  // namespace

void fuse(Program& p) {
  Fuse pass(p);
  pass.body(p.constants);
  for (Function& f : p.functions) pass.body(f.body);
  remove_dead_code(p);  // producers' results that only the consumer wanted
}

}  // namespace kenaz::passes
