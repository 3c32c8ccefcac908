// Arrays inside a thread whose size only the thread knows.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/gpu/kernel_gen.h"

namespace kenaz::gpu {

namespace {
constexpr int64_t kFirstCapacity = 4096;
constexpr int64_t kGrowth = 4;
}  // namespace

// Marks stand in the text of every loop and function, and go if no heap is used.
Expr KernelGen::heap_mark() {
  const std::string name = fresh_name();
  line(fmt::format("\x02int64_t {} = hp;", name));
  return {PrimType::kI64, name, {}};
}

void KernelGen::heap_reset(const Expr& mark) { line(fmt::format("\x02hp = {};", mark.text)); }

KernelArray KernelGen::allocate_on_heap(PrimType elem, const std::vector<ir::Atom>& dims) {
  if (!uses_heap_) {
    uses_heap_ = true;
    heap_capacity_ = host_.new_scalar(PrimType::kI64);
    heap_flag_ = host_.new_block();
  }
  KernelArray a;
  a.elem = elem;
  a.memory = memories_++;
  a.layout = LayoutMath(*this).dense(exprs(dims));
  Expr size = konst(prim_size(elem));
  for (const auto& d : a.layout.dims) {
    size = op(ScalarOp::kSizeMul, PrimType::kI64, PrimType::kI64, {size, d});
  }
  // At most a little more than 2^62, for which no heap has room.
  const Expr bytes = local(PrimType::kI64, fmt::format("({} + 7l) & ~7l", size.text));
  line(fmt::format("if (going && {0} > heap_size - hp) {{ U32(heap_flag).v = 1u; going = false; }}",
                   bytes.text));
  may_have_failed_ = true;
  const Expr at = local(PrimType::kI64, "hp");
  line(fmt::format("hp += {};", bytes.text));
  a.base = fmt::format("(hb + uint64_t({}))", at.text);
  return a;
}

// ---- loops whose arrays change their size

/// Whether the size of the loop's k-th parameter depends on other parameters.
bool KernelGen::is_moving(const ir::Program& program, const ir::ELoop& e, size_t k) {
  for (const auto& d : program.type_of(e.params[k].var).dims) {
    for (const auto& p : e.params) {
      if (!d.is_const() && d.var() == p.var) return true;
    }
  }
  return false;
}

/// A parameter whose memory moves from one iteration to the next: dense, its address in a variable.
KernelArray KernelGen::moving_param(const ir::ELoop& e, size_t k) {
  const ir::Type& type = host_.ir().type_of(e.params[k].var);
  // Its sizes are parameters too, and have their first values by now.
  const KernelArray first = allocate_on_heap(type.prim, type.dims);
  copy(array(e.params[k].init.var()), first);
  KernelArray a = first;
  a.base = local(PrimType::kU64, first.base).text;
  return a;
}

/// Moves the results to the bottom of what the loop has on the heap, one after the other, and lets
/// go of the rest. The parameters' variables have their next values only after this, so sizes are
/// those of the results.
void KernelGen::move_results(const ir::ELoop& e, const std::vector<KernelValue>& results,
                             const std::vector<size_t>& moving,
                             const std::vector<KernelValue>& params, const Expr& bottom) {
  std::vector<KernelArray> tops;
  for (size_t k : moving) {
    const ir::Atom& r = e.body.results[k];
    const ir::Type& type = host_.ir().type_of(r);
    const KernelArray top = allocate_on_heap(type.prim, type.dims);
    copy(std::get<KernelArray>(results[k]), top);
    tops.push_back(top);
  }
  heap_reset(bottom);
  for (size_t n = 0; n < moving.size(); n++) {
    // Ascending: what is written lies below what is still to be read.
    const size_t k = moving[n];
    const ir::Type& type = host_.ir().type_of(e.body.results[k]);
    const KernelArray to = allocate_on_heap(type.prim, type.dims);
    copy(tops[n], to);
    line(fmt::format("{} = {};", std::get<KernelArray>(params[k]).base, to.base));
  }
}

// ---- launching

void KernelGen::launch_repeatedly(const std::function<void()>& launch_once) {
  host_.set_scalar(heap_capacity_, PrimValue::i64(kFirstCapacity));
  const ScalarReg again = host_.new_scalar(PrimType::kBool);
  host_.set_scalar(again, PrimValue::of_bool(true));
  host_.allocate_bytes(heap_flag_, host_.size(8));
  program::OpWhile loop;
  loop.cond = again;
  host_.emit_into(loop.body, [&] {
    host_.emit({program::OpWrite{
        PrimType::kU32, heap_flag_, PrimValue::i64(0), {PrimValue{PrimType::kU32, 0}}}});
    launch_once();
    const ScalarReg flag = host_.new_scalar(PrimType::kU32);
    host_.emit({program::OpRead{flag, PrimType::kU32, heap_flag_, PrimValue::i64(0)}});
    host_.set_scalar(again, host_.emit_op(ScalarOp::kNe, PrimType::kU32, PrimType::kBool,
                                          {flag, PrimValue{PrimType::kU32, 0}}));
    host_.set_scalar(heap_capacity_,
                     host_.times(host_.size(heap_capacity_), host_.size(kGrowth)).operand());
  });
  host_.emit({std::move(loop)});
}

}  // namespace kenaz::gpu
