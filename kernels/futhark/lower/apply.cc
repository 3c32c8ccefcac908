// Calls: every function is known here, so a call is its body, lowered in place.
#include "kernels/futhark/lower/lowerer.h"
#include "protocol/base/overloaded.h"

namespace kenaz::lower {

int intrinsic_arity(core::Intrinsic op) {
  static constexpr std::string_view kTypes[] = {
#define INTRINSIC(e, name, constraint, type) type,
#include "kernels/futhark/core/intrinsics.def"
#undef INTRINSIC
  };
  // Arrows that are not inside parentheses, after the type parameters.
  std::string_view t = kTypes[static_cast<size_t>(op)];
  int depth = 0, arrows = 0;
  for (size_t i = 0; i + 1 < t.size(); ++i) {
    if (t[i] == '(') ++depth;
    if (t[i] == ')') --depth;
    if (depth == 0 && t[i] == '-' && t[i + 1] == '>') ++arrows;
  }
  return arrows;
}

namespace {

// A function that calls another twice, which calls a third one twice, and so on: the time that this
// takes has a limit even if no code comes of it.
constexpr size_t kMaxInlined = 2000000;
constexpr size_t kMaxIdle = 300000;

}  // namespace

const core::ExpPtr* lambda_of(const core::ExpPtr& body) {
  const core::ExpPtr* e = &body;
  while (*e != nullptr) {
    if (std::holds_alternative<core::ELambda>((*e)->node)) return e;
    const auto* a = std::get_if<core::EAttr>(&(*e)->node);
    if (a == nullptr) return nullptr;
    if (a->attr.name == "unsafe") return nullptr;
    e = &a->inner;
  }
  return nullptr;
}

Lowerer::Call::Call(Lowerer& l) : l_(l), range_(l.b_.range()), caller_(l.b_.caller()) {
  l_.calls_.push_back(range_);
  if (!l_.entering_) l_.b_.set_place(range_, l_.b_.prov());
  l_.entering_ = false;
}

Lowerer::Call::~Call() {
  l_.calls_.pop_back();
  l_.b_.set_place(range_, caller_);
}

Env Lowerer::new_frame(Env env) const {
  auto f = std::make_shared<Frame>();
  f->parent = env.frame != nullptr ? env.frame : global_frame_;
  env.frame = std::move(f);
  return env;
}

V Lowerer::instantiate(const core::DefPtr& def, Env def_env,
                       const std::vector<core::TypePtr>& targs,
                       const std::vector<core::Size>& sargs, const Env& env) {
  if (failed()) return unit();
  for (size_t i = 0; i < def->tparams.size(); ++i) {
    if (i >= targs.size()) return broken("missing type arguments of " + def->name);
    def_env = bind_type(def_env, def->tparams[i], Ty{targs[i], env});
  }
  if (lambda_of(def->body) != nullptr) {
    VFun f;
    f.def = def;
    f.env = std::move(def_env);
    f.sargs = sargs;
    f.sarg_env = env;
    f.arity =
        static_cast<int>(std::get<core::ELambda>((*lambda_of(def->body))->node).params.size());
    return make(std::move(f));
  }
  if (def->recursive) {
    return fail("a recursive function that is not written with parameters is not supported yet: " +
                def->name);
  }
  // A polymorphic value, or a function that is not written as one: its body, here.
  for (size_t i = 0; i < def->sparams.size() && i < sargs.size(); ++i) {
    if (auto a = size_atom(sargs[i], env, true)) {
      def_env = bind(def_env, def->sparams[i], leaf(*a));
    }
  }
  Call call(*this);
  return eval(def->body, new_frame(def_env));
}

V Lowerer::apply(const V& fun, std::vector<V> args, bool unsafe) {
  if (failed()) return unit();
  const auto* f = std::get_if<VFun>(&fun->node);
  if (f == nullptr) return broken("something that is not a function is applied");
  std::vector<V> all = f->args;
  for (auto& a : args) all.push_back(std::move(a));
  const size_t arity = static_cast<size_t>(f->arity);
  if (all.size() < arity) {
    VFun partial = *f;
    partial.args = std::move(all);
    return make(std::move(partial));
  }
  std::vector<V> rest(all.begin() + arity, all.end());
  all.resize(arity);
  V result = invoke(*f, all, unsafe);
  return rest.empty() ? result : apply(result, std::move(rest), unsafe);
}

V Lowerer::invoke(const VFun& f, const std::vector<V>& args, bool unsafe) {
  if (failed()) return unit();
  if (f.intrinsic != nullptr) return apply_intrinsic(f, args, unsafe);
  if (b_.statement_count() != statements_at_call_) idle_ = 0;
  statements_at_call_ = b_.statement_count();
  if (++inlined_ > kMaxInlined || ++idle_ > kMaxIdle) return too_large();
  if (calls_.size() >= kMaxCalls) {
    return fail("more than 1000 function calls are nested here");
  }
  if (f.hole != nullptr) return eval_hole(Ty{std::get<core::TArrow>(f.hole->node).to, f.env});
  if (f.def != nullptr && f.def->recursive) return call_recursive(f, args);
  Call call(*this);
  Env env = new_frame(f.env);
  if (f.lambda != nullptr) {
    const auto& l = std::get<core::ELambda>(f.lambda->node);
    for (size_t i = 0; i < args.size(); ++i) env = bind_pattern(*l.params[i], args[i], env);
    return eval(l.body, env);
  }
  const auto& l = std::get<core::ELambda>((*lambda_of(f.def->body))->node);
  // Sizes from the arguments' shapes first: they are certain. Then as the checker inferred them.
  for (size_t i = 0; i < args.size(); ++i) {
    bind_sizes(Ty{l.params[i]->type, env}, args[i], env);
  }
  for (size_t i = 0; i < f.def->sparams.size() && i < f.sargs.size(); ++i) {
    bool known = false;
    for (const VarBind* b = env.vars.get(); b != nullptr && !known; b = b->next.get()) {
      known = b->id == f.def->sparams[i];
    }
    if (known) continue;
    if (auto a = size_atom(f.sargs[i], f.sarg_env, true)) {
      env = bind(env, f.def->sparams[i], leaf(*a));
    }
  }
  for (size_t i = 0; i < args.size(); ++i) env = bind_pattern(*l.params[i], args[i], env);
  return eval(l.body, env);
}

}  // namespace kenaz::lower
