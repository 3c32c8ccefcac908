#include "kernels/op/kept.h"

#include <algorithm>
#include <map>

namespace kenaz::op {

namespace {

using ir::VarId;

enum class Order : uint8_t { kLess, kEqual, kGreater };  // the first operand's key and the second's

/// What one knows of a scalar while the operands are not.
struct Fact {
  enum class Kind : uint8_t {
    kOther,
    kBool,    // `yes`
    kCond,    // a bool that number `cond` stands for, or its opposite if not `yes`
    kScalar,  // scalar `n` of the first operand if `yes`, else of the second
    kEither,  // scalar `n` of the first operand if kCond, else of the second
  } kind = Kind::kOther;
  bool yes = false;
  size_t n = 0;
  VarId cond = {};

  friend bool operator==(const Fact&, const Fact&) = default;
};

using Kind = Fact::Kind;

Fact bool_fact(bool yes) { return {Kind::kBool, yes}; }

Fact opposite(Fact k) {
  if (k.kind != Kind::kBool && k.kind != Kind::kCond) return {};
  k.yes = !k.yes;
  return k;
}

/// Follows an operator's body, the order of two keys being given.
class Follower {
 public:
  Follower(const ir::Lambda& op, size_t key, Order order) : key_(key), order_(order) {
    const size_t n = op.params.size() / 2;
    for (size_t i = 0; i < 2 * n; i++) facts_[op.params[i]] = {Kind::kScalar, i < n, i % n};
  }

  /// Of the body's results; none if it has statements that are not followed.
  std::optional<std::vector<Fact>> results(const ir::Body& body) {
    for (const ir::Stm& s : body.stms) {
      if (!follow(s)) return std::nullopt;
    }
    std::vector<Fact> out;
    for (const ir::Atom& a : body.results) out.push_back(of(a));
    return out;
  }

 private:
  bool follow(const ir::Stm& s) {
    if (const auto* a = std::get_if<ir::EAtom>(&s.exp)) {
      facts_[s.pat[0]] = of(a->atom);
      return true;
    }
    if (const auto* p = std::get_if<ir::EPrim>(&s.exp)) {
      facts_[s.pat[0]] = prim(*p, s.pat[0]);
      return true;
    }
    const auto* branch = std::get_if<ir::EIf>(&s.exp);
    return branch != nullptr && follow(*branch, s.pat);
  }

  bool follow(const ir::EIf& e, const std::vector<VarId>& pat) {
    const Fact cond = condition(e.cond);
    std::optional<std::vector<Fact>> yes, no;
    if (cond != bool_fact(false)) yes = results(e.then_body);
    if (cond != bool_fact(true)) no = results(e.else_body);
    if (cond.kind == Kind::kBool) (cond.yes ? no : yes) = cond.yes ? yes : no;
    if (!yes || !no) return false;
    for (size_t n = 0; n < pat.size(); n++) facts_[pat[n]] = chosen(cond, (*yes)[n], (*no)[n]);
    return true;
  }

  Fact of(const ir::Atom& a) const {
    if (a.is_const()) {
      return a.is_bool(true) || a.is_bool(false) ? bool_fact(a.is_bool(true)) : Fact{};
    }
    const auto it = facts_.find(a.var());
    return it == facts_.end() ? Fact{} : it->second;
  }

  /// A bool: itself, if nothing else is known of it.
  Fact condition(const ir::Atom& a) const {
    const Fact k = of(a);
    if (k.kind == Kind::kBool || k.kind == Kind::kCond) return k;
    return {Kind::kCond, true, 0, a.var()};
  }

  static Fact chosen(const Fact& cond, const Fact& yes, const Fact& no) {
    if (yes == no) return yes;
    if (cond.kind == Kind::kBool) return cond.yes ? yes : no;
    const bool differ = yes.kind == Kind::kScalar && no.kind == Kind::kScalar && yes.n == no.n;
    if (!differ) return {};
    return {Kind::kEither, cond.yes == yes.yes, yes.n, cond.cond};
  }

  bool are_keys(const Fact& x, const Fact& y) const {
    return x.kind == Kind::kScalar && y.kind == Kind::kScalar && x.n == key_ && y.n == key_ &&
           x.yes != y.yes;
  }

