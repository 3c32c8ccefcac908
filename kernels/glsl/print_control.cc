// Branches, loops, calls and failures.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kernels/glsl/print_block.h"
#include "kernels/glsl/scalar.h"
#include "kernels/glsl/types.h"
#include "kernels/kir/visit.h"
#include "kernels/program/program.h"
#include "protocol/base/check.h"

namespace kenaz::glsl {

using namespace kir;  // NOLINT: this folder prints that one's instructions

void BlockPrinter::print_if(const IIf& i, const std::string& cond) {
  const bool before = may_have_stopped_;
  if (i.then_block.insts.empty()) {
    out_.open(fmt::format("if (!({})) {{", cond));
    block(i.else_block);
    out_.close();
    may_have_stopped_ |= before;
    return;
  }
  out_.open(fmt::format("if ({}) {{", cond));
  block(i.then_block);
  const bool after = std::exchange(may_have_stopped_, before);
  if (!i.else_block.insts.empty()) {
    out_.close("} else {");
    out_.deeper();
    block(i.else_block);
  }
  out_.close();
  may_have_stopped_ |= after;
}

// ---- loops. An iteration is counted at its end, so that what stands in a loop's body need not ask
// whether the thread has stopped on the way into it.

// Where a loop counts, and its body does not stop the thread, it is printed as one loop in another,
// of which only the outer one counts: counting takes half as long as a short body. Where loops do
// not look, the inner one makes all turns, which are few then (program::Kernel::turns).

namespace {

constexpr int kTurnsBetweenLooks = 64;

/// Whether it becomes a handful of the device's instructions.
bool is_short(ScalarOp op) {
  switch (op) {
    case ScalarOp::kDiv:
    case ScalarOp::kMod:
    case ScalarOp::kQuot:
    case ScalarOp::kRem:
    case ScalarOp::kPow: return false;
    case ScalarOp::kConvert:
    case ScalarOp::kBitcast:
    case ScalarOp::kSelect: return true;
    default: return op <= ScalarOp::kFma;
  }
}

/// Of how many instructions the body is, about; nothing if there are calls or loops in it.
std::optional<int> length_of(const Block& body) {
  constexpr int kLong = 33;  // counts for an operation that is not short
  int size = 0;
  bool is_plain = true;
  for_each_inst(body, [&](const Inst& inst) {
    const auto* prim = std::get_if<IPrim>(&inst.op);
    is_plain = is_plain && !std::holds_alternative<ICall>(inst.op) &&
               !std::holds_alternative<IFor>(inst.op) && !std::holds_alternative<IWhile>(inst.op);
    size += prim != nullptr && !is_short(prim->op) ? kLong : 1;
  });
  return is_plain ? std::optional(size) : std::nullopt;
}

/// The longest body that is printed as two loops.
constexpr int kLongestInChunks = 256;
/// NVIDIA's compiler unrolls the inner loop: of a longer one it took seconds, so it is told not to.
constexpr int kLongestToUnroll = 32;

bool has_short_steps(const IFor& i) {
  constexpr int64_t kLongest = 1 << 20;
  return i.step.is_const() && i.step.constant().as_i64() <= kLongest &&
         prim_bits(i.from.type.prim) >= 32;
}

/// How many rounds of a loop with short steps come next, at most kTurnsBetweenLooks; i32. The
/// distance to the end may need all bits of an unsigned number.
std::string rounds_of_chunk(const IFor& i, const std::string& index, const std::string& to) {
  const int64_t step = i.step.constant().as_i64();
  const PrimType type = prim_bits(i.from.type.prim) == 64 ? PrimType::kU64 : PrimType::kU32;
  const std::string left = fmt::format("{}({} - {})", glsl_type(type), to, index);
  const auto number = [&](int64_t n) { return literal(PrimValue::of_int(type, n)); };
  const std::string rounds =
      step == 1 ? left : fmt::format("({} + {}) / {}", left, number(step - 1), number(step));
  return fmt::format("loops_look && {} > {} ? {} : int({})", left,
                     number(kTurnsBetweenLooks * step), kTurnsBetweenLooks, rounds);
}

}  // namespace

bool BlockPrinter::in_chunks(const Inst& loop, const Block& body, bool uniform) const {
  return c_.facts.looks(loop) && !uniform && !c_.options.cut_failure &&
         length_of(body).value_or(kLongestInChunks + 1) <= kLongestInChunks &&
         !c_.facts.may_stop(body);
}

/// The rounds of an inner loop that counts nothing, then a turn of the outer one, which is open.
void BlockPrinter::print_chunk(const std::string& head, const Block& body) {
  const bool unrolls = length_of(body).value_or(kLongestInChunks) <= kLongestToUnroll;
  if (!unrolls) c_.head.need_extension("GL_EXT_control_flow_attributes");
  out_.open((unrolls ? "" : "[[dont_unroll]] ") + head);
  may_have_stopped_ = false;
  block(body);
  out_.close();
  out_.line("turn();");
  out_.line("if (!loops_look) break;");
  out_.close();
  may_have_stopped_ = true;
}

void BlockPrinter::print_for(const Inst& inst, const IFor& i) {
  const std::string from = names_.take(i.from).text;
  const std::string to = names_.stable(i.to), step = names_.stable(i.step);
  names_.settle_before(inst);
  const bool stops = c_.facts.may_stop(inst), asks = !i.uniform && (may_have_stopped_ || stops);
  const bool before = may_have_stopped_;
  const std::string index = names_.fresh('i');
  names_.bind(i.index, index);
  std::string head = fmt::format("{} {} = {};", glsl_type(i.from.type), index, from);
  if (in_chunks(inst, i.body, i.uniform) && has_short_steps(i)) {
    const std::string left = names_.fresh('t');
    out_.open(fmt::format("for ({} {} < {} && going;) {{", head, index, to));
    out_.line(fmt::format("int {} = {};", left, rounds_of_chunk(i, index, to)));
    print_chunk(fmt::format("for (; {0} > 0; {0}--, {1} += {2}) {{", left, index, step), i.body);
    return;
  }
  if (c_.options.cut_failure) {  // which asks for the index behind the loop
    out_.line(head);
    head = ";";
  }
  if (i.unroll) c_.head.need_extension("GL_EXT_control_flow_attributes");
  out_.open(fmt::format("{}for ({} {} < {}{}; {}) {{", i.unroll ? "[[unroll]] " : "", head, index,
                        to, asks ? " && going" : "",
                        i.step.is_int(1) ? index + "++" : fmt::format("{} += {}", index, step)));
  may_have_stopped_ = i.uniform && (before || stops);
  block(i.body);
  if (c_.facts.looks(inst)) out_.line("turn();");
  out_.close();
  may_have_stopped_ = before || stops;
  fail_if_cut(inst, fmt::format("{} < {}", index, to));
}

namespace {
bool head_assigns(const IWhile& i) {
  return std::any_of(i.head.insts.begin(), i.head.insts.end(),
                     [](const Inst& inst) { return !assigned_by(inst).empty(); });
}
}  // namespace

void BlockPrinter::print_while(const Inst& inst, const IWhile& i) {
  names_.settle_before(inst);
  const bool stops = c_.facts.may_stop(inst), asks = !i.uniform && (may_have_stopped_ || stops);
  const bool before = may_have_stopped_;
  // A stopped thread comes to the head once more if that can be seen behind the loop.
  const bool head_counts = head_assigns(i);
  may_have_stopped_ = (i.uniform || head_counts) && (before || stops);
  // If all of the head goes into the condition, it stands in the loop's.
  const std::string outside = out_.exchange("");
  out_.deeper();
  block(i.head);
  out_.shallower();
  std::string cond = names_.take(i.cond).text;
  const std::string head = out_.exchange(outside);
  std::string goes_on = cond;
  if (head.empty()) {
    if (asks) cond = is_operand_text(cond) ? cond : "(" + cond + ")";
    if (in_chunks(inst, i.body, i.uniform)) {
      const std::string turns = names_.fresh('t');
      out_.open(fmt::format("while ({} && going) {{", cond));
      print_chunk(fmt::format("for (int {0} = 0; (!loops_look || {0} < {1}) && {2}; {0}++) {{",
                              turns, kTurnsBetweenLooks, cond),
                  i.body);
      return;
    }
    out_.open(fmt::format("while ({}{}) {{", cond, asks ? " && going" : ""));
  } else {
    if (c_.options.cut_failure) {
      goes_on = names_.local({PrimType::kBool}, "true");
    }
    const bool asks_first = asks && !head_counts;
    out_.open(fmt::format("while ({}) {{", asks_first ? "going" : "true"));
    out_.append(head);
    if (c_.options.cut_failure) {
      out_.line(fmt::format("{} = {};", goes_on, cond));
      cond = goes_on;
    }
    out_.line(fmt::format("if (!({}){}) break;", cond, asks && !asks_first ? " || !going" : ""));
  }
  block(i.body);
  if (c_.facts.looks(inst)) out_.line("turn();");
  out_.close();
  may_have_stopped_ = before || stops;
  fail_if_cut(inst, goes_on);
}

// Mesa's llvmpipe leaves all loops of an invocation after 65535 rounds in all, short loops and
// those of the library among them. Better an error than a wrong result. `condition` says that the
// loop should have gone on; what no such check sees is seen at the end.
void BlockPrinter::fail_if_cut(const Inst& loop, const std::string& condition) {
  if (!c_.options.cut_failure) return;
  out_.line(fmt::format("if (!loops_look && going && ({})) {{ {}; going = false; }}", condition,
                        record_failure(c_.head, c_.options.cut_failure(loop.prov))));
}

std::string record_failure(Head& head, int number) {
  head.note_failure();
  return fmt::format("atomicCompSwap({}(fr).v, 0u, {}u)", head.reference({PrimType::kU32}),
                     number + 1);
}

// ---- calls and failures

void BlockPrinter::print(const ICall& i) {
  const Function& f = c_.kernel.functions[i.function.index];
  PrintedFunction& printed = c_.functions[i.function.index];
  printed.is_called = true;
  printed.called_by_stopped |= may_have_stopped_;
  printed.depth = std::max(printed.depth, c_.depth + out_.depth());
  std::string args;
  for (const Value& a : i.args) args += (args.empty() ? "" : ", ") + names_.take(a).text;
  const std::string& name = printed.name;
  if (f.results.size() == 1) {
    names_.bind(i.dsts[0], names_.local(f.results[0].type, fmt::format("{}({})", name, args)));
  } else {
    for (size_t k = 0; k < i.dsts.size(); k++) {
      const std::string result = names_.fresh('t');
      out_.line(fmt::format("{} {};", glsl_type(f.results[k].type), result));
      names_.bind(i.dsts[k], result);
      args += (args.empty() ? "" : ", ") + result;
    }
    out_.line(fmt::format("{}({});", name, args));
  }
  may_have_stopped_ |= c_.facts.may_stop(i.function);
}

void BlockPrinter::print(const IFail& i) {
  const std::string record = record_failure(c_.head, i.number);
  const char* first = may_have_stopped_ ? "going && " : "";
  if (i.args.empty()) {
    out_.line((may_have_stopped_ ? "if (going) " : "") + record + ";");
  } else {
    CHECK(i.args.size() <= static_cast<size_t>(program::kMaxFailureArgs));
    std::vector<std::string> args;
    std::set<uint32_t> reads;
    for (const Value& a : i.args) args.push_back(names_.operand(a, reads));
    out_.open(fmt::format("if ({}{} == 0u) {{", first, record));
    for (size_t k = 0; k < args.size(); k++) {
      const PrimType t = i.args[k].type.prim;
      std::string bits = args[k];
      if (is_float(t)) {
        const PrimType word = t == PrimType::kF64   ? PrimType::kI64
                              : t == PrimType::kF32 ? PrimType::kI32
                                                    : PrimType::kI16;
        bits = scalar_op(c_.library, ScalarOp::kBitcast, t, word, std::span(&args[k], 1));
      }
      out_.line(fmt::format("{}(fr + {}ul).v = int64_t({});", c_.head.reference({PrimType::kI64}),
                            16 + 8 * k, bits));
    }
    out_.close();
  }
  out_.line("going = false;");
  may_have_stopped_ = true;
}

void BlockPrinter::print(const IStop&) {
  out_.line("going = false;");
  may_have_stopped_ = true;
}

}  // namespace kenaz::glsl
