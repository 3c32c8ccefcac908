// Values of a module as its module type has them.
#include "kernels/futhark/check/modules.h"
#include "kernels/futhark/core/uniqueness.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

// Is there a number in `have` where `want`, the type of a value, has a size of an abstract type
// that nothing is known of?
bool Modules::fixes_open_size(const TypePtr& want, const TypePtr& have) {
  std::vector<Size> open;
  vars_.map_dims(want, [&](const Size& s) {
    open.push_back(s);
    return s;
  });
  size_t at = 0;
  bool fixed = false;
  vars_.map_dims(have, [&](const Size& s) {
    fixed |=
        at < open.size() && open[at].kind == Size::kAny && vars_.resolve(s).kind == Size::kConst;
    at++;
    return s;
  });
  return fixed;
}

// `out` has the scheme that the module type gives; finds the instance of `impl` that has it.
// Types are compared with abstract ones looked through: `impl` was defined inside.
void Modules::narrow(ValBinding& out, ValBinding& impl, const std::string& name,
                     const SourceRange& range) {
  out.is_intrinsic = impl.is_intrinsic;
  out.op = impl.op;
  out.mask = impl.mask;
  out.var = impl.var;
  out.narrowed = true;
  out.type_written = impl.type_written;
  fn_.inside({}, [&](FnState&) {
    core::Subst subst;
    std::vector<TypePtr> metas;
    std::vector<Size> sizes;
    for (TyVarId t : impl.scheme.tparams) {
      const TypeMask mask = impl.is_intrinsic && metas.empty() ? impl.mask : kMaskAny;
      metas.push_back(vars_.new_meta(mask & vars_.instance_mask(t)));
      subst.types[t] = metas.back();
    }
    for (VarId s : impl.scheme.sparams) {
      sizes.push_back(Size::of_var(vars_.new_flex()));
      subst.sizes[s] = sizes.back();
    }
    TypePtr have = core::substitute(
        core::look_through(impl.scheme.type, *vars_.names().abstract_types), subst);
    TypePtr want = core::look_through(out.scheme.type, *vars_.names().abstract_types);
    const bool outer = comparing_.lenient;
    // An overloaded intrinsic under an abstract type is the prelude's business.
    comparing_.lenient = comparing_.lenient || impl.is_intrinsic;
    const bool ok = infer_.unify(want, have);
    comparing_.lenient = outer;
    const auto wrong = ok ? core::uniqueness_error(want, have) : core::UniquenessError::kNone;
    if (ok && !impl.type_written && fixes_open_size(want, have)) {
      reports_.error(range, "Module type requires\n  val " + name + " : " +
                                infer_.type_text(out.scheme.type) +
                                "\nwhose values may be of any size, but module defines\n  val " +
                                name + " : " + infer_.type_text(impl.scheme.type) +
                                "\nHint: write the type of \"" + name + "\" in the module.");
      return;
    }
    if (!ok || wrong != core::UniquenessError::kNone) {
      reports_.error(range, "Module type requires\n  val " + name + " : " +
                                infer_.type_text(out.scheme.type) + "\nbut module defines\n  val " +
                                name + " : " + infer_.type_text(impl.scheme.type) +
                                (ok ? "" : comparing_.mismatch.str()) + core::describe(wrong));
      return;
    }
    // `impl` may itself be an instance of its definition.
    if (impl.narrowed) {
      for (const auto& t : impl.targs) out.targs.push_back(core::substitute(t, subst));
      for (const auto& s : impl.sargs) out.sargs.push_back(core::substitute(s, subst));
    } else {
      out.targs = metas;
      out.sargs = sizes;
    }
    for (auto& t : out.targs) t = vars_.zonk(t, Zonk::kFinal);
    for (auto& s : out.sargs) s = vars_.zonk(s, Zonk::kFinal);
  });
}

}  // namespace kenaz::check
