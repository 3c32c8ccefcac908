// Functions that see themselves. All others are inlined; these become functions of array IR, made
// when they are called: one for every use that differs in types, in the functions among the
// arguments, or in the structure of the others.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/futhark/lower/lowerer.h"
#include "kernels/ir/analysis/alias.h"
#include "kernels/ir/analysis/calls.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "protocol/base/overloaded.h"

namespace kenaz::lower {

using ir::Atom;

namespace {

constexpr size_t kMaxInstances = 1000;

bool same_function(const V& a, const V& b) {
  if (a == b) return true;
  const auto* f = std::get_if<VFun>(&a->node);
  const auto* g = std::get_if<VFun>(&b->node);
  if (f == nullptr || g == nullptr) {
    const auto* x = std::get_if<VLeaf>(&a->node);
    const auto* y = std::get_if<VLeaf>(&b->node);
    return x != nullptr && y != nullptr && x->atom == y->atom;
  }
  return f->lambda == g->lambda && f->def == g->def && f->intrinsic == g->intrinsic &&
         f->hole == g->hole && f->env.vars == g->env.vars && f->env.types == g->env.types &&
         f->sarg_env.vars == g->sarg_env.vars &&
         std::equal(f->args.begin(), f->args.end(), g->args.begin(), g->args.end(), same_function);
}

/// The result type of a function of so many arguments.
core::TypePtr result_type(core::TypePtr type, size_t arity) {
  for (; arity > 0 && type != nullptr; --arity) {
    const auto* arrow = std::get_if<core::TArrow>(&type->node);
    type = arrow != nullptr ? arrow->to : nullptr;
  }
  return type;
}

}  // namespace

void Lowerer::skeleton(const V& v, std::string& text, std::vector<V>& functions) {
  std::visit(Overloaded{
                 [&](const VLeaf& l) {
                   const ir::Type t = b_.type_of(l.atom);
                   text += fmt::format("{}{} ", prim_name(t.prim), t.rank());
                 },
                 [&](const VArr& a) {
                   text += "[";
                   skeleton(a.elem, text, functions);
                 },
                 [&](const VRec& r) {
                   text += "{";
                   for (const auto& f : r.fields) {
                     text += f.first + ":";
                     skeleton(f.second, text, functions);
                   }
                   text += "}";
                 },
                 [&](const VSum& s) { text += "<" + show(s.type) + ">"; },
                 [&](const VFun&) {
                   text += "f";
                   functions.push_back(v);
                 },
                 [&](const auto&) { broken("an argument of a recursive function"); },
             },
             v->node);
}

Env Lowerer::recursive_env(const VFun& f, const std::vector<V>& args, const Sizes& sizes) {
  const auto& l = std::get<core::ELambda>((*lambda_of(f.def->body))->node);
  Env env = new_frame(f.env);
  core::TypePtr type = f.def->type;
  for (size_t i = 0; i < args.size(); ++i) {
    bind_sizes(Ty{l.params[i]->type, env}, args[i], env);
    const auto* arrow = std::get_if<core::TArrow>(&type->node);
    if (arrow == nullptr) break;
    bind_sizes(Ty{arrow->from, env}, args[i], env);
    if (arrow->param.valid()) env = bind(env, arrow->param, args[i]);
    type = arrow->to;
  }
  for (size_t i = 0; i < f.def->sparams.size() && i < sizes.size(); ++i) {
    const core::VarId id = f.def->sparams[i];
    const VarBind* b = env.vars.get();
    while (b != nullptr && b->id != id) b = b->next.get();
    if (b == nullptr && sizes[i]) env = bind(env, id, leaf(*sizes[i]));
  }
  return env;
}

std::string Lowerer::instance_name(const std::string& wanted) const {
  std::string base;
  for (const char c : wanted) {
    base += (std::isalnum(static_cast<unsigned char>(c)) || c == '_') ? c : '_';
  }
  const auto taken = [&](const std::string& name) {
    return std::any_of(out_.ir.functions.begin(), out_.ir.functions.end(),
                       [&](const auto& f) { return f.name == name; }) ||
           std::any_of(checked_.entries.begin(), checked_.entries.end(),
                       [&](const auto& e) { return e.name == name; });
  };
  std::string name = base;
  for (int n = 2; taken(name); ++n) name = fmt::format("{}_{}", base, n);
  return name;
}

/// The function's parameters like the given values, and these values with them.
std::vector<V> Lowerer::instance_params(const VFun& f, const std::vector<V>& given,
                                        ir::Function& fun) {
  std::vector<V> args;
  core::TypePtr type = f.def->type;
  for (const V& v : given) {
    const auto* arrow = std::get_if<core::TArrow>(&type->node);
    std::vector<Atom> atoms;
    for (const auto& l : leaves(v)) {
      ir::Type t = b_.type_of(l.atom);
      for (Atom& d : t.dims) d = b_.var({PrimType::kI64, {}}, "n");
      fun.params.push_back(b_.var(t, "arg"));
      fun.consumed.push_back(arrow->consumes);
      atoms.push_back(fun.params.back());
    }
    args.push_back(rebuild(v, atoms));
    type = arrow->to;
  }
  return args;
}

/// Results with all of their sizes before them, so that calls know what they bind before the body
/// is known.
void Lowerer::finish_instance(ir::Function& fun, const V& result) {
  std::vector<Atom> data;
  for (const auto& l : leaves(result)) {
    ir::Type t = b_.type_of(l.atom);
    for (Atom& d : t.dims) {
      fun.body.results.push_back(d);
      fun.ret_size_vars.push_back(b_.var({PrimType::kI64, {}}, "size"));
      d = fun.ret_size_vars.back();
    }
    data.push_back(l.atom);
    fun.ret.push_back(t);
  }
  fun.ret.insert(fun.ret.begin(), fun.ret_size_vars.size(), ir::Type{PrimType::kI64, {}});
  fun.body.results.insert(fun.body.results.end(), data.begin(), data.end());
  fun.body.stms = b_.close();
}

/// What the functions among the arguments have captured becomes parameters.
void Lowerer::capture(Instance& instance, ir::Function& fun) {
  ir::Program& program = b_.program();
  std::set<uint32_t> own, wanted;
  for (const ir::VarId v : fun.params) {
    own.insert(v.index);
    for (const Atom& d : b_.type_of(v).dims) own.insert(d.var().index);
  }
  for (const ir::VarId v : ir::free_vars(program, fun.body)) {
    if (own.count(v.index) == 0 && !b_.is_constant(v)) wanted.insert(v.index);
  }
  ir::Subst renamed;
  b_.open();
  for (const uint32_t index : wanted) {
    const ir::VarId v{index};
    renamed[v] = b_.var(b_.type_of(v), program.vars[index].name);
    for (const Atom& d : b_.type_of(v).dims) {
      const bool known = d.is_const() || b_.is_constant(d.var()) || renamed.count(d.var()) != 0;
      if (!known) renamed[d.var()] = b_.var({PrimType::kI64, {}}, "n");
    }
  }
  (void)b_.close();
  std::vector<Atom> inner;
  for (const uint32_t index : wanted) {
    const ir::VarId to = renamed[ir::VarId{index}].var();
    ir::substitute(program.vars[to.index].type, renamed);
    fun.params.push_back(to);
    fun.consumed.push_back(false);
    inner.push_back(to);
    instance.captures.push_back(ir::VarId{index});
  }
  ir::substitute(program, fun.body, renamed);
  if (inner.empty()) return;
  const auto is_own = [&](const ir::ECall& call) { return call.fun == instance.fun; };
  for_each_call(fun.body, [&](ir::ECall& call) {
    if (is_own(call)) call.args.insert(call.args.end(), inner.begin(), inner.end());
  });
  for (ir::Function& other : out_.ir.functions) {
    for_each_call(other.body, [&](ir::ECall& call) {
      if (!is_own(call)) return;
      fail(
          "recursive functions that call each other through functions with captured values are "
          "not supported yet: " +
          fun.name);
    });
  }
}

/// A result must not be the memory of an argument that the caller keeps, of a constant, or of
/// another result: whoever calls takes it for new.
void Lowerer::copy_shared_results(ir::Function& fun, size_t id) {
  out_.ir.functions[id] = fun;
  const ir::Aliases aliases(b_.program());
  std::set<uint32_t> taken;
  for (size_t k = 0; k < fun.params.size(); ++k) {
    if (!fun.consumed[k]) taken.insert(aliases.of(fun.params[k]));
  }
  b_.open();
  for (Atom& r : fun.body.results) {
    if (r.is_const() || b_.type_of(r).is_scalar()) continue;
    const bool is_shared = b_.is_constant(r.var()) || !taken.insert(aliases.of(r.var())).second;
    if (is_shared) r = b_.let(b_.type_of(r), ir::ECopy{r.var()}, "result");
  }
  for (ir::Stm& s : b_.close()) fun.body.stms.push_back(std::move(s));
}

void Lowerer::lower_instance(Instance& instance, const VFun& f, const std::vector<V>& given,
                             const Sizes& sizes) {
  const SourceRange* range = b_.range();
  const ir::ProvId caller = b_.caller();
  auto attrs = std::exchange(b_.attrs(), {});
  const size_t id = out_.ir.functions.size();
  instance.fun = ir::FunId{static_cast<uint32_t>(id)};
  ir::Function fun;
  fun.name = instance_name(f.def->name);
  out_.ir.functions.emplace_back().name = fun.name;
  b_.enter_function();
  b_.set_place(&f.def->range, ir::ProvId{});
  b_.open();
  const std::vector<V> args = instance_params(f, given, fun);
  std::vector<std::optional<Atom>> own_sizes(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i]) continue;
    fun.params.push_back(b_.var({PrimType::kI64, {}}, "size"));
    fun.consumed.push_back(false);
    own_sizes[i] = fun.params.back();
  }
  {
    entering_ = true;
    Call call(*this);
    Env env = recursive_env(f, args, own_sizes);
    const auto& l = std::get<core::ELambda>((*lambda_of(f.def->body))->node);
    const Ty type{result_type(f.def->type, args.size()), env};
    for (size_t i = 0; i < args.size(); ++i) env = bind_pattern(*l.params[i], args[i], env);
    const V result = materialise(conform(eval(l.body, env), type));
    if (!failed()) finish_instance(fun, result);
  }
  if (failed()) return;
  b_.leave_constants();
  b_.attrs() = std::move(attrs);
  b_.set_place(range, caller);
  capture(instance, fun);
  copy_shared_results(fun, id);
  out_.ir.functions[id] = std::move(fun);
}

