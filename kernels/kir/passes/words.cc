#include "kernels/kir/passes/words.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

constexpr int kBits = 32;

Value u32(uint64_t n) { return PrimValue{PrimType::kU32, n}; }

/// (word >> shift) & mask
struct Field {
  Value word;
  int shift = 0;
  uint32_t mask = 0;
};

/// How values are used, and by what that takes lanes of words.
class Uses {
 public:
  explicit Uses(const Kernel& k) : all_(k.vals.size()), wanted_(k.vals.size()) {
    const auto use = [&](const Value& v) {
      if (!v.is_const()) all_[v.id().index]++;
    };
    for_each_inst_of(k, [&](const Inst& i) {
      visit_operands(i.op, use);
      visit_end_operands(i.op, use);
      if (const auto* extract = std::get_if<IExtract>(&i.op)) {
        wanted_[extract->vector.id().index]++;
        lanes_[extract->vector.id().index].push_back(extract->dst);
      }
      const auto* prim = std::get_if<IPrim>(&i.op);
      if (prim != nullptr && prim->op == ScalarOp::kConvert && is_integer(prim->to) &&
          prim_bits(prim->to) >= kBits && !prim->args[0].is_const()) {
        wanted_[prim->args[0].id().index]++;
      }
    });
    for (const Function& f : k.functions) {
      for (const Value& v : f.results) use(v);
    }
  }

  /// Whether all uses of a loaded vector take lanes, and make wider numbers of them.
  bool take_lanes(ValId vector) const {
    const auto it = lanes_.find(vector.index);
    if (it == lanes_.end() || all_[vector.index] != wanted_[vector.index]) return false;
    for (const ValId lane : it->second) {
      if (all_[lane.index] != wanted_[lane.index]) return false;
    }
    return true;
  }

 private:
  std::vector<int> all_, wanted_;  // by ValId
  std::unordered_map<uint32_t, std::vector<ValId>> lanes_;
};

class WordsPass {
 public:
  explicit WordsPass(Kernel& k) : k_(k), uses_(k) {
    for_each_inst_of(k, [&](const Inst& i) {
      if (const auto* prim = std::get_if<IPrim>(&i.op)) prims_.emplace(prim->dst.index, *prim);
      if (const auto* all = std::get_if<ICompose>(&i.op)) {
        composed_.emplace(all->dst.index, all->lanes);
      }
    });
  }

  void block(Block& b) {
    std::vector<Inst> out;
    for (Inst& i : b.insts) {
      visit_blocks(i.op, [&](Block& inner) { block(inner); });
      out_ = &out;
      prov_ = i.prov;
      if (!inst(i)) out.push_back(std::move(i));
    }
    b.insts = std::move(out);
  }

 private:
  /// Whether others stand in its place.
  bool inst(const Inst& i) {
    if (const auto* load = std::get_if<ILoad>(&i.op)) return load_word(*load);
    if (const auto* store = std::get_if<IStore>(&i.op)) return store_word(*store);
    if (const auto* extract = std::get_if<IExtract>(&i.op)) return lane(*extract);
    const auto* prim = std::get_if<IPrim>(&i.op);
    if (prim == nullptr) return false;
    if (prim->op == ScalarOp::kConvert) return widened(*prim);
    if (prim->type != PrimType::kU32) return false;
    if (prim->op == ScalarOp::kShl && prim->args[1].is_const()) note_shifted(*prim);
    return prim->op == ScalarOp::kOr && joined(*prim);
  }

