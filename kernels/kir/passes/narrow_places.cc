#include "kernels/kir/passes/narrow_places.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include "kernels/kir/passes/dead_code.h"
#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

/// So far from a place computed by 32 bits an access may be: what is added at last costs nothing,
/// as instructions that access memory have room for it.
constexpr int64_t kMostOffset = int64_t{1} << 20;
/// A place less an offset fits 32 bits then, with its sign.
constexpr int64_t kMostElements = (int64_t{1} << 31) - kMostOffset;

bool is_offset(int64_t offset) { return -kMostOffset < offset && offset < kMostOffset; }

/// What is computed of a value's low 32 bits: `base`, of them, and then `offset`. V: what stands
/// for a value of 32 bits.
template <class V>
struct Low {
  std::optional<V> base;  // none: 0
  int64_t offset = 0;
};

template <class Maker, class V>
V whole(const Low<V>& l, Maker& make) {
  if (!l.base) return make.number(l.offset);
  return l.offset == 0 ? *l.base : make.compute(ScalarOp::kAdd, *l.base, make.number(l.offset));
}

/// Of a sum, a difference or a product.
template <class Maker, class V>
Low<V> combine(ScalarOp op, const Low<V>& a, const Low<V>& b, Maker& make) {
  if (is_offset(a.offset) && is_offset(b.offset)) {
    if (op == ScalarOp::kMul && a.base.has_value() != b.base.has_value()) {
      const Low<V>&factor = a.base ? b : a, &other = a.base ? a : b;
      const int64_t offset = factor.offset * other.offset;
      if (is_offset(offset)) {
        return {make.compute(op, *other.base, make.number(factor.offset)), offset};
      }
    } else if (op == ScalarOp::kAdd || (op == ScalarOp::kSub && a.base)) {
      const int64_t offset = op == ScalarOp::kAdd ? a.offset + b.offset : a.offset - b.offset;
      if (is_offset(offset)) {
        if (a.base && b.base) return {make.compute(op, *a.base, *b.base), offset};
        return {a.base ? a.base : b.base, offset};
      }
    }
  }
  return {make.compute(op, whole(a, make), whole(b, make)), 0};
}

/// Names for values of 32 bits: the same for what is computed the same way.
class Names {
 public:
  uint32_t number(int64_t n) { return name(Number{n}); }
  uint32_t low_half(uint32_t wide) { return name(LowHalf{wide}); }
  uint32_t compute(ScalarOp op, uint32_t a, uint32_t b) { return name(Computed{op, a, b}); }
  bool is_computed(uint32_t name) const { return computed_[name]; }

 private:
  using Number = std::tuple<int64_t>;
  using LowHalf = std::tuple<uint32_t>;
  using Computed = std::tuple<ScalarOp, uint32_t, uint32_t>;
  using Key = std::variant<Number, LowHalf, Computed>;

  uint32_t name(const Key& key) {
    const auto [it, fresh] = names_.emplace(key, static_cast<uint32_t>(computed_.size()));
    if (fresh) computed_.push_back(std::holds_alternative<Computed>(key));
    return it->second;
  }

  std::map<Key, uint32_t> names_;
  std::vector<bool> computed_;  // by name
};

bool is_loop(const Inst& inst) {
  return std::holds_alternative<IFor>(inst.op) || std::holds_alternative<IWhile>(inst.op);
}

/// Whether there are no loops in it.
bool is_innermost(const IFor& loop) {
  bool out = true;
  for_each_inst(loop.body, [&](const Inst& inner) { out = out && !is_loop(inner); });
  return out;
}

/// Where the instruction accesses device memory, if it does so by 64 bits.
template <class O>
Address* place_of(O& op) {
  Address* a = nullptr;
  if (auto* i = std::get_if<ILoad>(&op)) a = &i->from;
  if (auto* i = std::get_if<IStore>(&op)) a = &i->to;
  if (auto* i = std::get_if<IAtomic>(&op)) a = &i->at;
  const bool wide = a != nullptr && std::holds_alternative<Value>(a->base) &&
                    !a->index.is_const() && a->index.type.prim == PrimType::kI64;
  return wide ? a : nullptr;
}

PrimType accessed(const Inst& inst) {
  if (const auto* i = std::get_if<ILoad>(&inst.op)) return i->type.prim;
  if (const auto* i = std::get_if<IStore>(&inst.op)) return i->value.type.prim;
  return std::get<IAtomic>(inst.op).type;
}

