#include "kernels/ad/normalise.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>

#include "kernels/ad/values.h"
#include "kernels/diagnostics/diagnostic.h"
#include "kernels/ir/analysis/places.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"

namespace kenaz::ad {

using namespace ir;

Error refusal(const Program& p, const Stm& s, const std::string& what) {
  Diagnostic d;
  d.range = own_place(p, s.prov);
  d.message = what;
  return compile_error({d});
}

namespace {

/// The attribute of a loop whose only result of use is its number of iterations.
constexpr const char* kCounts = "counts_iterations";

class Normaliser {
 public:
  Normaliser(Program& p, bool reverse) : p_(p), reverse_(reverse) {}

  Status run(Body& b) {
    body(b);
    if (error_) return tl::make_unexpected(*error_);
    return {};
  }

 private:
  void body(Body& b) {
    std::vector<Stm> old = std::exchange(b.stms, {});
    Subst around = std::exchange(copies_, {});
    for (Stm& s : old) stm(b, std::move(s));
    substitute(p_, b, std::exchange(copies_, std::move(around)));
  }

  void stm(Body& out, Stm s) {
    if (error_) return;
    Builder b(p_, out, s.prov);
    b.certs() = s.certs;
    if (std::holds_alternative<ECall>(s.exp)) {
      error_ =
          refusal(p_, s, "the derivative of a function that calls itself is not supported yet");
      return;
    }
    if (std::holds_alternative<EWithVjp>(s.exp)) {
      auto& e = std::get<EWithVjp>(s.exp);
      body(e.fun.body);
      body(e.adjoint.body);
      out.stms.push_back(std::move(s));
      return;
    }
    if (auto* e = std::get_if<ESoac>(&s.exp)) return soac(b, s, std::move(*e));
    if (auto* e = std::get_if<EScatter>(&s.exp)) return scatter(b, s, std::move(*e));
    if (auto* e = std::get_if<EHist>(&s.exp)) return hist(b, s, std::move(*e));
    visit_bodies(s.exp, [&](Body& inner) { body(inner); });
    if (auto* e = std::get_if<ELoop>(&s.exp); e && reverse_) {
      const bool counts = std::find(s.attrs.begin(), s.attrs.end(), kCounts) != s.attrs.end();
      if (std::holds_alternative<LoopWhile>(e->form) && !counts) {
        return while_loop(b, s, std::move(*e));
      }
    }
    out.stms.push_back(std::move(s));
  }

  /// The values of a lambda as arrays: its inputs where it returns just their rows, else by a map,
  /// which binds `plain` for the last results.
  std::vector<VarId> operands(Builder& b, const Atom& width, const std::vector<VarId>& inputs,
                              Lambda map, const std::vector<VarId>& plain) {
    const size_t count = map.ret.size() - plain.size();
    std::vector<VarId> arrays(count), pat;
    Lambda rest = map;
    rest.body.results.clear();
    rest.ret.clear();
    for (size_t k = 0; k < map.ret.size(); ++k) {
      const Atom& r = map.body.results[k];
      const auto at = r.is_const() ? map.params.end()
                                   : std::find(map.params.begin(), map.params.end(), r.var());
      if (at != map.params.end()) {
        const VarId input = inputs[static_cast<size_t>(at - map.params.begin())];
        if (k < count) {
          arrays[k] = input;
        } else {
          is_copy(plain[k - count], input);
        }
        continue;
      }
      rest.body.results.push_back(r);
      rest.ret.push_back(map.ret[k]);
      pat.push_back(k < count ? p_.new_var(array_of(width, map.ret[k]), "operand")
                              : plain[k - count]);
      if (k < count) arrays[k] = pat.back();
    }
    if (!pat.empty()) b.emit_to(pat, ESoac{width, inputs, std::move(rest), {}, {}});
    return arrays;
  }

  /// Who uses the array may as well use what it is a copy of.
  void is_copy(VarId v, VarId of) {
    const auto it = copies_.find(of);
    copies_.emplace(v, it == copies_.end() ? Atom(of) : it->second);
  }

  void soac(Builder& b, const Stm& s, ESoac e) {
    body(e.map.body);
    size_t count = 0;
    for (const Monoid& m : e.scans) count += m.neutral.size();
    for (const Monoid& m : e.reduces) count += m.neutral.size();
    const std::vector<VarId> plain(s.pat.begin() + static_cast<std::ptrdiff_t>(count), s.pat.end());
    const auto arrays = operands(b, e.width, e.inputs, std::move(e.map), plain);
    size_t at = 0;
    const auto each = [&](std::vector<Monoid>& monoids, bool scan) {
      for (Monoid& m : monoids) {
        const auto n = static_cast<std::ptrdiff_t>(m.neutral.size());
        const auto first = static_cast<std::ptrdiff_t>(at);
        std::vector<VarId> pat(s.pat.begin() + first, s.pat.begin() + first + n);
        std::vector<VarId> in(arrays.begin() + first, arrays.begin() + first + n);
        at += m.neutral.size();
        combine(b, e.width, std::move(pat), in, std::move(m), scan);
      }
    };
    each(e.scans, true);
    each(e.reduces, false);
  }

