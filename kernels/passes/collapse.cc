// Collapsing nests of maps: `map (\x -> map f ys) xs` becomes one map over all n*m elements, so
// that each has a thread of its own.
//
//   let r = soac (n; xs) map \x -> pre; let q = soac (m; ys) map \y -> body; return q
//
// becomes
//
//   let flat = soac (n*m; iota) map \t -> let i = t / m; let j = t - i*m;
//                                         let x = xs[i]; pre; let y = ys[j]; body
//   let r = reshape [n][m] flat
//
// Where `pre` is more than a little scalar arithmetic, or can fail (a check must be made for every
// row, also where rows have no elements), or the outer map has other results, the nest is
// distributed first: a map of its own makes what stands before the inner map, and the flat map
// reads it. Only scalars are passed on like that, because arrays would take n times their memory.
//
// Maps inside other combinators stay as they are: a thread's loop is the right thing for them.
#include <algorithm>
#include <optional>

#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

/// Inner maps of so few elements stay with the thread of their row.
constexpr int64_t kFewElements = 8;
/// So many statements may be computed again for every inner element.
constexpr size_t kCheapStatements = 16;

bool is_plain_map(const ESoac& e) { return e.scans.empty() && e.reduces.empty(); }

/// A reshape is none: where its array is not dense, a thread would copy it.
bool is_view(const Exp& e) {
  if (const auto* index = std::get_if<EIndex>(&e)) return !slice_dims(index->dims).empty();
  return std::holds_alternative<ERearrange>(e);
}

/// Elementary arithmetic, loads and views. What may take long or fail is none of these.
bool is_cheap(const Program& p, const Stm& s) {
  if (const auto* prim = std::get_if<EPrim>(&s.exp)) {
    return prim->op < ScalarOp::kSqrt && prim->op != ScalarOp::kPow;
  }
  if (const auto* rep = std::get_if<EReplicate>(&s.exp)) return p.type_of(rep->value).is_scalar();
  return is_view(s.exp) || std::holds_alternative<EIndex>(s.exp) ||
         std::holds_alternative<EAtom>(s.exp) || std::holds_alternative<EIota>(s.exp);
}

/// Every dim from its start to its end, behind `first`.
std::vector<Dim> row_dims(const Atom& first, const Type& array) {
  std::vector<Dim> dims = {DimFix{first}};
  for (size_t d = 1; d < array.dims.size(); d++) {
    dims.emplace_back(DimRange{i64(0), array.dims[d], i64(1)});
  }
  return dims;
}

class Collapse {
 public:
  explicit Collapse(Program& p) : p_(p) {}

