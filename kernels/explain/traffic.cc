#include "kernels/explain/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kernels/ir/visit.h"

namespace kenaz::explain {

using namespace ir;

namespace {

void define(const Body& b, std::unordered_map<VarId, const Stm*>& to) {
  for (const Stm& s : b.stms) {
    if (s.pat.size() == 1) to[s.pat[0]] = &s;
    visit_bodies(s.exp, [&](const Body& inner) { define(inner, to); });
  }
}

/// Counts the accesses of a body.
class Count {
 public:
  Count(const Program& p, const Sizes& sizes) : p_(p), sizes_(sizes) {}

  void body(const Body& b, const Size& times) {
    for (const Stm& s : b.stms) {
      if (const auto* index = std::get_if<EIndex>(&s.exp)) {
        this->index(s, *index, times);
      } else if (const auto* update = std::get_if<EUpdate>(&s.exp)) {
        if (!is_own(update->array)) write(p_.type_of(update->value), times);
      } else {
        inner(s, times);
      }
      for (const VarId v : s.pat) note(s, v);
    }
  }
  void read(const Type& t, const Size& times) { add(traffic_.reads, bytes(t) * times); }
  void write(const Type& t, const Size& times) { add(traffic_.writes, bytes(t) * times); }
  Size bytes(const Type& t) const {
    Size size{prim_size(t.prim), {}};
    for (const Atom& d : t.dims) size = size * sizes_.size(d);
    return size;
  }
  Traffic take() { return std::move(traffic_); }

 private:
  /// Arrays are of the element itself if it makes them, and not if they are parts of others.
  bool is_own(VarId v) const { return own_.count(v) != 0; }
  void note(const Stm& s, VarId v) {
    if (p_.type_of(v).is_scalar()) return;
    const auto view = [&](VarId of) {
      if (is_own(of)) own_.insert(v);
    };
    if (const auto* e = std::get_if<EIndex>(&s.exp)) {
      view(e->array);
    } else if (const auto* e = std::get_if<ERearrange>(&s.exp)) {
      view(e->array);
    } else if (const auto* e = std::get_if<EReshape>(&s.exp)) {
      view(e->array);
    } else if (const auto* e = std::get_if<EUpdate>(&s.exp)) {
      view(e->array);
    } else if (const auto* e = std::get_if<EAtom>(&s.exp)) {
      if (!e->atom.is_const()) view(e->atom.var());
    } else {
      own_.insert(v);
    }
  }
  void index(const Stm& s, const EIndex& e, const Size& times) {
    const Type& t = p_.type_of(s.pat[0]);
    if (t.is_scalar() && !is_own(e.array)) read(t, times);
  }
  void inputs(const std::vector<VarId>& arrays, const Lambda& map, const Size& times) {
    for (size_t k = 0; k < arrays.size(); k++) {
      const Type& t = p_.type_of(map.params[k]);
      if (is_own(arrays[k])) {
        own_.insert(map.params[k]);
      } else if (t.is_scalar()) {
        read(t, times);
      }
    }
    body(map.body, times);
  }
  void inner(const Stm& s, const Size& times) {
    if (const auto* e = std::get_if<ESoac>(&s.exp)) {
      inputs(e->inputs, e->map, times * sizes_.size(e->width));
    } else if (const auto* e = std::get_if<EScatter>(&s.exp)) {
      inputs(e->inputs, e->map, times * sizes_.size(e->width));
    } else if (const auto* e = std::get_if<EHist>(&s.exp)) {
      inputs(e->inputs, e->map, times * sizes_.size(e->width));
    } else if (const auto* e = std::get_if<ELoop>(&s.exp)) {
      const auto* counted = std::get_if<LoopFor>(&e->form);
      for (const auto& param : e->params) {
        if (!param.init.is_const() && is_own(param.init.var())) own_.insert(param.var);
      }
      body(e->body, counted != nullptr ? times * sizes_.size(counted->bound) : times);
    } else if (const auto* e = std::get_if<EIf>(&s.exp)) {
      const bool then = e->then_body.stms.size() >= e->else_body.stms.size();
      body(then ? e->then_body : e->else_body, times);
    } else if (const auto* e = std::get_if<ESeg>(&s.exp)) {
      Size points = times;
      for (const SegDim& d : e->space.dims) points = points * sizes_.size(d.size);
      body(e->body, points);
    } else if (const auto* e = std::get_if<ECopy>(&s.exp)) {
      if (!is_own(e->array)) read(p_.type_of(e->array), times);
    }
  }

