// Every fault is found, under every seed, and what comes near to it is not one.
#include "kernels/kir/eval/fault_testing.h"

namespace kenaz::kir {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// ---- out of block

TEST(KirFaults, AccessesStayInTheirBlock) {
  const auto at = [](Value index) {
    return [index](Parts& p) { p.k.load(PrimType::kI32, p.in, index); };
  };
  expect_fine(at(i64(7)));
  expect_fault("kOutOfBlock", at(i64(8)));
  expect_fault("kOutOfBlock", at(i32(-1)));
  expect_fault("kOutOfBlock", at(i64(int64_t{1} << 62)));
  expect_fault("kOutOfBlock", [](Parts& p) { p.k.store(p.out, i32(8), i32(0)); });
  expect_fault("kOutOfBlock", [](Parts& p) {
    p.k.atomic(AtomicOp::kAdd, PrimType::kI32, {p.in, i32(8)}, i32(1));
  });
}

TEST(KirFaults, AnAddressPointsIntoABlock) {
  const auto from = [](int64_t offset, int32_t index) {
    return [=](Parts& p) { p.k.load(PrimType::kI32, p.k.add(p.in, offset), i32(index)); };
  };
  expect_fine(from(4, 6));
  expect_fine(from(32, -1));  // just behind it, and back
  expect_fault("kOutOfBlock", from(4, 7));
  expect_fault("kOutOfBlock", from(-4, 1));
  expect_fault("kOutOfBlock", from(36, -2));
  expect_fault("kOutOfBlock", [](Parts& p) {
    p.k.load(PrimType::kI32, Value(PrimValue::of_int(PrimType::kU64, 0)), i32(0));
  });
}

TEST(KirFaults, AVectorLiesInItsBlockAsAWhole) {
  const auto at = [](int32_t index) {
    return [=](Parts& p) {
      p.k.load({PrimType::kI32, 4}, {p.k.block_arg("six"), i32(index)});
      const std::vector<int32_t> six(6);
      p.t.args.push_back({PrimType::kU64, p.t.memory.allocate(std::as_bytes(std::span(six)))});
    };
  };
  expect_fine(at(0));
  expect_fault("kOutOfBlock", at(4));
}

TEST(KirFaults, IndicesStayInTheirArray) {
  expect_fine([](Parts& p) {
    p.k.store(p.s, p.me, i32(1));
    p.k.store(p.l, i64(7), i32(1));
  });
  for (int32_t index : {-1, 8}) {
    expect_fault("kOutOfBlock", [=](Parts& p) { p.k.store(p.s, i32(index), i32(1)); });
    expect_fault("kOutOfBlock", [=](Parts& p) { p.k.load(p.l, i32(index)); });
  }
}

TEST(KirFaults, AReleasedBlockIsNone) {
  expect_fault("kOutOfBlock", [](Parts& p) {
    p.t.memory.release(p.t.args[0].bits);
    p.k.load(PrimType::kI32, p.in, i32(0));
  });
}

// ---- undefined

TEST(KirFaults, AnUndefinedValueDoesNotDecide) {
  const Build uses[] = {
      [](Parts& p) { p.k.if_(p.k.lt(p.undefined(), 1), [] {}); },
      [](Parts& p) { p.k.for_(p.undefined(), [](const Value&) {}); },
      [](Parts& p) { p.k.for_(p.undefined(), i32(1), i32(1), [](const Value&) {}); },
      [](Parts& p) { p.k.for_(i32(0), i32(1), p.undefined(), [](const Value&) {}); },
      [](Parts& p) { p.k.while_([&] { return p.k.lt(p.undefined(), 1); }, [] {}); },
      [](Parts& p) { p.k.load(PrimType::kI32, p.in, p.undefined()); },
      [](Parts& p) { p.k.store(p.l, p.undefined(), i32(0)); },
      [](Parts& p) {
        p.k.load(PrimType::kI32, p.k.add(p.in, p.k.convert(p.undefined(), PrimType::kU64)), i32(0));
      },
      [](Parts& p) {
        p.k.atomic(AtomicOp::kAdd, PrimType::kI32, {p.in, i32(0)}, p.undefined());
      },
      [](Parts& p) {
        p.k.compare_and_swap(PrimType::kI32, {p.in, i32(0)}, p.undefined(), i32(0));
      },
      [](Parts& p) {
        p.k.atomic(AtomicOp::kAdd, PrimType::kI32, {p.out, i32(0)}, i32(1));
      },
      [](Parts& p) { p.k.fail(1, {p.undefined()}); },
      [](Parts& p) { p.k.select(p.k.lt(p.undefined(), 1), i32(1), i32(2)); },
      [](Parts& p) { p.k.shuffle(SubgroupOp::kShuffle, i32(1), p.undefined()); },
  };
  for (const Build& use : uses) expect_fault("kUndefined", use);
}

TEST(KirFaults, AnUndefinedValueIsCopiedAndComputedWith) {
  expect_fine([](Parts& p) {
    Builder& k = p.k;
    const Value u = p.undefined();
    k.store(p.l, i32(0), k.mul(u, 3));
    const Var v = k.declare(k.load(p.l, i32(0)));
    k.store(p.s, p.me, k.read(v));
    const Value sum = k.subgroup_combine(SubgroupOp::kReduce, ScalarOp::kAdd, u);
    k.store(p.out, p.me, k.select(k.lt(p.me, 4), sum, k.load(p.s, p.me)));
    k.if_(k.lt(k.select(boolean(true), p.me, u), 3), [] {});
    k.atomic(AtomicOp::kLoad, PrimType::kI32, {p.out, p.me});
  });
}

TEST(KirFaults, ASelectIsAsDefinedAsItsArm) {
  const auto chooses = [](bool undefined) {
    return [=](Parts& p) {
      const Value is_first = p.k.lt(p.me, 8);
      const Value u = p.undefined();
      const Value v = undefined ? p.k.select(is_first, u, p.me) : p.k.select(is_first, p.me, u);
      p.k.if_(p.k.lt(v, 100), [] {});
    };
  };
  expect_fine(chooses(false));
  expect_fault("kUndefined", chooses(true));
}

TEST(KirFaults, AnOperandThatDecidesAloneHidesTheOther) {
  expect_fine([](Parts& p) {
    Builder& k = p.k;
    const Value no = k.lt(p.me, 0), yes = k.not_(no), u = k.lt(p.undefined(), 1);
    k.if_(k.and_(u, no), [] {});
    k.if_(k.or_(yes, u), [] {});
    k.load(p.l, k.and_(k.sub(p.me, p.me), p.undefined()));
  });
  expect_fault("kUndefined", [](Parts& p) {
    p.k.if_(p.k.and_(p.k.lt(p.undefined(), 1), p.k.lt(p.me, 100)), [] {});
  });
}

TEST(KirFaults, VariablesAndArraysAreUndefinedAtFirst) {
  const auto stop_if = [](Parts& p, const Value& v) { p.k.if_(p.k.lt(v, 1), [] {}); };
  expect_fault("kUndefined", [&](Parts& p) {
    const Var v = p.k.declare(Type{PrimType::kI32});
    p.k.if_(p.k.lt(p.me, 7), [&] { p.k.assign(v, i32(1)); });
    stop_if(p, p.k.read(v));
  });
  expect_fault("kUndefined", [&](Parts& p) {  // an iteration sees nothing of the one before
    p.k.for_(i32(2), [&](const Value& i) {
      const Var v = p.k.declare(Type{PrimType::kI32});
      p.k.if_(p.k.eq(i, 0), [&] { p.k.assign(v, i32(1)); });
      stop_if(p, p.k.read(v));
    });
  });
  expect_fault("kUndefined", [&](Parts& p) { stop_if(p, p.k.load(p.l, i32(3))); });
  expect_fault("kUndefined", [&](Parts& p) { stop_if(p, p.k.load(p.s, i32(3))); });
  expect_fault("kUndefined", [&](Parts& p) {  // a workgroup sees nothing of the one before
    p.t.groups = 2;
    p.k.if_(p.k.eq(p.k.group(), p.k.load(PrimType::kI64, p.t.array<int64_t>("g", {0}), i32(0))),
            [&] { p.k.store(p.s, p.me, i32(1)); });
    stop_if(p, p.k.load(p.s, p.me));
  });
}

TEST(KirFaults, DefinednessIsByByte) {
  const auto reads = [](int32_t shift) {
    return [=](Parts& p) {
      Builder& k = p.k;
      const Value bytes = k.block_arg("bytes");
      const uint64_t address = p.t.memory.allocate(8);
      p.t.memory.write(address, std::vector<std::byte>(6));
      p.t.args.push_back({PrimType::kU64, address});
      const Value word = k.load(PrimType::kU32, bytes, i32(1));
      const LocalId copy = k.local_array("copy", PrimType::kU32, 1);
      k.store(copy, i32(0), word);
      const Value part = k.lshr(k.load(copy, i32(0)), k.convert(i32(shift), PrimType::kU32));
      const Value low = k.convert(part, PrimType::kU8);
      k.if_(k.eq(low, 0), [] {});
      k.if_(k.eq(k.and_(part, Builder::same_type(part, 0xff)), 0), [] {});
    };
  };
  expect_fine(reads(0));
  expect_fine(reads(8));
  expect_fault("kUndefined", reads(16));
  expect_fault("kUndefined", reads(4));  // across bytes: all of it counts as undefined
}

// ---- alignment

TEST(KirFaults, AccessesAreAligned) {
  const auto vector_at = [](int32_t index, uint8_t lanes) {
    return [=](Parts& p) { p.k.load({PrimType::kI32, lanes}, {p.in, i32(index)}); };
  };
  expect_fine(vector_at(4, 4));
  expect_fine(vector_at(2, 2));
  expect_fault("kMisaligned", vector_at(2, 4));
  expect_fault("kMisaligned", vector_at(1, 2));
  expect_fault("kMisaligned", [](Parts& p) { p.k.load(PrimType::kI32, p.k.add(p.in, 2), i32(0)); });
  expect_fault("kMisaligned", [](Parts& p) { p.k.load({PrimType::kI32, 2}, {p.l, i32(1)}); });
  expect_fine([](Parts& p) { p.k.load(PrimType::kI16, p.k.add(p.in, 2), i32(1)); });
}

// ---- endless

TEST(KirFaults, AnEndlessLoopIsFound) {
  expect_fault("kEndless", [](Parts& p) { p.k.while_([] { return boolean(true); }, [] {}); });
  expect_fault("kEndless", [](Parts& p) {
    p.k.for_(i32(0), i32(4), p.k.sub(p.me, p.me), [](const Value&) {});
  });
  expect_fault("kEndless", [](Parts& p) {  // nobody sets it
    p.k.while_(
        [&] {
          return p.k.eq(p.k.atomic(AtomicOp::kLoad, PrimType::kI32, {p.in, i32(0)}), 0);
        },
        [] {});
  });
}

// ---- what is told

TEST(KirFaults, AFaultTellsWhereItIs) {
  KernelTest t;
  t.kernel.name = "sum";
  t.kernel.group_size.constant = 2;
  t.groups = 3;
  t.k.set_prov({4});
  const SharedId s = t.k.shared("tile", PrimType::kI32, {2});
  t.k.set_prov({5});
  t.k.store(s, t.k.add(t.k.local(), t.k.to_i32(t.k.group())), i32(1));
  t.k.set_prov({6});
  EXPECT_THAT(t.error(), StartsWith("kOutOfBlock: store of shared array tile (#"));
  EXPECT_THAT(t.error(), HasSubstr("in kernel sum, thread 1 of workgroup 1: index 2 of an array"));
  EXPECT_EQ(t.fault->prov, ir::ProvId{5});
}

TEST(KirFaults, StoresOfEqualValuesAreARaceIfWanted) {
  const auto error = [](bool race, const std::function<Value(Builder&)>& value, bool reads) {
    KernelTest t;
    t.kernel.group_size.constant = 4;
    t.options.equal_stores_race = race;
    const Value out = t.room<int32_t>("out", 1);
    t.k.store(out, i32(0), value(t.k));
    if (reads) t.k.load(PrimType::kI32, out, i32(0));
    return t.error();
  };
  const auto same = [](Builder&) { return i32(7); };
  EXPECT_THAT(error(true, same, false), StartsWith("kRace"));
  EXPECT_EQ(error(false, same, false), "");
  EXPECT_THAT(error(false, same, true), StartsWith("kRace"));
  EXPECT_THAT(error(
                  false, [](Builder& k) { return k.local(); }, false),
              StartsWith("kRace"));
}

TEST(KirFaults, AWordThatIsSetOnceIsLookedAtWithoutARace) {
  const auto look_and_set = [](uint64_t seed, int32_t word, bool known) {
    KernelTest t;
    t.kernel.group_size.constant = 8;
    t.options.seed = seed;
    const Value record = t.array<int32_t>("record", {0, 0});
    if (known) t.options.set_once = t.args[0].bits;
    t.k.if_(t.k.eq(t.k.load(PrimType::kI32, record, i32(word)), 0), [&] {
      t.k.compare_and_swap(PrimType::kI32, {record, i32(word)}, i32(0), t.k.local());
    });
    return t.error();
  };
  for (uint64_t seed : kSeeds) {
    EXPECT_THAT(look_and_set(seed, 0, false), StartsWith("kRace")) << seed;
    EXPECT_EQ(look_and_set(seed, 0, true), "") << seed;
    EXPECT_THAT(look_and_set(seed, 1, true), StartsWith("kRace")) << seed;  // another word
  }
}

TEST(KirFaults, ARaceTellsOfBothThreads) {
  KernelTest t;
  t.kernel.group_size.constant = 2;
  const SharedId s = t.k.shared("tile", PrimType::kI32, {2});
  t.k.store(s, t.k.local(), i32(1));
  t.k.load(s, i32(0));
  EXPECT_THAT(t.error(), HasSubstr("thread 1 of workgroup 0: byte 0: unordered with the write of "
                                   "thread 0 of workgroup 0: store of shared array tile"));
}

}  // namespace
}  // namespace kenaz::kir