  static bool is_word(const Type& t, const Address& a, Order order) {
    return order == Order::kPlain && std::holds_alternative<Value>(a.base) && t.lanes > 1 &&
           size_of(t) * 8 == kBits && prim_kind(t.prim) == PrimKind::kUnsigned;
  }
  /// Of a word at the place of a vector.
  Address address(const Address& a, PrimType lane) {
    Value index = a.index;
    if (index.type.prim != PrimType::kI64) {
      index = prim(ScalarOp::kConvert, index.type.prim, PrimType::kI64, {index});
    }
    if (const int size = prim_size(lane); size > 1) {
      index = prim(ScalarOp::kMul, PrimType::kI64, PrimType::kI64, {index, i64(size)});
    }
    const Value offset = prim(ScalarOp::kConvert, PrimType::kI64, PrimType::kU64, {index});
    return {prim(ScalarOp::kAdd, PrimType::kU64, PrimType::kU64, {std::get<Value>(a.base), offset}),
            i64(0)};
  }
  bool load_word(const ILoad& load) {
    if (!is_word(load.type, load.from, load.order) || !uses_.take_lanes(load.dst)) return false;
    const Address from = address(load.from, load.type.prim);
    const Type type{PrimType::kU32, 1};
    const ValId word = k_.new_val(type);
    put(ILoad{word, type, from, Order::kPlain});
    words_.emplace(load.dst.index, Value(type, word));
    return true;
  }

  // ---- stores

  /// Lanes that are cut from numbers of 32 bits become parts of a word; those that are cut from one
  /// number at their distance, by one mask.
  bool store_word(const IStore& store) {
    const Type& t = store.value.type;
    if (!is_word(t, store.to, store.order)) return false;
    const auto it = composed_.find(store.value.id().index);
    if (it == composed_.end()) return false;
    const int bits = prim_bits(t.prim);
    const uint32_t ones = (uint32_t{1} << bits) - 1;
    struct Part {
      Value word;
      int shift;  // to the right
      uint32_t mask;
    };
    std::vector<Part> parts;
    for (size_t n = 0; n < it->second.size(); n++) {
      const auto cut = cut_from(it->second[n]);
      if (!cut) return false;
      const int place = bits * static_cast<int>(n), shift = cut->shift - place;
      const uint32_t mask = (cut->mask & ones) << place;
      const auto same = std::find_if(parts.begin(), parts.end(), [&](const Part& p) {
        return p.word == cut->word && p.shift == shift;
      });
      if (same != parts.end()) {
        same->mask |= mask;
      } else {
        parts.push_back({cut->word, shift, mask});
      }
    }
    std::optional<Value> all;
    for (const Part& p : parts) {
      const PrimType u = PrimType::kU32;
      Value v = p.word;
      if (v.type.prim != u) v = prim(ScalarOp::kConvert, v.type.prim, u, {v});
      if (p.shift > 0) v = prim(ScalarOp::kLShr, u, u, {v, u32(p.shift)});
      if (p.shift < 0) v = prim(ScalarOp::kShl, u, u, {v, u32(-p.shift)});
      v = prim(ScalarOp::kAnd, u, u, {v, u32(p.mask)});
      all = all ? prim(ScalarOp::kOr, u, u, {*all, v}) : v;
    }
    put(IStore{address(store.to, t.prim), *all, Order::kPlain});
    return true;
  }
  /// What a lane is a conversion of, as a field of a number of 32 bits.
  std::optional<Field> cut_from(const Value& lane) const {
    const IPrim* i = made_by(lane);
    if (i == nullptr || i->op != ScalarOp::kConvert || !is_integer(i->type)) return {};
    if (prim_bits(i->type) != kBits || i->args[0].is_const()) return {};
    return field(i->args[0]);
  }
  /// A number of 32 bits that is no constant, as a field of what it was shifted and masked from.
  Field field(const Value& v) const {
    const Field itself{v, 0, UINT32_MAX};
    const IPrim* i = made_by(v);
    if (i == nullptr || i->args[0].is_const() || !is_integer(i->type)) return itself;
    if (prim_bits(i->type) != kBits || i->args.size() > 2) return itself;
    Field f = field(i->args[0]);
    if (i->op == ScalarOp::kConvert) return f;
    if (i->args.size() != 2 || !i->args[1].is_const()) return itself;
    const auto by = static_cast<uint32_t>(i->args[1].constant().bits);
    const bool positive = f.mask >> (kBits - 1) == 0 || prim_kind(i->type) == PrimKind::kUnsigned;
    int shift = -1;
    switch (i->op) {
      case ScalarOp::kAnd: f.mask &= by; return f;
      case ScalarOp::kLShr: shift = static_cast<int>(by % kBits); break;
      case ScalarOp::kShr:
        if (positive) shift = static_cast<int>(by % kBits);
        break;
      case ScalarOp::kQuot:
      case ScalarOp::kDiv:
        if (positive && std::has_single_bit(by) && by >> (kBits - 1) == 0) {
          shift = std::countr_zero(by);
        }
        break;
      default: break;
    }
    if (shift < 0 || f.shift + shift >= kBits) return itself;
    return {f.word, f.shift + shift, f.mask >> shift};
  }
  const IPrim* made_by(const Value& v) const {
    if (v.is_const()) return nullptr;
    const auto it = prims_.find(v.id().index);
    return it == prims_.end() ? nullptr : &it->second;
  }

