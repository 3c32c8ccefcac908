#include "kernels/flatten/unpack_operators.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/flatten/lift.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"

namespace kenaz::flatten {

using namespace ir;

namespace {

/// Of an array whose sizes are constants; 1 of a scalar, and 0 if they are none.
int64_t elements_of(const Type& t) {
  int64_t n = 1;
  for (const Atom& d : t.dims) {
    if (!d.is_const() || d.constant().as_i64() < 1 || d.constant().as_i64() > kMostUnpacked) {
      return 0;
    }
    n *= d.constant().as_i64();
    if (n > kMostUnpacked) return 0;
  }
  return n;
}

/// The scalars of a value, in row-major order.
std::vector<Atom> elements(Builder& b, const Atom& value, const Type& type) {
  if (type.is_scalar()) return {value};
  std::vector<Atom> out;
  const int64_t count = elements_of(type);
  for (int64_t n = 0; n < count; n++) {
    std::vector<Atom> at(type.dims.size());
    int64_t rest = n;
    for (size_t d = type.dims.size(); d-- > 0;) {
      const int64_t size = type.dims[d].constant().as_i64();
      at[d] = i64(rest % size);
      rest /= size;
    }
    out.push_back(b.index(value.var(), at));
  }
  return out;
}

/// Binds `v` to the array of these scalars.
void make_array(Builder& b, VarId v, std::vector<Atom> scalars) {
  const Type type = b.program().type_of(v);
  const Type scalar{type.prim, {}};
  if (type.dims.size() == 1) {
    b.emit_to({v}, EArrayLit{std::move(scalars), scalar});
    return;
  }
  const Type flat{type.prim, {i64(static_cast<int64_t>(scalars.size()))}};
  const VarId all = b.emit(EArrayLit{std::move(scalars), scalar}, flat, "elems");
  b.emit_to({v}, EReshape{type.dims, all});
}

class UnpackOperators {
 public:
  explicit UnpackOperators(Program& p) : p_(p), replicates_(find_replicates(p)) {}

  void body(Body& b) {
    std::vector<Stm> stms = std::exchange(b.stms, {});
    for (Stm& s : stms) {
      visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      auto* soac = std::get_if<ESoac>(&s.exp);
      if (soac != nullptr && (any(soac->scans) || any(soac->reduces))) {
        unpack(s, b);
      } else {
        b.stms.push_back(std::move(s));
      }
    }
  }

 private:
  bool any(const std::vector<Monoid>& monoids) const {
    return std::any_of(monoids.begin(), monoids.end(), [&](const Monoid& m) { return fits(m); });
  }

  bool fits(const Monoid& m) const {
    int64_t count = 0;
    bool arrays = false;
    for (const Type& t : m.op.ret) {
      const int64_t n = elements_of(t);
      if (n == 0) return false;
      count += n;
      arrays |= !t.is_scalar();
    }
    return arrays && count <= kMostUnpacked && !lift(p_, replicates_, m);
  }

  /// New names for the scalars that the variable's elements are.
  std::vector<VarId> scalars_of(const Type& type, const std::vector<Atom>& around,
                                const std::string& name) {
    std::vector<VarId> out;
    for (int64_t n = 0; n < elements_of(type); n++) {
      out.push_back(p_.new_var({type.prim, around}, name));
    }
    return out;
  }

