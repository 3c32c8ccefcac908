#include "kernels/gpu/in_threads.h"

#include <utility>

#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"

namespace kenaz::gpu {
namespace {

using namespace ir;

Type without_dims(Type t, size_t n) {
  t.dims.erase(t.dims.begin(), t.dims.begin() + static_cast<std::ptrdiff_t>(n));
  return t;
}

class InThreads {
 public:
  InThreads(Program& p, const std::function<bool(const ESeg&)>& is_supported)
      : p_(p), is_supported_(is_supported) {}

  void body(Body& b) {
    for (Stm& s : b.stms) {
      if (auto* e = std::get_if<ESeg>(&s.exp)) {
        seg(s, *e);
      } else {
        visit_branches(s.exp, [&](Body& inner) { body(inner); });
        if (auto* loop = std::get_if<ELoop>(&s.exp)) body(loop->body);
      }
    }
  }

 private:
  void seg(Stm& s, ESeg& e) {
    if (e.level == SegLevel::kGroup) {
      e.level = SegLevel::kDevice;
      group_body(e.body);
    }
    if (e.kind == SegKind::kMap || !e.writes.empty() || is_supported_(e)) return;
    ESeg inner = std::move(e);
    ESeg outer;
    outer.space.dims.assign(inner.space.dims.begin(), inner.space.dims.end() - 1);
    inner.space.dims.erase(inner.space.dims.begin(), inner.space.dims.end() - 1);
    const std::vector<VarId> pat = rows_of(s.pat, outer.space.dims.size());
    Builder b(p_, outer.body, s.prov);
    loops(b, std::move(inner), pat);
    outer.body.results.assign(pat.begin(), pat.end());
    s.exp = std::move(outer);
  }

  /// What the threads of a group do together, by one.
  void group_body(Body& b) {
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      auto* e = std::get_if<ESeg>(&s.exp);
      if (e == nullptr) {
        visit_branches(s.exp, [&](Body& inner) { group_body(inner); });
        if (auto* loop = std::get_if<ELoop>(&s.exp)) group_body(loop->body);
      }
      if (e == nullptr || is_single(*e) || !e->writes.empty()) {
        out.push_back(std::move(s));
        continue;
      }
      Body made;
      Builder in(p_, made, s.prov);
      in.certs() = s.certs;
      loops(in, std::move(*e), s.pat);
      for (Stm& t : made.stms) out.push_back(std::move(t));
    }
    b.stms = std::move(out);
  }

  /// New variables for what one point of the leading `dims` dims has of these.
  std::vector<VarId> rows_of(const std::vector<VarId>& pat, size_t dims) {
    std::vector<VarId> out;
    for (const VarId v : pat) {
      out.push_back(p_.new_var(without_dims(p_.type_of(v), dims), p_.vars[v.index].name));
    }
    return out;
  }
  std::vector<Type> types_of(const std::vector<VarId>& vars) const {
    std::vector<Type> out;
    for (const VarId v : vars) out.push_back(p_.type_of(v));
    return out;
  }

  /// Binds `pat` to what `e` computes: a combinator over the last dim inside of maps over the
  /// others.
  void loops(Builder& b, ESeg e, const std::vector<VarId>& pat) {
    const SegDim dim = e.space.dims.front();
    ESoac soac;
    soac.width = dim.size;
    soac.inputs = {b.iota(dim.size)};
    soac.map.params = {dim.index};
    if (e.space.dims.size() > 1) {
      e.space.dims.erase(e.space.dims.begin());
      const std::vector<VarId> rows = rows_of(pat, 1);
      Builder inside = b.nested(soac.map.body);
      loops(inside, std::move(e), rows);
      soac.map.body.results.assign(rows.begin(), rows.end());
      soac.map.ret = types_of(rows);
    } else {
      const size_t reduced = e.kind == SegKind::kReduce ? operands_of(e) : 0;
      for (size_t k = 0; k < pat.size(); k++) {
        soac.map.ret.push_back(without_dims(p_.type_of(pat[k]), k < reduced ? 0 : 1));
      }
      auto& monoids = e.kind == SegKind::kScan ? soac.scans : soac.reduces;
      for (SegMonoid& m : e.monoids) monoids.push_back(on_arrays(b, std::move(m)));
      soac.map.body = std::move(e.body);
    }
    b.emit_to(pat, std::move(soac));
  }

  /// The operator on what is combined element by element, as one on arrays.
  Monoid on_arrays(Builder& b, SegMonoid m) {
    if (m.lifted.empty()) return std::move(m.op);
    const size_t n = m.op.neutral.size();
    Monoid out;
    out.commutative = m.op.commutative;
    ESeg each;
    each.space = b.space(m.lifted);
    Builder at(p_, each.body, b.prov());
    for (size_t k = 0; k < 2 * n; k++) {
      Type t = m.op.op.ret[k % n];
      t.dims.insert(t.dims.begin(), m.lifted.begin(), m.lifted.end());
      if (k < n) out.op.ret.push_back(t);
      out.op.params.push_back(p_.new_var(t, "operand"));
      at.emit_to({m.op.op.params[k]}, EIndex{out.op.params[k], element(each.space, t)});
    }
    for (Stm& s : m.op.op.body.stms) each.body.stms.push_back(std::move(s));
    each.body.results = std::move(m.op.op.body.results);
    for (const Atom& neutral : m.op.neutral) {
      out.neutral.emplace_back(b.replicate(m.lifted, neutral));
    }
    std::vector<VarId> made;
    for (const Type& t : out.op.ret) made.push_back(p_.new_var(t, "combined"));
    Builder inside(p_, out.op.body, b.prov());
    loops(inside, std::move(each), made);
    out.op.body.results.assign(made.begin(), made.end());
    return out;
  }
  static std::vector<Dim> element(const SegSpace& space, const Type& t) {
    std::vector<Dim> dims;
    for (const SegDim& d : space.dims) dims.emplace_back(DimFix{d.index});
    for (size_t d = dims.size(); d < t.dims.size(); d++) {
      dims.emplace_back(DimRange{i64(0), t.dims[d], i64(1)});
    }
    return dims;
  }

  Program& p_;
  const std::function<bool(const ESeg&)>& is_supported_;
};

}  // namespace

void in_threads(Program& p, const std::function<bool(const ESeg&)>& is_supported) {
  InThreads pass(p, is_supported);
  pass.body(p.constants);
  for (Function& f : p.functions) pass.body(f.body);
}

}  // namespace kenaz::gpu
