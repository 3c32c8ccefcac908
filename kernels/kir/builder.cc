#include "kernels/kir/builder.h"

#include <utility>

#include "kernels/kir/identities.h"
#include "protocol/base/check.h"

namespace kenaz::kir {

void Builder::emit(decltype(Inst::op) op) { block_->insts.push_back({std::move(op), prov_}); }

Value Builder::define(Type type, const std::function<decltype(Inst::op)(ValId)>& make) {
  const ValId id = kernel_.new_val(type);
  emit(make(id));
  return {type, id};
}

// ---- tables

Value Builder::arg(const std::string& name, PrimType type) {
  const ValId id = kernel_.new_val({type});
  kernel_.args.push_back({name, id, false});
  return {Type{type}, id};
}

Value Builder::block_arg(const std::string& name) {
  const Value v = arg(name, PrimType::kU64);
  kernel_.args.back().is_block = true;
  return v;
}

Value Builder::spec(const std::string& name, PrimValue fallback) {
  const ValId id = kernel_.new_val({fallback.type});
  kernel_.specs.push_back({name, id, fallback});
  return {Type{fallback.type}, id};
}

SharedId Builder::shared(const std::string& name, PrimType type, StaticSize length, int lanes) {
  kernel_.shared.push_back({name, type, length, static_cast<uint8_t>(lanes)});
  return SharedId{static_cast<uint32_t>(kernel_.shared.size() - 1)};
}

SharedId Builder::thread_counts(const std::string& name, int length) {
  const SharedId made = shared(name, PrimType::kU32, {length});
  kernel_.shared[made.index].counts_threads = true;
  return made;
}

LocalId Builder::local_array(const std::string& name, PrimType type, int32_t length) {
  kernel_.locals.push_back({name, type, length});
  return LocalId{static_cast<uint32_t>(kernel_.locals.size() - 1)};
}

// ---- scalars

Builder::Computation Builder::computation(ScalarOp op, PrimType type, PrimType to,
                                          const Values& args) {
  Computation c{static_cast<uint64_t>(op), static_cast<uint64_t>(type), static_cast<uint64_t>(to)};
  for (const Value& a : args) {
    c.push_back(a.is_const() ? 1 + static_cast<uint64_t>(a.type.prim) : 0);
    c.push_back(a.is_const() ? a.constant().bits : a.id().index);
  }
  return c;
}

std::optional<Value> Builder::known(const Computation& c) const {
  for (const auto& block : known_) {
    if (auto it = block.find(c); it != block.end()) return it->second;
  }
  return std::nullopt;
}

std::optional<std::pair<Value, Value>> Builder::multiple(const Value& v) const {
  if (v.is_const()) return std::nullopt;
  const auto it = multiples_.find(v.id().index);
  if (it == multiples_.end()) return std::nullopt;
  return it->second;
}

std::optional<Value> Builder::from_known(ScalarOp op, PrimType type, const Values& args) {
  if (!is_integer(type)) return std::nullopt;
  if (op == ScalarOp::kAdd) {
    for (const size_t n : {0, 1}) {
      if (args[n].is_const()) continue;
      const auto it = differences_.find(args[n].id().index);
      if (it != differences_.end() && it->second[1] == args[1 - n]) return it->second[0];
    }
    const auto a = multiple(args[0]), b = multiple(args[1]);
    if (a && b && a->second == b->second) {
      if (const auto sum = from_known(op, type, {a->first, b->first})) return mul(*sum, a->second);
    }
  }
  if (op == ScalarOp::kMul) {
    for (const size_t n : {0, 1}) {
      const auto factor = multiple(args[n]);
      if (!factor || args[1 - n].is_const()) continue;  // x * 4 * 3 would be x * 3 * 4 for ever
      for (const Values& product :
           {Values{args[1 - n], factor->first}, Values{factor->first, args[1 - n]}}) {
        const auto same = known(computation(op, type, type, product));
        if (same) return mul(*same, factor->second);
      }
    }
  }
  if ((op == ScalarOp::kMod || op == ScalarOp::kRem) && !args[1].is_int(0)) {
    const ScalarOp whole = op == ScalarOp::kMod ? ScalarOp::kDiv : ScalarOp::kQuot;
    const auto quotient = known(computation(whole, type, type, args));
    if (!quotient) return std::nullopt;
    const Value rest = sub(args[0], mul(*quotient, args[1]));
    // Of nothing, nothing remains.
    return args[1].is_const() ? rest : select(eq(args[1], 0), same_type(rest, 0), rest);
  }
  return std::nullopt;
}

Value Builder::op(ScalarOp op, PrimType type, PrimType to, Values args) {
  if (auto result = known_result(op, type, to, args)) return *result;
  const Computation c = computation(op, type, to, args);
  if (auto same = known(c)) return *same;
  if (auto other = from_known(op, type, args)) {
    known_.back()[c] = *other;
    return *other;
  }
  const Value v = define({scalar_op_result(op, type, to)}, [&](ValId dst) {
    return IPrim{dst, op, type, to, args};
  });
  if (op == ScalarOp::kSub && is_integer(type)) differences_.emplace(v.id().index, args);
  if (op == ScalarOp::kMul && is_integer(type) && args[0].is_const() != args[1].is_const()) {
    const size_t at = args[0].is_const() ? 0 : 1;
    multiples_.emplace(v.id().index, std::pair(args[1 - at], args[at]));
  }
  known_.back()[c] = v;
  return v;
}

Value Builder::prim(ScalarOp o, Values args) {
  CHECK(!args.empty());
  const PrimType type = args.back().type.prim;
  return op(o, type, type, std::move(args));
}

Value Builder::convert(const Value& a, PrimType to) {
  if (a.type.prim == to) return a;
  return op(ScalarOp::kConvert, a.type.prim, to, {a});
}

Value Builder::bitcast(const Value& a, PrimType to) {
  if (a.type.prim == to) return a;
  return op(ScalarOp::kBitcast, a.type.prim, to, {a});
}

Value Builder::div_up(Value a, Value b) {
  if (b.is_int(1)) return a;
  return quot(sub(add(std::move(a), b), 1), b);
}

// ---- vectors

Value Builder::compose(Values lanes) {
  CHECK(lanes.size() == 1 || lanes.size() == 2 || lanes.size() == 4);
  if (lanes.size() == 1) return lanes[0];
  const Type type{lanes[0].type.prim, static_cast<uint8_t>(lanes.size())};
  return define(type, [&](ValId dst) { return ICompose{dst, std::move(lanes)}; });
}

Value Builder::extract(Value vector, int lane) {
  CHECK(lane >= 0 && lane < vector.type.lanes);
  if (vector.type.lanes == 1) return vector;
  return define({vector.type.prim}, [&](ValId dst) { return IExtract{dst, vector, lane}; });
}

// ---- threads

Value Builder::builtin(BuiltinKind kind) {
  const Computation c{static_cast<uint64_t>(kind)};
  if (auto same = known(c)) return *same;
  const bool wide = kind == BuiltinKind::kGroup || kind == BuiltinKind::kGroups;
  const Value v = define({wide ? PrimType::kI64 : PrimType::kI32}, [&](ValId dst) {
    return IBuiltin{dst, kind};
  });
  known_.back()[c] = v;
  return v;
}

Value Builder::global() { return add(mul(group(), to_i64(group_size())), to_i64(local())); }
Value Builder::threads() { return mul(groups(), to_i64(group_size())); }

// ---- memory

Value Builder::load(Type type, Address from, Order order) {
  return define(type, [&](ValId dst) { return ILoad{dst, type, std::move(from), order}; });
}
Value Builder::load(SharedId array, Value index) {
  const SharedArray& a = kernel_.shared[array.index];
  return load({a.type, a.lanes}, {array, std::move(index)});
}
Value Builder::load(LocalId array, Value index) {
  return load({kernel_.locals[array.index].type}, {array, std::move(index)});
}
void Builder::store(Address to, Value value, Order order) {
  emit(IStore{std::move(to), std::move(value), order});
}

Value Builder::atomic(AtomicOp op, PrimType type, Address at, Value value, AtomicOrder order) {
  CHECK(op != AtomicOp::kCas);
  if (op == AtomicOp::kStore) {
    emit(IAtomic{{}, op, type, std::move(at), std::move(value), {}, order});
    return {};
  }
  return define({type}, [&](ValId dst) {
    return IAtomic{dst, op, type, std::move(at), std::move(value), {}, order};
  });
}

Value Builder::compare_and_swap(PrimType type, Address at, Value compare, Value value,
                                AtomicOrder order) {
  return define({type}, [&](ValId dst) {
    return IAtomic{dst,  AtomicOp::kCas, type, std::move(at), std::move(value), std::move(compare),
                   order};
  });
}

// ---- threads together

Value Builder::subgroup_combine(SubgroupOp op, ScalarOp combine, Value value) {
  const Type type = value.type;
  return define(type, [&](ValId dst) { return ISubgroup{dst, op, combine, std::move(value), {}}; });
}
Value Builder::shuffle(SubgroupOp op, Value value, Value arg) {
  const Type type = value.type;
  return define(type, [&](ValId dst) {
    return ISubgroup{dst, op, ScalarOp::kAdd, std::move(value), std::move(arg)};
  });
}
Value Builder::vote(SubgroupOp op, Value value) {
  const bool counts = op == SubgroupOp::kCount || op == SubgroupOp::kRank;
  return define({counts ? PrimType::kI32 : PrimType::kBool}, [&](ValId dst) {
    return ISubgroup{dst, op, ScalarOp::kAdd, std::move(value), {}};
  });
}

Value Builder::ballot(Value value, int word) {
  return define({PrimType::kU32}, [&](ValId dst) {
    return ISubgroup{dst, SubgroupOp::kBallot, ScalarOp::kAdd, std::move(value), i32(word)};
  });
}

// ---- variables

Var Builder::declare(Type type) {
  const Var var{type, kernel_.new_var(type)};
  emit(IDeclare{var.id, std::nullopt});
  return var;
}
Var Builder::declare(Value init) {
  const Var var{init.type, kernel_.new_var(init.type)};
  emit(IDeclare{var.id, std::move(init)});
  return var;
}
Value Builder::read(const Var& var) {
  return define(var.type, [&](ValId dst) { return IRead{dst, var.id}; });
}
void Builder::assign(const Var& var, Value value) {
  CHECK(var.type == value.type);
  emit(IAssign{var.id, std::move(value)});
}
Vars Builder::declare(const Values& inits) {
  Vars out;
  for (const Value& v : inits) out.push_back(declare(v));
  return out;
}
Values Builder::read(const Vars& vars) {
  Values out;
  for (const Var& v : vars) out.push_back(read(v));
  return out;
}
void Builder::assign(const Vars& vars, const Values& values) {
  CHECK(vars.size() == values.size());
  for (size_t k = 0; k < vars.size(); k++) assign(vars[k], values[k]);
}

// ---- control

void Builder::into(Block& block, const Do& build) {
  Block* outer = std::exchange(block_, &block);
  known_.emplace_back();
  if (build) build();
  known_.pop_back();
  block_ = outer;
}

void Builder::if_(Value cond, const Do& then_do, const Do& else_do) {
  if (cond.is_const()) {
    if (const Do& taken = cond.is_bool(true) ? then_do : else_do) taken();
    return;
  }
  IIf inst;
  inst.cond = std::move(cond);
  into(inst.then_block, then_do);
  into(inst.else_block, else_do);
  emit(std::move(inst));
}

Values Builder::if_values(Value cond, const std::function<Values()>& then_do,
                          const std::function<Values()>& else_do) {
  if (cond.is_const()) return cond.is_bool(true) ? then_do() : else_do();
  IIf inst;
  inst.cond = std::move(cond);
  Vars vars;
  into(inst.then_block, [&] {
    const Values results = then_do();
    for (const Value& r : results) {
      vars.push_back({r.type, kernel_.new_var(r.type)});
      assign(vars.back(), r);
    }
  });
  into(inst.else_block, [&] { assign(vars, else_do()); });
  for (const Var& v : vars) emit(IDeclare{v.id, std::nullopt});
  emit(std::move(inst));
  return read(vars);
}

void Builder::for_(Value from, Value to, Value step, const std::function<void(Value)>& body,
                   bool uniform, bool unroll) {
  CHECK(from.type == to.type && to.type == step.type);
  IFor inst;
  const Type type = from.type;
  inst.index = kernel_.new_val(type);
  inst.from = std::move(from);
  inst.to = std::move(to);
  inst.step = std::move(step);
  inst.uniform = uniform;
  inst.unroll = unroll;
  into(inst.body, [&] { body({type, inst.index}); });
  emit(std::move(inst));
}

void Builder::repeat(int n, const std::function<void(int)>& body) {
  for (int k = 0; k < n; k++) body(k);
}

void Builder::while_(const std::function<Value()>& cond, const Do& body, bool uniform) {
  IWhile inst;
  inst.uniform = uniform;
  // The body sees the head's values: both are one scope.
  Block* outer = std::exchange(block_, &inst.head);
  known_.emplace_back();
  inst.cond = cond();
  block_ = &inst.body;
  body();
  known_.pop_back();
  block_ = outer;
  emit(std::move(inst));
}

// ---- functions

FunctionId Builder::function(const std::string& name, const std::vector<Type>& params,
                             const std::function<Values(const Values&)>& body) {
  Function f;
  f.name = name;
  Values args;
  for (const Type& t : params) {
    f.params.push_back(kernel_.new_val(t));
    args.push_back({t, f.params.back()});
  }
  // Nothing of the caller's is visible inside.
  auto known = std::exchange(known_, {});
  into(f.body, [&] { f.results = body(args); });
  known_ = std::move(known);
  kernel_.functions.push_back(std::move(f));
  return FunctionId{static_cast<uint32_t>(kernel_.functions.size() - 1)};
}

Values Builder::call(FunctionId function, Values args) {
  ICall inst;
  inst.function = function;
  inst.args = std::move(args);
  Values results;
  for (const Value& r : kernel_.functions[function.index].results) {
    inst.dsts.push_back(kernel_.new_val(r.type));
    results.push_back({r.type, inst.dsts.back()});
  }
  emit(std::move(inst));
  return results;
}

}  // namespace kenaz::kir
