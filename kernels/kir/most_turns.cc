#include "kernels/kir/most_turns.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "kernels/kir/bounds.h"
#include "kernels/kir/counters.h"
#include "kernels/kir/looks.h"
#include "kernels/kir/visit.h"
#include "protocol/base/overloaded.h"

namespace kenaz::kir {

namespace {

/// The coefficient of each product; products are sorted numbers, as program::Term has them.
using Sum = std::map<std::vector<int>, double>;

constexpr size_t kMostTerms = 64, kMostFactors = 8;
constexpr int kDeepest = 32;
constexpr double kMostThreads = 1024;  // of a workgroup, as devices are
/// Dozens of such numbers can be added, or be taken from each other, and do not wrap.
double most_fitting(PrimType type) {
  return prim_bits(type) == 64 ? 0x1p50 : prim_bits(type) == 32 ? 0x1p25 : 0;
}

Sum number(double n) { return n > 0 ? Sum{{{}, n}} : Sum{}; }

void add(Sum& to, const Sum& other, double scale = 1) {
  for (const auto& [product, coefficient] : other) to[product] += coefficient * scale;
}

Sum product(const Sum& a, const Sum& b) {
  Sum result;
  for (const auto& [x, n] : a) {
    for (const auto& [y, m] : b) {
      std::vector<int> both;
      std::merge(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
      result[both] += n * m;
    }
  }
  return result;
}

template <class All, class F>
bool all_of(const All& all, const F& f) {
  return std::all_of(all.begin(), all.end(), f);
}

bool is_short(const Sum& s) {
  return s.size() <= kMostTerms &&
         all_of(s, [](const auto& term) { return term.first.size() <= kMostFactors; });
}

size_t size_of(const Sum& s) {
  size_t factors = 0;
  for (const auto& term : s) factors += term.first.size();
  return factors;
}

/// Where a value comes from.
struct Definition {
  const Inst* inst = nullptr;        // of an index: the loop
  int arg = -1;                      // of Kernel::args
  std::vector<const Value*> passed;  // to a parameter, by all calls
};
class MostTurns {
 public:
  explicit MostTurns(const Kernel& kernel)
      : kernel_(kernel),
        looks_(kernel),
        bounds_(kernel, Bounds::Launch::kUsual),
        counters_(kernel),
        definitions_(kernel.vals.size()) {
    for (size_t k = 0; k < kernel.args.size(); k++) {
      if (!kernel.args[k].is_block)
        definitions_[kernel.args[k].val.index].arg = static_cast<int>(k);
    }
    for_each_inst_of(kernel, [&](const Inst& inst) {
      visit_results(inst.op, [&](const ValId& v) { definitions_[v.index].inst = &inst; });
      visit_binders(inst.op, [&](const ValId& v) { definitions_[v.index].inst = &inst; });
      const auto* call = std::get_if<ICall>(&inst.op);
      if (call == nullptr) return;
      const auto& params = kernel.functions[call->function.index].params;
      for (size_t k = 0; k < params.size(); k++) {
        definitions_[params[k].index].passed.push_back(&call->args[k]);
      }
    });
  }

  /// Nothing: not known.
  std::optional<Sum> of_kernel() {
    if (!looks_.any()) return std::nullopt;
    for (const Function& f : kernel_.functions) of_functions_.push_back(turns(f.body));
    auto all = turns(kernel_.main);
    if (!all) return all;
    add(*all, must_fit_);
    return is_short(*all) ? all : std::nullopt;
  }

 private:
  // ---- loops. A sum is of turns that are made one after the other.

  std::optional<Sum> turns(const Block& block) {
    Sum all;
    for (const Inst& inst : block.insts) {
      const auto some = turns(inst);
      if (!some) return some;
      add(all, *some);
    }
    return all;
  }

  std::optional<Sum> turns(const Inst& inst) {
    const auto nothing = [] { return std::optional(Sum{}); };
    return std::visit(
        Overloaded{
            [&](const ICall& i) { return of_functions_[i.function.index]; },
            [&](const IIf& i) { return plus(turns(i.then_block), turns(i.else_block)); },
            [&](const IFor& i) { return of_loop(inst, turns(i.body), [&] { return rounds(i); }); },
            [&](const IWhile& i) {
              return of_loop(inst, plus(turns(i.head), turns(i.body)), [&] { return rounds(i); });
            },
            [&](const auto&) { return nothing(); },
        },
        inst.op);
  }

  /// A loop that does not look, and has none in it that does, takes no longer than its neighbours.
  template <class F>
  std::optional<Sum> of_loop(const Inst& loop, std::optional<Sum> inside, const F& rounds) {
    if (!inside || (inside->empty() && !looks_.looks(loop))) return inside;
    const auto n = rounds();
    if (!n) return n;
    add(*inside, number(1));
    return checked(product(*n, *inside));
  }

  std::optional<Sum> rounds(const IFor& i) {
    if (prim_kind(i.from.type.prim) != PrimKind::kSigned) return std::nullopt;
    auto all = distance(i.from, i.to);
    if (!all || i.step.is_int(1)) return all;
    Sum each = number(1);
    if (is_groups(i.step)) {
      each = {{{program::kPerGroup}, 1}};
    } else if (is_threads(i.step)) {
      each = {{{program::kPerThread}, 1}};
    } else if (is_natural(i.step)) {
      each = number(1.0 / std::max(1.0, at_least(i.step)));
    }
    Sum result = product(*all, each);
    add(result, number(1));
    return checked(std::move(result));
  }

  bool is_builtin(const Value& v, BuiltinKind kind) const {
    const auto* builtin = made_by<IBuiltin>(v);
    return builtin != nullptr && builtin->kind == kind;
  }
  bool is_groups(const Value& v) const { return is_builtin(v, BuiltinKind::kGroups); }
  bool is_threads(const Value& v) const {
    const auto* prim = made_by<IPrim>(v);
    if (prim == nullptr || prim->op != ScalarOp::kMul) return false;
    const auto is_size = [&](const Value& x) {
      const auto* convert = made_by<IPrim>(x);
      return x.is_int(kernel_.group_size.spec < 0 ? kernel_.group_size.constant : -1) ||
             (convert != nullptr && convert->op == ScalarOp::kConvert &&
              is_builtin(convert->args[0], BuiltinKind::kGroupSize));
    };
    return (is_groups(prim->args[0]) && is_size(prim->args[1])) ||
           (is_groups(prim->args[1]) && is_size(prim->args[0]));
  }

  std::optional<Sum> rounds(const IWhile& loop) {
    const auto span = counters_.of(loop);
    return span ? distance(span->from, span->to) : std::nullopt;
  }

  /// How far a loop has to go. That is to - from even where both have wrapped, unless the one has
  /// wrapped and the difference of the others is negative.
  std::optional<Sum> distance(const Value& from, const Value& to) {
    const bool is_right = is_tame(from) || is_positive_sum(from, to);
    return is_right ? most_between(from, to) : std::nullopt;
  }

  // ---- values

  template <class T>
  const T* made_by(const Value& v) const {
    const Inst* inst = v.is_const() ? nullptr : definitions_[v.id().index].inst;
    return inst == nullptr ? nullptr : std::get_if<T>(&inst->op);
  }

  /// to - from, or 0 if that is negative.
  std::optional<Sum> most_between(const Value& from, const Value& to, int depth = 0) {
    if (depth > kDeepest) return std::nullopt;
    if (const auto* least = made_by<IPrim>(to); least != nullptr && least->op == ScalarOp::kMin) {
      return smaller(most_between(from, least->args[0], depth + 1),
                     most_between(from, least->args[1], depth + 1));
    }
    Difference d;
    d.put(*this, from, true);
    d.put(*this, to, false);
    const bool small = d.plus.size() + d.minus.size() <= kMostTerms;
    if (!small || !all_of(d.minus, [&](const Value& v) { return is_natural(v); }) ||
        !all_of(d.plus, [&](const Value& v) { return is_tame(v); })) {
      return std::nullopt;
    }
    std::optional<Sum> result = number(d.rest);
    for (const Value& v : d.plus) result = plus(std::move(result), most(v, depth + 1));
    return result;
  }

  /// Sums and differences as what is added and what is taken away, without what is both.
  struct Difference {
    std::vector<Value> plus, minus;
    double rest = 0;

    void put(const MostTurns& all, const Value& v, bool negative) {
      const auto* prim = all.made_by<IPrim>(v);
      const bool is_sum = prim != nullptr && prim->op == ScalarOp::kAdd;
      const bool is_both = is_sum || (prim != nullptr && prim->op == ScalarOp::kSub);
      auto& same = negative ? minus : plus;
      auto& other = negative ? plus : minus;
      if (v.is_const()) {
        const auto n = static_cast<double>(v.constant().as_i64());
        rest += negative ? -n : n;
      } else if (is_both && plus.size() + minus.size() <= kMostTerms) {
        put(all, prim->args[0], negative);
        put(all, prim->args[1], negative == is_sum);
      } else if (const auto it = std::find(other.begin(), other.end(), v); it != other.end()) {
        other.erase(it);
      } else {
        same.push_back(v);
      }
    }
  };

  /// The value, or 0 if that is negative, at most. What is not known of a value is kept, too.
  std::optional<Sum> most(const Value& v, int depth = 0) {
    if (const auto range = small_range(v)) return number(static_cast<double>(range->most));
    if (depth > kDeepest || v.is_const() || !is_integer(v.type.prim)) return std::nullopt;
    if (const auto it = most_.find(v.id().index); it != most_.end()) return it->second;
    auto result = find_most(v, depth);
    return most_[v.id().index] = std::move(result);
  }

  std::optional<Sum> find_most(const Value& v, int depth) {
    const Definition& made = definitions_[v.id().index];
    if (made.arg >= 0) return Sum{{{made.arg}, 1}};
    if (!made.passed.empty()) {
      std::optional<Sum> any = Sum{};
      for (const Value* passed : made.passed) any = plus(std::move(any), most(*passed, depth + 1));
      return any;
    }
    if (is_builtin(v, BuiltinKind::kGroup) || is_groups(v)) return Sum{{{program::kGroups}, 1}};
    if (made_by<IBuiltin>(v) != nullptr) return number(kMostThreads);
    if (const auto* loop = made_by<IFor>(v)) return most(loop->to, depth + 1);
    const auto* prim = made_by<IPrim>(v);
    return prim == nullptr ? std::nullopt : most(*prim, depth);
  }

  std::optional<Sum> most(const IPrim& i, int depth) {
    if (i.form != Form::kWhole || prim_kind(result_type(i)) != PrimKind::kSigned) {
      return std::nullopt;
    }
    const auto of = [&](size_t k) { return most(i.args[k], depth + 1); };
    switch (i.op) {
      case ScalarOp::kAdd:
        if (!is_tame(i.args[0]) || !is_tame(i.args[1])) return std::nullopt;
        return plus(of(0), of(1));
      case ScalarOp::kSizeAdd:
      case ScalarOp::kMax: return plus(of(0), of(1));
      case ScalarOp::kSub:
        if (const Value* divisor = divisor_of(i)) {
          return smaller(of(0), most(*divisor, depth + 1));
        }
        return most_between(i.args[1], i.args[0], depth + 1);
      case ScalarOp::kAnd:
        return is_natural(i.args[1]) ? of(1) : is_natural(i.args[0]) ? of(0) : std::nullopt;
      case ScalarOp::kMin: return smaller(of(0), of(1));
      case ScalarOp::kSelect: return plus(of(1), of(2));
      case ScalarOp::kSizeMul: return times(of(0), of(1));
      case ScalarOp::kMul:
        if (const Value* rounded = rounded_down(i)) return most(*rounded, depth + 1);
        if (!is_natural(i.args[0]) || !is_natural(i.args[1])) return std::nullopt;
        return times(of(0), of(1));
      case ScalarOp::kConvert:  // of a wider number no more than this stays
        return is_integer(i.type) && is_natural(i.args[0]) ? of(0) : std::nullopt;
      case ScalarOp::kDiv:
      case ScalarOp::kQuot:
        if (const auto by = small_range(i.args[1]); by && by->least > 1 && is_natural(i.args[0])) {
          return times(of(0), number(1.0 / static_cast<double>(by->least)));
        }
        [[fallthrough]];
      case ScalarOp::kShr:
      case ScalarOp::kRem: return is_natural(i.args[0]) ? of(0) : std::nullopt;
      default: return std::nullopt;
    }
  }

  /// Of a number so small that a few of them do not wrap.
  std::optional<Bounds::Range> small_range(const Value& v) const {
    const auto range = bounds_.of(v);
    const auto most = static_cast<int64_t>(most_fitting(v.type.prim));
    return range && range->least >= -most && range->most <= most ? range : std::nullopt;
  }

  /// Whether it is not negative, and a few of them do not wrap, if that is so of what is noted
  /// here.
  bool is_natural(const Value& v, int depth = 0) {
    if (const auto range = small_range(v)) return range->least >= 0;
    if (depth > kDeepest || v.is_const() || !is_integer(v.type.prim)) return false;
    if (const auto it = natural_.find(v.id().index); it != natural_.end()) return it->second;
    const bool result = is_positive(v, depth) && fits(v);
    return natural_[v.id().index] = result;
  }

  bool is_positive(const Value& v, int depth) {
    const Definition& made = definitions_[v.id().index];
    if (made.arg >= 0) return prim_kind(v.type.prim) == PrimKind::kSigned;
    if (!made.passed.empty()) {
      return all_of(made.passed, [&](const Value* p) { return is_natural(*p, depth + 1); });
    }
    if (made_by<IBuiltin>(v) != nullptr) return true;
    if (const auto* loop = made_by<IFor>(v)) return is_natural(loop->from, depth + 1);
    const auto* prim = made_by<IPrim>(v);
    return prim != nullptr && is_positive(*prim, depth);
  }

  bool is_positive(const IPrim& i, int depth) {
    if (i.form != Form::kWhole || prim_kind(result_type(i)) != PrimKind::kSigned) return false;
    const auto is = [&](size_t k) { return is_natural(i.args[k], depth + 1); };
    switch (i.op) {
      case ScalarOp::kAdd: return is_positive_sum(i64(0), Value({i.type, 1}, i.dst));
      case ScalarOp::kSub: return divisor_of(i) != nullptr || is_positive_sum(i.args[1], i.args[0]);
      case ScalarOp::kAnd: return is(0) || is(1);
      case ScalarOp::kMul:
      case ScalarOp::kMin:
      case ScalarOp::kDiv:
      case ScalarOp::kQuot:
      case ScalarOp::kRem: return is(0) && is(1);
      case ScalarOp::kSizeAdd:
      case ScalarOp::kSizeMul: return true;
      case ScalarOp::kMax: return is(0) || is(1);
      case ScalarOp::kSelect: return is(1) && is(2);
      case ScalarOp::kShr:
      case ScalarOp::kConvert: return is(0);
      default: return false;
    }
  }

  /// Whether to - from is not negative.
  bool is_positive_sum(const Value& from, const Value& to) {
    if (from == to) return true;
    if (const auto* least = made_by<IPrim>(to); least != nullptr && least->op == ScalarOp::kMin) {
      return all_of(least->args, [&](const Value& v) { return is_positive_sum(from, v); });
    }
    if (const auto* least = made_by<IPrim>(from); least != nullptr && least->op == ScalarOp::kMin &&
                                                  (least->args[0] == to || least->args[1] == to)) {
      return true;
    }
    Difference d;
    d.put(*this, from, true);
    d.put(*this, to, false);
    double sum = d.rest;
    for (const Value& v : d.plus) {
      if (!is_natural(v)) return false;
      sum += at_least(v);
    }
    return d.minus.empty() && sum >= 0;
  }

  /// Of what is natural; 0 if nothing is known.
  double at_least(const Value& v, int depth = 0) const {
    constexpr int kFew = 12;
    if (const auto range = small_range(v); range && range->least > 0) {
      return static_cast<double>(range->least);
    }
    if (const auto* builtin = made_by<IBuiltin>(v)) {
      return builtin->kind == BuiltinKind::kGroups || builtin->kind == BuiltinKind::kGroupSize ||
                     builtin->kind == BuiltinKind::kSubgroupSize ||
                     builtin->kind == BuiltinKind::kSubgroups
                 ? 1
                 : 0;
    }
    const auto* prim = made_by<IPrim>(v);
    if (prim == nullptr || depth > kFew) return 0;
    const auto of = [&](size_t k) { return at_least(prim->args[k], depth + 1); };
    switch (prim->op) {
      case ScalarOp::kAdd: return of(0) + of(1);
      case ScalarOp::kMul: return of(0) * of(1);
      case ScalarOp::kMin: return std::min(of(0), of(1));
      case ScalarOp::kQuot: {
        const auto by = small_range(prim->args[1]);
        return by && by->least > 0 ? std::floor(of(0) / static_cast<double>(by->most)) : 0;
      }
      case ScalarOp::kMax: return std::max(of(0), of(1));
      case ScalarOp::kConvert: return of(0);
      default: return 0;
    }
  }

  /// a, if the product is a / b * b, and that is no more.
  const Value* rounded_down(const IPrim& product) {
    const auto* quotient = made_by<IPrim>(product.args[0]);
    const bool is = quotient != nullptr &&
                    (quotient->op == ScalarOp::kQuot || quotient->op == ScalarOp::kDiv) &&
                    quotient->args[1] == product.args[1] && is_natural(product.args[1]);
    return is ? &quotient->args[0] : nullptr;
  }

  /// b, if the difference is a - a / b * b, and a is natural: the result is, too, and less than b.
  const Value* divisor_of(const IPrim& difference) {
    const auto* product = made_by<IPrim>(difference.args[1]);
    if (product == nullptr || product->op != ScalarOp::kMul) return nullptr;
    const Value* rounded = rounded_down(*product);
    return rounded != nullptr && *rounded == difference.args[0] && is_natural(*rounded)
               ? &product->args[1]
               : nullptr;
  }

  /// Notes that it is to be a number of which a few do not wrap.
  bool fits(const Value& v) {
    const auto all = most(v);
    if (!all) return false;
    add(must_fit_, *all, program::kFewTurns / most_fitting(v.type.prim));
    return is_short(must_fit_);
  }

  /// Whether it is no result that has wrapped, and a few of them do not.
  bool is_tame(const Value& v, int depth = 0) {
    constexpr int kFew = 4;
    if (small_range(v) || is_natural(v)) return true;
    const auto* prim = made_by<IPrim>(v);
    if (prim == nullptr || depth > kFew) return false;
    const auto is = [&](const Value& x) { return is_tame(x, depth + 1); };
    switch (prim->op) {
      case ScalarOp::kAdd:
      case ScalarOp::kSub:
      case ScalarOp::kMin:
      case ScalarOp::kMax: return all_of(prim->args, is);
      case ScalarOp::kMul: {
        const Value* rounded = rounded_down(*prim);
        return rounded != nullptr && is(*rounded);
      }
      default: return false;
    }
  }

  static std::optional<Sum> checked(Sum s) {
    return is_short(s) ? std::optional(std::move(s)) : std::nullopt;
  }
  static std::optional<Sum> plus(std::optional<Sum> a, const std::optional<Sum>& b) {
    if (!a || !b) return std::nullopt;
    add(*a, *b);
    return checked(*std::move(a));
  }
  static std::optional<Sum> times(const std::optional<Sum>& a, const std::optional<Sum>& b) {
    return a && b ? checked(product(*a, *b)) : std::nullopt;
  }
  /// The one that is known, or hangs on less.
  static std::optional<Sum> smaller(std::optional<Sum> a, std::optional<Sum> b) {
    return !b || (a && size_of(*a) <= size_of(*b)) ? a : b;
  }

  const Kernel& kernel_;
  const Looks looks_;
  const Bounds bounds_;
  const Counters counters_;
  std::vector<Definition> definitions_;  // by ValId
  std::vector<std::optional<Sum>> of_functions_;
  std::map<uint32_t, std::optional<Sum>> most_;  // by ValId
  std::map<uint32_t, bool> natural_;             // by ValId
  Sum must_fit_;
};

}  // namespace

program::Turns most_turns(const Kernel& kernel) {
  program::Turns turns;
  if (const auto sum = MostTurns(kernel).of_kernel()) {
    for (const auto& [factors, coefficient] : *sum) turns.push_back({coefficient, factors});
  }
  return turns;
}

}  // namespace kenaz::kir
