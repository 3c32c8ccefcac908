// What threads of a subgroup or workgroup do together.
#include <fmt/format.h>

#include "kernels/glsl/print_block.h"
#include "kernels/glsl/scalar.h"
#include "kernels/glsl/types.h"
#include "kernels/kir/visit.h"
#include "protocol/base/check.h"

namespace kenaz::glsl {

using namespace kir;  // NOLINT: this folder prints that one's instructions

namespace {

const char* combiner(ScalarOp op) {
  switch (op) {
    case ScalarOp::kAdd: return "Add";
    case ScalarOp::kMul: return "Mul";
    case ScalarOp::kMin: return "Min";
    case ScalarOp::kMax: return "Max";
    case ScalarOp::kAnd: return "And";
    case ScalarOp::kOr: return "Or";
    case ScalarOp::kXor: return "Xor";
    default: UNREACHABLE("operation of a subgroup");
  }
}

/// The type that subgroup operations are done in: those on narrow ones need a feature of the
/// device. Results are the same, apart from sums and products of f16, which are more exact.
PrimType subgroup_type(PrimType t) {
  if (is_integer(t) && prim_size(t) < 4) {
    return prim_kind(t) == PrimKind::kUnsigned ? PrimType::kU32 : PrimType::kI32;
  }
  return t == PrimType::kF16 ? PrimType::kF32 : t;
}

}  // namespace

/// reduce, inclusive, exclusive; of a value that was made as wide as operations are
std::string BlockPrinter::combine(const ISubgroup& i, const std::string& value) {
  c_.head.need_extension("GL_KHR_shader_subgroup_arithmetic");
  const char* kind = i.op == SubgroupOp::kReduce      ? ""
                     : i.op == SubgroupOp::kInclusive ? "Inclusive"
                                                      : "Exclusive";
  const std::string text = fmt::format("subgroup{}{}({})", kind, combiner(i.combine), value);
  const PrimType t = i.value.type.prim;
  if (i.combine != ScalarOp::kMin && i.combine != ScalarOp::kMax) return text;
  if (is_float(t)) return extremum_of_numbers(i, text, value);
  // The wide type's neutral elements do not become the narrow one's.
  if (i.op == SubgroupOp::kExclusive && prim_kind(t) == PrimKind::kSigned &&
      subgroup_type(t) != t) {
    const int64_t greatest = (int64_t{1} << (prim_bits(t) - 1)) - 1;
    return i.combine == ScalarOp::kMin ? fmt::format("min({}, {})", text, greatest)
                                       : fmt::format("max({}, {})", text, -greatest - 1);
  }
  return text;
}

/// The least or greatest of what is no NaN, which is what the device gives, or a NaN if there is
/// no such: the device may give anything then.
std::string BlockPrinter::extremum_of_numbers(const ISubgroup& i, const std::string& text,
                                              const std::string& value) {
  const PrimType wide = subgroup_type(i.value.type.prim);
  const std::string most = names_.local({wide}, text);
  const std::string is_nan =
      fmt::format("{}({})", c_.library.need(fmt::format("isnan_{}", prim_name(wide))), value);
  if (i.op == SubgroupOp::kReduce) {
    c_.head.need_extension("GL_KHR_shader_subgroup_vote");
    return fmt::format("subgroupAll({}) ? {} : {}", is_nan, value, most);
  }
  c_.head.need_extension("GL_KHR_shader_subgroup_ballot");
  const char* scan = i.op == SubgroupOp::kInclusive ? "Inclusive" : "Exclusive";
  const std::string numbers = names_.local(
      {PrimType::kU32}, fmt::format("subgroupBallot{}BitCount(subgroupBallot(!{}))", scan, is_nan));
  if (i.op == SubgroupOp::kInclusive) {
    return fmt::format("{} == 0u ? {} : {}", numbers, value, most);
  }
  c_.head.need_extension("GL_KHR_shader_subgroup_shuffle_relative");
  const std::string below = names_.local({wide}, fmt::format("subgroupShuffleUp({}, 1u)", value));
  return fmt::format("gl_SubgroupInvocationID != 0u && {} == 0u ? {} : {}", numbers, below, most);
}

/// Values of lanes elsewhere.
std::string BlockPrinter::moved(const ISubgroup& i, const std::string& value) {
  const bool relative = i.op == SubgroupOp::kShuffleUp || i.op == SubgroupOp::kShuffleDown;
  c_.head.need_extension(relative ? "GL_KHR_shader_subgroup_shuffle_relative"
                                  : "GL_KHR_shader_subgroup_shuffle");
  const char* function = "subgroupShuffle";  // broadcasts of a lane that is no constant need more
  if (i.op == SubgroupOp::kShuffleXor) function = "subgroupShuffleXor";
  if (i.op == SubgroupOp::kShuffleUp) function = "subgroupShuffleUp";
  if (i.op == SubgroupOp::kShuffleDown) function = "subgroupShuffleDown";
  return fmt::format("{}({}, uint({}))", function, value, names_.take(i.arg).text);
}

std::string BlockPrinter::vote(const ISubgroup& i, const std::string& value) {
  const bool ballot =
      i.op == SubgroupOp::kCount || i.op == SubgroupOp::kRank || i.op == SubgroupOp::kBallot;
  c_.head.need_extension(ballot ? "GL_KHR_shader_subgroup_ballot" : "GL_KHR_shader_subgroup_vote");
  switch (i.op) {
    case SubgroupOp::kCount:
      return fmt::format("int(subgroupBallotBitCount(subgroupBallot({})))", value);
    case SubgroupOp::kRank:
      return fmt::format("int(subgroupBallotExclusiveBitCount(subgroupBallot({})))", value);
    case SubgroupOp::kBallot:
      return fmt::format("subgroupBallot({})[{}]", value, i.arg.constant().as_i64());
    case SubgroupOp::kAny: return fmt::format("subgroupAny({})", value);
    default: return fmt::format("subgroupAll({})", value);
  }
}

void BlockPrinter::print(const ISubgroup& i) {
  if (c_.facts.uses(i.dst) == 0) return;
  const Type type = i.value.type, wide{subgroup_type(type.prim), type.lanes};
  if (prim_size(type.prim) == 8 && is_integer(type.prim)) {
    c_.head.need_extension("GL_EXT_shader_subgroup_extended_types_int64");
  }
  const bool is_vote = !combines(i.op) && !takes_lane(i.op);
  std::string value = combines(i.op) ? names_.stable(i.value) : names_.take(i.value).text;
  if (wide != type) value = fmt::format("{}({})", glsl_type(wide), value);
  std::string text = is_vote          ? vote(i, value)
                     : combines(i.op) ? combine(i, value)
                                      : moved(i, value);
  if (wide != type && !is_vote) {
    text =
        is_narrow(type.prim) ? wrap(type.prim, text) : fmt::format("{}({})", glsl_type(type), text);
  }
  names_.bind(i.dst, names_.local(c_.kernel.vals[i.dst.index], text));
}

void BlockPrinter::print(const IBarrier&) {
  if (!c_.facts.stores_to_device()) {
    out_.line("barrier();");
    return;
  }
  // barrier() alone makes no device memory visible.
  c_.head.need_extension("GL_KHR_memory_scope_semantics");
  out_.line(
      "controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | "
      "gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);");
}

void BlockPrinter::print(const IFence& i) {
  c_.head.need_extension("GL_KHR_memory_scope_semantics");
  out_.line(
      fmt::format("memoryBarrier({}, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, "
                  "gl_SemanticsAcquireRelease);",
                  i.scope == Scope::kDevice ? "gl_ScopeDevice" : "gl_ScopeWorkgroup"));
}

}  // namespace kenaz::glsl
