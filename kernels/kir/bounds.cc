#include "kernels/kir/bounds.h"

#include <algorithm>

#include "kernels/kir/visit.h"
#include "protocol/base/overloaded.h"

namespace kenaz::kir {

using Range = Bounds::Range;

namespace {

/// What fits the type; what does not may have wrapped.
std::optional<Range> within(PrimType type, Range r) {
  const bool is_signed = prim_kind(type) == PrimKind::kSigned;
  const int bits = prim_bits(type) - (is_signed ? 1 : 0);
  const int64_t most = bits >= 63 ? INT64_MAX : (int64_t{1} << bits) - 1;
  const int64_t least = is_signed ? -most - 1 : 0;
  if (r.least < least || r.most > most) return std::nullopt;
  return r;
}

}  // namespace

Bounds::Bounds(const Kernel& kernel, Launch launch) : vals_(kernel.vals.size()) {
  for (const Spec& s : kernel.specs) {
    if (launch == Launch::kUsual) vals_[s.val.index] = of(s.fallback);
  }
  const StaticSize size = kernel.group_size;
  const auto factor =
      size.spec < 0 ? std::optional(Range{1, 1}) : vals_[kernel.specs[size.spec].val.index];
  if (factor) most_threads_ = std::min(most_threads_, size.constant * factor->most);
  for_each_inst_of(kernel, [&](const Inst& i) { note(i); });
}

std::optional<Range> Bounds::of(const Value& v) const {
  if (!v.is_const()) return vals_[v.id().index];
  const PrimValue& c = v.constant();
  if (!is_integer(c.type)) return std::nullopt;
  const int64_t n = c.as_i64();
  if (n < 0 && prim_kind(c.type) == PrimKind::kUnsigned) return std::nullopt;
  return Range{n, n};
}

void Bounds::note(const Inst& inst) {
  std::visit(Overloaded{
                 [&](const IPrim& i) { vals_[i.dst.index] = of(i); },
                 [&](const IBuiltin& i) { vals_[i.dst.index] = of(i.kind); },
                 [&](const IFor& i) {
                   const auto from = of(i.from), to = of(i.to);
                   if (from && to && to->most > INT64_MIN) {
                     vals_[i.index.index] = Range{from->least, to->most - 1};
                   }
                 },
                 [](const auto&) {},
             },
             inst.op);
}

Range Bounds::of(BuiltinKind kind) const {
  switch (kind) {
    case BuiltinKind::kGroup: return {0, INT64_MAX - 1};
    case BuiltinKind::kGroups: return {0, INT64_MAX};
    case BuiltinKind::kGroupSize: return {1, most_threads_};
    case BuiltinKind::kLocal: return {0, most_threads_ - 1};
    default: return {0, INT32_MAX};
  }
}

std::optional<Range> Bounds::of(const IPrim& i) const {
  const PrimType type = result_type(i);
  if (!is_integer(i.type) || !is_integer(type) || i.form != Form::kWhole) return std::nullopt;
  const bool is_sum = i.op == ScalarOp::kAdd, is_difference = i.op == ScalarOp::kSub;
  if (!is_sum && !is_difference && i.op != ScalarOp::kConvert) return std::nullopt;
  const auto a = of(i.args[0]);
  if (!a || i.op == ScalarOp::kConvert) return a ? within(type, *a) : a;
  const auto b = of(i.args[1]);
  if (!b) return b;
  Range r;
  const bool wraps = is_sum ? __builtin_add_overflow(a->least, b->least, &r.least) ||
                                  __builtin_add_overflow(a->most, b->most, &r.most)
                            : __builtin_sub_overflow(a->least, b->most, &r.least) ||
                                  __builtin_sub_overflow(a->most, b->least, &r.most);
  return wraps ? std::nullopt : within(type, r);
}

}  // namespace kenaz::kir
