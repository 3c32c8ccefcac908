// The heads and tails of a thread's loops.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/glsl/types.h"
#include "kernels/gpu/kernel_gen.h"

namespace kenaz::gpu {

namespace {
/// Loops of so few turns, those around them included, need not look.
constexpr int64_t kFew = 64;
constexpr const char* kTurn = "turn();";
}  // namespace

/// Whether the loop that begins is to look.
bool KernelGen::enter_loop(std::optional<int64_t> turns) {
  const int64_t around = loops_.empty() ? 1 : loops_.back().quiet_turns;
  const bool looks = !turns || *turns > kFew / around;
  loops_.push_back({looks ? 1 : around * std::max<int64_t>(1, *turns), place_});
  if (looks) has_loops_ = true;
  return looks;
}

/// Where the loop that ends stands in the program.
ir::ProvId KernelGen::leave_loop() {
  const ir::ProvId place = loops_.back().place;
  loops_.pop_back();
  return place;
}

Expr KernelGen::open_for(const Expr& bound) {
  const Expr i = local(bound.type, fmt::format("{}(0)", glsl::glsl_type(bound.type)));
  open(fmt::format("for (; {0} < {1} && going; {0}++) {{", i.text, bound.text));
  if (enter_loop(bound.constant ? std::optional(bound.constant->as_i64()) : std::nullopt)) {
    line(kTurn);
  }
  return i;
}

void KernelGen::close_for(const Expr& i, const Expr& bound) {
  close();
  fail_if_cut(fmt::format("{} < {}", i.text, bound.text), leave_loop());
}

void KernelGen::open_while(const std::string& condition) {
  open(fmt::format("while ({} && going) {{", condition));
  enter_loop(std::nullopt);
  line(kTurn);
}

void KernelGen::close_while(const std::string& condition) {
  close();
  fail_if_cut(condition, leave_loop());
}

// Mesa's llvmpipe leaves all loops of an invocation after 65535 rounds in all, short loops and
// those of `main` and the library among them. Better an error than a wrong result. `condition`
// (text) says that the loop should have gone on; what no such check sees is seen at the end.
void KernelGen::fail_if_cut(const std::string& condition, ir::ProvId place) {
  line(fmt::format("if (!loops_look && going && ({})) {{ {} going = false; }}", condition,
                   report_cut(place)));
  may_have_failed_ = true;
}

std::string KernelGen::report_cut(ir::ProvId place) {
  return fmt::format("atomicCompSwap(U32(fr).v, 0u, {}u);", host_.cut_failure(place) + 1);
}

std::string KernelGen::check_for_cut() {
  // The compiler must not know the bound: a failure's number has no such bit.
  return "void check_for_cut() {\n"
         "  uint most = 2u + (U32(fr).v >> 31), n = 0u;\n"
         "  while (n < most) n++;\n"
         "  if (n < most) " +
         report_cut(kernel_place_) + "\n}\n";
}

}  // namespace kenaz::gpu
