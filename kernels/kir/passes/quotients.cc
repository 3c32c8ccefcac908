#include "kernels/kir/passes/quotients.h"

#include <bit>
#include <utility>
#include <vector>

#include "kernels/kir/bounds.h"
#include "kernels/kir/passes/put_before.h"

namespace kenaz::kir {
namespace {

class Quotients {
 public:
  explicit Quotients(Kernel& kernel) : kernel_(kernel), bounds_(kernel, Bounds::Launch::kAny) {}

  /// What is needed before the instruction is appended to `out`.
  void rewrite(IPrim& i, ir::ProvId prov, std::vector<Inst>& out) {
    const bool is_rest = i.op == ScalarOp::kRem || i.op == ScalarOp::kMod;
    if (!is_integer(i.type) || !(divides(i.op) || is_rest) || !i.args[1].is_const()) return;
    const int64_t by = i.args[1].constant().as_i64();
    const auto of = bounds_.of(i.args[0]);
    if (by <= 0 || !of || of->least < 0) return;
    const auto literal = [&](int64_t n) { return PrimValue::of_int(i.type, n); };
    if (std::has_single_bit(static_cast<uint64_t>(by))) {
      i.op = is_rest ? ScalarOp::kAnd : ScalarOp::kLShr;
      i.args[1] = literal(is_rest ? by - 1 : std::countr_zero(static_cast<uint64_t>(by)));
      return;
    }
    if (prim_bits(i.type) < 64 || of->most > UINT32_MAX || by > UINT32_MAX) return;
    const auto emit = [&](ScalarOp op, PrimType type, PrimType to, std::vector<Value> args) {
      const Type made{scalar_op_result(op, type, to), 1};
      const ValId dst = kernel_.new_val(made);
      out.push_back({IPrim{dst, op, type, to, std::move(args)}, prov});
      return Value(made, dst);
    };
    constexpr PrimType kShort = PrimType::kU32;
    const Value narrow = emit(ScalarOp::kConvert, i.type, kShort, {i.args[0]});
    const Value made = emit(i.op, kShort, kShort, {narrow, PrimValue::of_int(kShort, by)});
    i = {i.dst, ScalarOp::kConvert, kShort, i.type, {made}};
  }

 private:
  static bool divides(ScalarOp op) { return op == ScalarOp::kQuot || op == ScalarOp::kDiv; }

  Kernel& kernel_;
  const Bounds bounds_;
};

}  // namespace

void quotients(Kernel& kernel) {
  Quotients pass(kernel);
  put_before(kernel, [&](Inst& i, std::vector<Inst>& out) {
    if (auto* prim = std::get_if<IPrim>(&i.op)) pass.rewrite(*prim, i.prov, out);
  });
}

}  // namespace kenaz::kir
