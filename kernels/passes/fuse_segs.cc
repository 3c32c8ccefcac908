// Maps at stage seg move into the reduction, or the points of another map, which need each of their
// elements once and at its own index: those that fuse could not see, because there was more around
// them before they were distributed.
//
//   let ys = seg map (i < n, j < d) { .. return y }
//   let z = seg reduce (j < d, i < n) { let y = index ys[i, j] .. }
//
// Also where points of another map load a few elements of it, anywhere, if these are a few quick
// operations on one that is loaded: less than to store them all and to load them again.
//
// If several of these need the same map, it stays: floats that two kernels make may differ in their
// last bits, and a program may compare them.
//
// A branch that came along and is the same for all points goes around, as in distribution: loads of
// several points, which a branch would keep apart, can then be on their way together.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "kernels/ir/analysis/alias.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"
#include "kernels/scalar/quick.h"

namespace kenaz::passes {
namespace {

using namespace ir;

/// Statements of a map that moves.
constexpr size_t kMaxStatements = 24;
/// .. to several places, which are so many at most, and loads of it that differ from point to
/// point.
constexpr size_t kMaxQuick = 6, kMaxPlaces = 16;
constexpr int kMaxLoads = 1;

class FuseSegs {
 public:
  explicit FuseSegs(Program& p) : p_(p), aliases_(p), uses_(count_uses(p)) {}

  void body(Body& b) {
    for (Stm& s : b.stms) {
      if (!std::holds_alternative<ESeg>(s.exp)) {
        visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      }
    }
    for (size_t p = 0; p < b.stms.size(); p++) move(b, p);
  }

 private:
  /// The statement stays where it is; dead code, once its elements are made elsewhere.
  void move(Body& b, size_t producer) {
    const Stm& s = b.stms[producer];
    if (!is_small_map(s)) return;
    std::unordered_set<uint32_t> reads;
    for (const VarId v : free_vars(p_, s)) {
      if (!p_.type_of(v).is_scalar()) reads.insert(aliases_.of(v));
    }
    int wanted = 0;
    for (const VarId v : s.pat) wanted += uses_[v.index];
    for (size_t c = producer + 1; c < b.stms.size(); c++) {
      const std::vector<VarId> consumed = consumed_in(p_, b.stms[c]);
      if (std::any_of(consumed.begin(), consumed.end(),
                      [&](VarId v) { return reads.contains(aliases_.of(v)); })) {
        return;  // here and behind it, nothing may read that
      }
      const int here = loads(s, b.stms[c]);
      if (here < wanted && static_cast<size_t>(wanted) <= kMaxPlaces && is_quick(s) &&
          loads_anywhere(s, b.stms[c]) == wanted) {
        put_in_anywhere(s, b.stms[c]);
        return;
      }
      if (here == 0) continue;
      if (here < wanted) return;
      put_in(s, b.stms[c]);
      if (s.prov != b.stms[c].prov) add_note(p_.notes, {b.stms[c].prov, Fused{s.prov}});
      if (uniform_branch(std::get<ESeg>(b.stms[c].exp)) != nullptr) put_around(b.stms[c]);
      return;
    }
  }

  bool is_small_map(const Stm& s) const {
    const auto* e = std::get_if<ESeg>(&s.exp);
    return e != nullptr && e->kind == SegKind::kMap && e->level == SegLevel::kDevice &&
           !is_single(*e) && e->writes.empty() && s.attrs.empty() && is_small(e->body) &&
           std::all_of(e->body.results.begin(), e->body.results.end(),
                       [&](const Atom& a) { return p_.type_of(a).is_scalar(); });
  }
  static bool is_small(const Body& b) {
    size_t size = 0;
    return is_arithmetic(b, size) && size <= kMaxStatements;
  }
  static bool is_arithmetic(const Body& b, size_t& size) {
    return std::all_of(b.stms.begin(), b.stms.end(), [&](const Stm& s) {
      size++;
      if (const auto* e = std::get_if<EIf>(&s.exp)) {
        return is_arithmetic(e->then_body, size) && is_arithmetic(e->else_body, size);
      }
      return std::holds_alternative<EPrim>(s.exp) || std::holds_alternative<EIndex>(s.exp) ||
             std::holds_alternative<EAtom>(s.exp);
    });
  }

