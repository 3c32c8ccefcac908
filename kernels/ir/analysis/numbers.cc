#include "kernels/ir/analysis/numbers.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace kenaz::ir {

namespace {

// What a key begins with.
enum Kind : uint64_t { kConstant, kVariable, kPrim, kPlus, kElement, kCheck, kChecked };

uint64_t bits_of(PrimType type, uint64_t n) {
  return PrimValue::of_int(type, static_cast<int64_t>(n)).bits;
}

uint64_t code(ScalarOp op) { return static_cast<uint64_t>(op); }
uint64_t code(PrimType t) { return static_cast<uint64_t>(t); }

}  // namespace

Numbers::Id Numbers::find(Key key) {
  const auto [it, is_new] = ids_.emplace(std::move(key), next_);
  if (is_new) next_++;
  return it->second;
}

Numbers::Sum Numbers::parts(Id id) const {
  const auto it = sums_.find(id);
  return it == sums_.end() ? Sum{id, 0} : it->second;
}

Numbers::Id Numbers::plus(Id value, PrimType type, uint64_t offset) {
  if (const auto c = constants_.find(value); c != constants_.end()) {
    return of(Atom(PrimValue{type, bits_of(type, c->second + offset)}), {});
  }
  const Sum sum = parts(value);
  offset = bits_of(type, sum.offset + offset);
  if (offset == 0) return sum.value;
  const Id id = find({kPlus, code(type), sum.value, offset});
  sums_[id] = {sum.value, offset};
  return id;
}

Numbers::Id Numbers::of(const Atom& a, const Point& at) {
  if (a.is_const()) {
    const PrimValue& c = a.constant();
    const Id id = find({kConstant, code(c.type), c.bits});
    if (is_integer(c.type)) constants_[id] = c.bits;
    return id;
  }
  const auto it = at.find(a.var());
  return it == at.end() ? find({kVariable, a.var().index}) : it->second;
}

/// Of integers a + b or a - b: constants are added up apart from the rest.
Numbers::Id Numbers::sum(const EPrim& e, Id a, Id b) {
  const bool minus = e.op == ScalarOp::kSub;
  if (const auto c = constants_.find(b); c != constants_.end()) {
    return plus(a, e.type, minus ? 0 - c->second : c->second);
  }
  if (const auto c = constants_.find(a); c != constants_.end() && !minus) {
    return plus(b, e.type, c->second);
  }
  const Sum x = parts(a), y = parts(b);
  std::pair<Id, Id> values = {x.value, y.value};
  if (!minus && values.first > values.second) std::swap(values.first, values.second);
  const Id rest =
      find({kPrim, code(e.op), code(e.type), code(e.type), values.first, values.second});
  return plus(rest, e.type, minus ? x.offset - y.offset : x.offset + y.offset);
}

/// Whether what is converted may be converted by parts: because all is modulo the new type's size,
/// or nothing wraps.
bool Numbers::converts_parts(const EPrim& e, Id a) const {
  if (e.op != ScalarOp::kConvert || !is_integer(e.to) || constants_.contains(a)) return false;
  if (prim_size(e.to) <= prim_size(e.type)) return true;
  const Sum sum = parts(a);
  return prim_kind(e.type) == PrimKind::kSigned && have_successors_.contains(sum.value) &&
         sum.offset <= 1;
}

Numbers::Id Numbers::prim(const EPrim& e, const Point& at) {
  std::vector<Id> args;
  for (const Atom& a : e.args) args.push_back(of(a, at));
  if (is_integer(e.type)) {
    if (e.op == ScalarOp::kAdd || e.op == ScalarOp::kSub) return sum(e, args[0], args[1]);
    if (converts_parts(e, args[0])) {
      const Sum x = parts(args[0]);
      return plus(find({kPrim, code(e.op), code(e.type), code(e.to), x.value}), e.to, x.offset);
    }
    if (scalar_op_commutes(e.op)) std::sort(args.begin(), args.end());
  }
  Key key = {kPrim, code(e.op), code(e.type), code(e.to)};
  key.insert(key.end(), args.begin(), args.end());
  return find(std::move(key));
}

void Numbers::bind(const Program& p, const Stm& s, Point& at) {
  const auto element = [&](const EIndex& e) -> std::optional<Id> {
    if (at.contains(e.array) || !p.type_of(s.pat[0]).is_scalar()) return std::nullopt;
    Key key = {kElement, e.array.index};
    for (const Dim& d : e.dims) key.push_back(of(std::get<DimFix>(d).index, at));
    return find(std::move(key));
  };
  std::optional<Id> id;
  if (const auto* atom = std::get_if<EAtom>(&s.exp)) {
    id = of(atom->atom, at);
  } else if (const auto* op = std::get_if<EPrim>(&s.exp)) {
    id = prim(*op, at);
  } else if (const auto* index = std::get_if<EIndex>(&s.exp)) {
    id = element(*index);
  }
  if (const auto* check = std::get_if<EAssert>(&s.exp)) id = find({kCheck, of(check->cond, at)});
  if (id) id = checked(*id, s.certs, at);
  for (const VarId v : s.pat) at[v] = id ? *id : fresh();
}

/// Checks that are the same at every point have been made before.
Numbers::Id Numbers::checked(Id id, const std::vector<VarId>& certs, const Point& at) {
  Key key;
  for (const VarId v : certs) {
    if (const auto it = at.find(v); it != at.end()) key.push_back(it->second);
  }
  if (key.empty()) return id;
  std::sort(key.begin(), key.end());
  key.insert(key.begin(), {kChecked, id});
  return find(std::move(key));
}

}  // namespace kenaz::ir
