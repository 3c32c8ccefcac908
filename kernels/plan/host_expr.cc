#include "kernels/plan/host_expr.h"

#include <utility>

#include "protocol/base/check.h"

namespace kenaz::plan {

struct HostExpr::Node {
  Leaf leaf = Leaf::kNone;
  PrimValue constant;
  int number = 0;
  ScalarOp op = ScalarOp::kAdd;
  std::vector<HostExpr> args;
};

HostExpr::HostExpr(int64_t constant)
    : node_(std::make_shared<Node>(Node{Leaf::kConstant, PrimValue::i64(constant), 0, {}, {}})) {}
HostExpr HostExpr::boolean(bool b) {
  return HostExpr(std::make_shared<Node>(Node{Leaf::kConstant, PrimValue::of_bool(b), 0, {}, {}}));
}
HostExpr HostExpr::size(int number) {
  return HostExpr(std::make_shared<Node>(Node{Leaf::kSize, {}, number, {}, {}}));
}
HostExpr HostExpr::spec(int number) {
  return HostExpr(std::make_shared<Node>(Node{Leaf::kSpec, {}, number, {}, {}}));
}
HostExpr HostExpr::op(ScalarOp op, std::vector<HostExpr> args) {
  bool known = true;
  for (const HostExpr& a : args) known = known && a.is_const();
  HostExpr e(std::make_shared<Node>(Node{Leaf::kNone, {}, 0, op, std::move(args)}));
  if (!known) return e;
  return HostExpr(std::make_shared<Node>(Node{Leaf::kConstant, e.value({}, {}), 0, {}, {}}));
}

HostExpr::Leaf HostExpr::leaf() const { return node_->leaf; }
PrimValue HostExpr::constant() const { return node_->constant; }
int HostExpr::number() const { return node_->number; }
ScalarOp HostExpr::operation() const { return node_->op; }
PrimType HostExpr::operand_type() const {
  return node_->op == ScalarOp::kAnd || node_->op == ScalarOp::kOr ? PrimType::kBool
                                                                   : PrimType::kI64;
}
std::span<const HostExpr> HostExpr::args() const { return node_->args; }

bool operator==(const HostExpr& a, const HostExpr& b) {
  const HostExpr::Node &x = *a.node_, &y = *b.node_;
  return &x == &y || (x.leaf == y.leaf && x.constant == y.constant && x.number == y.number &&
                      x.op == y.op && x.args == y.args);
}

PrimValue HostExpr::value(std::span<const int64_t> sizes, std::span<const int64_t> specs) const {
  switch (node_->leaf) {
    case Leaf::kConstant: return node_->constant;
    case Leaf::kSize: return PrimValue::i64(sizes[static_cast<size_t>(node_->number)]);
    case Leaf::kSpec: return PrimValue::i64(specs[static_cast<size_t>(node_->number)]);
    case Leaf::kNone: break;
  }
  std::vector<PrimValue> args;
  for (const HostExpr& a : node_->args) args.push_back(a.value(sizes, specs));
  return eval_scalar(node_->op, operand_type(), operand_type(), args);
}

int64_t HostExpr::evaluate(std::span<const int64_t> sizes, std::span<const int64_t> specs) const {
  const PrimValue v = value(sizes, specs);
  return static_cast<int64_t>(v.bits);
}

HostExpr operator+(const HostExpr& a, const HostExpr& b) {
  if (a.is(0)) return b;
  return b.is(0) ? a : HostExpr::op(ScalarOp::kAdd, {a, b});
}
HostExpr operator-(const HostExpr& a, const HostExpr& b) {
  return b.is(0) ? a : HostExpr::op(ScalarOp::kSub, {a, b});
}
HostExpr operator*(const HostExpr& a, const HostExpr& b) {
  if (a.is(1)) return b;
  return b.is(1) ? a : HostExpr::op(ScalarOp::kMul, {a, b});
}
HostExpr div_up(const HostExpr& a, const HostExpr& b) {
  if (b.is(1)) return a;
  // (a - 1) / b is 0 for a = 0 when rounded towards zero, so that case is apart.
  const HostExpr positive = HostExpr::op(ScalarOp::kQuot, {a - 1, b}) + 1;
  return min(a, positive);
}
HostExpr min(const HostExpr& a, const HostExpr& b) { return HostExpr::op(ScalarOp::kMin, {a, b}); }
HostExpr max(const HostExpr& a, const HostExpr& b) { return HostExpr::op(ScalarOp::kMax, {a, b}); }
HostExpr le(const HostExpr& a, const HostExpr& b) { return HostExpr::op(ScalarOp::kLe, {a, b}); }
HostExpr lt(const HostExpr& a, const HostExpr& b) { return HostExpr::op(ScalarOp::kLt, {a, b}); }
HostExpr and_(const HostExpr& a, const HostExpr& b) {
  if (a.is_true() || b.is_false()) return b;
  return b.is_true() || a.is_false() ? a : HostExpr::op(ScalarOp::kAnd, {a, b});
}
HostExpr or_(const HostExpr& a, const HostExpr& b) {
  if (a.is_false() || b.is_true()) return b;
  return b.is_false() || a.is_true() ? a : HostExpr::op(ScalarOp::kOr, {a, b});
}

}  // namespace kenaz::plan