/// The instance for these arguments; made if there is none yet.
Lowerer::Instance* Lowerer::instance_for(const VFun& f, const std::vector<V>& args,
                                         const Sizes& sizes) {
  std::string key = fmt::format("{} ", f.def->id.index);
  for (const core::TyVarId t : f.def->tparams) {
    for (const TyBind* b = f.env.types.get(); b != nullptr; b = b->next.get()) {
      if (b->id != t) continue;
      key += show(b->type) + " ";
      break;
    }
  }
  std::vector<V> functions;
  for (const V& a : args) skeleton(a, key, functions);
  for (const auto& s : sizes) key += s ? "s" : "-";
  if (failed()) return nullptr;
  for (const auto& i : instances_) {
    const bool usable = std::all_of(i->captures.begin(), i->captures.end(),
                                    [&](const Atom& a) { return b_.in_scope(a); });
    if (i->key == key && usable &&
        std::equal(i->functions.begin(), i->functions.end(), functions.begin(), functions.end(),
                   same_function)) {
      return i.get();
    }
  }
  if (instances_.size() >= kMaxInstances) {
    fail(fmt::format("the recursive function {} is used in more than {} different ways",
                     f.def->name, kMaxInstances));
    return nullptr;
  }
  instances_.push_back(std::make_shared<Instance>());
  Instance* instance = instances_.back().get();
  instance->key = std::move(key);
  instance->functions = std::move(functions);
  lower_instance(*instance, f, args, sizes);
  return failed() ? nullptr : instance;
}