class NarrowPlaces {
 public:
  explicit NarrowPlaces(Kernel& kernel) : kernel_(kernel) {}

  int64_t run() {
    for (Function& f : kernel_.functions) find(f.body, 0);
    find(kernel_.main, 0);
    if (needed_.empty()) return 0;
    add_spec();
    for (Function& f : kernel_.functions) rebuild(f.body);
    rebuild(kernel_.main);
    dead_code(kernel_);
    return kMostElements * least_size_;
  }

 private:
  using NamedLow = Low<uint32_t>;
  using CodeLow = Low<Value>;

  /// Makes values of 32 bits by instructions.
  struct Code {
    NarrowPlaces& pass;
    std::vector<Inst>& out;

    static Value number(int64_t n) { return PrimValue::of_int(PrimType::kI32, n); }
    Value compute(ScalarOp op, const Value& a, const Value& b) {
      return pass.emit({{}, op, PrimType::kI32, {}, {a, b}}, out);
    }
    Value convert(PrimType from, PrimType to, const Value& v) {
      return pass.emit({{}, ScalarOp::kConvert, from, to, {v}}, out);
    }
  };

  // ---- what to narrow

  /// `loop`: the number of the loop that the block is in, or 0.
  void find(Block& block, int loop) {
    for (Inst& inst : block.insts) {
      const auto* prim = std::get_if<IPrim>(&inst.op);
      if (prim != nullptr && is_arithmetic(*prim)) note(*prim);
      const Course course = prim == nullptr ? Course::kAny : course_of(*prim, loop);
      visit_results(inst.op, [&](ValId v) { defined_.emplace(v.index, Defined{loop, course}); });
      if (const Address* a = place_of(inst.op)) look_at(*a, inst, loop);
      const int number = is_loop(inst) ? ++loops_ : loop;
      if (const auto* counted = std::get_if<IFor>(&inst.op)) {
        const Course steps = is_innermost(*counted) ? Course::kSteady : Course::kAny;
        defined_.emplace(counted->index.index, Defined{number, steps});
      }
      visit_blocks(inst.op, [&](Block& b) { find(b, number); });
    }
  }

  /// What a value does from one turn of a loop to the next: it is the same, grows by the same, or
  /// neither.
  enum class Course : uint8_t { kFixed, kSteady, kAny };

  Course course(const Value& v, int loop) const {
    if (v.is_const()) return Course::kFixed;
    const auto at = defined_.find(v.id().index);
    const bool outside = at == defined_.end() || at->second.loop != loop;
    return outside ? Course::kFixed : at->second.course;
  }

  Course course_of(const IPrim& i, int loop) const {
    Course out = Course::kFixed;
    int moving = 0;
    for (const Value& a : i.args) {
      out = std::max(out, course(a, loop));
      if (course(a, loop) != Course::kFixed) moving++;
    }
    const bool is_linear = is_arithmetic(i) && (i.op != ScalarOp::kMul || moving < 2);
    return out == Course::kFixed || is_linear ? out : Course::kAny;
  }

  static bool is_arithmetic(const IPrim& i) {
    if (i.form != Form::kWhole || i.type != PrimType::kI64) return false;
    return i.op == ScalarOp::kAdd || i.op == ScalarOp::kSub || i.op == ScalarOp::kMul;
  }

  void note(const IPrim& i) {
    const NamedLow a = named(i.args[0]), b = named(i.args[1]);
    made_.emplace(i.dst.index, Made{i.args, combine(i.op, a, b, names_)});
  }

  NamedLow named(const Value& v) {
    if (v.is_const()) return {std::nullopt, v.constant().as_i64()};
    const auto made = made_.find(v.id().index);
    if (made != made_.end()) return made->second.low;
    return {names_.low_half(v.id().index), 0};
  }

  void look_at(const Address& a, const Inst& inst, int loop) {
    const uint32_t index = a.index.id().index;
    const auto made = made_.find(index);
    narrows_.push_back(made != made_.end() && defined_.at(index).loop == loop);
    if (!narrows_.back()) return;
    const NamedLow& low = made->second.low;
    const bool is_steady = course(a.index, loop) == Course::kSteady;
    if (low.base) {
      offsets_[*low.base].insert(low.offset);
      if (is_steady && names_.is_computed(*low.base)) signed_.insert(*low.base);
    }
    need(index);
    least_size_ = std::min<int64_t>(least_size_, prim_size(accessed(inst)));
  }