  /// One reduction or scan of arrays.
  void combine(Builder& b, const Atom& width, std::vector<VarId> pat, const std::vector<VarId>& in,
               Monoid m, bool scan) {
    if (!is_addition(m)) {
      if (auto inner = rowwise(m)) return interchange(b, width, pat, in, m, *inner, scan);
      body(m.op.body);
    }
    std::vector<Type> rows;
    for (const VarId v : in) rows.push_back(row_type(p_.type_of(v)));
    ESoac e{width, in, identity_lambda(p_, rows), {}, {}};
    (scan ? e.scans : e.reduces).push_back(std::move(m));
    b.emit_to(std::move(pat), std::move(e));
  }

  /// The operator that an operator on rows applies to each of their elements, or null.
  std::optional<Lambda> rowwise(const Monoid& m) {
    const Body& body = m.op.body;
    if (body.stms.size() != 1) return std::nullopt;
    const auto* e = std::get_if<ESoac>(&body.stms[0].exp);
    if (e == nullptr || !e->scans.empty() || !e->reduces.empty()) return std::nullopt;
    const auto& pat = body.stms[0].pat;
    if (pat.size() != body.results.size()) return std::nullopt;
    for (size_t k = 0; k < pat.size(); ++k) {
      if (body.results[k] != Atom(pat[k])) return std::nullopt;
    }
    Lambda inner;
    Subst s;
    const VarSet used = free_vars(p_, e->map);
    for (const VarId v : m.op.params) {
      // A row that is used as a whole, as in a product of matrices, is more than its elements.
      if (p_.type_of(v).is_scalar() || used.contains(v)) return std::nullopt;
      inner.params.push_back(p_.new_var(row_type(p_.type_of(v)), "x"));
    }
    for (size_t k = 0; k < e->inputs.size(); ++k) {
      const auto at = std::find(m.op.params.begin(), m.op.params.end(), e->inputs[k]);
      if (at == m.op.params.end()) return std::nullopt;
      s[e->map.params[k]] = inner.params[static_cast<size_t>(at - m.op.params.begin())];
    }
    inner.body = copy_renamed(p_, e->map.body, s);
    inner.ret = e->map.ret;
    return inner;
  }

  VarId swapped(Builder& b, VarId array, int from, int to) {
    std::vector<int> perm(static_cast<size_t>(p_.type_of(array).rank()));
    std::iota(perm.begin(), perm.end(), 0);
    perm.erase(perm.begin() + from);
    perm.insert(perm.begin() + to, from);
    return b.rearrange(std::move(perm), array);
  }

  /// A reduction or scan of rows, element by element, as a map of those of columns.
  void interchange(Builder& b, const Atom& width, const std::vector<VarId>& pat,
                   const std::vector<VarId>& in, const Monoid& m, const Lambda& inner, bool scan) {
    std::vector<VarId> inputs;
    std::vector<Type> rows;
    for (const VarId v : in) inputs.push_back(swapped(b, v, 0, 1));
    for (const Atom& n : m.neutral) inputs.push_back(n.var());
    for (const VarId v : inputs) rows.push_back(row_type(p_.type_of(v)));
    const Atom columns = p_.type_of(m.neutral[0].var()).dims[0];
    std::vector<Type> ret;
    for (const Type& t : inner.ret) ret.push_back(scan ? array_of(width, t) : t);
    const size_t n = in.size();
    const Lambda l = b.lambda(
        rows,
        [&](Builder& c, const std::vector<VarId>& params) {
          Monoid one{inner, {}, m.commutative};
          one.neutral.assign(params.begin() + static_cast<std::ptrdiff_t>(n), params.end());
          std::vector<VarId> results;
          for (const Type& t : ret) results.push_back(p_.new_var(t, "column"));
          combine(c, width, results,
                  {params.begin(), params.begin() + static_cast<std::ptrdiff_t>(n)}, std::move(one),
                  scan);
          return std::vector<Atom>(results.begin(), results.end());
        },
        ret);
    std::vector<VarId> out;
    for (size_t k = 0; k < n; ++k) {
      out.push_back(scan ? p_.new_var(array_of(columns, ret[k]), "columns") : pat[k]);
    }
    b.emit_to(out, ESoac{columns, inputs, l, {}, {}});
    if (!scan) return;
    for (size_t k = 0; k < n; ++k) {
      std::vector<int> perm(static_cast<size_t>(p_.type_of(out[k]).rank()));
      std::iota(perm.begin(), perm.end(), 0);
      std::swap(perm[0], perm[1]);
      b.emit_to({pat[k]}, ERearrange{perm, out[k]});
    }
  }