namespace {
bool holds_accumulator(const V& v) {
  if (const auto* r = std::get_if<VRec>(&v->node)) {
    return std::any_of(r->fields.begin(), r->fields.end(),
                       [](const auto& f) { return holds_accumulator(f.second); });
  }
  return std::holds_alternative<VAcc>(v->node);
}
}  // namespace

V Lowerer::call_recursive(const VFun& f, const std::vector<V>& given) {
  if (std::any_of(given.begin(), given.end(), holds_accumulator)) {
    fail(fmt::format("The recursive function {} takes an accumulator, which is not supported.",
                     f.def->name));
    return unit();
  }
  std::vector<V> args;
  for (const V& v : given) args.push_back(materialise(v));
  std::vector<std::optional<Atom>> sizes;
  for (size_t i = 0; i < f.def->sparams.size() && i < f.sargs.size(); ++i) {
    sizes.push_back(size_atom(f.sargs[i], f.sarg_env, true));
  }
  if (failed()) return unit();
  Instance* instance = instance_for(f, args, sizes);
  if (instance == nullptr) return unit();
  ++recursive_calls_;
  ir::ECall call{instance->fun, {}};
  for (const V& v : args) {
    for (const auto& l : leaves(v)) call.args.push_back(l.atom);
  }
  for (const auto& s : sizes) {
    if (s) call.args.push_back(*s);
  }
  call.args.insert(call.args.end(), instance->captures.begin(), instance->captures.end());
  const Ty type{result_type(f.def->type, args.size()), recursive_env(f, args, sizes)};
  std::vector<LeafType> slots;
  type_leaves(type, 0, slots);
  std::vector<ir::VarId> pat, data;
  for (const LeafType& slot : slots) {
    ir::Type t{slot.prim, {}};
    for (int d = 0; d < slot.rank; ++d) {
      pat.push_back(b_.var({PrimType::kI64, {}}, "size"));
      t.dims.push_back(pat.back());
    }
    data.push_back(b_.var(t, f.def->name));
  }
  pat.insert(pat.end(), data.begin(), data.end());
  b_.emit(std::move(pat), std::move(call));
  return conform(from_leaves(type, {data.begin(), data.end()}), type);
}

}  // namespace kenaz::lower
