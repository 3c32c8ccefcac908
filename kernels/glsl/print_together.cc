// What threads of a subgroup or workgroup do together.
#include <fmt/format.h>

#include "kernels/glsl/print_block.h"
#include "kernels/glsl/scalar.h"
#include "kernels/glsl/types.h"
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
  // The wide type's neutral elements of these do not become the narrow one's.
  const PrimType t = i.value.type.prim;
  const bool extremum = i.combine == ScalarOp::kMin || i.combine == ScalarOp::kMax;
  if (i.op == SubgroupOp::kExclusive && extremum && prim_kind(t) == PrimKind::kSigned &&
      subgroup_type(t) != t) {
    const int64_t greatest = (int64_t{1} << (prim_bits(t) - 1)) - 1;
    return i.combine == ScalarOp::kMin ? fmt::format("min({}, {})", text, greatest)
                                       : fmt::format("max({}, {})", text, -greatest - 1);
  }
  return text;
}

void BlockPrinter::print(const ISubgroup& i) {
  if (c_.facts.uses(i.dst) == 0) return;
  const Type result = c_.kernel.vals[i.dst.index];
  const PrimType t = i.value.type.prim, wide = subgroup_type(t);
  std::string value = names_.take(i.value).text;
  if (prim_size(t) == 8 && is_integer(t)) {
    c_.head.need_extension("GL_EXT_shader_subgroup_extended_types_int64");
  }
  const auto ballot = [&](const char* count) {
    c_.head.need_extension("GL_KHR_shader_subgroup_ballot");
    names_.bind(i.dst,
                names_.local(result, fmt::format("int({}(subgroupBallot({})))", count, value)));
  };
  const auto vote = [&](const char* name) {
    c_.head.need_extension("GL_KHR_shader_subgroup_vote");
    names_.bind(i.dst, names_.local(result, fmt::format("{}({})", name, value)));
  };
  if (wide != t) value = fmt::format("{}({})", glsl_type({wide, i.value.type.lanes}), value);
  const auto move = [&](const char* extension, const char* name) {
    c_.head.need_extension(extension);
    return fmt::format("{}({}, uint({}))", name, value, names_.take(i.arg).text);
  };
  std::string text;
  switch (i.op) {
    case SubgroupOp::kCount: return ballot("subgroupBallotBitCount");
    case SubgroupOp::kRank: return ballot("subgroupBallotExclusiveBitCount");
    case SubgroupOp::kAny: return vote("subgroupAny");
    case SubgroupOp::kAll: return vote("subgroupAll");
    case SubgroupOp::kReduce:
    case SubgroupOp::kInclusive:
    case SubgroupOp::kExclusive: text = combine(i, value); break;
    case SubgroupOp::kBroadcast:  // of a lane that is no constant needs a feature of the device
    case SubgroupOp::kShuffle:
      text = move("GL_KHR_shader_subgroup_shuffle", "subgroupShuffle");
      break;
    case SubgroupOp::kShuffleXor:
      text = move("GL_KHR_shader_subgroup_shuffle", "subgroupShuffleXor");
      break;
    case SubgroupOp::kShuffleUp:
      text = move("GL_KHR_shader_subgroup_shuffle_relative", "subgroupShuffleUp");
      break;
    case SubgroupOp::kShuffleDown:
      text = move("GL_KHR_shader_subgroup_shuffle_relative", "subgroupShuffleDown");
      break;
  }
  if (wide != t) text = fmt::format("{}({})", glsl_type(i.value.type), text);
  names_.bind(i.dst, names_.local(result, text));
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
