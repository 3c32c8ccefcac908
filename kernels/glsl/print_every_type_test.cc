// Every instruction of kernel IR, at every type that it takes, as GLSL that compiles.
#include <gtest/gtest.h>

#include "kernels/glsl/compile.h"
#include "kernels/glsl/print_kernel.h"
#include "kernels/kir/builder.h"

namespace kenaz::glsl {
namespace {

using kir::Address;
using kir::AtomicOp;
using kir::AtomicOrder;
using kir::Builder;
using kir::Kernel;
using kir::Order;
using kir::SubgroupOp;
using kir::Value;
using kir::Values;

void compiles(const Kernel& kernel) {
  const PrintedKernel printed = print_kernel(kernel, {});
  const auto made = compile_glsl("test", printed.text);
  EXPECT_TRUE(made) << made.error().text() << "\n" << printed.text;
}

/// A kernel whose arguments are a block, an index and operands of one type.
struct AtType {
  PrimType type;
  Kernel kernel;
  Builder k{kernel};
  Value block, index, a, b, c, i, t;
  explicit AtType(PrimType type_of_operands) : type(type_of_operands) {
    kernel.group_size = {64};
    block = k.block_arg("block");
    index = k.arg("index", PrimType::kI64);
    a = k.arg("a", type);
    b = k.arg("b", type);
    c = k.arg("c", type);
    i = k.arg("i", PrimType::kI32);
    t = k.arg("t", PrimType::kBool);
  }
  void keep(Value v) { k.store(block, index, std::move(v)); }
};

class EveryTypeOfKernels : public testing::TestWithParam<int> {
 protected:
  PrimType type() const { return static_cast<PrimType>(GetParam()); }
};

TEST_P(EveryTypeOfKernels, ScalarOperations) {
  for (int o = 0; o <= static_cast<int>(ScalarOp::kSelect); o++) {
    const auto op = static_cast<ScalarOp>(o);
    if (!scalar_op_accepts(op, type())) continue;
    AtType e(type());
    Values args{e.a, e.b, e.c};
    args.resize(static_cast<size_t>(scalar_op_arity(op)));
    if (op == ScalarOp::kLdexp) args[1] = e.i;
    if (op == ScalarOp::kSelect) args = {e.t, e.a, e.b};
    for (int to = 0; to < kPrimTypeCount; to++) {
      const auto result = static_cast<PrimType>(to);
      const bool any = op == ScalarOp::kConvert || op == ScalarOp::kBitcast;
      if (any ? op == ScalarOp::kBitcast && prim_bits(result) != prim_bits(type())
              : result != type()) {
        continue;
      }
      // Operands that are expressions themselves.
      Values inner = args;
      for (Value& v : inner) v = e.k.select(e.k.lt(e.i, 5), v, v);
      e.keep(e.k.op(op, type(), result, inner));
    }
    compiles(e.kernel);
  }
}

TEST_P(EveryTypeOfKernels, MemoryAndVectors) {
  AtType e(type());
  Builder& k = e.k;
  const auto shared = k.shared("s", type(), {64});
  const auto local = k.local_array("l", type(), 8);
  for (const uint8_t lanes : {1, 2, 4}) {
    Values parts;
    for (int n = 0; n < lanes; n++) parts.push_back(n % 2 == 0 ? e.a : e.b);
    for (const Value& index : {e.index, e.i, Value(kir::i32(4)), Value(kir::i64(0))}) {
      for (const Order order : {Order::kPlain, Order::kCoherent}) {
        k.store({e.block, index}, k.compose(parts), order);
        const Value v = k.load({type(), lanes}, {e.block, index}, order);
        for (int n = 0; n < lanes; n++) e.keep(k.extract(v, n));
      }
      k.store({shared, index}, k.compose(parts));
      k.store({local, index}, k.load({type(), lanes}, {shared, index}));
      k.store({e.block, index}, k.load({type(), lanes}, {local, index}));
    }
  }
  compiles(e.kernel);
}

TEST_P(EveryTypeOfKernels, MemoryOfThreadsThatMayHaveStopped) {
  AtType e(type());
  Builder& k = e.k;
  const auto shared = k.shared("s", type(), {64});
  k.if_(e.t, [&] { k.fail(1, {e.a, e.b}); });
  for (const uint8_t lanes : {1, 2, 4}) {
    const Value v = k.load({type(), lanes}, {e.block, e.index});
    k.store({shared, e.i}, v);
    k.store({e.block, e.index}, k.load({type(), lanes}, {shared, e.i}));
  }
  compiles(e.kernel);
}

TEST_P(EveryTypeOfKernels, Variables) {
  AtType e(type());
  Builder& k = e.k;
  for (const uint8_t lanes : {1, 2, 4}) {
    const kir::Var none = k.declare(kir::Type{type(), lanes});
    const kir::Var some = k.declare(k.load({type(), lanes}, {e.block, e.index}));
    k.assign(none, k.read(some));
    k.store({e.block, e.index}, k.read(none));
  }
  if (is_integer(type())) {
    k.for_(
        e.a, e.b, e.c, [&](Value i) { e.keep(i); }, false, true);
    k.for_(
        e.b, [&](Value i) { e.keep(i); }, true);
  }
  compiles(e.kernel);
}

TEST_P(EveryTypeOfKernels, Functions) {
  AtType e(type());
  Builder& k = e.k;
  const kir::Type vector{type(), 2};
  const auto nothing = k.function("main", {{type()}, vector}, [&](const Values& p) {
    k.store({e.block, e.index}, p[1]);
    e.keep(p[0]);
    return Values{};
  });
  const auto two = k.function("float", {{type()}, {type()}}, [&](const Values& p) {
    return Values{p[1], p[0]};
  });
  const Values swapped = k.call(two, {e.a, e.b});
  k.call(nothing, {swapped[0], k.compose({e.a, swapped[1]})});
  const auto constant = k.function("one", {}, [&](const Values&) {
    return Values{Value(PrimValue{type(), 0})};
  });
  e.keep(k.call(constant, {})[0]);
  compiles(e.kernel);
}

TEST_P(EveryTypeOfKernels, SubgroupOperations) {
  AtType e(type());
  Builder& k = e.k;
  for (const SubgroupOp op :
       {SubgroupOp::kShuffle, SubgroupOp::kShuffleUp, SubgroupOp::kShuffleDown,
        SubgroupOp::kShuffleXor, SubgroupOp::kBroadcast}) {
    e.keep(k.shuffle(op, e.a, e.i));
    e.keep(k.shuffle(op, e.b, kir::i32(1)));
  }
  for (const ScalarOp op : {ScalarOp::kAdd, ScalarOp::kMul, ScalarOp::kMin, ScalarOp::kMax,
                            ScalarOp::kAnd, ScalarOp::kOr, ScalarOp::kXor}) {
    if (!scalar_op_accepts(op, type())) continue;
    for (const SubgroupOp kind :
         {SubgroupOp::kReduce, SubgroupOp::kInclusive, SubgroupOp::kExclusive}) {
      e.keep(k.subgroup_combine(kind, op, e.a));
    }
  }
  compiles(e.kernel);
}

INSTANTIATE_TEST_SUITE_P(PrintKernel, EveryTypeOfKernels, testing::Range(0, kPrimTypeCount),
                         [](const auto& info) {
                           return std::string(prim_name(static_cast<PrimType>(info.param)));
                         });

TEST(PrintEvery, Atomic) {
  for (const PrimType type : {PrimType::kI32, PrimType::kU32, PrimType::kI64, PrimType::kU64}) {
    AtType e(type);
    Builder& k = e.k;
    const auto shared = k.shared("s", type, {64});
    for (const Address& at : {Address{e.block, e.index}, Address{shared, e.i}}) {
      for (const AtomicOrder order : {AtomicOrder::kRelaxed, AtomicOrder::kAcquire,
                                      AtomicOrder::kRelease, AtomicOrder::kAcquireRelease}) {
        for (const AtomicOp op :
             {AtomicOp::kLoad, AtomicOp::kStore, AtomicOp::kExchange, AtomicOp::kAdd,
              AtomicOp::kMin, AtomicOp::kMax, AtomicOp::kAnd, AtomicOp::kOr, AtomicOp::kXor}) {
          const Value old = k.atomic(op, type, at, e.a, order);
          if (op != AtomicOp::kStore && op != AtomicOp::kAdd) e.keep(old);
        }
        e.keep(k.compare_and_swap(type, at, e.a, e.b, order));
      }
    }
    compiles(e.kernel);
  }
}

TEST(PrintEvery, AtomicSumOfFloats) {
  for (const PrimType type : {PrimType::kF32, PrimType::kF64}) {
    AtType e(type);
    Builder& k = e.k;
    const auto shared = k.shared("s", type, {64});
    for (const Address& at : {Address{e.block, e.index}, Address{shared, e.i}}) {
      for (const AtomicOrder order : {AtomicOrder::kRelaxed, AtomicOrder::kAcquireRelease}) {
        k.atomic(AtomicOp::kAdd, type, at, e.a, order);
        e.keep(k.atomic(AtomicOp::kAdd, type, at, e.a, order));
      }
    }
    compiles(e.kernel);
  }
}

TEST(PrintEvery, VoteBuiltinAndBarrier) {
  AtType e(PrimType::kI32);
  Builder& k = e.k;
  for (const SubgroupOp op :
       {SubgroupOp::kCount, SubgroupOp::kRank, SubgroupOp::kAny, SubgroupOp::kAll}) {
    e.keep(k.vote(op, e.t));
  }
  for (int word = 0; word < kir::kBallotWords; word++) e.keep(k.ballot(e.t, word));
  for (int b = 0; b <= static_cast<int>(kir::BuiltinKind::kSubgroupSize); b++) {
    e.keep(k.builtin(static_cast<kir::BuiltinKind>(b)));
  }
  k.barrier();
  k.fence(kir::Scope::kWorkgroup);
  k.fence(kir::Scope::kDevice);
  compiles(e.kernel);
}

TEST(PrintEvery, SpecialisationConstant) {
  AtType e(PrimType::kI32);
  Builder& k = e.k;
  const Value size = k.spec("size", PrimValue::i32(128)),
              flag = k.spec("flag", PrimValue::of_bool(true));
  e.kernel.group_size = {1, 0};
  const auto shared = k.shared("s", PrimType::kF32, {3, 0});
  k.store(shared, k.local(), Value(PrimValue::f32(1)));
  k.if_(flag, [&] { e.keep(k.add(size, k.group_size())); });
  compiles(e.kernel);
}

TEST(PrintEvery, ArgumentsThatDoNotFitIntoPushConstants) {
  for (int type = 0; type < kPrimTypeCount; type++) {
    AtType e(static_cast<PrimType>(type));
    for (int n = 0; n < 20; n++) e.keep(e.k.arg("x", e.type));
    compiles(e.kernel);
    EXPECT_EQ(print_kernel(e.kernel, {}).slots, 29);
  }
}

}  // namespace
}  // namespace kenaz::glsl