  Fact prim(const ir::EPrim& p, VarId result) const {
    std::vector<Fact> args;
    for (const ir::Atom& a : p.args) args.push_back(of(a));
    switch (p.op) {
      case ScalarOp::kLt:
      case ScalarOp::kLe:
      case ScalarOp::kEq:
      case ScalarOp::kNe: {
        if (!are_keys(args[0], args[1])) break;
        const bool equal = order_ == Order::kEqual;
        const bool less = order_ == (args[0].yes ? Order::kLess : Order::kGreater);
        if (p.op == ScalarOp::kNe) return bool_fact(!equal);
        return bool_fact((less && p.op != ScalarOp::kEq) || (equal && p.op != ScalarOp::kLt));
      }
      case ScalarOp::kMin:
      case ScalarOp::kMax: return extreme(p, args[0], args[1], result);
      case ScalarOp::kNot:
        if (p.type == PrimType::kBool) return opposite(condition(p.args[0]));
        break;
      case ScalarOp::kAnd:
      case ScalarOp::kOr:
        if (p.type == PrimType::kBool) return joined(p, result);
        break;
      case ScalarOp::kSelect: return chosen(condition(p.args[0]), args[1], args[2]);
      default: break;
    }
    return {};
  }

  Fact extreme(const ir::EPrim& p, const Fact& x, const Fact& y, VarId result) const {
    const bool scalars = x.kind == Kind::kScalar && y.kind == Kind::kScalar && x.n == y.n;
    if (!scalars) return {};
    if (x == y || !are_keys(x, y)) return x == y ? x : Fact{Kind::kEither, x.yes, x.n, result};
    const bool first = order_ == (p.op == ScalarOp::kMax ? Order::kGreater : Order::kLess);
    return {Kind::kScalar, first, key_};  // either, of equal ones
  }

  Fact joined(const ir::EPrim& p, VarId result) const {
    const bool is_and = p.op == ScalarOp::kAnd;
    const Fact x = condition(p.args[0]), y = condition(p.args[1]);
    if (x == bool_fact(!is_and) || y == bool_fact(!is_and)) return bool_fact(!is_and);
    if (x == bool_fact(is_and)) return y;
    if (y == bool_fact(is_and)) return x;
    return {Kind::kCond, true, 0, result};
  }

  size_t key_;
  Order order_;
  std::map<VarId, Fact> facts_;
};

/// Whether the results are all the first operand's, or all the second's, or all of the one that
/// the same condition chooses; kScalar, kEither, or kOther if not. Equal keys are the same.
Fact whole(const std::vector<Fact>& results, size_t key, bool equal) {
  Fact out;
  bool any = false;
  for (size_t n = 0; n < results.size(); n++) {
    Fact r = results[n];
    if ((r.kind != Kind::kScalar && r.kind != Kind::kEither) || r.n != n) return {};
    if (equal && n == key) continue;
    r.n = 0;
    if (any && r != out) return {};
    out = r;
    any = true;
  }
  if (!any) out = {Kind::kScalar, true};
  return out;
}

std::optional<Kept> keeps_by(const ir::Lambda& op, size_t key) {
  const auto result = [&](Order order) {
    const auto r = Follower(op, key, order).results(op.body);
    return r ? whole(*r, key, order == Order::kEqual) : Fact{};
  };
  const Fact greater = result(Order::kGreater), less = result(Order::kLess);
  if (greater.kind != Kind::kScalar || less.kind != Kind::kScalar) return std::nullopt;
  if (greater.yes == less.yes) return std::nullopt;
  const Fact equal = result(Order::kEqual);
  if (equal.kind == Kind::kOther) return std::nullopt;
  Kept out{key, greater.yes, Kept::Ties::kAsk};
  if (equal.kind == Kind::kScalar) out.ties = equal.yes ? Kept::Ties::kFirst : Kept::Ties::kSecond;
  return out;
}

}  // namespace

std::optional<Kept> keeps(const ir::Program& p, const ir::Lambda& op) {
  const size_t count = op.params.size() / 2;
  if (op.body.results.size() != count) return std::nullopt;
  for (const VarId v : op.params) {
    if (!p.type_of(v).dims.empty()) return std::nullopt;
  }
  for (size_t key = 0; key < count; key++) {
    if (p.type_of(op.params[key]).prim == PrimType::kBool) continue;
    if (const auto kept = keeps_by(op, key)) return kept;
  }
  return std::nullopt;
}

}  // namespace kenaz::op
