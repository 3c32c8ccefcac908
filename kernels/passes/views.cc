#include "kernels/passes/views.h"

#include <algorithm>

namespace kenaz::passes {
namespace {

using namespace ir;

class Views {
 public:
  Views(Builder& b, const Definition& definition, std::vector<VarId>& certs)
      : b_(b), p_(b.program()), definition_(definition), certs_(certs) {}

  std::optional<Exp> index(const EIndex& e, const Type& result) {
    if (is_whole(e)) return EAtom{e.array};
    const Stm* def = definition_(e.array);
    if (!def || def->pat.size() != 1) return std::nullopt;
    std::optional<Exp> out;
    if (const auto* v = std::get_if<EIndex>(&def->exp)) out = slice_of_slice(e, *v);
    if (const auto* v = std::get_if<ERearrange>(&def->exp)) out = of_rearrange(e, *v);
    if (const auto* v = std::get_if<EReshape>(&def->exp)) out = of_reshape(e, *v);
    if (const auto* v = std::get_if<EIota>(&def->exp)) out = of_iota(e, *v);
    if (const auto* v = std::get_if<EReplicate>(&def->exp)) out = of_replicate(e, *v, result);
    if (const auto* v = std::get_if<EArrayLit>(&def->exp)) out = of_literal(e, *v);
    if (out) certs_.insert(certs_.end(), def->certs.begin(), def->certs.end());
    return out;
  }

  std::optional<Exp> rearrange(const ERearrange& e) {
    if (std::is_sorted(e.perm.begin(), e.perm.end())) return EAtom{e.array};
    const Stm* def = definition_(e.array);
    const auto* inner = def ? std::get_if<ERearrange>(&def->exp) : nullptr;
    if (!inner) return std::nullopt;
    ERearrange out;
    out.array = inner->array;
    for (const int d : e.perm) out.perm.push_back(inner->perm[static_cast<size_t>(d)]);
    certs_.insert(certs_.end(), def->certs.begin(), def->certs.end());
    return out;
  }

  std::optional<Exp> reshape(const EReshape& e) {
    if (e.dims == p_.type_of(e.array).dims) return EAtom{e.array};
    const Stm* def = definition_(e.array);
    const auto* inner = def ? std::get_if<EReshape>(&def->exp) : nullptr;
    if (!inner) return std::nullopt;
    certs_.insert(certs_.end(), def->certs.begin(), def->certs.end());
    return EReshape{e.dims, inner->array};
  }

  /// Of rows that repeat a scalar themselves.
  std::optional<Exp> replicate(const EReplicate& e) {
    const Stm* def = e.value.is_const() ? nullptr : definition_(e.value.var());
    const auto* inner = def ? std::get_if<EReplicate>(&def->exp) : nullptr;
    if (!inner || !p_.type_of(inner->value).is_scalar()) return std::nullopt;
    EReplicate out{e.dims, inner->value};
    out.dims.insert(out.dims.end(), inner->dims.begin(), inner->dims.end());
    certs_.insert(certs_.end(), def->certs.begin(), def->certs.end());
    return out;
  }

 private:
  /// Every dim taken from its start to its end.
  bool is_whole(const EIndex& e) const {
    const Type& t = p_.type_of(e.array);
    for (size_t d = 0; d < e.dims.size(); d++) {
      const auto* r = std::get_if<DimRange>(&e.dims[d]);
      if (!r || !r->start.is_int(0) || !r->stride.is_int(1) || r->len != t.dims[d]) return false;
    }
    return true;
  }

  Exp slice_of_slice(const EIndex& e, const EIndex& v) {
    EIndex out{v.array, {}};
    size_t at = 0;
    for (const Dim& d : v.dims) {
      const auto* base = std::get_if<DimRange>(&d);
      if (!base) {
        out.dims.push_back(d);
        continue;
      }
      const auto place = [&](const Atom& i) {
        return b_.add(base->start, b_.mul(i, base->stride));
      };
      const Dim& own = e.dims[at++];
      if (const auto* fix = std::get_if<DimFix>(&own)) {
        out.dims.push_back(DimFix{place(fix->index)});
      } else {
        const auto& r = std::get<DimRange>(own);
        out.dims.push_back(DimRange{place(r.start), r.len, b_.mul(r.stride, base->stride)});
      }
    }
    return out;
  }

