#include "kernels/passes/sort_key.h"

#include <algorithm>

namespace kenaz::passes {

using namespace ir;

namespace {

constexpr int kMostBits = 64;

uint64_t ones(int n) { return n >= kMostBits ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

int log2(uint64_t n) {
  int bits = 0;
  while ((uint64_t{1} << bits) < n) ++bits;
  return bits;
}

int size_in_bits(PrimType t) { return 8 * static_cast<int>(prim_size(t)); }

PrimType word_of(int bits) {
  if (bits <= 8) return PrimType::kU8;
  if (bits <= 16) return PrimType::kU16;
  return bits <= 32 ? PrimType::kU32 : PrimType::kU64;
}

PrimValue bits_as(PrimType type, uint64_t bits) {
  return PrimValue::of_int(type, static_cast<int64_t>(bits));
}

}  // namespace

bool SortKey::add(const Classes& classes) {
  const int bits = log2(static_cast<uint64_t>(classes.count()));
  if (bits_ + bits > kMostBits) return false;
  if (!add_bits(classes, bits)) others_.push_back({classes, bits_});
  bits_ += bits;
  return true;
}

bool SortKey::add_bits(const Classes& classes, int bits) {
  // The number of a class is that of a value; a value has those of all deciders side by side, the
  // last one's lowest.
  std::vector<Bit> from;
  const auto& deciders = classes.deciders();
  for (size_t k = deciders.size(); k-- > 0;) {
    const auto of = bits_of(deciders[k]);
    if (!of) return false;
    from.insert(from.end(), of->begin(), of->end());
  }
  const auto& of_value = classes.classes();
  const int none = of_value[0];
  for (size_t v = 0; v < of_value.size(); ++v) {
    int made = none;
    for (size_t k = 0; k < from.size(); ++k) {
      if ((v >> k & 1) != 0) made ^= of_value[size_t{1} << k] ^ none;
    }
    if (made != of_value[v]) return false;
  }
  ones_ |= static_cast<uint64_t>(none) << bits_;
  for (size_t k = 0; k < from.size(); ++k) {
    const int inverted = of_value[size_t{1} << k] ^ none;
    // Two deciders may be the same bit.
    inverts_[from[k]] ^= (static_cast<uint64_t>(inverted) & ones(bits)) << bits_;
  }
  return true;
}

std::optional<std::vector<SortKey::Bit>> SortKey::bits_of(const Decider& d) const {
  const auto* mask = std::get_if<TermPrim>(&terms_.at(d.term));
  if (mask == nullptr || mask->op != ScalarOp::kAnd || !is_integer(mask->type)) return {};
  const bool first = std::holds_alternative<PrimValue>(terms_.at(mask->args[0]));
  TermId t = mask->args[first ? 1 : 0];
  const int bits = log2(d.values);
  int at = 0;
  // Shifts and conversions between integers leave these bits, or move them.
  while (const auto* e = std::get_if<TermPrim>(&terms_.at(t))) {
    if (!is_integer(e->type)) break;
    int64_t by = 0;
    if (e->op == ScalarOp::kShr || e->op == ScalarOp::kLShr) {
      const auto* amount = std::get_if<PrimValue>(&terms_.at(e->args[1]));
      by = amount == nullptr ? -1 : amount->as_i64();
    } else if (e->op != ScalarOp::kConvert || !is_integer(e->to)) {
      break;
    }
    if (by < 0 || by > kMostBits || at + by + bits > size_in_bits(e->type)) break;
    at += static_cast<int>(by);
    t = e->args[0];
  }
  const PrimType type = terms_.type_of(t);
  if (!is_integer(type) || at + bits > size_in_bits(type)) return {};
  std::vector<Bit> out;
  for (int k = 0; k < bits; ++k) out.push_back({t, at + k});
  return out;
}

PrimType SortKey::type() const { return word_of(bits_); }

/// Most bits of a word go to one place each, all as far from their own; others invert many.
std::map<TermId, SortKey::Share> SortKey::shares() const {
  std::map<TermId, std::map<int, int>> votes;
  for (const auto& [bit, key] : inverts_) {
    for (int k = 0; k < bits_; ++k) {
      if ((key >> k & 1) != 0) votes[bit.word][k - bit.at]++;
    }
  }
  std::map<TermId, Share> out;
  for (const auto& [bit, key] : inverts_) {
    uint64_t left = key;
    std::optional<int> shift;
    int most = 0;
    for (const auto& [by, count] : votes[bit.word]) {
      const int to = bit.at + by;
      if (to < 0 || to >= bits_ || (key >> to & 1) == 0 || count <= most) continue;
      shift = by;
      most = count;
    }
    Share& share = out[bit.word];
    if (shift) {
      share.shifted[*shift] |= uint64_t{1} << bit.at;
      left &= ~(uint64_t{1} << (bit.at + *shift));
    }
    if (left != 0) share.spread[bit.at] = left;
  }
  return out;
}

std::optional<TermId> SortKey::word() const {
  const auto all = shares();
  if (all.size() != 1 || !others_.empty() || ones_ != 0) return {};
  const auto& [word, share] = *all.begin();
  const bool as_it_is = share.spread.empty() && share.shifted.size() == 1 &&
                        share.shifted.begin()->first == 0 &&
                        share.shifted.begin()->second == ones(bits_);
  if (!as_it_is || size_in_bits(terms_.type_of(word)) != bits_) return {};
  return word;
}

bool SortKey::needs(Emitter& emitter) const {
  return std::all_of(inverts_.begin(), inverts_.end(),
                     [&](const auto& b) { return emitter.needs(b.first.word); }) &&
         std::all_of(others_.begin(), others_.end(), [&](const Turn& turn) {
           const auto& deciders = turn.classes.deciders();
           return std::all_of(deciders.begin(), deciders.end(),
                              [&](const Decider& d) { return emitter.needs(d.term); });
         });
}

Atom SortKey::emit(Builder& b, const std::vector<VarId>& params, Emitter& emitter) const {
  std::optional<Atom> made;
  const auto add = [&](const Atom& part) {
    made =
        made ? b.prim(ScalarOp::kXor, {*made, b.convert(part, type())}) : b.convert(part, type());
  };
  for (const auto& [word, share] : shares()) {
    const int size = std::max(size_in_bits(terms_.type_of(word)), size_in_bits(type()));
    const PrimType in = word_of(size);
    const Atom all = b.convert(emitter.emit(b, params, word), in);
    for (const auto& [by, bits] : share.shifted) {
      Atom part = all;
      if (bits != ones(size)) part = b.prim(ScalarOp::kAnd, {part, bits_as(in, bits)});
      if (by > 0) part = b.prim(ScalarOp::kShl, {part, bits_as(in, static_cast<uint64_t>(by))});
      if (by < 0) part = b.prim(ScalarOp::kLShr, {part, bits_as(in, static_cast<uint64_t>(-by))});
      add(part);
    }
    for (const auto& [at, bits] : share.spread) {
      const Atom low = b.prim(ScalarOp::kLShr, {all, bits_as(in, static_cast<uint64_t>(at))});
      const Atom set = b.prim(ScalarOp::kAnd, {low, bits_as(in, 1)});
      const Atom everywhere = b.prim(ScalarOp::kSub, {bits_as(in, 0), set});
      add(b.prim(ScalarOp::kAnd, {everywhere, bits_as(in, bits)}));
    }
  }
  for (const Turn& turn : others_) {
    const Atom number = class_of(b, params, turn.classes, emitter, type());
    add(b.prim(ScalarOp::kShl, {number, bits_as(type(), static_cast<uint64_t>(turn.at))}));
  }
  if (ones_ != 0 || !made) add(bits_as(type(), ones_));
  return *made;
}

}  // namespace kenaz::passes
