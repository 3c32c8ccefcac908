#include "kernels/spirv/together.h"

#include "kernels/spirv/arithmetic.h"

namespace kenaz::spirv {

using kir::SubgroupOp;
using kir::Value;

namespace {

struct Combination {
  ScalarOp op;
  enum { kAsIs, kSigned, kUnsigned } sign = kAsIs;
};

std::optional<Combination> combination(spv::Op op) {
  switch (op) {
    case spv::OpGroupNonUniformIAdd:
    case spv::OpGroupNonUniformFAdd: return Combination{ScalarOp::kAdd};
    case spv::OpGroupNonUniformIMul:
    case spv::OpGroupNonUniformFMul: return Combination{ScalarOp::kMul};
    case spv::OpGroupNonUniformSMin: return Combination{ScalarOp::kMin, Combination::kSigned};
    case spv::OpGroupNonUniformUMin: return Combination{ScalarOp::kMin, Combination::kUnsigned};
    case spv::OpGroupNonUniformFMin: return Combination{ScalarOp::kMin};
    case spv::OpGroupNonUniformSMax: return Combination{ScalarOp::kMax, Combination::kSigned};
    case spv::OpGroupNonUniformUMax: return Combination{ScalarOp::kMax, Combination::kUnsigned};
    case spv::OpGroupNonUniformFMax: return Combination{ScalarOp::kMax};
    case spv::OpGroupNonUniformBitwiseAnd:
    case spv::OpGroupNonUniformLogicalAnd: return Combination{ScalarOp::kAnd};
    case spv::OpGroupNonUniformBitwiseOr:
    case spv::OpGroupNonUniformLogicalOr: return Combination{ScalarOp::kOr};
    case spv::OpGroupNonUniformBitwiseXor:
    case spv::OpGroupNonUniformLogicalXor: return Combination{ScalarOp::kXor};
    default: return std::nullopt;
  }
}

std::optional<SubgroupOp> movement(spv::Op op) {
  switch (op) {
    case spv::OpGroupNonUniformShuffle: return SubgroupOp::kShuffle;
    case spv::OpGroupNonUniformShuffleXor: return SubgroupOp::kShuffleXor;
    case spv::OpGroupNonUniformShuffleUp: return SubgroupOp::kShuffleUp;
    case spv::OpGroupNonUniformShuffleDown: return SubgroupOp::kShuffleDown;
    case spv::OpGroupNonUniformBroadcast: return SubgroupOp::kBroadcast;
    default: return std::nullopt;
  }
}

SubgroupOp way(const Instruction& in, uint32_t operation) {
  switch (operation) {
    case spv::GroupOperationReduce: return SubgroupOp::kReduce;
    case spv::GroupOperationInclusiveScan: return SubgroupOp::kInclusive;
    case spv::GroupOperationExclusiveScan: return SubgroupOp::kExclusive;
    default: refuse("{}: in clusters", name_of(in.op));
  }
}

const Value& truth(const Items& items, const Instruction& in, Ident id) {
  const Value& v = items.scalar(id);
  if (v.type.prim != PrimType::kBool) refuse("{}: of no truth value", name_of(in.op));
  return v;
}

/// How many lanes say so, of a ballot's value as it is.
Value bit_count(kir::Builder& k, const Items& items, const Instruction& in) {
  const auto& said = items.at(in.at(2)).ballot;
  if (!said) refuse("{}: of what is no subgroup's ballot", name_of(in.op));
  switch (way(in, in.at(1))) {
    case SubgroupOp::kReduce: return k.vote(SubgroupOp::kCount, *said);
    case SubgroupOp::kExclusive: return k.vote(SubgroupOp::kRank, *said);
    default: {
      const Value own = k.select(*said, kir::i32(1), kir::i32(0));
      return k.add(k.vote(SubgroupOp::kRank, *said), own);
    }
  }
}

void check_scope(const Items& items, const Instruction& in) {
  if (items.constant(in.at(0)).bits != spv::ScopeSubgroup) {
    refuse("{}: of other scope than a subgroup", name_of(in.op));
  }
}

}  // namespace

std::optional<Item> subgroup_operation(kir::Builder& k, const Types& types, const Items& items,
                                       const Instruction& in) {
  const auto combine = combination(in.op);
  const auto move = movement(in.op);
  const bool votes = in.op == spv::OpGroupNonUniformAll || in.op == spv::OpGroupNonUniformAny;
  const bool counts = in.op == spv::OpGroupNonUniformBallotBitCount;
  const bool ballot = in.op == spv::OpGroupNonUniformBallot;
  if (!combine && !move && !votes && !counts && !ballot) return std::nullopt;
  check_scope(items, in);
  Item out{in.type, {}, {}, {}};
  if (ballot) {
    out.ballot = truth(items, in, in.at(1));
    for (int word = 0; word < kir::kBallotWords; word++) {
      out.scalars.push_back(k.ballot(*out.ballot, word));
    }
    return out;
  }
  const std::vector<PrimType> result = types.scalars(in.type);
  const auto give = [&](const Value& v) {
    const size_t n = out.scalars.size();
    if (n >= result.size()) refuse("{}: a result of another type", name_of(in.op));
    out.scalars.push_back(as_type(k, v, result[n]));
    if (out.scalars[n].type.prim != result[n]) {
      refuse("{}: a result of another type", name_of(in.op));
    }
  };
  if (combine) {
    const SubgroupOp how = way(in, in.at(1));
    for (const Value& v : items.values(in.at(2))) {
      PrimType type = v.type.prim;
      if (combine->sign == Combination::kSigned) type = signed_of(type);
      if (combine->sign == Combination::kUnsigned) type = unsigned_of(type);
      if (!scalar_op_accepts(combine->op, type))
        refuse("{}: of {}", name_of(in.op), prim_name(type));
      give(k.subgroup_combine(how, combine->op, as_type(k, v, type)));
    }
  } else if (move) {
    const Value lane = as_type(k, items.scalar(in.at(2)), PrimType::kI32);
    if (lane.type.prim != PrimType::kI32) refuse("{}: a lane of another type", name_of(in.op));
    for (const Value& v : items.values(in.at(1))) give(k.shuffle(*move, v, lane));
  } else if (counts) {
    give(bit_count(k, items, in));
  } else {
    const bool all = in.op == spv::OpGroupNonUniformAll;
    give(k.vote(all ? SubgroupOp::kAll : SubgroupOp::kAny, truth(items, in, in.at(1))));
  }
  if (out.scalars.size() != result.size()) refuse("{}: a result of another type", name_of(in.op));
  return out;
}

bool barrier_or_fence(kir::Builder& k, const Items& items, const Instruction& in) {
  const bool control = in.op == spv::OpControlBarrier;
  if (!control && in.op != spv::OpMemoryBarrier) return false;
  const uint64_t scope = items.constant(in.at(0)).bits;
  if (control) {
    if (scope != spv::ScopeWorkgroup) refuse("OpControlBarrier: of scope {}", scope);
    k.barrier();
    return true;
  }
  const bool wide = scope == spv::ScopeDevice || scope == spv::ScopeQueueFamily;
  if (!wide && scope != spv::ScopeWorkgroup) refuse("OpMemoryBarrier: of scope {}", scope);
  k.fence(wide ? kir::Scope::kDevice : kir::Scope::kWorkgroup);
  return true;
}

}  // namespace kenaz::spirv
