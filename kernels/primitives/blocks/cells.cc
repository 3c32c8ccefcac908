#include "kernels/primitives/blocks/cells.h"

#include <algorithm>

#include "kernels/primitives/blocks/bits.h"
#include "protocol/base/check.h"

namespace kenaz::primitives::blocks {

using kir::AtomicOp;
using kir::Builder;
using kir::Value;
using kir::Values;

namespace {

// The type in which one atomic operation combines values of this type: wider for small ones.
std::optional<PrimType> atomic_type(const op::Known& row, PrimType type,
                                    const program::Target& target, bool shared) {
  if (row.atomic == AtomicOp::kCas) return std::nullopt;
  PrimType word = type;
  if (!is_float(type) && prim_size(type) < 4) {
    word = prim_kind(type) == PrimKind::kSigned ? PrimType::kI32 : PrimType::kU32;
  }
  if (!op::has_atomic(row, word, target, shared)) return std::nullopt;
  return word;
}

bool by_scalars(const plan::OpFacts& op) {
  return std::all_of(op.known.begin(), op.known.end(), [](const op::Known* r) { return r; });
}

}  // namespace

Cells::Kind Cells::kind(const plan::OpFacts& op, const program::Target& target, bool shared) {
  if (!op.commutative) return Kind::kNone;
  if (by_scalars(op)) {
    bool fits = true;
    for (size_t n = 0; n < op.types.size(); n++) {
      fits = fits && (atomic_type(*op.known[n], op.types[n], target, shared) ||
                      op::has_cas(prim_size(bits_type(op.types[n])), target, shared));
    }
    return fits ? Kind::kScalars : Kind::kNone;
  }
  const int bytes = plan::bytes_of(op.types);
  if (bytes > 8 || !op::has_cas(bytes > 4 ? 8 : 4, target, shared)) return Kind::kNone;
  return Kind::kPacked;
}

bool Cells::in_place(const plan::OpFacts& op, const program::Target& target) {
  const Kind how = kind(op, target, false);
  if (how == Kind::kNone || (how == Kind::kPacked && op.types.size() > 1)) return false;
  return std::all_of(op.types.begin(), op.types.end(),
                     [](PrimType t) { return prim_size(t) >= 4; });
}

bool Cells::native(const plan::OpFacts& op, const program::Target& target, bool shared) {
  if (kind(op, target, shared) != Kind::kScalars) return false;
  for (size_t n = 0; n < op.types.size(); n++) {
    if (!atomic_type(*op.known[n], op.types[n], target, shared)) return false;
  }
  return true;
}

std::vector<PrimType> Cells::words(const plan::OpFacts& op, const program::Target& target,
                                   bool shared) {
  if (kind(op, target, shared) == Kind::kPacked) {
    return {plan::bytes_of(op.types) > 4 ? PrimType::kU64 : PrimType::kU32};
  }
  std::vector<PrimType> out;
  for (size_t n = 0; n < op.types.size(); n++) {
    out.push_back(
        atomic_type(*op.known[n], op.types[n], target, shared).value_or(bits_type(op.types[n])));
  }
  return out;
}

Cells::Cells(plan::Team& team, const plan::Operator& op, bool shared, Bases bases)
    : t_(team),
      op_(op),
      shared_(shared),
      kind_(kind(op.facts, team.target, shared)),
      words_(words(op.facts, team.target, shared)),
      bases_(std::move(bases)) {
  CHECK(kind_ != Kind::kNone && bases_.size() == words_.size());
}

bool Cells::is_native(size_t n) const {
  return atomic_type(*op_.facts.known[n], op_.facts.types[n], t_.target, shared_).has_value();
}

Values Cells::encode(const Values& x) {
  Builder& k = t_.k;
  Values out;
  if (kind_ == Kind::kScalars) {
    for (size_t n = 0; n < x.size(); n++) {
      out.push_back(is_native(n) ? k.convert(x[n], words_[n]) : bits_of(k, x[n]));
    }
    return out;
  }
  Value word = PrimValue{words_[0], 0};
  int shift = 0;
  for (const Value& v : x) {
    const Value bits = k.convert(bits_of(k, v), words_[0]);
    word = k.or_(word, k.shl(bits, PrimValue::of_int(words_[0], shift)));
    shift += 8 * prim_size(v.type.prim);
  }
  return {word};
}

Values Cells::decode(const Values& words) {
  Builder& k = t_.k;
  Values out;
  int shift = 0;
  for (size_t n = 0; n < op_.facts.types.size(); n++) {
    const PrimType type = op_.facts.types[n];
    if (kind_ == Kind::kScalars) {
      out.push_back(is_native(n) ? k.convert(words[n], type) : from_bits(k, words[n], type));
      continue;
    }
    Value bits = k.lshr(words[0], PrimValue::of_int(words_[0], shift));
    if (prim_size(type) < prim_size(words_[0])) {
      const uint64_t mask = (uint64_t{1} << (8 * prim_size(type))) - 1;
      bits = k.and_(bits, PrimValue{words_[0], mask});
    }
    out.push_back(from_bits(k, k.convert(bits, bits_type(type)), type));
    shift += 8 * prim_size(type);
  }
  return out;
}

void Cells::store(const Value& index, const Values& x) {
  const Values w = encode(x);
  for (size_t n = 0; n < w.size(); n++) t_.k.store(kir::Address{bases_[n], index}, w[n]);
}

Values Cells::load(const Value& index) {
  Values w;
  for (size_t n = 0; n < words_.size(); n++) {
    w.push_back(t_.k.load(kir::Type{words_[n]}, {bases_[n], index}));
  }
  return decode(w);
}

void Cells::swap_in(size_t word, const Value& index,
                    const std::function<Value(const Value& old)>& next) {
  Builder& k = t_.k;
  const PrimType type = words_[word];
  const kir::Address at{bases_[word], index};
  const kir::Var seen = k.declare(k.atomic(AtomicOp::kLoad, type, at));
  const kir::Var done = k.declare(kir::boolean(false));
  k.while_([&] { return k.not_(k.read(done)); },
           [&] {
             const Value old = k.read(seen), wanted = next(old);
             k.if_(
                 k.eq(old, wanted), [&] { k.assign(done, kir::boolean(true)); },
                 [&] {
                   const Value found = k.compare_and_swap(type, at, old, wanted);
                   k.assign(done, k.eq(found, old));
                   k.assign(seen, found);
                 });
           });
}

void Cells::update_scalar(size_t n, const Value& index, const Value& x) {
  Builder& k = t_.k;
  const op::Known& row = *op_.facts.known[n];
  const PrimType type = op_.facts.types[n];
  if (is_native(n)) {
    k.atomic(row.atomic, words_[n], {bases_[n], index}, k.convert(x, words_[n]));
    return;
  }
  swap_in(n, index, [&](const Value& old) {
    return bits_of(k, k.prim(row.op, {from_bits(k, old, type), x}));
  });
}

void Cells::update(const Value& index, const Values& x) {
  if (kind_ == Kind::kPacked) {
    swap_in(0, index,
            [&](const Value& old) { return encode(op_.combine(t_.k, decode({old}), x))[0]; });
    return;
  }
  for (size_t n = 0; n < x.size(); n++) update_scalar(n, index, x[n]);
}

}  // namespace kenaz::primitives::blocks
