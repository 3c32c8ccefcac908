#include "kernels/gpu/prepare.h"

#include <algorithm>

#include "kernels/flatten/device_scalars.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"

namespace kenaz::gpu {
namespace {

using namespace ir;

/// Calls f(Stm&, std::vector<Stm>&) for all statements at host level, those in branches and loops
/// first: f appends what becomes of the statement.
template <class F>
void rewrite_host(Body& b, const F& f) {
  std::vector<Stm> out;
  for (Stm& s : b.stms) {
    const bool is_control = std::holds_alternative<EIf>(s.exp) ||
                            std::holds_alternative<ELoop>(s.exp) ||
                            std::holds_alternative<EVersions>(s.exp);
    if (is_control) visit_bodies(s.exp, [&](Body& inner) { rewrite_host(inner, f); });
    f(s, out);
  }
  b.stms = std::move(out);
}
template <class F>
void rewrite_host(Program& p, const F& f) {
  rewrite_host(p.constants, f);
  for (Function& fun : p.functions) rewrite_host(fun.body, f);
}

bool on_arrays(const Program& p, const std::vector<Monoid>& monoids) {
  return std::any_of(monoids.begin(), monoids.end(), [&](const Monoid& m) {
    return std::any_of(m.neutral.begin(), m.neutral.end(),
                       [&](const Atom& n) { return !p.type_of(n).is_scalar(); });
  });
}

/// The versions from the k-th on, as an if.
void choose(Program& p, Stm& s, EVersions e, size_t k) {
  EIf choice;
  choice.cond = e.versions[k].test;
  choice.then_body = std::move(e.versions[k].body);
  if (k + 2 == e.versions.size()) {
    choice.else_body = std::move(e.versions[k + 1].body);
  } else {
    Stm rest;
    rest.pat = copy_pattern(p, s.pat);
    rest.prov = s.prov;
    choose(p, rest, std::move(e), k + 1);
    choice.else_body.results.assign(rest.pat.begin(), rest.pat.end());
    choice.else_body.stms.push_back(std::move(rest));
  }
  s.exp = std::move(choice);
}

/// a / b. Divisions of 64-bit numbers are slow everywhere, so 32 bits do it where they can: a
/// branch that all threads take alike.
Atom quotient(Builder& b, const Atom& i, const Atom& by, const Atom& is_small) {
  const auto narrow = [&](Builder& in) -> std::vector<Atom> {
    const Atom a = in.convert(i, PrimType::kU32);
    const Atom q = in.quot(a, in.convert(by, PrimType::kU32));
    return {in.convert(q, PrimType::kI64)};
  };
  const auto wide = [&](Builder& in) -> std::vector<Atom> { return {in.quot(i, by)}; };
  return b.if_(is_small, narrow, wide, {{PrimType::kI64, {}}}, "row")[0];
}

class JoinDims {
 public:
  JoinDims(Program& p, Stm s, std::vector<Stm>& out) : p_(p), s_(std::move(s)), out_(out) {}

  void run() {
    auto& e = std::get<ESeg>(s_.exp);
    const std::vector<SegDim> dims = std::move(e.space.dims);
    Body before;
    Builder b(p_, before, s_.prov);
    b.certs() = s_.certs;
    // A number of points that would wrap stays so large that there is no memory for the results.
    Atom total = dims[0].size;
    for (size_t d = 1; d < dims.size(); d++) {
      total = b.prim(ScalarOp::kSizeMul, {total, dims[d].size});
    }
    const Atom is_small = b.le(total, i64(INT32_MAX));
    for (Stm& made : before.stms) out_.push_back(std::move(made));
    const VarId t = p_.new_var({PrimType::kI64, {}}, "t");
    e.space.dims = {{t, total}};
    find_indices(e.body, t, dims, is_small);

    const size_t first_plain = dests_of(e);
    std::vector<Stm> reshapes;
    for (size_t k = first_plain; k < s_.pat.size(); k++) {
      const Type& own = p_.type_of(s_.pat[k]);
      Type flat{own.prim, {total}};
      flat.dims.insert(flat.dims.end(), own.dims.begin() + static_cast<std::ptrdiff_t>(dims.size()),
                       own.dims.end());
      const VarId array = p_.new_var(flat, "flat");
      reshapes.push_back(Stm{{s_.pat[k]}, EReshape{own.dims, array}, {}, s_.prov, {}});
      s_.pat[k] = array;
    }
    out_.push_back(std::move(s_));
    for (Stm& r : reshapes) out_.push_back(std::move(r));
  }

 private:
  /// Binds the indices, the last one first.
  void find_indices(Body& body, VarId t, const std::vector<SegDim>& dims, const Atom& is_small) {
    Body found;
    Builder b(p_, found, s_.prov);
    Atom rest = t;
    for (size_t d = dims.size(); d-- > 1;) {
      const Atom q = quotient(b, rest, dims[d].size, is_small);
      const Atom whole = b.mul(q, dims[d].size);
      b.emit_to({dims[d].index},
                EPrim{ScalarOp::kSub, PrimType::kI64, PrimType::kI64, {rest, whole}});
      rest = q;
    }
    b.emit_to({dims[0].index}, EAtom{rest});
    for (Stm& s : body.stms) found.stms.push_back(std::move(s));
    body.stms = std::move(found.stms);
  }

  Program& p_;
  Stm s_;
  std::vector<Stm>& out_;
};

}  // namespace

void join_dims(Program& p) {
  rewrite_host(p, [&](Stm& s, std::vector<Stm>& out) {
    const auto* e = std::get_if<ESeg>(&s.exp);
    const bool joins = e && e->kind == SegKind::kMap && e->space.dims.size() > 1 &&
                       std::none_of(e->writes.begin(), e->writes.end(),
                                    [](const SegWrite& w) { return w.segment_rank != 0; });
    if (joins) return JoinDims(p, std::move(s), out).run();
    out.push_back(std::move(s));
  });
}

void run_by_one_thread(Program& p) {
  rewrite_host(p, [&](Stm& s, std::vector<Stm>& out) {
    const auto* soac = std::get_if<ESoac>(&s.exp);
    if (std::holds_alternative<EHist>(s.exp) ||
        (soac && (on_arrays(p, soac->scans) || on_arrays(p, soac->reduces)))) {
      s = flatten::by_one_thread(p, std::move(s));
    }
    out.push_back(std::move(s));
  });
}

void fix_choices(Program& p) {
  rewrite_host(p, [&](Stm& s, std::vector<Stm>& out) {
    if (const auto* tune = std::get_if<ETune>(&s.exp)) {
      s.exp = EAtom{i64(p.tunes[tune->id.index].fallback.value_or(1))};
    } else if (auto* e = std::get_if<EVersions>(&s.exp)) {
      if (e->versions.size() == 1) {  // an if has two branches
        EVersions::Version same = e->versions.front();
        same.body = copy_renamed(p, same.body);
        e->versions.push_back(std::move(same));
      }
      choose(p, s, std::move(*e), 0);
    }
    out.push_back(std::move(s));
  });
}

}  // namespace kenaz::gpu
