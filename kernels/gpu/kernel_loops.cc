// The heads and tails of a thread's loops.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/glsl/types.h"
#include "kernels/gpu/kernel_gen.h"

namespace kenaz::gpu {

namespace {
/// Loops of so few turns, those around them included, need not look.
constexpr int64_t kFew = 64;
constexpr const char* kTurn = "if (turn()) return;";
}  // namespace

/// Whether the loop that begins is to look.
bool KernelGen::enter_loop(std::optional<int64_t> turns) {
  const int64_t around = quiet_turns_.empty() ? 1 : quiet_turns_.back();
  const bool looks = !turns || *turns > kFew / around;
  quiet_turns_.push_back(looks ? 1 : around * std::max<int64_t>(1, *turns));
  if (looks) has_loops_ = true;
  return looks;
}

Expr KernelGen::open_for(const Expr& bound) {
  const Expr i = local(bound.type, fmt::format("{}(0)", glsl::glsl_type(bound.type)));
  open(fmt::format("for (; {0} < {1}; {0}++) {{", i.text, bound.text));
  if (enter_loop(bound.constant ? std::optional(bound.constant->as_i64()) : std::nullopt)) {
    line(kTurn);
  }
  return i;
}

void KernelGen::close_for(const Expr& i, const Expr& bound) {
  close();
  quiet_turns_.pop_back();
  fail_if_cut(fmt::format("{} < {}", i.text, bound.text));
}

void KernelGen::open_while(const std::string& condition) {
  open(fmt::format("while ({}) {{", condition));
  enter_loop(std::nullopt);
  line(kTurn);
}

void KernelGen::close_while(const std::string& condition) {
  close();
  quiet_turns_.pop_back();
  fail_if_cut(condition);
}

// Mesa's llvmpipe leaves all loops of an invocation after 65535 rounds in all, short loops and
// those of `main` and the library among them. Better an error than a wrong result. `condition`
// (text) says that the loop should have gone on; what no such check sees is seen at the end.
void KernelGen::fail_if_cut(const std::string& condition) {
  line(fmt::format("if (!loops_look && ({})) {{ {} return; }}", condition, report_cut()));
}

std::string KernelGen::report_cut() {
  return fmt::format("atomicCompSwap(U32(fr).v, 0u, {}u);", host_.cut_failure() + 1);
}

std::string KernelGen::check_for_cut() {
  // The compiler must not know the bound: a failure's number has no such bit.
  return "void check_for_cut() {\n"
         "  uint most = 2u + (U32(fr).v >> 31), n = 0u;\n"
         "  while (n < most) n++;\n"
         "  if (n < most) " +
         report_cut() + "\n}\n";
}

}  // namespace kenaz::gpu
