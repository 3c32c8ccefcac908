// Walking over expressions: what they use directly, and the bodies inside them. One place knows
// the fields of every expression, so that analyses and passes need not.
//
// All functions work on const and mutable expressions.
#pragma once

#include <type_traits>
#include <variant>

#include "kernels/ir/ir.h"
#include "protocol/base/overloaded.h"

namespace kenaz::ir {

/// Calls f(Dim's Atom&) for the atoms of index dims.
template <class Dims, class F>
void visit_dims(Dims& dims, F&& f) {
  for (auto& d : dims) {
    if (auto* fix = std::get_if<DimFix>(&d)) {
      f(fix->index);
    } else {
      auto& r = std::get<DimRange>(d);
      f(r.start);
      f(r.len);
      f(r.stride);
    }
  }
}

/// Calls f on every operand: Atom& or VarId& (where only an array may stand). Excludes
/// certificates, what nested bodies and lambdas use, and the dims of types (see visit_types).
template <class E, class F>
void visit_operands(E& exp, F&& f) {
  const auto all = [&](auto& list) {
    for (auto& x : list) f(x);
  };
  std::visit(
      [&](auto& e) {
        using T = std::remove_const_t<std::remove_reference_t<decltype(e)>>;
        if constexpr (std::is_same_v<T, EAtom>) {
          f(e.atom);
        } else if constexpr (std::is_same_v<T, EPrim> || std::is_same_v<T, ECall>) {
          all(e.args);
        } else if constexpr (std::is_same_v<T, EIndex>) {
          f(e.array);
          visit_dims(e.dims, f);
        } else if constexpr (std::is_same_v<T, EUpdate>) {
          f(e.array);
          visit_dims(e.dims, f);
          f(e.value);
        } else if constexpr (std::is_same_v<T, EIota>) {
          f(e.n);
          f(e.start);
          f(e.stride);
        } else if constexpr (std::is_same_v<T, EReplicate>) {
          all(e.dims);
          f(e.value);
        } else if constexpr (std::is_same_v<T, EScratch>) {
          all(e.dims);
        } else if constexpr (std::is_same_v<T, EArrayLit>) {
          all(e.elems);
        } else if constexpr (std::is_same_v<T, EConcat>) {
          all(e.arrays);
          f(e.total);
        } else if constexpr (std::is_same_v<T, ERearrange> || std::is_same_v<T, ECopy>) {
          f(e.array);
        } else if constexpr (std::is_same_v<T, EReshape>) {
          all(e.dims);
          f(e.array);
        } else if constexpr (std::is_same_v<T, EAssert>) {
          f(e.cond);
          for (auto& m : e.message) {
            if (auto* a = std::get_if<Atom>(&m)) f(*a);
          }
        } else if constexpr (std::is_same_v<T, EIf>) {
          f(e.cond);
        } else if constexpr (std::is_same_v<T, ELoop>) {
          for (auto& p : e.params) f(p.init);
          if (auto* l = std::get_if<LoopFor>(&e.form)) f(l->bound);
        } else if constexpr (std::is_same_v<T, EJvp>) {
          all(e.args);
          all(e.tangents);
        } else if constexpr (std::is_same_v<T, EVjp>) {
          all(e.args);
          all(e.adjoints);
        } else if constexpr (std::is_same_v<T, EWithVjp>) {
          all(e.args);
        } else if constexpr (std::is_same_v<T, ESoac>) {
          f(e.width);
          all(e.inputs);
          for (auto& m : e.scans) all(m.neutral);
          for (auto& m : e.reduces) all(m.neutral);
        } else if constexpr (std::is_same_v<T, EPack> || std::is_same_v<T, ESort>) {
          f(e.width);
          all(e.inputs);
        } else if constexpr (std::is_same_v<T, EScatter>) {
          f(e.width);
          all(e.inputs);
          for (auto& d : e.dests) f(d.array);
        } else if constexpr (std::is_same_v<T, ESeg>) {
          for (auto& d : e.space.dims) f(d.size);
          const auto monoid = [&](auto& m) {
            all(m.op.neutral);
            all(m.lifted);
          };
          for (auto& m : e.monoids) monoid(m);
          for (auto& w : e.writes) {
            all(w.dests);
            if (w.combine) monoid(*w.combine);
          }
        } else if constexpr (std::is_same_v<T, EVersions>) {
          for (auto& v : e.versions) f(v.test);
        } else if constexpr (std::is_same_v<T, ETune>) {
        } else {
          static_assert(std::is_same_v<T, EHist>);
          f(e.width);
          all(e.inputs);
          for (auto& op : e.ops) {
            all(op.dests);
            all(op.monoid.neutral);
          }
        }
      },
      exp);
}

/// Calls f on every lambda directly inside.
template <class E, class F>
void visit_lambdas(E& exp, F&& f) {
  if (auto* s = std::get_if<ESoac>(&exp)) {
    f(s->map);
    for (auto& m : s->scans) f(m.op);
    for (auto& m : s->reduces) f(m.op);
  } else if (auto* c = std::get_if<EScatter>(&exp)) {
    f(c->map);
  } else if (auto* pack = std::get_if<EPack>(&exp)) {
    f(pack->map);
  } else if (auto* sort = std::get_if<ESort>(&exp)) {
    f(sort->map);
  } else if (auto* h = std::get_if<EHist>(&exp)) {
    f(h->map);
    for (auto& op : h->ops) f(op.monoid.op);
  } else if (auto* jvp = std::get_if<EJvp>(&exp)) {
    f(jvp->fun);
  } else if (auto* vjp = std::get_if<EVjp>(&exp)) {
    f(vjp->fun);
  } else if (auto* custom = std::get_if<EWithVjp>(&exp)) {
    f(custom->fun);
    f(custom->adjoint);
  } else if (auto* seg = std::get_if<ESeg>(&exp)) {
    for (auto& m : seg->monoids) f(m.op.op);
    for (auto& w : seg->writes) {
      if (w.combine) f(w.combine->op.op);
    }
  }
}

/// Calls f on every body directly inside, lambdas' included.
template <class E, class F>
void visit_bodies(E& exp, F&& f) {
  if (auto* i = std::get_if<EIf>(&exp)) {
    f(i->then_body);
    f(i->else_body);
  } else if (auto* l = std::get_if<ELoop>(&exp)) {
    f(l->body);
  } else if (auto* v = std::get_if<EVersions>(&exp)) {
    for (auto& version : v->versions) f(version.body);
  } else {
    if (auto* seg = std::get_if<ESeg>(&exp)) f(seg->body);
    visit_lambdas(exp, [&](auto& lam) { f(lam.body); });
  }
}

/// Whether `holds` is true of a statement somewhere in the expression's bodies.
template <class F>
bool any_inside(const Exp& exp, const F& holds) {
  bool any = false;
  visit_bodies(exp, [&](const Body& b) {
    for (const Stm& s : b.stms) any = any || holds(s) || any_inside(s.exp, holds);
  });
  return any;
}

/// Calls f on every variable that the expression binds for its bodies: loop params and index,
/// indices of spaces, lambda params. (LoopWhile::cond is a use of such a param, not another
/// binder.)
template <class E, class F>
void visit_binders(E& exp, F&& f) {
  if (auto* l = std::get_if<ELoop>(&exp)) {
    for (auto& p : l->params) f(p.var);
    if (auto* form = std::get_if<LoopFor>(&l->form)) f(form->index);
  } else {
    if (auto* seg = std::get_if<ESeg>(&exp)) {
      for (auto& d : seg->space.dims) f(d.index);
    }
    visit_lambdas(exp, [&](auto& lam) {
      for (auto& p : lam.params) f(p);
    });
  }
}

/// Calls f on the bodies of the program itself: that of the constants, then those of the functions.
template <class F>
void visit_bodies(Program& p, F&& f) {
  f(p.constants);
  for (Function& function : p.functions) f(function.body);
}
template <class F>
void visit_bodies(const Program& p, F&& f) {
  f(p.constants);
  for (const Function& function : p.functions) f(function.body);
}

/// Calls f on each of the bodies of which exactly one runs, once: their results are what the
/// statement binds, and may share memory with what is free in them. None if it has no such bodies.
template <class E, class F>
void visit_branches(E& exp, F&& f) {
  if (auto* i = std::get_if<EIf>(&exp)) {
    f(i->then_body);
    f(i->else_body);
  } else if (auto* v = std::get_if<EVersions>(&exp)) {
    for (auto& version : v->versions) f(version.body);
  } else if (auto* seg = std::get_if<ESeg>(&exp); seg && is_single(*seg)) {
    f(seg->body);
  }
}

/// Calls f on every ESeg of the body that stands in no other one.
template <class F>
void visit_segs(Body& body, F&& f) {
  for (Stm& s : body.stms) {
    if (auto* seg = std::get_if<ESeg>(&s.exp)) {
      f(*seg);
    } else {
      visit_bodies(s.exp, [&](Body& inner) { visit_segs(inner, f); });
    }
  }
}
template <class F>
void visit_segs(Program& p, F&& f) {
  visit_bodies(p, [&](Body& b) { visit_segs(b, f); });
}

/// Calls f on every Type written in the expression itself (not those of variables).
template <class E, class F>
void visit_types(E& exp, F&& f) {
  if (auto* a = std::get_if<EArrayLit>(&exp)) {
    f(a->elem_type);
  } else {
    visit_lambdas(exp, [&](auto& lam) {
      for (auto& t : lam.ret) f(t);
    });
  }
}

}  // namespace kenaz::ir
