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

}  // namespace kenaz::check
