#include "kernels/gpu/body_facts.h"

#include <algorithm>

#include "kernels/ir/visit.h"

namespace kenaz::gpu {

namespace {

/// So many statements, and a driver's compiler takes seconds for a kernel that repeats them.
constexpr size_t kManyStatements = 48;

/// As many statements as a function of the GLSL library is worth.
size_t weight(const ir::Stm& s) {
  const auto* prim = std::get_if<ir::EPrim>(&s.exp);
  const bool function =
      prim != nullptr && prim->op >= ScalarOp::kCbrt && prim->op <= ScalarOp::kErfc;
  return function ? kManyStatements / 2 : 1;
}

}  // namespace

bool is_slow(const ir::Body& b) {
  size_t size = 0;
  for (const ir::Stm& s : b.stms) size += weight(s);
  return size > kManyStatements || std::any_of(b.stms.begin(), b.stms.end(), [](const ir::Stm& s) {
           bool has_bodies = false;
           ir::visit_bodies(s.exp, [&](const ir::Body&) { has_bodies = true; });
           return has_bodies && !std::holds_alternative<ir::EIf>(s.exp);
         });
}

bool may_stop(const ir::Body& b) {
  return std::any_of(b.stms.begin(), b.stms.end(), [](const ir::Stm& s) {
    if (std::holds_alternative<ir::EIf>(s.exp)) {
      bool inside = false;
      ir::visit_bodies(s.exp, [&](const ir::Body& inner) { inside = inside || may_stop(inner); });
      return inside;
    }
    bool has_bodies = std::holds_alternative<ir::EAssert>(s.exp);
    ir::visit_bodies(s.exp, [&](const ir::Body&) { has_bodies = true; });
    return has_bodies;
  });
}

}  // namespace kenaz::gpu
