#include "kernels/ir/analysis/group.h"

#include <algorithm>
#include <unordered_map>

#include "kernels/ir/visit.h"

namespace kenaz::ir {

namespace {

using Why = NoGroups::Why;

bool is_scalar(const Program& p, const Atom& a) { return p.type_of(a).is_scalar(); }

bool binds_scalars(const Program& p, const Stm& s) {
  return std::all_of(s.pat.begin(), s.pat.end(), [&](VarId v) { return is_scalar(p, v); });
}

/// Whether the expression, its bodies left out, puts elements into memory.
bool makes_array(const Program& p, const Exp& e) {
  if (const auto* same = std::get_if<EReplicate>(&e)) return !is_scalar(p, same->value);
  return std::holds_alternative<ESeg>(e) || std::holds_alternative<EUpdate>(e) ||
         std::holds_alternative<EScratch>(e) || std::holds_alternative<EArrayLit>(e) ||
         std::holds_alternative<EConcat>(e) || std::holds_alternative<EReshape>(e) ||
         std::holds_alternative<ECopy>(e);
}

/// Looks at the body of a group, from its first statement on.
class Look {
 public:
  Look(const Program& p, const ESeg& e) : p_(p) {
    for_each_bound(e.body, [&](VarId v) { inside_.insert(v); });
    for (const SegDim& d : e.space.dims) {
      inside_.insert(d.index);
      steady_.insert(d.index);
    }
    body(e.body);
    if (pieces_ == 0) refuse(Why::kNothing);
  }

  GroupBody take() { return std::move(found_); }

 private:
  void refuse(Why why) {
    if (!found_.refused) found_.refused = why;
  }
  bool is_outside(VarId v) const { return !inside_.contains(v); }
  bool is_steady(const Atom& a) const {
    return a.is_const() || is_outside(a.var()) || steady_.contains(a.var());
  }
  /// Whether host code can compute it.
  bool is_known(const Atom& a) const {
    return a.is_const() || is_outside(a.var()) || known_.contains(a.var());
  }

  /// Notes that control depends on it, and what that depends on.
  void need(const Atom& a) {
    if (a.is_const()) return;
    if (is_outside(a.var())) found_.control.insert(a.var());
    if (const auto it = from_.find(a.var()); it != from_.end()) {
      for (const Atom& arg : it->second) need(arg);
    }
  }
  void decides(const Atom& a, Why otherwise) {
    if (!is_steady(a)) refuse(otherwise);
    need(a);
  }
  /// Of an array that is made.
  void size(const Atom& a) {
    if (!is_known(a)) refuse(Why::kSizes);
    need(a);
  }
  void sizes(const std::vector<VarId>& arrays) {
    for (const VarId v : arrays) {
      for (const Atom& d : p_.type_of(v).dims) size(d);
    }
  }

  void body(const Body& b) {
    for (const Stm& s : b.stms) {
      if (!found_.refused) stm(s);
    }
  }

  void scalar(const Stm& s, std::vector<Atom> args) {
    const auto all = [&](auto holds) { return std::all_of(args.begin(), args.end(), holds); };
    if (all([&](const Atom& a) { return is_steady(a); })) steady_.insert(s.pat[0]);
    if (all([&](const Atom& a) { return is_known(a); })) known_.insert(s.pat[0]);
    from_[s.pat[0]] = std::move(args);
  }

  void stm(const Stm& s) {
    if (const auto* same = std::get_if<EAtom>(&s.exp)) {
      if (is_scalar(p_, same->atom)) scalar(s, {same->atom});
    } else if (const auto* prim = std::get_if<EPrim>(&s.exp)) {
      scalar(s, prim->args);
    } else if (const auto* seg = std::get_if<ESeg>(&s.exp)) {
      this->seg(s, *seg);
    } else if (const auto* update = std::get_if<EUpdate>(&s.exp)) {
      // The value may have to be put aside.
      if (!is_scalar(p_, update->value)) sizes({update->value.var()});
      sizes(s.pat);
    } else if (const auto* branch = std::get_if<EIf>(&s.exp)) {
      if (is_joint(p_, s)) joint(s, *branch);
    } else if (const auto* loop = std::get_if<ELoop>(&s.exp)) {
      if (is_joint(p_, s)) joint(s, *loop);
    } else if (makes_array(p_, s.exp)) {
      sizes(s.pat);
    } else if (!is_plain(s.exp)) {
      refuse(Why::kOperation);
    }
  }

