// Making checked expressions.
#include <fmt/format.h>

#include "kernels/mfg/check/checker.h"
#include "protocol/base/check.h"

namespace kenaz::mfg {

CExpPtr Checker::make(Type type, const SourceRange& range, decltype(CExp::node) node) {
  constexpr size_t kMaxSize = 400'000;
  if (++size_ > kMaxSize) {
    reject(range, "The program becomes too large when its functions are inlined.");
  }
  return std::make_shared<const CExp>(CExp{std::move(type), range, std::move(node)});
}

CExpPtr Checker::constant(PrimValue v, const SourceRange& range) {
  return make(Type::scalar(v.type), range, CConst{v});
}

CExpPtr Checker::var(VarId v, const SourceRange& range) {
  return make(out_.vars[v.index].type, range, CVar{v});
}

CExpPtr Checker::bind(CExpPtr e) {
  if (std::holds_alternative<CVar>(e->node) || std::holds_alternative<CConst>(e->node)) return e;
  const VarId v = new_var("t", e->type);
  const SourceRange range = e->range;
  lets_.emplace(v.index, e);
  emit(range, CLet{v, std::move(e)});
  return var(v, range);
}

CExpPtr Checker::pick(const CExpPtr& e, std::vector<int> indices, const SourceRange& range) {
  Type t;
  t.tuple = indices.size() > 1;
  for (const int k : indices) t.elems.push_back(e->type.elems[static_cast<size_t>(k)]);
  return make(std::move(t), range, CPick{e, std::move(indices)});
}

CExpPtr Checker::component(const CExpPtr& e, size_t k) {
  return e->type.tuple ? pick(e, {static_cast<int>(k)}, e->range) : e;
}

CExpPtr Checker::convert(CExpPtr e, const Type& to) {
  if (e->type == to) return e;
  CHECK(e->type.size() == to.size());
  const SourceRange range = e->range;
  return make(to, range, CConvert{std::move(e)});
}

CExpPtr Checker::tuple(std::vector<CExpPtr> parts, const SourceRange& range) {
  Type t;
  t.tuple = true;
  for (const CExpPtr& p : parts) {
    t.elems.insert(t.elems.end(), p->type.elems.begin(), p->type.elems.end());
  }
  constexpr size_t kMost = 256;
  if (t.elems.size() > kMost) reject(range, "A tuple has at most 256 components.");
  return make(std::move(t), range, CTuple{std::move(parts)});
}

CExpPtr Checker::prim(ScalarOp op, std::vector<CExpPtr> args, const SourceRange& range) {
  Type t = args[0]->type;
  for (const CExpPtr& a : args) {
    if (a->type.tuple) t = a->type;
  }
  for (PrimType& elem : t.elems) {
    CHECK(scalar_op_accepts(op, elem));
    const PrimType result = scalar_op_result(op, elem, elem);
    elem = result == PrimType::kBool ? PrimType::kI32 : result;
  }
  return make(std::move(t), range, CPrim{op, std::move(args)});
}

CExpPtr Checker::select(CExpPtr cond, CExpPtr a, CExpPtr b, const SourceRange& range) {
  const Type t = a->type;
  return make(t, range, CSelect{std::move(cond), std::move(a), std::move(b)});
}

CExpPtr Checker::logic(ScalarOp op, std::vector<CExpPtr> args, const SourceRange& range) {
  size_t n = 1;
  bool is_tuple = false;
  for (const CExpPtr& a : args) {
    n = std::max(n, a->type.size());
    is_tuple = is_tuple || a->type.tuple;
  }
  Type t = Type::vector(PrimType::kI32, static_cast<int>(n));
  t.tuple = is_tuple;
  return make(std::move(t), range, CLogic{op, std::move(args)});
}

std::optional<PrimValue> Checker::known(const CExpPtr& e) const {
  if (e->type.tuple) return std::nullopt;
  if (const auto* c = std::get_if<CConst>(&e->node)) return c->value;
  if (const auto* v = std::get_if<CVar>(&e->node)) {
    const auto let = lets_.find(v->var.index);
    return let == lets_.end() ? std::nullopt : known(let->second);
  }
  if (const auto* c = std::get_if<CConvert>(&e->node)) {
    const auto value = known(c->value);
    if (!value || !is_integer(value->type) || !is_integer(e->type.prim())) return std::nullopt;
    return eval_scalar(ScalarOp::kConvert, value->type, e->type.prim(), std::span(&*value, 1));
  }
  const auto* p = std::get_if<CPrim>(&e->node);
  if (p == nullptr) return std::nullopt;
  std::vector<PrimValue> args;
  for (const CExpPtr& a : p->args) {
    const auto value = known(a);
    if (!value) return std::nullopt;
    args.push_back(*value);
  }
  const PrimValue v = eval_scalar(p->op, args[0].type, args[0].type, args);
  return v.type == PrimType::kBool ? PrimValue::i32(v.as_bool() ? 1 : 0) : v;
}

}  // namespace kenaz::mfg