  void unpack(Stm& s, Body& out) {
    Builder before(p_, out, s.prov);
    auto& e = std::get<ESoac>(s.exp);
    Builder inside(p_, e.map.body, s.prov);
    Body behind;
    Builder after(p_, behind, s.prov);
    Results results{std::exchange(e.map.body.results, {}), std::exchange(e.map.ret, {}),
                    std::exchange(s.pat, {})};
    std::vector<VarId> rows, scans;  // arrays of arrays, and what they are made of
    for (const bool is_scan : {true, false}) {
      for (Monoid& m : is_scan ? e.scans : e.reduces) {
        const std::vector<Type> types = m.op.ret;
        const bool changes = fits(m);
        if (changes) change(m, before);
        for (const Type& t : types) {
          if (!changes || t.is_scalar()) {
            results.keep(s, e);
            continue;
          }
          for (const Atom& x : elements(inside, results.operand(), t)) {
            e.map.body.results.push_back(x);
            e.map.ret.push_back({t.prim, {}});
          }
          const VarId v = results.take();
          const std::vector<VarId> parts = scalars_of(
              t, is_scan ? std::vector<Atom>{e.width} : std::vector<Atom>{}, p_.vars[v.index].name);
          s.pat.insert(s.pat.end(), parts.begin(), parts.end());
          if (is_scan) {
            rows.push_back(v);
            scans.insert(scans.end(), parts.begin(), parts.end());
          } else {
            make_array(after, v, {parts.begin(), parts.end()});
          }
        }
      }
    }
    while (!results.done()) results.keep(s, e);
    const Atom width = e.width;
    out.stms.push_back(std::move(s));
    if (!rows.empty()) make_rows(after, width, rows, scans);
    for (Stm& made : behind.stms) out.stms.push_back(std::move(made));
  }

  /// What a combinator's map gives, with its types, and what the combinator binds of it.
  struct Results {
    std::vector<Atom> operands;
    std::vector<Type> types;
    std::vector<VarId> pat;
    size_t next = 0;

    bool done() const { return next == operands.size(); }
    const Atom& operand() const { return operands[next]; }
    VarId take() { return pat[next++]; }
    void keep(Stm& s, ESoac& e) {
      e.map.body.results.push_back(operands[next]);
      e.map.ret.push_back(types[next]);
      s.pat.push_back(take());
    }
  };

  void change(Monoid& m, Builder& before) {
    std::vector<Atom> neutral;
    for (size_t k = 0; k < m.neutral.size(); k++) {
      for (const Atom& x : elements(before, m.neutral[k], m.op.ret[k])) neutral.push_back(x);
    }
    m.neutral = std::move(neutral);
    Lambda& op = m.op;
    const std::vector<Stm> stms = std::exchange(op.body.stms, {});
    Builder b(p_, op.body, before.prov());
    std::vector<VarId> params;
    for (const VarId v : op.params) {
      const Type type = p_.type_of(v);
      if (type.is_scalar()) {
        params.push_back(v);
        continue;
      }
      const std::vector<VarId> parts = scalars_of(type, {}, p_.vars[v.index].name);
      params.insert(params.end(), parts.begin(), parts.end());
      make_array(b, v, {parts.begin(), parts.end()});
    }
    op.params = std::move(params);
    op.body.stms.insert(op.body.stms.end(), stms.begin(), stms.end());
    const std::vector<Atom> results = std::exchange(op.body.results, {});
    const std::vector<Type> ret = std::exchange(op.ret, {});
    for (size_t k = 0; k < results.size(); k++) {
      for (const Atom& x : elements(b, results[k], ret[k])) {
        op.body.results.push_back(x);
        op.ret.push_back({ret[k].prim, {}});
      }
    }
  }

  /// Arrays of small arrays out of arrays of their elements.
  void make_rows(Builder& b, const Atom& width, const std::vector<VarId>& rows,
                 const std::vector<VarId>& scans) {
    std::vector<Type> params;
    for (const VarId v : scans) params.push_back({p_.type_of(v).prim, {}});
    Lambda make = b.lambda(params, [&](Builder& inner, const std::vector<VarId>& scalars) {
      std::vector<Atom> made;
      size_t next = 0;
      for (const VarId row : rows) {
        const Type type = row_type(p_.type_of(row));
        const auto count = static_cast<size_t>(elements_of(type));
        const VarId v = p_.new_var(type, p_.vars[row.index].name);
        make_array(inner, v,
                   {scalars.begin() + static_cast<ptrdiff_t>(next),
                    scalars.begin() + static_cast<ptrdiff_t>(next + count)});
        next += count;
        made.emplace_back(v);
      }
      return made;
    });
    b.emit_to(rows, ESoac{width, scans, std::move(make), {}, {}});
  }

  Program& p_;
  const Replicates replicates_;
};

}  // namespace

void unpack_operators(Program& p) {
  UnpackOperators pass(p);
  visit_bodies(p, [&](Body& b) { pass.body(b); });
}

}  // namespace kenaz::flatten