  const Program& p_;
  const Sizes& sizes_;
  std::set<VarId> own_;
  Traffic traffic_;
};

}  // namespace

Sizes::Sizes(const Program& p) : p_(p) {
  visit_bodies(p, [&](const Body& b) { define(b, definitions_); });
}

const Stm* Sizes::definition(const Atom& a) const {
  if (a.is_const()) return nullptr;
  const auto found = definitions_.find(a.var());
  return found == definitions_.end() ? nullptr : found->second;
}

Size Sizes::size(const Atom& a) const {
  if (a.is_const()) return {a.constant().as_i64(), {}};
  if (const Stm* s = definition(a)) {
    const auto* prim = std::get_if<EPrim>(&s->exp);
    if (prim != nullptr && (prim->op == ScalarOp::kSizeMul || prim->op == ScalarOp::kMul)) {
      return size(prim->args[0]) * size(prim->args[1]);
    }
    if (const auto* same = std::get_if<EAtom>(&s->exp)) return size(same->atom);
  }
  return {1, {fmt::format("{}_{}", p_.vars[a.var().index].name, a.var().index)}};
}

std::optional<Sizes::Test> Sizes::test(const Atom& a) const {
  const Stm* s = definition(a);
  const auto* prim = s == nullptr ? nullptr : std::get_if<EPrim>(&s->exp);
  // Of several conditions the first that is one.
  if (prim != nullptr && prim->op == ScalarOp::kAnd) {
    const auto first = test(prim->args[0]);
    return first ? first : test(prim->args[1]);
  }
  if (prim == nullptr || prim->op != ScalarOp::kLe) return std::nullopt;
  const Stm* param = definition(prim->args[0]);
  const auto* tune = param == nullptr ? nullptr : std::get_if<ETune>(&param->exp);
  if (tune == nullptr) return std::nullopt;
  return Test{tune->id, size(prim->args[1])};
}

Size operator*(const Size& a, const Size& b) {
  Size product{a.factor * b.factor, a.names};
  product.names.insert(product.names.end(), b.names.begin(), b.names.end());
  std::sort(product.names.begin(), product.names.end());
  return product;
}

void add(Bytes& to, const Size& size) {
  for (Size& there : to) {
    if (there.names != size.names) continue;
    there.factor += size.factor;
    return;
  }
  to.push_back(size);
}

Traffic traffic_of(const Program& p, const Sizes& sizes, const ESeg& e) {
  Count count(p, sizes);
  count.body(e.body, {});
  const size_t operands = operands_of(e);
  const bool stores_operands = e.kind == SegKind::kScan || e.kind == SegKind::kSort;
  size_t next = operands;
  if (e.kind == SegKind::kPack) {
    for (size_t k = 1; k < operands; k++) count.write(p.type_of(e.body.results[k]), {});
  }
  if (stores_operands) {
    for (size_t k = 0; k < operands; k++) count.write(p.type_of(e.body.results[k]), {});
  }
  for (const SegWrite& w : e.writes) {
    next += static_cast<size_t>(w.index_rank);
    for (size_t d = 0; d < w.dests.size(); d++) {
      const Type t = p.type_of(e.body.results[next++]);
      if (w.combine) count.read(t, {});
      count.write(t, {});
    }
  }
  for (; next < e.body.results.size(); next++) count.write(p.type_of(e.body.results[next]), {});
  return count.take();
}

}  // namespace kenaz::explain
