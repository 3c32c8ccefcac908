// Reverse mode of statements without bodies.
#include <utility>
#include <vector>

#include "kernels/ad/derivatives.h"
#include "kernels/ad/reverse_sweep.h"

namespace kenaz::ad {
namespace {

using namespace ir;

class Linear {
 public:
  explicit Linear(Adjoints& to) : to_(to) {}

  template <class E>
  void rule(Builder&, const Stm&, const E&, const Atom&) {}  // nothing to contribute to
  void rule(Builder& b, const Stm&, const EAtom& e, const Atom& adj) {
    to_.contribute(b, e.atom, adj);
  }

  void rule(Builder& b, const Stm& s, const EPrim& e, const Atom& adj) {
    std::vector<char> wanted;
    for (const Atom& a : e.args) wanted.push_back(to_.varies(a));
    // The way there may be dead: then a failure that the derivative needs is found here.
    b.certs() = s.certs;
    const auto factors = partial_derivatives(b, e, s.pat[0], wanted);
    std::vector<std::pair<Atom, Atom>> products;
    for (size_t k = 0; k < factors.size(); ++k) {
      if (factors[k].kind == Factor::Kind::kZero) continue;
      if (factors[k].kind == Factor::Kind::kConvert) {
        const Type back{e.type, {}};
        products.emplace_back(e.args[k], b.emit(EPrim{e.op, e.to, e.type, {adj}}, back, "adj"));
      } else {
        products.emplace_back(e.args[k], times(b, factors[k], adj));
      }
    }
    b.certs().clear();
    for (const auto& [to, product] : products) to_.contribute(b, to, product);
  }

  void rule(Builder&, const Stm& s, const EIndex& e, const Atom& adj) {
    Part part;
    part.slice = e.dims;
    part.value = adj;
    part.certs = s.certs;
    to_.contribute(e.array, std::move(part));
  }

  void rule(Builder& b, const Stm& s, const EUpdate& e, const Atom& adj) {
    b.certs() = s.certs;
    const Type slice{to_.program().type_of(e.array).prim, slice_dims(e.dims)};
    if (to_.varies(e.value)) {
      const VarId part = b.emit(EIndex{adj.var(), e.dims}, slice, "adj");
      // A copy, for the slice is overwritten below.
      to_.contribute(b, e.value, slice.is_scalar() ? part : b.copy(part, "adj"));
    }
    if (to_.varies(e.array))
      to_.contribute(b, e.array, b.update(adj.var(), e.dims, zero_of(b, slice)));
  }

  void rule(Builder& b, const Stm&, const EIota& e, const Atom& adj) {
    if (!to_.varies(e.n) && !to_.varies(e.start) && !to_.varies(e.stride)) return;
    const Atom sum = sum_rows(b, adj.var());
    to_.contribute(b, e.n, b.convert(sum, PrimType::kI64));
    to_.contribute(b, e.start, sum);
    if (!to_.varies(e.stride)) return;
    const VarId steps =
        b.emit(EIota{e.n, PrimValue::of_int(e.type, 0), PrimValue::of_int(e.type, 1), e.type},
               Type{e.type, {e.n}}, "steps");
    const Type scalar{e.type, {}};
    const VarId weighed = b.map(e.n, {adj.var(), steps},
                                b.lambda({scalar, scalar},
                                         [](Builder& in, const std::vector<VarId>& v) {
                                           return std::vector<Atom>{in.mul(v[0], v[1])};
                                         },
                                         {scalar}))[0];
    to_.contribute(b, e.stride, sum_rows(b, weighed));
  }

  void rule(Builder& b, const Stm&, const EReplicate& e, const Atom& adj) {
    if (!to_.varies(e.value)) return;
    if (e.dims.empty()) return to_.contribute(b, e.value, adj);
    std::vector<Atom> dims{b.product(e.dims)};
    const Type t = to_.program().type_of(e.value);
    dims.insert(dims.end(), t.dims.begin(), t.dims.end());
    const VarId flat = e.dims.size() == 1 ? adj.var() : b.reshape(dims, adj.var());
    to_.contribute(b, e.value, sum_rows(b, flat));
  }

  void rule(Builder& b, const Stm&, const EArrayLit& e, const Atom& adj) {
    for (size_t k = 0; k < e.elems.size(); ++k) {
      if (!to_.varies(e.elems[k])) continue;
      to_.contribute(b, e.elems[k],
                     b.index(adj.var(), std::vector<Atom>{i64(static_cast<int64_t>(k))}));
    }
  }

  void rule(Builder& b, const Stm&, const EConcat& e, const Atom& adj) {
    Atom start = i64(0);
    for (const VarId v : e.arrays) {
      std::vector<Dim> dims = row_dims(to_.program().type_of(v), {});
      std::get<DimRange>(dims[0]).start = start;
      if (to_.varies(v)) to_.contribute(b, v, b.slice(adj.var(), dims));
      start = b.add(start, to_.program().type_of(v).dims[0]);
    }
  }

  void rule(Builder& b, const Stm&, const ERearrange& e, const Atom& adj) {
    std::vector<int> inverse(e.perm.size());
    for (size_t d = 0; d < e.perm.size(); ++d) {
      inverse[static_cast<size_t>(e.perm[d])] = static_cast<int>(d);
    }
    to_.contribute(b, e.array, b.rearrange(inverse, adj.var()));
  }

  void rule(Builder& b, const Stm&, const EReshape& e, const Atom& adj) {
    to_.contribute(b, e.array, b.reshape(to_.program().type_of(e.array).dims, adj.var()));
  }

  void rule(Builder& b, const Stm&, const ECopy& e, const Atom& adj) {
    to_.contribute(b, e.array, adj);
  }

 private:
  Adjoints& to_;
};

}  // namespace

void contribute_linear(Adjoints& to, Builder& b, const Stm& s, const Atom& adj) {
  Linear linear(to);
  std::visit([&](const auto& e) { linear.rule(b, s, e, adj); }, s.exp);
}

}  // namespace kenaz::ad
