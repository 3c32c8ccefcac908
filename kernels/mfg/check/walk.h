// The expressions and statements inside of others.
#pragma once

#include <type_traits>

#include "kernels/mfg/check/core.h"

namespace kenaz::mfg {

template <class OnExp, class OnStm>
void walk(const CBody& body, const OnExp& on_exp, const OnStm& on_stm);

/// Calls `on_exp` for every expression directly below e (null ones are left out), and for bodies
/// inside of it as `walk` of a body does.
template <class OnExp, class OnStm>
void walk(const CExp& e, const OnExp& on_exp, const OnStm& on_stm) {
  const auto one = [&](const CExpPtr& x) {
    if (x != nullptr) on_exp(*x);
  };
  const auto all = [&](const std::vector<CExpPtr>& list) {
    for (const CExpPtr& x : list) one(x);
  };
  if (const auto* t = std::get_if<CTuple>(&e.node)) return all(t->parts);
  if (const auto* p = std::get_if<CPick>(&e.node)) return one(p->tuple);
  if (const auto* c = std::get_if<CConvert>(&e.node)) return one(c->value);
  if (const auto* p = std::get_if<CPrim>(&e.node)) return all(p->args);
  if (const auto* l = std::get_if<CLogic>(&e.node)) return all(l->args);
  if (const auto* b = std::get_if<CBlock>(&e.node)) return walk(b->body, on_exp, on_stm);
  if (const auto* r = std::get_if<CRead>(&e.node)) return all(r->at);
  if (const auto* s = std::get_if<CTensorSum>(&e.node)) return walk(s->body, on_exp, on_stm);
  if (const auto* s = std::get_if<CSelect>(&e.node)) return all({s->cond, s->a, s->b});
  if (const auto* r = std::get_if<CReduce>(&e.node)) {
    one(r->init);
    return walk(r->body, on_exp, on_stm);
  }
  if (const auto* l = std::get_if<CLoop>(&e.node)) {
    one(l->init);
    for (const CRange& r : l->ranges) all({r.from, r.to});
    walk(l->body, on_exp, on_stm);
  }
}

/// The same for a statement.
template <class OnExp, class OnStm>
void walk(const CStm& s, const OnExp& on_exp, const OnStm& on_stm) {
  if (const auto* l = std::get_if<CLet>(&s.node)) on_exp(*l->value);
  if (const auto* d = std::get_if<CDef>(&s.node)) {
    for (const CExpPtr& b : d->bounds) on_exp(*b);
    walk(d->body, on_exp, on_stm);
  }
  if (const auto* r = std::get_if<CReduceTo>(&s.node)) {
    on_exp(*r->reduce.init);
    walk(r->reduce.body, on_exp, on_stm);
  }
  if (const auto* u = std::get_if<CUpdate>(&s.node)) {
    for (const CExpPtr& x : u->at) on_exp(*x);
    on_exp(*u->value);
  }
  if (const auto* a = std::get_if<CAccumulate>(&s.node)) walk(a->body, on_exp, on_stm);
  if (const auto* f = std::get_if<CForEach>(&s.node)) walk(f->body, on_exp, on_stm);
}

/// Calls `on_stm` for the body's statements and `on_exp` for its result.
template <class OnExp, class OnStm>
void walk(const CBody& body, const OnExp& on_exp, const OnStm& on_stm) {
  for (const CStm& s : body.stms) on_stm(s);
  if (body.result != nullptr) on_exp(*body.result);
}

}  // namespace kenaz::mfg