  void body(Body& b) {
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      if (std::holds_alternative<EIf>(s.exp) || std::holds_alternative<ELoop>(s.exp)) {
        visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      }
      nest(std::move(s), out);
    }
    b.stms = std::move(out);
  }

 private:
  /// Appends what becomes of the statement.
  void nest(Stm s, std::vector<Stm>& out) {
    auto* outer = std::get_if<ESoac>(&s.exp);
    if (outer == nullptr || !is_plain_map(*outer) || !s.attrs.empty() ||
        !bring_inner_to_end(outer->map.body)) {
      out.push_back(std::move(s));
      return;
    }
    Body& b = outer->map.body;
    inner_pat_ = VarSet(b.stms.back().pat.begin(), b.stms.back().pat.end());
    if (is_collapsible(*outer)) {
      const bool whole = std::all_of(b.results.begin(), b.results.end(), [&](const Atom& r) {
        return !r.is_const() && inner_pat_.contains(r.var());
      });
      const auto end = b.stms.end() - 1;
      const bool cheap =
          b.stms.size() <= kCheapStatements &&
          std::all_of(b.stms.begin(), end, [&](const Stm& before) { return is_cheap(p_, before); });
      if (whole && cheap) {
        collapse(std::move(s), out);
        return;
      }
      if (distribute(s, out)) return;
    }
    out.push_back(std::move(s));
  }

  /// Makes the body's last plain map its last statement. False if there is none, or what follows
  /// it needs its results or consumes something.
  bool bring_inner_to_end(Body& b) const {
    for (size_t k = b.stms.size(); k-- > 0;) {
      const Stm& s = b.stms[k];
      if (const auto* inner = std::get_if<ESoac>(&s.exp); inner && is_plain_map(*inner)) {
        const VarSet made(s.pat.begin(), s.pat.end());
        bool free_to_move = true;
        for (size_t after = k + 1; after < b.stms.size(); after++) {
          free_to_move &= consumed_by(p_, b.stms[after]).empty();
          for_each_use(p_, b.stms[after], [&](VarId v) { free_to_move &= !made.contains(v); });
        }
        if (!free_to_move) return false;
        std::rotate(b.stms.begin() + static_cast<long>(k),
                    b.stms.begin() + static_cast<long>(k) + 1, b.stms.end());
        return true;
      }
    }
    return false;
  }

  bool is_collapsible(const ESoac& outer) const {
    const Stm& last = outer.map.body.stms.back();
    const auto& inner = std::get<ESoac>(last.exp);
    if (!last.attrs.empty()) return false;
    if (inner.width.is_const()) return inner.width.constant().as_i64() > kFewElements;
    return !bound_in(outer).contains(inner.width.var());
  }

  static VarSet bound_in(const ESoac& outer) {
    VarSet bound(outer.map.params.begin(), outer.map.params.end());
    for (const Stm& s : outer.map.body.stms) bound.insert(s.pat.begin(), s.pat.end());
    return bound;
  }

  // ---- the flat map

  void collapse(Stm s, std::vector<Stm>& out) {
    auto outer = std::get<ESoac>(std::move(s.exp));
    Stm last = std::move(outer.map.body.stms.back());
    outer.map.body.stms.pop_back();
    auto inner = std::get<ESoac>(std::move(last.exp));

    Body made;
    Builder b(p_, made, s.prov);
    b.certs() = s.certs;
    // A width that would wrap stays so large that there is no memory for the results.
    const Atom m = inner.width, total = b.prim(ScalarOp::kSizeMul, {outer.width, m});
    const Atom is_small = b.le(total, i64(INT32_MAX));
    ESoac flat;
    flat.width = total;
    flat.inputs = {b.iota(total)};
    const VarId t = p_.new_var({PrimType::kI64, {}}, "t");
    flat.map.params = {t};
    flat_body(flat.map.body, t, is_small, outer, inner, last);
    std::vector<VarId> arrays;
    for (const Atom& r : outer.map.body.results) {
      const size_t k = position(last.pat, r.var());
      flat.map.body.results.push_back(inner.map.body.results[k]);
      flat.map.ret.push_back(inner.map.ret[k]);
      arrays.push_back(p_.new_var(array_of(total, inner.map.ret[k]), "flat"));
    }
    made.stms.push_back(Stm{arrays, std::move(flat), s.certs, last.prov, {}});
    Stm flat_stm = std::move(made.stms.back());
    made.stms.pop_back();
    for (Stm& before : made.stms) out.push_back(std::move(before));
    nest(std::move(flat_stm), out);  // its body may be a map again
    for (size_t k = 0; k < arrays.size(); k++) {
      out.push_back(
          Stm{{s.pat[k]}, EReshape{p_.type_of(s.pat[k]).dims, arrays[k]}, {}, s.prov, {}});
    }
  }

  void flat_body(Body& to, VarId t, const Atom& is_small, ESoac& outer, ESoac& inner,
                 const Stm& last) {
    Builder b(p_, to, last.prov);
    const Atom m = inner.width;
    const Atom i = quotient(b, t, m, is_small);
    const Atom j = b.sub(t, b.mul(i, m));
    for (size_t k = 0; k < outer.inputs.size(); k++) {
      b.emit_to({outer.map.params[k]},
                EIndex{outer.inputs[k], row_dims(i, p_.type_of(outer.inputs[k]))});
    }
    for (Stm& s : outer.map.body.stms) to.stms.push_back(std::move(s));
    b.certs() = last.certs;
    for (size_t k = 0; k < inner.inputs.size(); k++) {
      b.emit_to({inner.map.params[k]},
                EIndex{inner.inputs[k], row_dims(j, p_.type_of(inner.inputs[k]))});
    }
    for (Stm& s : inner.map.body.stms) {
      s.certs.insert(s.certs.end(), last.certs.begin(), last.certs.end());
      to.stms.push_back(std::move(s));
    }
  }

  /// t / m. Divisions of 64-bit numbers are slow everywhere, so 32 bits do it where they can: a
  /// branch that all threads take alike.
  Atom quotient(Builder& b, VarId t, const Atom& m, const Atom& is_small) {
    const auto narrow = [&](Builder& in) -> std::vector<Atom> {
      const Atom q = in.quot(in.convert(t, PrimType::kU32), in.convert(m, PrimType::kU32));
      return {in.convert(q, PrimType::kI64)};
    };
    const auto wide = [&](Builder& in) -> std::vector<Atom> { return {in.quot(t, m)}; };
    return b.if_(is_small, narrow, wide, {{PrimType::kI64, {}}}, "row")[0];
  }

  static size_t position(const std::vector<VarId>& list, VarId v) {
    return static_cast<size_t>(std::find(list.begin(), list.end(), v) - list.begin());
  }

  // ---- distribution

  /// Splits the map: what stands before the inner map becomes a map of its own. False if it would
  /// have to pass on arrays.
  bool distribute(Stm& s, std::vector<Stm>& out) {
    auto& outer = std::get<ESoac>(s.exp);
    Body& b = outer.map.body;
    const Stm& last = b.stms.back();
    VarSet before;
    for (size_t k = 0; k + 1 < b.stms.size(); k++) {
      before.insert(b.stms[k].pat.begin(), b.stms[k].pat.end());
    }
    // What the inner map needs: views of rows are made again, scalars passed on.
    std::vector<const Stm*> views;
    std::vector<VarId> passed;
    if (!needs(last, b, before, views, passed)) return false;

    ESoac first;
    first.width = outer.width;
    first.inputs = outer.inputs;
    first.map.params = outer.map.params;
    std::vector<VarId> first_pat;
    std::vector<Atom> rest_results;
    std::vector<VarId> rest_pat;
    for (size_t k = 0; k < b.results.size(); k++) {
      const Atom& r = b.results[k];
      if (!r.is_const() && inner_pat_.contains(r.var())) {
        rest_results.push_back(r);
        rest_pat.push_back(s.pat[k]);
        continue;
      }
      first.map.body.results.push_back(r);
      first.map.ret.push_back(outer.map.ret[k]);
      first_pat.push_back(s.pat[k]);
    }
    if (rest_pat.empty()) return false;
    std::vector<VarId> arrays;
    for (const VarId v : passed) {
      const auto& made = first.map.body.results;
      if (const auto it = std::find(made.begin(), made.end(), Atom(v)); it != made.end()) {
        arrays.push_back(first_pat[static_cast<size_t>(it - made.begin())]);
        continue;
      }
      const Type t = p_.type_of(v);
      first.map.body.results.emplace_back(v);
      first.map.ret.push_back(t);
      arrays.push_back(p_.new_var(array_of(outer.width, t), p_.vars[v.index].name));
      first_pat.push_back(arrays.back());
    }

    // The rest: a nest whose statements before the inner map are cheap.
    ESoac rest;
    rest.width = outer.width;
    Subst renamed;
    for (size_t k = 0; k < outer.inputs.size(); k++) {
      rest.inputs.push_back(outer.inputs[k]);
      rest.map.params.push_back(fresh_like(outer.map.params[k], renamed));
    }
    for (size_t k = 0; k < passed.size(); k++) {
      rest.inputs.push_back(arrays[k]);
      rest.map.params.push_back(fresh_like(passed[k], renamed));
    }
    for (const Stm* view : views) rest.map.body.stms.push_back(copy_renamed(p_, *view, &renamed));
    Body moved;
    moved.stms.push_back(std::move(b.stms.back()));
    b.stms.pop_back();
    substitute(p_, moved, renamed);
    rest.map.body.stms.push_back(std::move(moved.stms.back()));
    rest.map.body.results = rest_results;
    for (const VarId v : rest_pat) rest.map.ret.push_back(row_type(p_.type_of(v)));
    first.map.body.stms = std::move(b.stms);

    const Stm whole = std::move(s);
    if (!first_pat.empty()) {
      nest(Stm{first_pat, std::move(first), whole.certs, whole.prov, {}}, out);
    }
    Stm second{rest_pat, std::move(rest), whole.certs, whole.prov, {}};
    const auto& back = std::get<ESoac>(second.exp).map.body.stms.back();
    inner_pat_ = VarSet(back.pat.begin(), back.pat.end());
    collapse(std::move(second), out);
    return true;
  }

  VarId fresh_like(VarId v, Subst& renamed) {
    const VarId fresh = p_.new_var(p_.type_of(v), p_.vars[v.index].name);
    renamed[v] = Atom(fresh);
    return fresh;
  }

  /// What `last` needs of the statements before it: views (in order) to make again, scalars to
  /// pass on. False if it needs another array.
  bool needs(const Stm& last, const Body& b, const VarSet& before, std::vector<const Stm*>& views,
             std::vector<VarId>& passed) const {
    VarSet wanted;
    const auto want = [&](VarId v) {
      if (before.contains(v)) wanted.insert(v);
    };
    for (const VarId v : free_vars(p_, last)) want(v);
    for (const VarId v : last.certs) want(v);
    for (size_t k = b.stms.size() - 1; k-- > 0;) {
      const Stm& s = b.stms[k];
      for (const VarId v : s.pat) {
        if (!wanted.contains(v)) continue;
        if (p_.type_of(v).is_scalar()) {
          passed.push_back(v);
          continue;
        }
        if (!is_view(s.exp)) return false;
        views.push_back(&s);
        for (const VarId used : free_vars(p_, s)) want(used);
        for (const VarId used : s.certs) want(used);
      }
    }
    std::reverse(views.begin(), views.end());
    return true;
  }

  Program& p_;
  VarSet inner_pat_;  // of the nest at hand
};

}  // namespace

void collapse(Program& p) {
  Collapse pass(p);
  pass.body(p.constants);
  for (Function& f : p.functions) pass.body(f.body);
}

}  // namespace kenaz::passes
