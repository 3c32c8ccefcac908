// Derivatives as parts of expressions, in programs of slopes.h: so of functions whose results are
// differentiated again.
#include "tests/fuzz/program/generator.h"

namespace kenaz::fuzz {

/// The change of a result with the arguments, or what these contribute to it; of numbers and rows.
ExprPtr make_derivative(Generator& g, const Type& type, const Scope& scope, int fuel) {
  const Type f64 = Type::of(PrimType::kF64);
  if (!g.of_slopes() || fuel < 6 || type.base() != f64 || type.rank() > 1) return nullptr;
  const bool reverse = g.chance(50);
  // Of the two, the type is that of the argument in reverse mode and of the result in the other.
  const Type other = type.is_array() ? (g.chance(50) ? f64 : type)
                                     : (g.chance(50) ? f64 : Type::array(g.any_size(scope), f64));
  const Type argument = reverse ? type : other, result = reverse ? other : type;
  const Var x{g.fresh("v"), argument, {}};
  Make m("derivative", type);
  m.t(reverse ? "(vjp (\\(" : "(jvp (\\(").t(x.name + ": ").type(argument).t(") : ").type(result);
  m.t(" -> ").child(g.gen(result, with(scope, {x}), fuel / 2), {x}).t(") ");
  m.child(g.gen(argument, scope, fuel / 4)).t(" ");
  return m.child(g.gen(reverse ? result : argument, scope, fuel / 4)).t(")").done();
}

}  // namespace kenaz::fuzz