  // ---- writes
  void scatter(Builder& b, const Stm& s, EScatter e) {
    const bool unique = std::find(s.attrs.begin(), s.attrs.end(), kUniqueWrites) != s.attrs.end();
    body(e.map.body);
    const auto arrays = operands(b, e.width, e.inputs, std::move(e.map), {});
    size_t at = 0, value = 0;
    for (const auto& d : e.dests) value += static_cast<size_t>(d.index_rank);
    for (size_t k = 0; k < e.dests.size(); ++k) {
      const auto rank = static_cast<size_t>(e.dests[k].index_rank);
      std::vector<VarId> index(arrays.begin() + static_cast<std::ptrdiff_t>(at),
                               arrays.begin() + static_cast<std::ptrdiff_t>(at + rank));
      at += rank;
      if (!unique) index[0] = winners(b, e.width, index, Type(p_.type_of(e.dests[k].array)));
      index.push_back(arrays[value + k]);
      std::vector<Type> rows;
      for (const VarId v : index) rows.push_back(row_type(p_.type_of(v)));
      b.emit_to({s.pat[k]}, EScatter{e.width, index, identity_lambda(p_, rows), {e.dests[k]}});
      b.last().attrs.emplace_back(kUniqueWrites);
    }
  }

  /// The first component of the index, -1 (which is outside) where a later element has the same.
  VarId winners(Builder& b, const Atom& width, const std::vector<VarId>& index, const Type& dest) {
    const std::vector<Atom> dims(dest.dims.begin(),
                                 dest.dims.begin() + static_cast<std::ptrdiff_t>(index.size()));
    const Type scalar{PrimType::kI64, {}};
    const std::vector<Type> rows(index.size(), scalar);
    const VarId place = b.map(
        width, index,
        b.lambda(rows,
                 [&](Builder& in, const std::vector<VarId>& i) {
                   const std::vector<Atom> at(i.begin(), i.end());
                   Atom flat = i64(0);
                   for (size_t d = 0; d < at.size(); ++d) {
                     flat = in.add(in.mul(flat, dims[d]), at[d]);
                   }
                   return std::vector<Atom>{in.select(is_inside(in, at, dest), flat, i64(-1))};
                 },
                 {scalar}),
        "place")[0];
    const VarId positions = b.iota(width);
    const VarId table = b.replicate({b.product(dims)}, i64(-1), "writer");
    EHist h{width, {place, positions}, identity_lambda(p_, {scalar, scalar}), {}};
    Monoid latest;
    latest.op = b.lambda({scalar, scalar},
                         [](Builder& in, const std::vector<VarId>& v) {
                           return std::vector<Atom>{in.max(v[0], v[1])};
                         },
                         {scalar});
    latest.neutral = {i64(std::numeric_limits<int64_t>::min())};
    latest.commutative = true;
    h.ops.push_back({{table}, 1, std::move(latest)});
    const VarId writers = b.emit(std::move(h), p_.type_of(table), "writer");
    const auto keep = [&](Builder& in, const std::vector<VarId>& v) {
      const Atom is_writer = in.if_(
          in.le(i64(0), v[0]),
          [&](Builder& t) {
            const Atom winner = t.index(writers, std::vector<Atom>{v[0]});
            return std::vector<Atom>{t.eq(winner, v[1])};
          },
          [](Builder&) { return std::vector<Atom>{PrimValue::of_bool(false)}; },
          {Type{PrimType::kBool, {}}})[0];
      return std::vector<Atom>{in.select(is_writer, v[2], i64(-1))};
    };
    return b.map(width, {place, positions, index[0]},
                 b.lambda({scalar, scalar, scalar}, keep, {scalar}), "index")[0];
  }

  void hist(Builder& b, const Stm& s, EHist e) {
    body(e.map.body);
    const auto arrays = operands(b, e.width, e.inputs, std::move(e.map), {});
    size_t at = 0, value = 0, bound = 0;
    for (const auto& op : e.ops) value += static_cast<size_t>(op.index_rank);
    for (auto& op : e.ops) {
      const size_t n = op.dests.size();
      std::vector<VarId> index, values, pat;
      for (int d = 0; d < op.index_rank; ++d) index.push_back(arrays[at++]);
      for (size_t k = 0; k < n; ++k) values.push_back(arrays[value++]);
      for (size_t k = 0; k < n; ++k) pat.push_back(s.pat[bound++]);
      accumulate(b, e.width, pat, index, values, std::move(op));
    }
  }

