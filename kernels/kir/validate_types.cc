#include "kernels/kir/validate_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/kir/print.h"
#include "kernels/kir/visit.h"
#include "kernels/program/program.h"

namespace kenaz::kir {
namespace {

constexpr Type kBoolType{PrimType::kBool, 1};
constexpr Type kI32Type{PrimType::kI32, 1};

bool is_scalar(const Value& v) { return v.type.lanes == 1; }
bool is_lanes(int n) { return n == 1 || n == 2 || n == 4; }

/// A check of each kind of instruction; the first problem stays.
class TypeRules {
 public:
  TypeRules(const Kernel& k, size_t calls_before) : k_(k), calls_before_(calls_before) {}
  std::optional<std::string> take() { return std::move(error_); }

  void check(const IPrim& i) {
    const int arity = scalar_op_arity(i.op);
    require(static_cast<int>(i.args.size()) == arity, "{} takes {} operands", scalar_op_name(i.op),
            arity);
    require(scalar_op_accepts(i.op, i.type), "{} of {}", scalar_op_name(i.op), prim_name(i.type));
    for (size_t n = 0; n < i.args.size(); n++) {
      PrimType t = i.type;
      if (i.op == ScalarOp::kSelect && n == 0) t = PrimType::kBool;
      if (i.op == ScalarOp::kLdexp && n == 1) t = PrimType::kI32;
      same(i.args[n], {t, 1});
    }
    if (i.op == ScalarOp::kBitcast) {
      require(prim_size(i.type) == prim_size(i.to), "a bitcast to another size");
    }
    require(i.form == Form::kWhole || has_usual_form(i.op, i.type), "no usual form of {}.{}",
            scalar_op_name(i.op), prim_name(i.type));
    result(i.dst, {result_type(i), 1});
  }
  void check(const IBuiltin& i) {
    const bool wide = i.kind == BuiltinKind::kGroup || i.kind == BuiltinKind::kGroups;
    result(i.dst, {wide ? PrimType::kI64 : PrimType::kI32, 1});
  }
  void check(const ICompose& i) {
    require(i.lanes.size() == 2 || i.lanes.size() == 4, "a vector of {} lanes", i.lanes.size());
    if (error_) return;
    const PrimType t = i.lanes[0].type.prim;
    for (const Value& v : i.lanes) same(v, {t, 1});
    result(i.dst, {t, static_cast<uint8_t>(i.lanes.size())});
  }
  void check(const IExtract& i) {
    require(i.vector.type.lanes > 1, "a lane of a scalar");
    require(i.lane >= 0 && i.lane < i.vector.type.lanes, "no lane {}", i.lane);
    result(i.dst, {i.vector.type.prim, 1});
  }
  void check(const ILoad& i) {
    access(i.from, i.type);
    order(i.from, i.order);
    result(i.dst, i.type);
  }
  void check(const IStore& i) {
    access(i.to, i.value.type);
    order(i.to, i.order);
  }
  void check(const IAtomic& i) {
    const bool sums = i.op == AtomicOp::kAdd && is_float(i.type);
    require((sums || is_integer(i.type)) && prim_size(i.type) >= 4, "an atomic on {}",
            prim_name(i.type));
    require(!std::holds_alternative<LocalId>(i.at.base), "an atomic on a local array");
    access(i.at, {i.type, 1});
    if (i.op != AtomicOp::kLoad) same(i.value, {i.type, 1});
    if (i.op == AtomicOp::kCas) same(i.compare, {i.type, 1});
    if (i.dst.valid()) {
      require(i.op != AtomicOp::kStore, "an atomic store gives nothing");
      result(i.dst, {i.type, 1});
    } else {
      require(i.op != AtomicOp::kLoad, "an atomic load without result");
    }
    const bool acquires = i.order == AtomicOrder::kAcquire;
    const bool releases = i.order == AtomicOrder::kRelease;
    const bool both = i.order == AtomicOrder::kAcquireRelease;
    require(i.op != AtomicOp::kLoad || !(releases || both), "a load that releases");
    require(i.op != AtomicOp::kStore || !(acquires || both), "a store that acquires");
  }
  void check(const ISubgroup& i) {
    using S = ScalarOp;
    require(is_scalar(i.value), "a subgroup operation on a vector");
    if (combines(i.op)) {
      constexpr S kCombines[] = {S::kAdd, S::kMul, S::kMin, S::kMax, S::kAnd, S::kOr, S::kXor};
      require(
          std::find(std::begin(kCombines), std::end(kCombines), i.combine) != std::end(kCombines),
          "subgroups do not combine by {}", scalar_op_name(i.combine));
      require(scalar_op_accepts(i.combine, i.value.type.prim), "{} of {}",
              scalar_op_name(i.combine), prim_name(i.value.type.prim));
      return result(i.dst, i.value.type);
    }
    if (takes_lane(i.op)) {
      same(i.arg, kI32Type);
      return result(i.dst, i.value.type);
    }
    same(i.value, kBoolType);
    if (i.op == SubgroupOp::kBallot) {
      same(i.arg, kI32Type);
      const bool in_ballot = i.arg.is_const() && i.arg.constant().as_i64() >= 0 &&
                             i.arg.constant().as_i64() < kBallotWords;
      require(in_ballot, "a ballot without that word");
      return result(i.dst, {PrimType::kU32});
    }
    const bool counts = i.op == SubgroupOp::kCount || i.op == SubgroupOp::kRank;
    result(i.dst, counts ? kI32Type : kBoolType);
  }
  void check(const IBarrier&) {}
  void check(const IFence&) {}
  void check(const IStop&) {}
  void check(const IDeclare& i) {
    if (i.init && in_range(i.var)) same(*i.init, k_.vars[i.var.index]);
  }
  void check(const IRead& i) {
    if (in_range(i.var)) result(i.dst, k_.vars[i.var.index]);
  }
  void check(const IAssign& i) {
    if (in_range(i.var)) same(i.value, k_.vars[i.var.index]);
  }
  void check(const IIf& i) { same(i.cond, kBoolType); }
  void check(const IFor& i) {
    const Type t = i.from.type;
    require(is_integer(t.prim) && t.lanes == 1, "a loop over {}", print_type(t));
    same(i.to, t);
    same(i.step, t);
    result(i.index, t);
    const bool moves = !i.step.is_const() || i.step.constant().as_i64() > 0 ||
                       prim_kind(t.prim) == PrimKind::kUnsigned;
    require(moves && !i.step.is_int(0), "a step below 1");
  }
  void check(const IWhile& i) { same(i.cond, kBoolType); }
  void check(const ICall& i) {
    if (i.function.index >= std::min(k_.functions.size(), calls_before_)) {
      return problem("a call of a function that does not come before");
    }
    const Function& f = k_.functions[i.function.index];
    require(i.args.size() == f.params.size(), "{} takes {} arguments", f.name, f.params.size());
    require(i.dsts.size() == f.results.size(), "{} gives {} results", f.name, f.results.size());
    if (error_) return;
    for (size_t n = 0; n < i.args.size(); n++) same(i.args[n], k_.vals[f.params[n].index]);
    for (size_t n = 0; n < i.dsts.size(); n++) result(i.dsts[n], f.results[n].type);
  }
  void check(const IFail& i) {
    require(i.number >= 0, "the failure's number is {}", i.number);
    require(i.args.size() <= static_cast<size_t>(program::kMaxFailureArgs),
            "{} arguments of a failure", i.args.size());
    for (const Value& a : i.args) require(is_scalar(a), "a vector as argument of a failure");
  }