  void need(uint32_t v) {
    const auto made = made_.find(v);
    if (made == made_.end() || !needed_.insert(v).second) return;
    for (const Value& a : made->second.args) {
      if (!a.is_const()) need(a.id().index);
    }
  }

  // ---- code

  void add_spec() {
    const Type type{PrimType::kBool};
    const ValId id = kernel_.new_val(type);
    kernel_.specs.push_back({"small", id, PrimValue::of_bool(true), true});
    small_ = Value(type, id);
  }

  void rebuild(Block& block) {
    std::vector<Inst> insts = std::exchange(block.insts, {});
    for (Inst& inst : insts) {
      visit_blocks(inst.op, [&](Block& b) { rebuild(b); });
      prov_ = inst.prov;
      if (Address* a = place_of(inst.op); a != nullptr && narrows_[accesses_++]) {
        a->index = narrow_index(a->index, block.insts);
      }
      std::optional<IPrim> wide;
      if (const auto* prim = std::get_if<IPrim>(&inst.op)) {
        if (needed_.contains(prim->dst.index)) wide = *prim;
      }
      block.insts.push_back(std::move(inst));
      if (wide) lows_.emplace(wide->dst.index, low(*wide, block.insts));
    }
  }

  /// The place, of which the wide code is one of two ways to it.
  Value narrow_index(const Value& wide, std::vector<Inst>& out) {
    Code code{*this, out};
    const CodeLow l = low(wide, code);
    if (!l.base) return wide;
    const PrimType t = PrimType::kI64;
    Value index;
    const uint32_t base = *made_.at(wide.id().index).low.base;
    if (signed_.contains(base) || offsets_.at(base).size() > 1) {
      index = code.convert(PrimType::kI32, t, *l.base);
      if (l.offset != 0) index = emit({{}, ScalarOp::kAdd, t, {}, {index, i64(l.offset)}}, out);
    } else {
      index = code.convert(PrimType::kI32, PrimType::kU32, whole(l, code));
      index = code.convert(PrimType::kU32, t, index);
    }
    return emit({{}, ScalarOp::kSelect, t, {}, {small_, index, wide}}, out);
  }

  CodeLow low(const Value& v, Code& code) {
    if (v.is_const()) return {std::nullopt, v.constant().as_i64()};
    if (const auto known = lows_.find(v.id().index); known != lows_.end()) return known->second;
    return {code.convert(PrimType::kI64, PrimType::kI32, v), 0};
  }

  CodeLow low(const IPrim& wide, std::vector<Inst>& out) {
    Code code{*this, out};
    const CodeLow a = low(wide.args[0], code), b = low(wide.args[1], code);
    return combine(wide.op, a, b, code);
  }

  Value emit(IPrim prim, std::vector<Inst>& out) {
    const Type type{result_type(prim)};
    prim.dst = kernel_.new_val(type);
    const Value v(type, prim.dst);
    out.push_back({std::move(prim), prov_});
    return v;
  }

  struct Made {
    std::vector<Value> args;
    NamedLow low;
  };
  struct Defined {
    int loop;
    Course course;  // in that loop
  };

  Kernel& kernel_;
  int loops_ = 0;
  std::unordered_map<uint32_t, Made> made_;        // by value: sums and products of 64 bits
  std::unordered_map<uint32_t, Defined> defined_;  // by value
  Names names_;
  /// By what is computed without them: offsets of accesses. Where there are several they stay
  /// apart, as in stencils, from what may be below 0. A single one does not, and then NVIDIA's
  /// compiler need not widen the place with its sign, which is mostly quicker (tokens on an H200
  /// 1,740 us instead of 2,260, a product of matrices 3,420 and 3,550).
  std::unordered_map<uint32_t, std::set<int64_t>> offsets_;
  /// With its sign all the same: a sum that grows evenly in an innermost loop (nbody there 4,900 us
  /// instead of 5,350; by 64 bits 4,600, but then kmeans takes 1,525 instead of 1,340).
  std::unordered_set<uint32_t> signed_;
  std::vector<bool> narrows_;  // of each access by 64 bits, in their order: whether it is narrowed
  size_t accesses_ = 0;        // those that are behind
  std::unordered_set<uint32_t> needed_;         // what they are made of, themselves included
  std::unordered_map<uint32_t, CodeLow> lows_;  // by value
  int64_t least_size_ = 8;                      // of an element, in bytes
  Value small_;
  ir::ProvId prov_;
};

}  // namespace

int64_t narrow_places(Kernel& kernel) { return NarrowPlaces(kernel).run(); }

}  // namespace kenaz::kir
