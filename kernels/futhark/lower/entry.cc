// Entry points, top-level constants, and the whole program.
#include <set>

#include "kernels/futhark/lower/lower.h"
#include "kernels/futhark/lower/lowerer.h"
#include "protocol/base/large_stack_thread.h"

namespace kenaz::lower {

using ir::Atom;

Lowerer::Lowerer(const core::Checked& checked) : checked_(checked), b_(out_.ir) {
  for (const auto& def : checked.defs) {
    Global g;
    g.def = def;
    g.constant = def->body != nullptr && def->tparams.empty() && def->sparams.empty() &&
                 !std::holds_alternative<core::ELambda>(def->body->node) &&
                 !has_functions(def->type, 100);
    globals_.emplace(def->id, std::move(g));
  }
}

V Lowerer::constant(Global& g) {
  if (g.done) return g.value;
  if (failed()) return unit();
  if (g.busy) return fail("the definition of " + g.def->name + " depends on itself");
  g.busy = true;
  // Its code goes to the constants' body, wherever it is needed first.
  const SourceRange* range = b_.range();
  ir::ProvId caller = b_.caller();
  auto attrs = std::move(b_.attrs());
  b_.attrs().clear();
  b_.enter_constants();
  b_.set_place(&g.def->range, ir::ProvId{});
  Env env;
  env.frame = global_frame_;
  V v = materialise(eval(g.def->body, new_frame(env)));
  if (!failed()) {
    Env bound = env;
    Ty type{g.def->type, env};
    bind_sizes(type, v, bound);
    for (const VarBind* x = bound.vars.get(); x != nullptr; x = x->next.get()) {
      if (const auto* l = std::get_if<VLeaf>(&x->value->node)) {
        global_frame_->ext.insert_or_assign(x->id, l->atom);
      }
    }
    g.value = conform(v, type);
    g.done = true;
  }
  b_.leave_constants();
  b_.attrs() = std::move(attrs);
  b_.set_place(range, caller);
  g.busy = false;
  return failed() ? unit() : g.value;
}

void Lowerer::finish_constants() {
  std::set<uint32_t> seen;
  ir::Body& body = out_.ir.constants;
  auto add = [&](const Atom& a) {
    if (!a.is_const() && seen.insert(a.var().index).second) body.results.push_back(a);
  };
  for (const auto& def : checked_.defs) {
    const Global& g = globals_.at(def->id);
    if (!g.done) continue;
    for (const auto& l : leaves(g.value)) {
      for (const Atom& d : b_.type_of(l.atom).dims) add(d);
      add(l.atom);
    }
  }
  body.stms = b_.take_constants();
}

Atom Lowerer::has_stated_shape(const V& v, const Ty& t, std::vector<std::vector<Atom>>& wanted) {
  std::vector<Atom> dims;
  conform_dims(v, t, true, dims, wanted);
  Atom fits = PrimValue::of_bool(true);
  const auto old = leaves(v);
  for (size_t k = 0; k < old.size() && k < wanted.size(); ++k) {
    std::vector<Atom> have = b_.type_of(old[k].atom).dims;
    if (old[k].is_dim()) {
      have = {old[k].atom};
      fits = b_.both(fits, b_.le(ir::i64(0), old[k].atom));
    }
    for (size_t d = 0; d < have.size() && d < wanted[k].size(); ++d) {
      fits = b_.both(fits, b_.eq(have[d], wanted[k][d]));
    }
  }
  return fits;
}

Atom Lowerer::payloads_fit(const V& v, const Ty& t) {
  Atom fits = PrimValue::of_bool(true);
  Ty h = head(t);
  if (failed()) return fits;
  if (const auto* r = std::get_if<VRec>(&v->node)) {
    const auto& fields = std::get<core::TRecord>(h.type->node).fields;
    for (size_t i = 0; i < fields.size(); ++i) {
      fits = b_.both(fits, payloads_fit(r->fields[i].second, sub(h, fields[i].second)));
    }
    return fits;
  }
  const auto* sum = std::get_if<VSum>(&v->node);
  if (sum == nullptr) return fits;
  const auto& constructors = std::get<core::TSum>(h.type->node).constructors;
  for (size_t k = 0; k < constructors.size(); ++k) {
    const auto& types = constructors[k].second;
    for (size_t i = 0; i < types.size(); ++i) {
      if (!has_sizes(types[i], 100)) continue;
      V arg = payload(*sum, static_cast<int>(k), static_cast<int>(i));
      std::vector<std::vector<Atom>> wanted;
      Atom ok = has_stated_shape(arg, sub(h, types[i]), wanted);
      ok = b_.both(ok, payloads_fit(arg, sub(h, types[i])));
      fits = b_.both(fits, b_.either(b_.negate(is_constructor(*sum, static_cast<int>(k))), ok));
    }
  }
  return fits;
}

void Lowerer::fit_arguments(const std::vector<Ty>& types, const Env& env, std::vector<V>& args) {
  Atom fits = PrimValue::of_bool(true);
  std::vector<std::vector<std::vector<Atom>>> wanted(args.size());
  for (size_t i = 0; i < args.size() && !failed(); ++i) {
    Ty type{types[i].type, env};
    fits = b_.both(fits, has_stated_shape(args[i], type, wanted[i]));
    fits = b_.both(fits, payloads_fit(args[i], type));
  }
  Certs certs;
  if (!failed()) check(fits, {"entry point arguments have invalid sizes."}, certs);
  for (size_t i = 0; i < args.size() && !failed(); ++i) {
    auto old = leaves(args[i]);
    std::vector<Atom> shaped;
    for (size_t k = 0; k < old.size(); ++k) {
      const Atom& a = old[k].atom;
      if (k >= wanted[i].size() || wanted[i][k].empty()) {
        shaped.push_back(a);
      } else if (old[k].is_dim()) {
        shaped.push_back(resize(a, wanted[i][k][0], certs));
      } else {
        bool same = b_.type_of(a).dims == wanted[i][k];
        shaped.push_back(same ? a : reshape(a, wanted[i][k], certs));
      }
    }
    args[i] = rebuild(args[i], shaped);
  }
}

void Lowerer::lower_entry(const core::EntryPoint& e) {
  auto found = globals_.find(e.def);
  if (found == globals_.end()) {
    broken("an entry point without a definition: " + e.name);
    return;
  }
  Global& g = found->second;
  const core::DefPtr def = g.def;
  b_.set_place(&def->range, ir::ProvId{});
  ir::Function fun;
  fun.name = e.name;
  b_.open();

  // Parameters: every leaf, every dim of it a variable of its own.
  Env env;
  env.frame = global_frame_;
  env = new_frame(env);
  std::vector<V> args;
  std::vector<Ty> types;
  std::set<uint32_t> known;  // what result types may mention
  core::TypePtr type = def->type;
  for (size_t i = 0; i < e.params.size() && !failed(); ++i) {
    const auto* arrow = type != nullptr ? std::get_if<core::TArrow>(&type->node) : nullptr;
    if (arrow == nullptr) {
      broken("an entry point's parameters: " + e.name);
      break;
    }
    Ty t{arrow->from, env};
    std::vector<LeafType> slots;
    saw_function_ = false;
    type_leaves(t, 0, slots);
    if (saw_function_) fail("an entry point cannot take functions");
    std::vector<Atom> atoms;
    for (const auto& s : slots) {
      ir::Type leaf_type{s.prim, {}};
      for (int d = 0; d < s.rank; ++d) {
        ir::VarId dim = b_.var({PrimType::kI64, {}}, "n");
        known.insert(dim.index);
        leaf_type.dims.push_back(dim);
      }
      ir::VarId v = b_.var(leaf_type, e.params[i].name.empty() ? "arg" : e.params[i].name);
      known.insert(v.index);
      fun.params.push_back(v);
      fun.consumed.push_back(arrow->consumes || e.params[i].unique);
      atoms.push_back(v);
    }
    args.push_back(from_leaves(t, atoms));
    if (arrow->param.valid()) env = bind(env, arrow->param, args.back());
    types.push_back(t);
    type = arrow->to;
  }
  for (size_t i = 0; i < args.size() && !failed(); ++i) {
    bind_sizes(Ty{types[i].type, env}, args[i], env);
  }
  fit_arguments(types, env, args);

  V result;
  if (failed()) {
    result = unit();
  } else if (g.constant) {
    result = constant(g);
  } else {
    core::EVar self{e.def, {}, {}};
    for (core::VarId s : def->sparams) self.sargs.push_back(core::Size::of_var(s));
    V f = eval_var(self, env);
    entering_ = true;
    result = args.empty() ? f : apply(f, args);
    entering_ = false;
    result = materialise(conform(result, Ty{type, env}));
  }
  finish_entry(fun, result, known);
  if (failed()) return;
  out_.ir.functions.push_back(std::move(fun));
  out_.ir.entries.push_back(
      {e.name, ir::FunId{static_cast<uint32_t>(out_.ir.functions.size() - 1)}});
}

void Lowerer::finish_entry(ir::Function& fun, const V& result, const std::set<uint32_t>& known) {
  std::vector<Atom> sizes, data;
  for (const auto& l : failed() ? std::vector<Leaf>{} : leaves(result)) {
    ir::Type t = b_.type_of(l.atom);  // of the size of an array of nothing: i64
    for (Atom& d : t.dims) {
      if (d.is_const() || known.count(d.var().index) != 0) continue;
      size_t k = 0;
      while (k < sizes.size() && !(sizes[k] == d)) ++k;
      if (k == sizes.size()) {
        sizes.push_back(d);
        fun.ret_size_vars.push_back(b_.var({PrimType::kI64, {}}, "size"));
      }
      d = fun.ret_size_vars[k];
    }
    data.push_back(l.atom);
    fun.ret.push_back(t);
  }
  fun.ret.insert(fun.ret.begin(), sizes.size(), ir::Type{PrimType::kI64, {}});
  fun.body.results = sizes;
  fun.body.results.insert(fun.body.results.end(), data.begin(), data.end());
  fun.body.stms = b_.close();
}

Result<ir::Lowered> Lowerer::run() {
  for (const auto& def : checked_.defs) {
    Global& g = globals_.at(def->id);
    // Futhark computes every constant at start-up; the prelude's only where they are used.
    const bool prelude =
        def->range.file != nullptr && def->range.file->name.rfind("/prelude", 0) == 0;
    if (g.constant && !prelude) constant(g);
    if (failed()) return tl::unexpected<Error>(*error_);
  }
  for (const auto& e : checked_.entries) {
    lower_entry(e);
    if (failed()) return tl::unexpected<Error>(*error_);
  }
  finish_constants();
  if (failed()) return tl::unexpected<Error>(*error_);
  out_.entries.assign(checked_.entries.begin(), checked_.entries.end());
  out_.types = checked_.types;
  return std::move(out_);
}

Result<ir::Lowered> lower_program(const core::Checked& checked) {
  // Inlining nests as deeply as the program's calls do: a stack that is large enough for the
  // limits in exp.cc, whatever thread the caller is on. Only touched pages cost memory.
  constexpr size_t kStack = size_t{1} << 30;
  Result<ir::Lowered> result = internal_error("lowering did not run");
  KENAZ_TRY(run_on_large_stack(kStack, [&] { result = Lowerer(checked).run(); }));
  return result;
}

}  // namespace kenaz::lower