 private:
  void problem(std::string what) {
    if (!error_) error_ = std::move(what);
  }
  template <class... Ts>
  void require(bool ok, fmt::format_string<Ts...> format, Ts&&... args) {
    if (!ok) problem(fmt::format(format, std::forward<Ts>(args)...));
  }
  void same(const Value& v, Type t) {
    require(v.type == t, "{} is of type {}, not {}", print_value(v), print_type(v.type),
            print_type(t));
  }
  void result(ValId v, Type t) {
    if (v.index >= k_.vals.size()) return problem("a result that does not exist");
    same(Value(k_.vals[v.index], v), t);
  }
  bool in_range(VarId v) {
    if (v.index >= k_.vars.size()) problem("a variable that does not exist");
    return v.index < k_.vars.size();
  }
  template <class Table>
  void element(const Table& table, uint32_t id, Type t) {
    if (id >= table.size()) return problem("an array that does not exist");
    require(table[id].type == t.prim, "{} in an array of {}", print_type(t),
            prim_name(table[id].type));
  }
  void vector(SharedId s, Type t) {
    if (s.index >= k_.shared.size()) return;
    const uint8_t lanes = k_.shared[s.index].lanes;
    require(lanes == 1 || lanes == t.lanes, "{} in an array of vectors of {} lanes", print_type(t),
            lanes);
  }
  void access(const Address& a, Type t) {
    require(is_lanes(t.lanes), "a vector of {} lanes", t.lanes);
    const PrimType index = a.index.type.prim;
    require(is_scalar(a.index) && (index == PrimType::kI32 || index == PrimType::kI64),
            "an index of type {}", print_type(a.index.type));
    std::visit(Overloaded{[&](const Value& base) {
                            same(base, {PrimType::kU64, 1});
                          },
                          [&](SharedId s) {
                            element(k_.shared, s.index, t);
                            vector(s, t);
                          },
                          [&](LocalId l) { element(k_.locals, l.index, t); }},
               a.base);
  }
  void order(const Address& a, Order o) {
    require(o == Order::kPlain || std::holds_alternative<Value>(a.base),
            "a coherent access to an array of the kernel");
  }

  const Kernel& k_;
  size_t calls_before_;
  std::optional<std::string> error_;
};

}  // namespace

std::optional<std::string> find_type_error(const Kernel& kernel, const Inst& inst,
                                           size_t calls_before) {
  TypeRules rules(kernel, calls_before);
  std::visit([&](const auto& i) { rules.check(i); }, inst.op);
  return rules.take();
}

}  // namespace kenaz::kir
