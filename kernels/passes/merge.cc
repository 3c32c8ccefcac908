#include "kernels/passes/merge.h"

#include <algorithm>

#include "kernels/ir/analysis/rename.h"

namespace kenaz::passes {
namespace {

using namespace ir;

template <class T>
void insert_range(std::vector<T>& into, size_t at, const std::vector<T>& from, size_t first,
                  size_t last) {
  const auto offset = [](size_t n) { return static_cast<std::ptrdiff_t>(n); };
  into.insert(into.begin() + offset(at), from.begin() + offset(first), from.begin() + offset(last));
}

// The producer's own results join the consumer's: scans, reductions, plain results.
void join_results(Stm& s, Stm& t, const std::vector<Atom>& made) {
  auto& from = std::get<ESoac>(s.exp);
  auto& into = std::get<ESoac>(t.exp);
  const size_t scans = values_of(into.scans);
  const size_t specials = scans + values_of(into.reduces);
  const size_t own_scans = values_of(from.scans);
  const size_t own_specials = own_scans + values_of(from.reduces);
  const auto insert = [&](size_t at, size_t first, size_t last) {
    insert_range(t.pat, at, s.pat, first, last);
    insert_range(into.map.body.results, at, made, first, last);
    insert_range(into.map.ret, at, from.map.ret, first, last);
  };
  insert(into.map.body.results.size(), own_specials, made.size());
  insert(specials, own_scans, own_specials);
  insert(scans, 0, own_scans);
  for (Monoid& m : from.scans) into.scans.push_back(std::move(m));
  for (Monoid& m : from.reduces) into.reduces.push_back(std::move(m));
}

}  // namespace

std::optional<Combinator> combinator(Stm& s) {
  if (auto* e = std::get_if<ESoac>(&s.exp)) return Combinator{&e->width, &e->inputs, &e->map};
  if (auto* e = std::get_if<EScatter>(&s.exp)) return Combinator{&e->width, &e->inputs, &e->map};
  if (auto* e = std::get_if<EPack>(&s.exp)) return Combinator{&e->width, &e->inputs, &e->map};
  if (auto* e = std::get_if<ESort>(&s.exp)) return Combinator{&e->width, &e->inputs, &e->map};
  if (auto* e = std::get_if<EHist>(&s.exp)) return Combinator{&e->width, &e->inputs, &e->map};
  return std::nullopt;
}

size_t values_of(const std::vector<Monoid>& monoids) {
  size_t n = 0;
  for (const Monoid& m : monoids) n += m.neutral.size();
  return n;
}

Stm merge_combinators(Program& p, Stm s, Stm t) {
  auto& e = std::get<ESoac>(s.exp);
  const Combinator consumer = *combinator(t);

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
  substitute(p, consumer.map->body, subst);

  Body body = std::move(e.map.body);
  const std::vector<Atom> made = std::move(body.results);
  for (Stm& inner : consumer.map->body.stms) body.stms.push_back(std::move(inner));
  body.results = std::move(consumer.map->body.results);
  consumer.map->body = std::move(body);
  *consumer.inputs = std::move(inputs);
  consumer.map->params = std::move(params);
  if (std::holds_alternative<ESoac>(t.exp)) join_results(s, t, made);
  for (const VarId cert : s.certs) {
    if (std::find(t.certs.begin(), t.certs.end(), cert) == t.certs.end()) t.certs.push_back(cert);
  }
  return t;
}

}  // namespace kenaz::passes