  // ---- lanes of loaded words

  bool lane(const IExtract& i) {
    const auto it = words_.find(i.vector.id().index);
    if (it == words_.end()) return false;
    const int bits = prim_bits(i.vector.type.prim);
    fields_[i.dst.index] = {it->second, bits * i.lane, (uint32_t{1} << bits) - 1};
    return true;
  }
  bool widened(const IPrim& i) {
    const auto field = field_of(i.args[0]);
    if (!field || prim_bits(i.type) >= kBits) return false;
    if (i.to == PrimType::kU32) return make(i.dst, *field);
    const ValId wide = k_.new_val({PrimType::kU32, 1});
    make(wide, *field);
    put(IPrim{i.dst, ScalarOp::kConvert, PrimType::kU32, i.to, {Value({PrimType::kU32, 1}, wide)}});
    return true;
  }
  void note_shifted(const IPrim& i) {
    const auto field = field_of(i.args[0]);
    const uint64_t by = i.args[1].constant().bits;
    if (field && by < kBits) shifted_[i.dst.index] = {*field, static_cast<int>(by)};
  }
  bool joined(const IPrim& i) {
    for (const size_t n : {size_t{0}, size_t{1}}) {
      const auto low = field_of(i.args[n]);
      const Value& other = i.args[1 - n];
      if (!low || other.is_const()) continue;
      const auto it = shifted_.find(other.id().index);
      if (it == shifted_.end()) continue;
      const auto& [high, by] = it->second;
      if (high.word == low->word && high.shift == low->shift + by) {
        return make(i.dst, {low->word, low->shift, low->mask | high.mask << by});
      }
    }
    return false;
  }

  std::optional<Field> field_of(const Value& v) const {
    if (v.is_const()) return {};
    const auto it = fields_.find(v.id().index);
    if (it == fields_.end()) return {};
    return it->second;
  }
  bool make(ValId dst, const Field& f) {
    const PrimType t = PrimType::kU32;
    fields_[dst.index] = f;
    const bool all = f.mask == UINT32_MAX >> f.shift;
    Value from = f.word;
    if (f.shift > 0 && !all) from = prim(ScalarOp::kLShr, t, t, {from, u32(f.shift)});
    if (all) {
      put(IPrim{dst, ScalarOp::kLShr, t, t, {from, u32(f.shift)}});
    } else {
      put(IPrim{dst, ScalarOp::kAnd, t, t, {from, u32(f.mask)}});
    }
    return true;
  }
  Value prim(ScalarOp op, PrimType type, PrimType to, std::vector<Value> args) {
    const Type result{scalar_op_result(op, type, to), 1};
    const ValId dst = k_.new_val(result);
    put(IPrim{dst, op, type, to, std::move(args)});
    return {result, dst};
  }
  template <class Op>
  void put(Op op) {
    out_->push_back({std::move(op), prov_});
  }

  Kernel& k_;
  const Uses uses_;
  std::unordered_map<uint32_t, IPrim> prims_;  // as they were
  std::unordered_map<uint32_t, std::vector<Value>> composed_;
  std::vector<Inst>* out_ = nullptr;
  ir::ProvId prov_;
  std::unordered_map<uint32_t, Value> words_;  // by the vector that was to be loaded
  std::unordered_map<uint32_t, Field> fields_;
  std::unordered_map<uint32_t, std::pair<Field, int>> shifted_;  // to the left
};

}  // namespace

void words(Kernel& kernel) {
  WordsPass pass(kernel);
  for_each_body(kernel, [&](Block& b) { pass.block(b); });
}

}  // namespace kenaz::kir
