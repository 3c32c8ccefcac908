// The heads and tails of a thread's loops.
#include <fmt/format.h>

#include "kernels/glsl/types.h"
#include "kernels/gpu/kernel_gen.h"

namespace kenaz::gpu {

namespace {
/// Loops of so few turns are harmless.
bool is_short(const Expr& bound) {
  constexpr int64_t kFew = 64;
  return bound.constant && bound.constant->as_i64() <= kFew;
}
constexpr const char* kTurn = "if (turn()) return;";
}  // namespace

Expr KernelGen::open_for(const Expr& bound) {
  const Expr i = local(bound.type, fmt::format("{}(0)", glsl::glsl_type(bound.type)));
  open(fmt::format("for (; {0} < {1}; {0}++) {{", i.text, bound.text));
  if (is_short(bound)) return i;
  has_loops_ = true;
  line(kTurn);
  return i;
}

void KernelGen::close_for(const Expr& i, const Expr& bound) {
  close();
  if (!is_short(bound)) fail_if_cut(fmt::format("{} < {}", i.text, bound.text));
}

void KernelGen::open_while(const std::string& condition) {
  has_loops_ = true;
  open(fmt::format("while ({}) {{", condition));
  line(kTurn);
}

void KernelGen::close_while(const std::string& condition) {
  close();
  fail_if_cut(condition);
}

// Mesa's llvmpipe leaves all loops of an invocation after 65535 rounds in all. Better an error than
// a wrong result. `condition` (text) says that the loop should have gone on.
void KernelGen::fail_if_cut(const std::string& condition) {
  line(fmt::format("if ({}) {{ atomicCompSwap(U32(fr).v, 0u, {}u); return; }}", condition,
                   host_.cut_failure() + 1));
}

}  // namespace kenaz::gpu