  /// Whether an element is a few quick operations on one that is loaded for it, and on others that
  /// many elements have in common.
  bool is_quick(const Stm& s) const {
    const auto& e = std::get<ESeg>(s.exp);
    size_t prims = 0;
    int loads = 0;
    for (const Stm& inner : e.body.stms) {
      if (const auto* load = std::get_if<EIndex>(&inner.exp)) {
        loads += static_cast<int>(load->dims.size() >= e.space.dims.size());
      } else if (const auto* p = std::get_if<EPrim>(&inner.exp)) {
        if (!is_quick(*p) || ++prims > kMaxQuick) return false;
      } else if (!std::holds_alternative<EAtom>(inner.exp)) {
        return false;
      }
    }
    return loads <= kMaxLoads;
  }
  static bool is_quick(const EPrim& p) {
    const bool moves_bits =
        p.op == ScalarOp::kConvert || p.op == ScalarOp::kBitcast || p.op == ScalarOp::kSelect;
    return scalar_op_is_quick(p.op) && !scalar_op_divides(p.op) &&
           (moves_bits || p.type != PrimType::kF64);
  }

  /// How many elements of the map a point of another map loads outside of loops.
  int loads_anywhere(const Stm& producer, const Stm& s) const {
    const auto* to = std::get_if<ESeg>(&s.exp);
    if (to == nullptr || to->level != SegLevel::kDevice || to->kind != SegKind::kMap) return 0;
    // Rows become columns, say: the map stores them as they are read.
    const bool moves = std::any_of(to->body.stms.begin(), to->body.stms.end(), [&](const Stm& t) {
      const auto at = place_of(producer, *to, t);
      return at && !is_in_order(producer, *to, *at);
    });
    return moves ? 0 : loads_in(producer, to->body);
  }
  static int loads_in(const Stm& producer, const Body& b) {
    int n = 0;
    for (const Stm& s : b.stms) {
      n += static_cast<int>(element_of(producer, s) != nullptr);
      if (const auto* branch = std::get_if<EIf>(&s.exp)) {
        n += loads_in(producer, branch->then_body) + loads_in(producer, branch->else_body);
      }
    }
    return n;
  }
  /// The load, if the statement is one of an element of the map.
  static const EIndex* element_of(const Stm& producer, const Stm& s) {
    const auto* load = std::get_if<EIndex>(&s.exp);
    const auto& pat = producer.pat;
    if (load == nullptr || std::find(pat.begin(), pat.end(), load->array) == pat.end()) {
      return nullptr;
    }
    const bool one = load->dims.size() == std::get<ESeg>(producer.exp).space.dims.size() &&
                     std::all_of(load->dims.begin(), load->dims.end(),
                                 [](const Dim& d) { return std::holds_alternative<DimFix>(d); });
    return one ? load : nullptr;
  }

  void put_in_anywhere(const Stm& producer, Stm& consumer) {
    put_in_anywhere(producer, std::get<ESeg>(consumer.exp).body);
    if (producer.prov != consumer.prov) add_note(p_.notes, {consumer.prov, Fused{producer.prov}});
  }
  void put_in_anywhere(const Stm& producer, Body& b) {
    const ESeg& from = std::get<ESeg>(producer.exp);
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      if (auto* branch = std::get_if<EIf>(&s.exp)) {
        put_in_anywhere(producer, branch->then_body);
        put_in_anywhere(producer, branch->else_body);
      }
      if (const EIndex* load = element_of(producer, s)) {
        Subst at;
        for (size_t d = 0; d < from.space.dims.size(); d++) {
          at[from.space.dims[d].index] = std::get<DimFix>(load->dims[d]).index;
        }
        Body made = copy_renamed(p_, from.body, at);
        // What the load waited for, and the map.
        s.certs.insert(s.certs.end(), producer.certs.begin(), producer.certs.end());
        for (Stm& inner : made.stms) {
          inner.certs.insert(inner.certs.end(), s.certs.begin(), s.certs.end());
          out.push_back(std::move(inner));
        }
        const auto k = std::find(producer.pat.begin(), producer.pat.end(), load->array);
        s.exp = EAtom{made.results[static_cast<size_t>(k - producer.pat.begin())]};
      }
      out.push_back(std::move(s));
    }
    b.stms = std::move(out);
  }

  /// How many elements of the map a point of a reduction or of another map loads, all of them at
  /// the same index, which is no other point's; 0: it is something else.
  int loads(const Stm& producer, const Stm& s) const {
    const auto* to = std::get_if<ESeg>(&s.exp);
    if (to == nullptr || to->level != SegLevel::kDevice) return 0;
    if (to->kind != SegKind::kReduce && to->kind != SegKind::kMap) return 0;
    const bool in_order = to->kind == SegKind::kMap && to->writes.empty();
    int n = 0;
    Subst first;
    for (const Stm& inner : to->body.stms) {
      const auto at = place_of(producer, *to, inner);
      if (!at) continue;
      if (in_order && !is_in_order(producer, *to, *at)) return 0;
      if (n++ == 0) first = *at;
      if (first != *at) return 0;
    }
    return n;
  }