  static bool is_plain(const Exp& e) {
    return std::holds_alternative<EIndex>(e) || std::holds_alternative<EIota>(e) ||
           std::holds_alternative<EReplicate>(e) || std::holds_alternative<ERearrange>(e) ||
           std::holds_alternative<EAssert>(e);
  }

  void joint(const Stm& s, const EIf& e) {
    decides(e.cond, Why::kControl);
    sizes(s.pat);
    body(e.then_body);
    body(e.else_body);
  }

  void joint(const Stm& s, const ELoop& e) {
    const auto* counted = std::get_if<LoopFor>(&e.form);
    if (counted == nullptr) return refuse(Why::kControl);
    decides(counted->bound, Why::kControl);
    steady_.insert(counted->index);
    for (const ELoop::Param& param : e.params) sizes({param.var});
    sizes(s.pat);
    body(e.body);
  }

  void seg(const Stm& s, const ESeg& e) {
    pieces_++;
    const bool works =
        e.level == SegLevel::kInGroup && !is_single(e) && e.writes.empty() &&
        (e.kind == SegKind::kMap || e.kind == SegKind::kReduce || e.kind == SegKind::kScan);
    if (!works || !makes_scalars(e.body)) return refuse(Why::kOperation);
    for (const SegMonoid& m : e.monoids) {
      if (!m.lifted.empty() || !makes_scalars(m.op.op.body)) return refuse(Why::kOperation);
      for (const Atom& n : m.op.neutral) {
        // Before anything else, threads put neutral elements where they combine.
        if (!is_scalar(p_, n) || (!n.is_const() && !is_outside(n.var()))) {
          return refuse(Why::kOperation);
        }
      }
    }
    for (const SegDim& d : e.space.dims) decides(d.size, Why::kSizes);
    sizes(s.pat);
  }

  /// Whether its results are scalars, and a thread needs no memory of its own for them.
  bool makes_scalars(const Body& b) const {
    return std::all_of(b.results.begin(), b.results.end(),
                       [&](const Atom& a) { return is_scalar(p_, a); }) &&
           std::all_of(b.stms.begin(), b.stms.end(),
                       [&](const Stm& s) { return needs_no_memory(s); });
  }
  bool needs_no_memory(const Stm& s) const {
    if (makes_array(p_, s.exp)) return false;
    if (std::holds_alternative<EAtom>(s.exp) || std::holds_alternative<EPrim>(s.exp)) return true;
    if (const auto* e = std::get_if<ESoac>(&s.exp)) {
      return e->scans.empty() && binds_scalars(p_, s) && makes_scalars(e->map.body) &&
             std::all_of(e->reduces.begin(), e->reduces.end(),
                         [&](const Monoid& m) { return makes_scalars(m.op.body); });
    }
    if (const auto* e = std::get_if<EIf>(&s.exp)) {
      return binds_scalars(p_, s) && makes_scalars(e->then_body) && makes_scalars(e->else_body);
    }
    if (const auto* e = std::get_if<ELoop>(&s.exp)) {
      return binds_scalars(p_, s) && makes_scalars(e->body);
    }
    return is_plain(s.exp);
  }

  const Program& p_;
  GroupBody found_;
  VarSet inside_, steady_, known_;
  std::unordered_map<VarId, std::vector<Atom>> from_;  // what scalars are computed from
  int pieces_ = 0;
};

bool joint_inside(const Program& p, const Body& b) {
  return std::any_of(b.stms.begin(), b.stms.end(), [&](const Stm& s) {
    if (std::holds_alternative<EIf>(s.exp) || std::holds_alternative<ELoop>(s.exp)) {
      return is_joint(p, s);
    }
    return makes_array(p, s.exp);
  });
}

}  // namespace

GroupBody group_body(const Program& p, const ESeg& e) { return Look(p, e).take(); }

bool is_joint(const Program& p, const Stm& s) {
  bool joint = !binds_scalars(p, s);
  if (!std::holds_alternative<EIf>(s.exp) && !std::holds_alternative<ELoop>(s.exp)) return false;
  visit_bodies(s.exp, [&](const Body& b) { joint = joint || joint_inside(p, b); });
  return joint;
}

}  // namespace kenaz::ir