  void accumulate(Builder& b, const Atom& width, std::vector<VarId> pat,
                  const std::vector<VarId>& index, const std::vector<VarId>& values, EHist::Op op) {
    if (!is_addition(op.monoid)) {
      if (auto inner = rowwise(op.monoid)) {
        return interchange_hist(b, width, pat, index, values, op, *inner);
      }
      body(op.monoid.op.body);
    }
    std::vector<VarId> in = index;
    in.insert(in.end(), values.begin(), values.end());
    std::vector<Type> rows;
    for (const VarId v : in) rows.push_back(row_type(p_.type_of(v)));
    EHist e{width, in, identity_lambda(p_, rows), {}};
    e.ops.push_back(std::move(op));
    b.emit_to(std::move(pat), std::move(e));
  }

  void interchange_hist(Builder& b, const Atom& width, const std::vector<VarId>& pat,
                        const std::vector<VarId>& index, const std::vector<VarId>& values,
                        const EHist::Op& op, const Lambda& inner) {
    const size_t n = values.size();
    std::vector<VarId> inputs;
    for (const VarId v : values) inputs.push_back(swapped(b, v, 0, 1));
    for (const VarId v : op.dests) inputs.push_back(swapped(b, v, op.index_rank, 0));
    for (const Atom& a : op.monoid.neutral) inputs.push_back(a.var());
    std::vector<Type> rows, ret;
    for (const VarId v : inputs) rows.push_back(row_type(p_.type_of(v)));
    ret.assign(rows.begin() + static_cast<std::ptrdiff_t>(n),
               rows.begin() + static_cast<std::ptrdiff_t>(2 * n));
    const Lambda l = b.lambda(
        rows,
        [&](Builder& c, const std::vector<VarId>& params) {
          const auto part = [&](size_t k) {
            const auto first = params.begin() + static_cast<std::ptrdiff_t>(k * n);
            return std::vector<VarId>(first, first + static_cast<std::ptrdiff_t>(n));
          };
          EHist::Op one{part(1), op.index_rank, {inner, {}, op.monoid.commutative}};
          for (const VarId v : part(2)) one.monoid.neutral.emplace_back(v);
          std::vector<VarId> results;
          for (const Type& t : ret) results.push_back(p_.new_var(t, "column"));
          accumulate(c, width, results, index, part(0), std::move(one));
          return std::vector<Atom>(results.begin(), results.end());
        },
        ret);
    const Atom columns = p_.type_of(inputs[0]).dims[0];
    const auto out = b.map(columns, inputs, l, "columns");
    for (size_t k = 0; k < n; ++k) {
      std::vector<int> perm(static_cast<size_t>(p_.type_of(out[k]).rank()));
      std::iota(perm.begin(), perm.end(), 0);
      perm.erase(perm.begin());
      perm.insert(perm.begin() + op.index_rank, 0);
      b.emit_to({pat[k]}, ERearrange{perm, out[k]});
    }
  }

  // ---- loops
  /// Counts the iterations by a loop of its own, then runs as many.
  void while_loop(Builder& b, const Stm& s, ELoop e) {
    Stm counting{copy_pattern(p_, s.pat), e, s.certs, s.prov, {kCounts}};
    Subst names;
    counting = copy_renamed(p_, counting, &names);
    auto& loop = std::get<ELoop>(counting.exp);
    const VarId count = p_.new_var({PrimType::kI64, {}}, "count");
    loop.params.push_back({count, i64(0)});
    Builder inside(p_, loop.body, s.prov);
    loop.body.results.push_back(inside.add(count, i64(1)));
    const VarId total = p_.new_var({PrimType::kI64, {}}, "iterations");
    counting.pat.push_back(total);
    b.body().stms.push_back(std::move(counting));
    for (const std::string& a : s.attrs) {
      if (a.rfind("bound(", 0) != 0) continue;
      const Atom most = i64(std::strtoll(a.c_str() + 6, nullptr, 10));
      const Atom fits = b.le(total, most);
      b.certs().push_back(b.emit(
          EAssert{fits,
                  {"The loop runs for ", Atom(total), " iterations, above its bound of ", most}},
          Type{PrimType::kBool, {}}, "cert"));
    }
    e.form = LoopFor{p_.new_var({PrimType::kI64, {}}, "i"), total};
    b.emit_to(s.pat, std::move(e));
  }

  Program& p_;
  bool reverse_;
  Subst copies_;  // results of the body's maps that are inputs of these
  std::optional<Error> error_;
};

}  // namespace

Status normalise(Program& p, Body& b, bool reverse) { return Normaliser(p, reverse).run(b); }

}  // namespace kenaz::ad
