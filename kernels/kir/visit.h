// Walking over instructions: their operands, results, variables, addresses, and the blocks inside
// them. One place knows the fields of every instruction, so that analyses and passes need not.
//
// All functions work on const and mutable instructions; `op` is Inst::op.
#pragma once

#include <type_traits>
#include <variant>

#include "kernels/kir/kir.h"
#include "protocol/base/overloaded.h"

namespace kenaz::kir {

/// Whether ISubgroup::combine means something.
inline bool combines(SubgroupOp op) { return op <= SubgroupOp::kExclusive; }
/// Whether ISubgroup::arg does, and is a lane.
inline bool takes_lane(SubgroupOp op) {
  return op >= SubgroupOp::kShuffle && op <= SubgroupOp::kBroadcast;
}
/// Whether it does at all.
inline bool takes_arg(SubgroupOp op) { return takes_lane(op) || op == SubgroupOp::kBallot; }

/// Calls f(Value&) on the operands of an address.
template <class A, class F>
void visit_address_operands(A& address, F&& f) {
  if (auto* base = std::get_if<Value>(&address.base)) f(*base);
  f(address.index);
}

/// Calls f(Value&) on every operand that is used where the instruction stands; fields that its kind
/// ignores are left out, and so is what the blocks inside use (see visit_end_operands).
template <class O, class F>
void visit_operands(O& op, F&& f) {
  const auto all = [&](auto& list) {
    for (auto& x : list) f(x);
  };
  const Overloaded visitor{
      [&](auto& i) {
        using T = std::remove_const_t<std::remove_reference_t<decltype(i)>>;
        if constexpr (std::is_same_v<T, IPrim> || std::is_same_v<T, ICall> ||
                      std::is_same_v<T, IFail>) {
          all(i.args);
        } else if constexpr (std::is_same_v<T, ICompose>) {
          all(i.lanes);
        } else if constexpr (std::is_same_v<T, IExtract>) {
          f(i.vector);
        } else if constexpr (std::is_same_v<T, ILoad>) {
          visit_address_operands(i.from, f);
        } else if constexpr (std::is_same_v<T, IStore>) {
          visit_address_operands(i.to, f);
          f(i.value);
        } else if constexpr (std::is_same_v<T, IAtomic>) {
          visit_address_operands(i.at, f);
          if (i.op == AtomicOp::kCas) f(i.compare);
          if (i.op != AtomicOp::kLoad) f(i.value);
        } else if constexpr (std::is_same_v<T, ISubgroup>) {
          f(i.value);
          if (takes_arg(i.op)) f(i.arg);
        } else if constexpr (std::is_same_v<T, IDeclare>) {
          if (i.init) f(*i.init);
        } else if constexpr (std::is_same_v<T, IAssign>) {
          f(i.value);
        } else if constexpr (std::is_same_v<T, IIf>) {
          f(i.cond);
        } else if constexpr (std::is_same_v<T, IFor>) {
          f(i.from);
          f(i.to);
          f(i.step);
        } else {
          static_assert(std::is_same_v<T, IBuiltin> || std::is_same_v<T, IBarrier> ||
                        std::is_same_v<T, IFence> || std::is_same_v<T, IRead> ||
                        std::is_same_v<T, IWhile> || std::is_same_v<T, IStop>);
        }
      },
  };
  std::visit(visitor, op);
}

/// Calls f(Value&) on the operands that are used at the end of a block inside: IWhile::cond, which
/// sees what the head defines.
template <class O, class F>
void visit_end_operands(O& op, F&& f) {
  if (auto* loop = std::get_if<IWhile>(&op)) f(loop->cond);
}

/// Calls f(ValId&) on every value that the instruction defines behind itself; an atomic may have
/// none. IFor::index is none of these: it belongs to the body (see visit_binders).
template <class O, class F>
void visit_results(O& op, F&& f) {
  std::visit(
      [&](auto& i) {
        using T = std::remove_const_t<std::remove_reference_t<decltype(i)>>;
        if constexpr (std::is_same_v<T, ICall>) {
          for (auto& dst : i.dsts) f(dst);
        } else if constexpr (requires { i.dst; }) {
          if (i.dst.valid()) f(i.dst);
        }
      },
      op);
}

/// Calls f(ValId&) on every value that the instruction defines for the blocks inside.
template <class O, class F>
void visit_binders(O& op, F&& f) {
  if (auto* loop = std::get_if<IFor>(&op)) f(loop->index);
}

/// Calls f(Address&) on the place in memory that the instruction accesses.
template <class O, class F>
void visit_address(O& op, F&& f) {
  if (auto* load = std::get_if<ILoad>(&op)) {
    f(load->from);
  } else if (auto* store = std::get_if<IStore>(&op)) {
    f(store->to);
  } else if (auto* atomic = std::get_if<IAtomic>(&op)) {
    f(atomic->at);
  }
}

/// Calls f(VarId&) on the variable that the instruction declares, reads or assigns.
template <class O, class F>
void visit_var(O& op, F&& f) {
  std::visit(
      [&](auto& i) {
        if constexpr (requires { i.var; }) f(i.var);
      },
      op);
}

/// Calls f(Block&) on every block directly inside, in the order in which they run.
template <class O, class F>
void visit_blocks(O& op, F&& f) {
  if (auto* branch = std::get_if<IIf>(&op)) {
    f(branch->then_block);
    f(branch->else_block);
  } else if (auto* counted = std::get_if<IFor>(&op)) {
    f(counted->body);
  } else if (auto* loop = std::get_if<IWhile>(&op)) {
    f(loop->head);
    f(loop->body);
  }
}

/// Calls f(Inst&) on every instruction of the block and of the blocks inside, each before what is
/// inside of it.
template <class B, class F>
void for_each_inst(B& block, F&& f) {
  for (auto& inst : block.insts) {
    f(inst);
    visit_blocks(inst.op, [&](auto& inner) { for_each_inst(inner, f); });
  }
}

/// Calls f(Inst&) on every instruction of the kernel, functions first.
template <class K, class F>
void for_each_inst_of(K& kernel, F&& f) {
  for (auto& function : kernel.functions) for_each_inst(function.body, f);
  for_each_inst(kernel.main, f);
}

/// Calls f(Block&) on the functions' bodies and main.
template <class K, class F>
void for_each_body(K& kernel, F&& f) {
  for (auto& function : kernel.functions) f(function.body);
  f(kernel.main);
}

}  // namespace kenaz::kir
