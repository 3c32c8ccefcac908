// Who calls whom.
#pragma once

#include <vector>

#include "kernels/ir/visit.h"

namespace kenaz::ir {

/// Calls f(ECall&) for every call anywhere inside.
template <class B, class F>
void for_each_call(B& body, const F& f) {
  for (auto& s : body.stms) {
    if (auto* call = std::get_if<ECall>(&s.exp)) f(*call);
    visit_bodies(s.exp, [&](auto& inner) { for_each_call(inner, f); });
  }
}

/// Whether there is a call anywhere inside the expression, itself included.
bool has_calls(const Exp& exp);

/// By FunId: whether the function may come to call itself.
std::vector<bool> recursive_functions(const Program& p);

}  // namespace kenaz::ir
