// Expressions: the dispatch, and the simple ones.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/futhark/lower/lowerer.h"
#include "protocol/base/overloaded.h"

namespace kenaz::lower {

using ir::Atom;

namespace {
// Nested expressions and inlined calls. The walk runs on a stack of its own (see entry.cc), large
// enough for this depth.
constexpr int kMaxDepth = 20000;
constexpr size_t kMaxStatements = 500000;
}  // namespace

V Lowerer::fail_at(const SourceRange& range, const std::string& message) {
  if (!error_) {
    Diagnostic d;
    d.range = range;
    d.message = message;
    error_ = compile_error({d});
  }
  return unit();
}

V Lowerer::fail(const std::string& message) {
  // The innermost place in the user's own text, so that nobody has to know the prelude's.
  auto prelude = [](const SourceRange* r) {
    return r == nullptr || r->file == nullptr || r->file->name.rfind("/prelude", 0) == 0;
  };
  const SourceRange* range = b_.range();
  for (size_t i = calls_.size(); i-- > 0 && prelude(range);) {
    if (!prelude(calls_[i])) range = calls_[i];
  }
  return fail_at(range != nullptr ? *range : SourceRange{}, message);
}

V Lowerer::broken(const std::string& what) {
  if (error_) return unit();
  fail("internal error in lowering: " + what);
  error_->kind = ErrorKind::kInternal;
  return unit();
}

V Lowerer::too_large() {
  return fail("the program becomes too large when its functions are inlined");
}

std::string Lowerer::name_of(core::VarId id) const {
  return id.index < checked_.var_names.size() ? checked_.var_names[id.index] : "x";
}

void Lowerer::check(const Atom& cond, Message message, Certs& certs) {
  if (cond.is_const() && cond.constant().as_bool()) return;
  Message parts;
  for (auto& m : message) {
    auto* text = std::get_if<std::string>(&m);
    auto* last = parts.empty() ? nullptr : std::get_if<std::string>(&parts.back());
    if (text != nullptr && last != nullptr) {
      *last += *text;
    } else {
      parts.push_back(std::move(m));
    }
  }
  certs.push_back(b_.let({PrimType::kBool, {}}, ir::EAssert{cond, std::move(parts)}, "check"));
}

V Lowerer::eval(const core::ExpPtr& e, const Env& env) {
  if (failed()) return unit();
  if (e == nullptr) return broken("a missing expression");
  const SourceRange* range = b_.range();
  ir::ProvId caller = b_.caller();
  b_.set_place(&e->range, caller);
  if (depth_ >= kMaxDepth) return fail("the program nests too deeply to be compiled");
  if (b_.statement_count() > kMaxStatements) return too_large();
  ++depth_;
  V v = eval_node(e, env);
  --depth_;
  if (!e->ext.empty() && !failed()) record_ext(*e, v, env);
  b_.set_place(range, caller);
  return v;
}

void Lowerer::record_ext(const core::Exp& e, const V& v, const Env& env) {
  if (env.frame == nullptr) return;
  std::vector<std::pair<core::VarId, Atom>> old;
  for (core::VarId id : e.ext) {
    auto found = env.frame->ext.find(id);
    if (found == env.frame->ext.end()) continue;
    old.emplace_back(id, found->second);
    env.frame->ext.erase(found);
  }
  Env bound = env;
  bind_sizes(Ty{e.type, env}, v, bound);
  // bind_sizes prepends what it found to the variables.
  for (const VarBind* b = bound.vars.get(); b != env.vars.get() && b != nullptr;
       b = b->next.get()) {
    if (const auto* l = std::get_if<VLeaf>(&b->value->node)) {
      env.frame->ext.insert_or_assign(b->id, l->atom);
    }
  }
  // A size that stands only inside of size expressions keeps what an operand has found.
  for (const auto& [id, atom] : old) env.frame->ext.emplace(id, atom);
}

V Lowerer::eval_var(const core::EVar& e, const Env& env) {
  for (const VarBind* b = env.vars.get(); b != nullptr; b = b->next.get()) {
    if (b->id != e.id) continue;
    if (const auto* d = std::get_if<VDef>(&b->value->node)) {
      return instantiate(d->def, d->env, e.targs, e.sargs, env);
    }
    return b->value;
  }
  auto g = globals_.find(e.id);
  if (g != globals_.end()) {
    if (g->second.constant) return constant(g->second);
    Env def_env;
    def_env.frame = global_frame_;
    return instantiate(g->second.def, def_env, e.targs, e.sargs, env);
  }
  if (V v = lookup(e.id, env)) return v;
  const auto computed = checked_.computed_sizes.find(e.id);
  if (computed != checked_.computed_sizes.end()) return eval(computed->second, env);
  // What a pattern or definition binds is known. A size parameter need not be: the checker leaves
  // it open where it cannot tell how a size is computed from others.
  return fail("cannot determine the size \"" + name_of(e.id) + "\" here");
}

V Lowerer::project(const V& v, const std::string& name) {
  for (const auto& f : as_record(v).fields) {
    if (f.first == name) return f.second;
  }
  return broken("no field " + name);
}

V Lowerer::eval_record(const core::Exp& e, const core::ERecord& r, const Env& env) {
  std::vector<std::pair<std::string, V>> given;
  for (const auto& f : r.fields) given.emplace_back(f.first, eval(f.second, env));
  Ty h = head(Ty{e.type, env});
  if (failed()) return unit();
  const auto* t = std::get_if<core::TRecord>(&h.type->node);
  if (t == nullptr || t->fields.size() != given.size()) return broken("a record's type");
  VRec out;
  for (const auto& f : t->fields) {
    V v;
    for (auto& g : given) {
      if (g.first == f.first) v = g.second;
    }
    if (v == nullptr) return broken("a record without field " + f.first);
    out.fields.emplace_back(f.first, v);
  }
  return make(std::move(out));
}

V Lowerer::eval_hole(const Ty& t) {
  Ty h = head(t);
  if (h.type != nullptr && std::holds_alternative<core::TArrow>(h.type->node)) {
    VFun f;
    f.hole = h.type;
    f.env = h.env;
    return make(std::move(f));
  }
  if (has_functions(t.type, 100)) return fail("a hole of function type is not supported yet");
  Certs certs;
  check(PrimValue::of_bool(false), {"Reached hole of type: " + show(t)}, certs);
  V v = zero(t);
  return failed() ? v : certify(v, certs);
}

V Lowerer::eval_attr(const core::EAttr& e, const Env& env) {
  if (e.attr.name == "unsafe" && e.attr.args.empty()) {
    Env inner = env;
    inner.unsafe = true;
    return eval(e.inner, inner);
  }
  if (e.attr.name == "param" && e.attr.args.size() == 1 && e.attr.args[0].args.empty()) {
    return eval_param(e.attr.args[0].name, eval(e.inner, env));
  }
  b_.attrs().push_back(e.attr.str());
  V v = eval(e.inner, env);
  b_.attrs().pop_back();
  if (e.attr.name == "unroll" && std::holds_alternative<core::ELoop>(e.inner->node)) {
    // This loop only, not those inside of it, nor functions called by it.
    auto& stms = b_.statements();
    const auto last = std::find_if(stms.rbegin(), stms.rend(), [](const ir::Stm& s) {
      return std::holds_alternative<ir::ELoop>(s.exp);
    });
    if (last != stms.rend()) last->attrs.emplace_back("warn(unroll)");
  }
  return v;
}

/// #[param(name)] on an i64: the tuning parameter of that name if it is set, else what stands
/// there.
V Lowerer::eval_param(const std::string& name, const V& otherwise) {
  const PrimType i64 = PrimType::kI64;
  const auto* l = std::get_if<VLeaf>(&otherwise->node);
  if (failed() || l == nullptr || b_.type_of(l->atom).prim != i64) return otherwise;
  auto& tunes = b_.program().tunes;
  const auto found =
      std::find_if(tunes.begin(), tunes.end(), [&](const ir::Tune& t) { return t.name == name; });
  const ir::TuneId id{static_cast<uint32_t>(found - tunes.begin())};
  if (found == tunes.end()) tunes.push_back({name, ir::TuneClass::kUser, 0, {}});
  const Atom set = b_.let_outermost({i64, {}}, ir::ETune{id}, name);
  return leaf(b_.select(i64, b_.eq(set, ir::i64(0)), l->atom, set));
}

V Lowerer::eval_node(const core::ExpPtr& ep, const Env& env) {
  const core::Exp& e = *ep;
  return std::visit(
      Overloaded{
          [&](const core::ELit& l) { return leaf(l.value); },
          [&](const core::EString& s) { return eval_string(s); },
          [&](const core::EVar& v) { return eval_var(v, env); },
          [&](const core::EIntrinsic& i) {
            VFun f;
            f.intrinsic = &i;
            f.env = env;
            f.arity = intrinsic_arity(i.op);
            return make(std::move(f));
          },
          [&](const core::ELambda& l) {
            VFun f;
            f.lambda = ep;
            f.env = env;
            f.arity = static_cast<int>(l.params.size());
            return make(std::move(f));
          },
          [&](const core::EApply& a) {
            V fun = eval(a.fun, env);
            std::vector<V> args;
            for (const auto& x : a.args) args.push_back(eval(x, env));
            if (failed()) return unit();
            return apply(fun, std::move(args), env.unsafe);
          },
          [&](const core::ELet& l) {
            V v = eval(l.value, env);
            if (failed()) return unit();
            return eval(l.body, bind_pattern(*l.pat, v, env));
          },
          [&](const core::ELetDef& l) {
            return eval(l.body, bind(env, l.def->id, make(VDef{l.def, env})));
          },
          [&](const core::EIf& i) {
            Atom cond = as_atom(eval(i.cond, env));
            Ty type{e.type, env};
            return branch(
                cond, [&] { return eval(i.then_branch, env); },
                [&] { return eval(i.else_branch, env); }, &type);
          },
          [&](const core::EMatch& m) { return eval_match(e, m, env); },
          [&](const core::ELoop& l) { return eval_loop(e, l, env); },
          [&](const core::ERecord& r) { return eval_record(e, r, env); },
          [&](const core::EProject& p) { return project(eval(p.record, env), p.field); },
          [&](const core::ERecordUpdate& u) {
            V record = eval(u.record, env);
            V value = eval(u.value, env);
            if (failed()) return unit();
            VRec out = as_record(record);
            for (auto& f : out.fields) {
              if (f.first == u.field) f.second = value;
            }
            return make(std::move(out));
          },
          [&](const core::EArray& a) { return eval_array(e, a, env); },
          [&](const core::EIndex& i) {
            V array = eval(i.array, env);
            Slice s = eval_slice(array, i.dims, env);
            return failed() ? unit() : index_value(array, s.dims, s.certs);
          },
          [&](const core::EUpdate& u) { return eval_update(u, env); },
          [&](const core::ERange& r) { return eval_range(e, r, env); },
          [&](const core::ECoerce& c) { return eval_coerce(e, c, env); },
          [&](const core::EConstr& c) {
            VConstr v{Ty{e.type, env}, layout_of(Ty{e.type, env}), 0, {}};
            v.index = v.layout->index_of(c.name);
            for (const auto& x : c.args) v.args.push_back(eval(x, env));
            if (!failed() && v.index < 0) return broken("unknown constructor " + c.name);
            return make(std::move(v));
          },
          [&](const core::EAssert& a) {
            Atom cond = as_atom(eval(a.cond, env));
            Certs certs;
            if (!env.unsafe) check(cond, {"Assertion is false: " + a.text}, certs);
            V v = eval(a.body, env);
            return failed() ? v : certify(v, certs);
          },
          [&](const core::EHole&) {
            return eval_hole(Ty{e.type, env});
          },
          [&](const core::EAttr& a) { return eval_attr(a, env); },
      },
      e.node);
}

}  // namespace kenaz::lower
