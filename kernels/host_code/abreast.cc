#include "kernels/host_code/abreast.h"

#include <algorithm>

namespace kenaz::host_code {

using body::Thread;
using kir::Value;

Abreast::Abreast(HostArrays& host, const ir::ESeg& e, int64_t count, Rows rows,
                 std::optional<ir::VarId> walked)
    : host_(host),
      e_(e),
      count_(count),
      rows_(rows),
      offsets_(ir::offsets_of(host.ir(), e, walked)) {}

Operand Abreast::threads() const {
  Operand size = host_.scalar(last().size);
  if (rows_ == Rows::kAny) size = host_.add(size, host_.konst(count_ - 1));
  return host_.emit_op(ScalarOp::kQuot, PrimType::kI64, PrimType::kI64,
                       {size, host_.konst(count_)});
}

Operand Abreast::fits() const {
  if (rows_ == Rows::kAny) return PrimValue::of_bool(true);
  const Operand size = host_.scalar(last().size);
  return host_.emit_op(ScalarOp::kEq, PrimType::kI64, PrimType::kBool,
                       {host_.mul(threads(), host_.konst(count_)), size});
}

void Abreast::points(Thread& t, const Value& column, const Make& make) {
  if (count_ == 1) {
    make(column, 1);
    return;
  }
  const Operand size = host_.scalar(last().size);
  Value most = kir::i64(count_);
  if (rows_ == Rows::kWhole) {
    t.args.set(size, t.k.mul(t.args.operand(threads()), count_));
  } else {
    most = t.k.min(most, t.k.sub(t.args.operand(size), column));
  }
  t.k.if_(
      at_offsets(t, column),
      [&] {
        inside_ = true;
        make(column, count_);
        inside_ = false;
      },
      [&] { t.k.for_(most, [&](const Value& n) { make(t.k.add(column, n), 1); }); });
}

Value Abreast::at_offsets(Thread& t, const Value& column) const {
  int64_t least = 0, most = 0;
  for (const ir::Offset& o : offsets_) {
    least = std::min(least, o.constant);
    most = std::max(most, o.constant);
  }
  kir::Builder& k = t.k;
  Value all = k.and_(k.le(kir::i64(-least), column),
                     k.lt(k.add(column, count_ - 1 + most), t.env.scalar(last().size)));
  for (int64_t n = 0; n < count_; n++) {
    bind(t, column, n);
    for (const ir::Offset& o : offsets_) {
      body::translate(t, o.made);
      const Value there = k.add(column, n + o.constant);
      all = k.and_(all, k.eq(t.env.scalar(ir::Atom(o.index)), there));
    }
  }
  return all;
}

void Abreast::bind(Thread& t, const Value& column, int64_t n) const {
  t.env.bind_param(last().index, t.k.add(column, n));
  if (!inside_) return;
  for (const ir::Offset& o : offsets_) t.env.bind(o.index, t.k.add(column, n + o.constant));
}

void Abreast::translate(Thread& t, const ir::Body& b) const {
  for (const ir::Stm& s : b.stms) {
    if (host_.failed()) return;
    translate(t, s);
  }
}

void Abreast::translate(Thread& t, const ir::Stm& s) const {
  if (inside_ && s.pat.size() == 1) {
    if (offset(ir::Atom(s.pat[0]))) return;
    if (is_known_check(s)) {
      t.env.bind(s.pat[0], kir::boolean(true));
      return;
    }
  }
  body::translate(t, s);
}

std::optional<int64_t> Abreast::offset(const ir::Atom& index) const {
  if (index == ir::Atom(last().index)) return 0;
  for (const ir::Offset& o : offsets_) {
    if (index == ir::Atom(o.index)) return o.constant;
  }
  return {};
}

/// Whether it looks if an index is in the last dim.
bool Abreast::is_known_check(const ir::Stm& s) const {
  const auto* e = std::get_if<ir::EPrim>(&s.exp);
  if (e == nullptr || e->type != PrimType::kI64) return false;
  if (e->op == ScalarOp::kLt) return offset(e->args[0]) && e->args[1] == last().size;
  return e->op == ScalarOp::kLe && e->args[0] == ir::Atom(PrimValue::i64(0)) && offset(e->args[1]);
}

}  // namespace kenaz::host_code
