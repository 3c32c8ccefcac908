#include "kernels/futhark/check/defs.h"

#include <algorithm>

#include "kernels/futhark/check/recursion.h"
#include "kernels/futhark/consumption/consumption.h"
#include "kernels/futhark/core/uniqueness.h"
#include "kernels/futhark/sizes/causality.h"

namespace kenaz::check {

namespace {

/// As `length` does.
bool returns_size_parameter(const core::Def& def) {
  const auto* function = std::get_if<core::ELambda>(&def.body->node);
  const auto* result = function ? std::get_if<core::EVar>(&function->body->node) : nullptr;
  return result &&
         std::find(def.sparams.begin(), def.sparams.end(), result->id) != def.sparams.end();
}

}  // namespace

// A top-level function is generalised over what its parameters and result leave open; a local one
// over sizes of its parameters only. The definition's types are finished with the function state
// it belongs to.
MutDef Definitions::define(const Binding& b, bool top) {
  auto def = std::make_shared<core::Def>();
  def->name = b.name;
  def->range = b.range;
  def->type_declared = b.ret != nullptr;
  const uint32_t start = vars_.next_var();
  if (b.params.size() > kMaxParams) {
    reports_.error(b.range,
                   "A function can have at most " + std::to_string(kMaxParams) + " parameters.");
    def->type = core::tuple_type({});
    def->body = bad_exp(b.range);
    return def;
  }
  const size_t mark = fn_->here.locals.size();
  const int outer_level = vars_.level()++;
  fn_->starts.push_back(start);
  TypeParams tparams = types_.type_params(b.tparams);
  def->tparams = tparams.types;
  def->sparams = tparams.sizes;
  for (VarId v : tparams.sizes) vars_[v].param = true;
  std::vector<const syntax::Pat*> sources;
  for (const auto& p : b.params) sources.push_back(p.get());
  Patterns::NamedRanges sizes_bound;
  for (const auto& p : b.tparams) {
    if (p.kind == syntax::TypeParam::kSize) sizes_bound.emplace_back(p.name, p.range);
  }
  patterns_.check_duplicate_names(sources, std::move(sizes_bound));
  core::ELambda fun;
  for (const auto& p : b.params) {
    fun.params.push_back(patterns_.pat(*p, vars_.new_meta()));
    vars_.level()++;
  }
  fn_->whole.insert(fn_->whole.end(), fun.params.begin(), fun.params.end());
  // Sizes that parameters leave open become size parameters.
  auto generalise = [&](const TypePtr& t) {
    for (VarId v : vars_.unsolved_flex(t)) {
      if (vars_[v].level <= outer_level) continue;
      vars_[v].flex = false;
      def->sparams.push_back(v);
      vars_[v].param = true;
    }
  };
  TypePtr ret;
  TypeSizes sizes;
  if (b.ret) {
    ret = types_.type_exp(*b.ret, sizes);
    for (VarId v : sizes.universals) vars_[v].flex = true;
    for (VarId v : sizes.ext) vars_[v].flex = true;  // what the body says
    known_sizes_.check_accessible(fun.params, ret, b.ret->range);
  }
  def->id = vars_.new_var(b.name);
  if (top) {  // known everywhere
    vars_[def->id].param = true;
    vars_[def->id].level = 0;
  }
  TypePtr hint = ret ? ret : vars_.new_meta();
  if (top && !fun.params.empty()) {  // it sees itself
    ValBinding* self = scopes_.new_val();
    self->is_self = true;
    self->defined.range = b.range;
    self->var = def->id;
    self->scheme = {{}, def->sparams, existentials_.arrow_type(fun.params, hint, start, sizes.ext)};
    // Behind the parameters: a parameter of the same name hides the function.
    fn_->here.locals.insert(fn_->here.locals.begin() + static_cast<std::ptrdiff_t>(mark),
                            {b.name, self, nullptr, nullptr});
  }
  ExpPtr body = exps_.exp(b.body, ret);
  std::unordered_set<VarId> known;
  for (const auto& p : fun.params) {
    core::free_sizes(vars_.zonk(p->type, Zonk::kKeep), known);
    if (const auto* name = std::get_if<core::PBind>(&p->node)) known.insert(name->id);
  }
  const TypePtr outside =
      ret ? existentials_.hide(vars_.zonk(body->type, Zonk::kKeep), start, &known) : body->type;
  exps_.expect(hint, outside, b.body,
               fun.params.empty() ? "Value does not have expected type."
                                  : "Function body does not have expected type.");
  fn_->here.locals.resize(mark);
  vars_.level() = outer_level;
  if (reports_.failed()) {
    fn_->starts.pop_back();
    def->type = core::tuple_type({});
    def->body = body;
    return def;
  }
  if (!ret) ret = top ? body->type : core::without_unique(body->type);
  if (b.ret && !fun.params.empty()) ret = existentials_.settle_result(ret, sizes.ext, top);
  if (top) {
    std::vector<TypePtr> types;
    for (const auto& p : fun.params) types.push_back(p->type);
    types.push_back(ret);
    finishing_.default_constrained(types, b.range, *fn_);
  }
  for (const auto& p : fun.params) generalise(p->type);
  if (top && (!fun.params.empty() || core::contains_function(vars_.zonk(ret, Zonk::kKeep)))) {
    generalise(ret);
  }
  if (fun.params.empty()) {
    def->type = existentials_.close_arrow(existentials_.hide(vars_.zonk(ret, Zonk::kKeep), start),
                                          start, {});
    def->body = body;
  } else {
    def->type = existentials_.arrow_type(fun.params, ret, start, sizes.ext);
    fun.body = body;
    fun.result_declared = b.ret != nullptr;
    def->body = make(b.range, def->type, std::move(fun));
  }
  fn_->starts.pop_back();
  known_sizes_.check_used(*def, b.tparams);
  known_sizes_.check_generalised(*def, b.params.size(), start, b.range);
  if (top) {
    generalise_types(*def);
    std::unordered_set<VarId> sizes_of_value;
    core::free_sizes(vars_.zonk(def->type, Zonk::kKeep), sizes_of_value);
    for (VarId v : sizes_of_value) vars_[v].level = 0;
  }
  fn_->defs.push_back(def);
  return def;
}

void Definitions::generalise_types(core::Def& def) {
  std::vector<core::MetaId> metas;
  vars_.unsolved_metas(def.type, metas);
  for (core::MetaId id : metas) {
    TyVarId t = vars_.new_tyvar("t" + std::to_string(def.tparams.size()),
                                vars_[id].mask == kMaskAny ? syntax::Liftedness::kFullyLifted
                                                           : syntax::Liftedness::kUnlifted);
    def.tparams.push_back(t);
    vars_[id].solution = core::make_type(core::TParam{t});
  }
  complete_self_uses(def);
}

// The recursive uses are at the definition's own type parameters.
void Definitions::complete_self_uses(const core::Def& def) {
  for (const auto& e : fn_->self_uses) {
    auto& v = std::get<core::EVar>(e->node);
    v.targs.clear();
    for (TyVarId t : def.tparams) v.targs.push_back(core::make_type(core::TParam{t}));
    v.sargs.resize(def.sparams.size());
  }
}

void Definitions::check_finished(core::Def& def) {
  const core::Names names = vars_.names();
  if (auto found = consumption::check(def, names)) {
    found->code = "consumption";
    reports_.later(std::move(*found));
  }
  auto unknown = [this](VarId v) { return known_sizes_.is_unknown(v); };
  if (auto found = sizes::check_causality(def, names, unknown)) reports_.later(std::move(*found));
}

// Checks a top-level definition and adds it to the program.
void Definitions::check_value(const syntax::DecVal& d, const syntax::Dec& dec, EnvRef env,
                              ValBinding& out, bool keep) {
  fn_.inside(env, [&](FnState& state) {
    MutDef def = define({d.name, d.name_range, d.tparams, d.params, d.ret.get(), *d.body}, true);
    def->recursive = !state.self_uses.empty();
    for (const auto& a : dec.attrs) def->attrs.push_back(core_attr(a));
    if (!reports_.failed()) known_sizes_.check_open(state.frame.open_sizes);
    if (!reports_.failed()) finishing_.finish(state);
    if (!reports_.failed()) known_sizes_.check_sections(state.sections);
    if (!reports_.failed()) check_finished(*def);
    if (!reports_.failed() && def->recursive) {
      if (auto found =
              check_recursion(*def, [this](const TypePtr& t) { return !infer_.is_data(t); })) {
        reports_.later(std::move(*found));
      }
    }
    if (!reports_.failed()) infer_.check_size_of_type(def->type, d.name_range);
    out.var = def->id;
    out.scheme = {def->tparams, def->sparams, def->type};
    out.range = d.name_range;
    out.type_written = d.ret != nullptr;
    if (reports_.failed()) return;
    vars_[def->id].gives_size = returns_size_parameter(*def);
    if (keep) program_.defs.push_back(def);
    last_def_ = def;
  });
}

}  // namespace kenaz::check