  /// Only where the dims left over keep their order.
  std::optional<Exp> of_rearrange(const EIndex& e, const ERearrange& v) {
    EIndex out{v.array, std::vector<Dim>(e.dims.size(), DimFix{})};
    int last = -1;
    for (size_t d = 0; d < e.dims.size(); d++) {
      if (std::holds_alternative<DimRange>(e.dims[d])) {
        if (v.perm[d] < last) return std::nullopt;
        last = v.perm[d];
      }
      out.dims[static_cast<size_t>(v.perm[d])] = e.dims[d];
    }
    return out;
  }

  /// Unit dims put in or left out, and elements of a flattened array of known inner dims.
  std::optional<Exp> of_reshape(const EIndex& e, const EReshape& v) {
    if (!all_fixed(e.dims)) return std::nullopt;
    const Type& from = p_.type_of(v.array);
    const auto plain = [](const std::vector<Atom>& dims) {
      std::vector<size_t> out;
      for (size_t d = 0; d < dims.size(); d++) {
        if (!dims[d].is_int(1)) out.push_back(d);
      }
      return out;
    };
    const auto own = plain(v.dims), base = plain(from.dims);
    if (own.size() != base.size()) return std::nullopt;
    EIndex out{v.array, std::vector<Dim>(from.dims.size(), DimFix{i64(0)})};
    for (size_t k = 0; k < own.size(); k++) {
      // The first dim is what the others leave over, under whatever name.
      if (k != 0 && v.dims[own[k]] != from.dims[base[k]]) return std::nullopt;
      out.dims[base[k]] = e.dims[own[k]];
    }
    return out;
  }

  std::optional<Exp> of_iota(const EIndex& e, const EIota& v) {
    if (const auto* fix = std::get_if<DimFix>(&e.dims[0])) {
      const Atom i = b_.convert(fix->index, v.type);
      return EAtom{b_.add(v.start, b_.mul(i, v.stride))};
    }
    const auto& r = std::get<DimRange>(e.dims[0]);
    const Atom start = b_.add(v.start, b_.mul(b_.convert(r.start, v.type), v.stride));
    return EIota{r.len, start, b_.mul(b_.convert(r.stride, v.type), v.stride), v.type};
  }

  std::optional<Exp> of_replicate(const EIndex& e, const EReplicate& v, const Type& result) {
    // An array as the value may have been consumed since.
    if (!p_.type_of(v.value).is_scalar()) return std::nullopt;
    if (result.is_scalar()) return EAtom{v.value};
    return EReplicate{slice_dims(e.dims), v.value};
  }

  std::optional<Exp> of_literal(const EIndex& e, const EArrayLit& v) {
    const auto* fix = std::get_if<DimFix>(&e.dims[0]);
    if (!fix || !fix->index.is_const() || !v.elem_type.is_scalar()) return std::nullopt;
    const int64_t i = fix->index.constant().as_i64();
    if (i < 0 || i >= static_cast<int64_t>(v.elems.size())) return std::nullopt;
    return EAtom{v.elems[static_cast<size_t>(i)]};
  }

  Builder& b_;
  const Program& p_;
  const Definition& definition_;
  std::vector<VarId>& certs_;
};

}  // namespace

std::optional<Exp> simplify_view(Builder& b, const Exp& e, const Type& result,
                                 const Definition& definition, std::vector<VarId>& certs) {
  Views views(b, definition, certs);
  if (const auto* x = std::get_if<EIndex>(&e)) return views.index(*x, result);
  if (const auto* x = std::get_if<ERearrange>(&e)) return views.rearrange(*x);
  if (const auto* x = std::get_if<EReshape>(&e)) return views.reshape(*x);
  if (const auto* x = std::get_if<EReplicate>(&e)) return views.replicate(*x);
  if (const auto* x = std::get_if<EConcat>(&e); x && x->arrays.size() == 1) {
    return ECopy{x->arrays[0]};
  }
  return std::nullopt;
}

}  // namespace kenaz::passes
