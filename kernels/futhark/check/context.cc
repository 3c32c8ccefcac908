#include "kernels/futhark/check/context.h"

namespace kenaz::check {

const Mod* Part::find_mod(const syntax::QualName& name) {
  ModBinding* m = naming_.find_mod(name);
  if (!m) {
    lookup_.unknown();
    reports_.error(name.range,
                   "Unknown module \"" + name.name + "\"." + hints_.suggest_module(name.name));
    return nullptr;
  }
  lookup_.force(*m);
  lookup_.sound(m);
  return &m->mod;
}

MutExp Part::make(const SourceRange& range, TypePtr type, decltype(core::Exp::node) node) {
  infer_.check_size_of_type(type, range);
  if (reports_.failed()) type = core::tuple_type({});
  auto e = std::make_shared<core::Exp>();
  e->type = std::move(type);
  e->range = range;
  e->node = std::move(node);
  PendingExp p;
  p.exp = e;
  p.start = fn_->starts.empty() ? 0 : fn_->starts.back();
  p.end = vars_.next_var();
  fn_->exps.push_back(std::move(p));
  return e;
}

ExpPtr Part::bad_exp(const SourceRange& range) {
  return make(range, vars_.new_meta(), core::EHole{});
}

}  // namespace kenaz::check