  /// The indices of the map's point, if the statement loads an element of it, and every point of
  /// `to` another one.
  std::optional<Subst> place_of(const Stm& producer, const ESeg& to, const Stm& s) const {
    const auto* load = std::get_if<EIndex>(&s.exp);
    const auto& pat = producer.pat;
    if (load == nullptr || std::find(pat.begin(), pat.end(), load->array) == pat.end()) {
      return std::nullopt;
    }
    const auto& from = std::get<ESeg>(producer.exp).space.dims;
    if (from.size() != to.space.dims.size() || load->dims.size() != from.size()) {
      return std::nullopt;
    }
    Subst at;
    VarSet taken;
    for (size_t d = 0; d < from.size(); d++) {
      const auto* fix = std::get_if<DimFix>(&load->dims[d]);
      if (fix == nullptr || fix->index.is_const()) return std::nullopt;
      const auto dim =
          std::find_if(to.space.dims.begin(), to.space.dims.end(), [&](const SegDim& of) {
            return of.index == fix->index.var() && of.size == from[d].size;
          });
      if (dim == to.space.dims.end() || !taken.insert(dim->index).second) return std::nullopt;
      at[from[d].index] = dim->index;
    }
    return at;
  }

  /// Whether the points of both, where they store, follow each other in the same order.
  static bool is_in_order(const Stm& producer, const ESeg& to, const Subst& at) {
    const auto& from = std::get<ESeg>(producer.exp).space.dims;
    for (size_t d = 0; d < from.size(); d++) {
      if (at.at(from[d].index) != Atom(to.space.dims[d].index)) return false;
    }
    return true;
  }

  void put_in(const Stm& producer, Stm& consumer) {
    const ESeg& from = std::get<ESeg>(producer.exp);
    auto& to = std::get<ESeg>(consumer.exp);
    std::vector<Stm> out;
    std::optional<Body> made;
    for (Stm& s : to.body.stms) {
      if (const auto at = place_of(producer, to, s)) {
        if (!made) {
          made = copy_renamed(p_, from.body, *at);
          for (Stm& inner : made->stms) out.push_back(std::move(inner));
        }
        const auto k =
            std::find(producer.pat.begin(), producer.pat.end(), std::get<EIndex>(s.exp).array);
        s.exp = EAtom{made->results[static_cast<size_t>(k - producer.pat.begin())]};
      }
      out.push_back(std::move(s));
    }
    to.body.stms = std::move(out);
    for (const VarId c : producer.certs) {
      if (std::find(consumer.certs.begin(), consumer.certs.end(), c) == consumer.certs.end()) {
        consumer.certs.push_back(c);
      }
    }
  }

  static const Stm* uniform_branch(const ESeg& e) {
    VarSet inside;
    for_each_bound(e.body, [&](VarId v) { inside.insert(v); });
    for (const SegDim& d : e.space.dims) inside.insert(d.index);
    for (const Stm& s : e.body.stms) {
      const auto* branch = std::get_if<EIf>(&s.exp);
      if (branch == nullptr || !s.certs.empty() || branch->cond.is_const()) continue;
      if (!inside.contains(branch->cond.var())) return &s;
    }
    return nullptr;
  }

  void put_around(Stm& s) {
    const VarId branch = uniform_branch(std::get<ESeg>(s.exp))->pat[0];
    EIf around;
    for (const bool taken : {true, false}) {
      Stm side = s;
      auto& stms = std::get<ESeg>(side.exp).body.stms;
      const auto at =
          std::find_if(stms.begin(), stms.end(), [&](const Stm& t) { return t.pat[0] == branch; });
      Stm choice = std::move(*at);
      auto& e = std::get<EIf>(choice.exp);
      around.cond = e.cond;
      Body& chosen = taken ? e.then_body : e.else_body;
      std::vector<Stm> code = std::move(chosen.stms);
      for (size_t k = 0; k < choice.pat.size(); k++) {
        code.push_back(Stm{{choice.pat[k]}, EAtom{chosen.results[k]}, {}, choice.prov, {}});
      }
      const auto next = stms.erase(at);
      stms.insert(next, std::make_move_iterator(code.begin()), std::make_move_iterator(code.end()));
      Body body;
      body.results.assign(side.pat.begin(), side.pat.end());
      body.stms.push_back(std::move(side));
      (taken ? around.then_body : around.else_body) = copy_renamed(p_, body);
    }
    s.exp = std::move(around);
  }

  Program& p_;
  Aliases aliases_;
  std::vector<int> uses_;
};

}  // namespace

void fuse_segs(Program& p) {
  FuseSegs pass(p);
  visit_bodies(p, [&](Body& b) { pass.body(b); });
  remove_dead_code(p);
}

}  // namespace kenaz::passes
