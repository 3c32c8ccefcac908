#include "kernels/glsl/print_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "kernels/glsl/compile.h"
#include "kernels/kir/builder.h"
#include "kernels/program/program.h"

namespace kenaz::glsl {
namespace {

using kir::Builder;
using kir::Kernel;
using kir::Value;
using kir::Values;
using testing::HasSubstr;
using testing::Not;

PrintedKernel print(const Kernel& kernel, bool cuts = false, bool says_end = false) {
  PrintOptions options;
  if (cuts) options.cut_failure = [](ir::ProvId) { return 7; };
  options.skips_look = options.says_end = says_end;
  PrintedKernel printed = print_kernel(kernel, options);
  const auto made = compile_glsl(kernel.name, printed.text);
  EXPECT_TRUE(made) << made.error().text() << "\n" << printed.text;
  return printed;
}

std::string text(const Kernel& kernel) { return print(kernel).text; }

/// A kernel with two blocks, xs and ys, a number n, and a variable v of type f32.
struct Example {
  Kernel kernel;
  Builder k{kernel};
  Value xs, ys, n;
  kir::Var v;
  Example() {
    kernel.name = "example";
    kernel.group_size = {128};
    xs = k.block_arg("xs");
    ys = k.block_arg("ys");
    n = k.arg("n", PrimType::kI64);
    v = k.declare(Value(PrimValue::f32(1)));
  }
  Value load(Value i) { return k.load(PrimType::kF32, xs, std::move(i)); }
  void store(Value i, Value x) { k.store(ys, std::move(i), std::move(x)); }
  std::string text() const { return glsl::text(kernel); }
};

TEST(PrintKernel, AMapReadsLikeOne) {
  Example e;
  const Value i = e.k.global();
  e.k.if_(e.k.lt(i, e.n), [&] { e.store(i, e.k.mul(e.load(i), PrimValue::f32(2))); });
  EXPECT_THAT(e.text(), HasSubstr("  if (t0 < n_) {\n"
                                  "    float t1 = F32(xs_ + uint64_t(t0) * 4ul).v;\n"
                                  "    F32(ys_ + uint64_t(t0) * 4ul).v = t1 * 2.0;\n"
                                  "  }\n"));
}

/// Whether a float that is made of the integer is hidden from the driver's compiler.
bool is_hidden(const std::function<Value(Example&)>& make) {
  Example e;
  e.store(kir::i64(0), e.k.convert(make(e), PrimType::kF32));
  return e.text().find("uint(zero_bits)") != std::string::npos;
}
Value number(Example& e) { return e.k.load(PrimType::kI32, e.xs, e.n); }

TEST(PrintKernel, FloatsOfIntegersAreHiddenUnlessNobodyCanTellThem) {
  EXPECT_FALSE(is_hidden([](Example& e) { return e.n; }));
  EXPECT_FALSE(is_hidden(number));
  EXPECT_FALSE(is_hidden([](Example& e) { return e.k.add(e.n, e.k.to_i64(e.k.local())); }));
  EXPECT_FALSE(is_hidden(
      [](Example& e) { return e.k.lshr(e.k.xor_(number(e), kir::i32(5)), kir::i32(3)); }));
  EXPECT_FALSE(is_hidden([](Example& e) {
    return e.k.extract(e.k.load({PrimType::kI32, 4}, {e.xs, kir::i64(0)}), 2);
  }));
  EXPECT_FALSE(is_hidden([](Example& e) { return e.k.mul(e.k.to_i64(number(e)), e.n); }));
}

TEST(PrintKernel, FloatsOfWhatIsZeroInSomeThreadOrTurnAreHidden) {
  EXPECT_TRUE(is_hidden([](Example& e) { return e.k.to_i64(e.k.local()); }));
  EXPECT_TRUE(is_hidden([](Example& e) { return e.k.mul(e.n, e.k.to_i64(e.k.local())); }));
}

TEST(PrintKernel, FloatsOfSumsThatCancelAreHidden) {
  const auto local = [](Example& e) { return e.k.to_i64(e.k.local()); };
  EXPECT_TRUE(is_hidden([&](Example& e) { return e.k.sub(e.k.add(e.n, local(e)), e.n); }));
  EXPECT_TRUE(is_hidden([&](Example& e) { return e.k.xor_(e.n, e.k.xor_(e.n, local(e))); }));
  EXPECT_TRUE(is_hidden([](Example& e) { return e.k.sub(number(e), number(e)); }));
  EXPECT_TRUE(is_hidden([](Example& e) {
    return e.k.sub(e.n, e.k.min(e.n, kir::i64(7)));  // 0 if the compiler finds that n is small
  }));
}

TEST(PrintKernel, FloatsOfWhatTheThreadMayHaveStoredAreHidden) {
  EXPECT_TRUE(is_hidden([](Example& e) { return e.k.load(PrimType::kI32, e.ys, e.n); }));
}

TEST(PrintKernel, FloatsOfBitsThatMayBeKnownAreHidden) {
  EXPECT_TRUE(is_hidden([](Example& e) {
    const Value byte = e.k.convert(e.k.load(PrimType::kU8, e.xs, e.n), PrimType::kU32);
    return e.k.lshr(e.k.xor_(byte, PrimValue::of_int(PrimType::kU32, 5)),
                    PrimValue::of_int(PrimType::kU32, 8));
  }));
}

TEST(PrintKernel, ProductsOfLowestBitsAreHidden) {
  const auto is_hidden_product = [](const std::function<Value(Example&, Value)>& bit) {
    Example e;
    const Value x = number(e);
    e.k.store(e.ys, kir::i64(0), e.k.mul(bit(e, x), e.k.add(x, kir::i32(7))));
    return e.text().find(" | int(no_bits)) * ") != std::string::npos;
  };
  const auto one = kir::i32(1);
  EXPECT_TRUE(is_hidden_product([&](Example& e, Value x) { return e.k.and_(x, one); }));
  EXPECT_TRUE(is_hidden_product([&](Example& e, Value x) { return e.k.and_(one, x); }));
  EXPECT_TRUE(is_hidden_product([&](Example& e, Value x) {
    const Value wide = e.k.convert(x, PrimType::kI64);
    return e.k.convert(e.k.and_(wide, kir::i64(1)), PrimType::kI32);
  }));
  EXPECT_TRUE(is_hidden_product([&](Example& e, Value x) {
    return e.k.sub(x, e.k.mul(e.k.prim(ScalarOp::kShr, {x, one}), kir::i32(2)));
  }));
  EXPECT_TRUE(is_hidden_product([&](Example& e, Value x) {
    return e.k.lshr(e.k.prim(ScalarOp::kShl, {x, kir::i32(31)}), kir::i32(31));
  }));
  EXPECT_TRUE(is_hidden_product([&](Example& e, Value x) {
    return e.k.prim(ScalarOp::kMod, {x, kir::i32(2)});
  }));
  EXPECT_FALSE(is_hidden_product([&](Example& e, Value x) { return e.k.and_(x, kir::i32(3)); }));
  EXPECT_FALSE(is_hidden_product([&](Example& e, Value x) {
    return e.k.sub(x, e.k.mul(e.k.prim(ScalarOp::kShr, {x, one}), kir::i32(4)));
  }));
  EXPECT_FALSE(is_hidden_product([&](Example& e, Value x) {
    return e.k.prim(ScalarOp::kRem, {x, kir::i32(2)});  // which may be negative
  }));
}

TEST(PrintKernel, WhetherLaunchesAreSmallIsInTheText) {
  Example e;
  const Value small = e.k.spec("small", PrimValue::of_bool(true));
  e.k.kernel().specs.back().says_small = true;
  e.k.store(e.ys, kir::i64(0), e.k.prim(ScalarOp::kSelect, {small, kir::i32(7), e.n}));
  const std::string text = e.text();
  EXPECT_THAT(text, HasSubstr("#define small_or_any(small, any) (small)\n"));
  EXPECT_THAT(text, HasSubstr("small_or_any(7, n_)"));
  EXPECT_THAT(text, Not(HasSubstr("constant_id = 1")));
  EXPECT_THAT(for_any_launch(text), HasSubstr("#define small_or_any(small, any) (any)\n"));
  EXPECT_EQ(for_any_launch("no such line"), "no such line");
}

TEST(PrintKernel, ThreeWayComparisonsAreHidden) {
  const auto text_of = [](const std::function<Value(Example&, Value, Value)>& make) {
    Example e;
    const Value x = number(e);
    const Value more = e.k.lt(kir::i32(5), x), less = e.k.lt(x, kir::i32(5));
    e.k.store(e.ys, kir::i64(0), make(e, more, less));
    return e.text();
  };
  const auto as_number = [](Example& e, Value v) { return e.k.convert(v, PrimType::kI32); };
  const auto hidden = HasSubstr(" | int(zero_bits)");
  EXPECT_THAT(text_of([&](Example& e, Value more, Value less) {
                return e.k.sub(as_number(e, more), as_number(e, less));
              }),
              hidden);
  EXPECT_THAT(text_of([&](Example& e, Value more, Value less) {
                return e.k.add(e.k.mul(as_number(e, less), kir::i32(-1)), as_number(e, more));
              }),
              hidden);
  EXPECT_THAT(text_of([&](Example& e, Value more, Value less) {
                return e.k.select(less, kir::i32(-1), as_number(e, more));
              }),
              hidden);
  EXPECT_THAT(text_of([&](Example& e, Value, Value less) {
                return e.k.sub(kir::i32(1), as_number(e, less));
              }),
              Not(hidden));
  EXPECT_THAT(text_of([&](Example& e, Value, Value less) {
                return e.k.add(number(e), as_number(e, less));
              }),
              Not(hidden));
}

TEST(PrintKernel, LoopsThatCountDownFromAFewNeedNotLook) {
  const auto text_of = [](int turns) {
    Example e;
    const kir::Var left = e.k.declare(kir::i32(turns));
    Value now;
    e.k.while_(
        [&] {
          now = e.k.read(left);
          return e.k.and_(e.k.lt(kir::i32(0), now), e.k.lt(e.k.read(e.v), PrimValue::f32(4)));
        },
        [&] {
          e.k.assign(e.v, e.k.add(e.k.read(e.v), PrimValue::f32(1)));
          e.k.assign(left, e.k.add(now, kir::i32(-1)));
        });
    e.store(e.n, e.k.read(e.v));
    return e.text();
  };
  EXPECT_THAT(text_of(16), Not(HasSubstr("turn();")));
  EXPECT_THAT(text_of(1000), HasSubstr("turn();"));
}

TEST(PrintKernel, LoadsAheadStandBeforeWhatEndsAThread) {
  Example e;
  e.kernel.reads_ahead = true;
  e.kernel.main.insts.clear();  // the variable: nothing is ahead behind one
  const Value x = e.load(e.k.group());
  e.k.if_(e.k.lt(e.k.group(), e.n), [&] { e.store(e.k.group(), e.k.add(x, x)); });
  const std::string text = e.text();
  const size_t load = text.find("F32(xs_"), leave = text.find("group >= groups"),
               failed = text.find("!= 0u) return"), store = text.find("F32(ys_");
  ASSERT_NE(store, std::string::npos);
  EXPECT_LT(load, leave);
  EXPECT_LT(load, failed);
  EXPECT_LT(leave, store);
  EXPECT_LT(failed, store);
}

TEST(PrintKernel, WhoReadsAheadHasTheWorkgroupsNumberFromPushConstants) {
  Example e;
  e.store(e.k.group(), e.load(e.k.group()));
  EXPECT_EQ(print(e.kernel).slots, 5);
  EXPECT_THAT(e.text(), Not(HasSubstr("digits")));
  e.kernel.reads_ahead = true;
  EXPECT_EQ(print(e.kernel).slots, 5 + program::kDigitSlots);
  EXPECT_THAT(e.text(), HasSubstr("group = int64_t(same(gl_WorkGroupID.x))"));
}

// What was read ahead would be kept in memory across a barrier.
TEST(PrintKernel, WhoReadsAheadDoesNotWaitForOthersToLeave) {
  Example e;
  e.store(e.k.group(),
          e.k.subgroup_combine(kir::SubgroupOp::kReduce, ScalarOp::kAdd, e.k.read(e.v)));
  EXPECT_THAT(e.text(), HasSubstr("barrier()"));
  e.kernel.reads_ahead = true;
  EXPECT_THAT(e.text(), Not(HasSubstr("barrier()")));
}

// The arguments then stand in memory, and the digits could not be looked up faster than anything.
TEST(PrintKernel, ManyArgumentsLeaveNoRoomForDigits) {
  Example e;
  e.kernel.reads_ahead = true;
  Value sum = e.n;
  for (int n = 0; n < 9; n++) {
    sum = e.k.add(sum, e.k.arg("n" + std::to_string(n), PrimType::kI64));
  }
  e.store(sum, e.load(e.k.group()));
  EXPECT_EQ(print(e.kernel).slots, 14);
  EXPECT_THAT(e.text(), Not(HasSubstr("digits")));
  EXPECT_THAT(e.text(), HasSubstr("gl_NumWorkGroups.x"));
}

TEST(PrintKernel, NothingIsSaidOfStoppingWhereNothingStops) {
  Example e;
  e.k.for_(kir::i32(10), [&](Value i) { e.store(i, e.load(i)); });
  EXPECT_THAT(e.text(), Not(HasSubstr("going")));
}

TEST(PrintKernel, KernelsTellWhetherTheyMayFail) {
  Example e;
  e.k.for_(kir::i32(10), [&](Value i) { e.store(i, e.load(i)); });
  EXPECT_FALSE(print(e.kernel).may_fail);
  EXPECT_TRUE(print(e.kernel, true).may_fail);  // where drivers end loops
  e.k.if_(e.k.lt(e.n, 3), [&] { e.k.fail(5, {e.n}); });
  EXPECT_TRUE(print(e.kernel).may_fail);
}

TEST(PrintKernel, KernelsThatCannotFailSayTheirEnd) {
  Example e;
  e.k.for_(kir::i32(10), [&](Value i) { e.store(i, e.load(i)); });
  EXPECT_FALSE(print(e.kernel).says_end);
  const PrintedKernel says = print(e.kernel, false, true);
  EXPECT_TRUE(says.says_end);
  EXPECT_EQ(says.slots, print(e.kernel).slots + 1);
  EXPECT_THAT(says.text, HasSubstr("  groups = int64_t(push.a[5]);\n  fr = push.a[0] & ~1ul;\n"));
  EXPECT_THAT(says.text, HasSubstr("  if ((push.a[0] & 1ul) == 0ul && U32(fr).v != 0u) return;\n"));
  EXPECT_THAT(says.text, HasSubstr("        U32x4(push.a[4]).v = uvec4(1u, 0u, 2779096484u, "
                                   "2779096485u);\n      }\n    }\n  }\n}\n"));
  EXPECT_FALSE(print(e.kernel, true, true).says_end);  // the driver may end the loop
  Value sum = e.n;
  for (int n = 0; n < 10; n++) {
    sum = e.k.add(sum, e.k.arg("n" + std::to_string(n), PrimType::kI64));
  }
  e.store(sum, e.load(kir::i32(0)));
  EXPECT_TRUE(print(e.kernel, false, true).says_end);  // 16 slots
  e.store(e.k.arg("last", PrimType::kI64), e.load(kir::i32(0)));
  EXPECT_FALSE(print(e.kernel, false, true).says_end);
}

TEST(PrintKernel, WhoFailsDoesNotSayItsEnd) {
  Example e;
  e.k.if_(e.k.lt(e.n, 3), [&] { e.k.fail(5, {e.n}); });
  EXPECT_FALSE(print(e.kernel, false, true).says_end);
}

TEST(PrintKernel, WhoMeetsOthersLooksTogetherWithThem) {
  Example e;
  e.store(e.k.group(),
          e.k.subgroup_combine(kir::SubgroupOp::kReduce, ScalarOp::kAdd, e.k.read(e.v)));
  EXPECT_THAT(print(e.kernel, false, true).text,
              HasSubstr("  if ((push.a[0] & 1ul) == 0ul) {\n"
                        "  if (local == 0) had_failed = U32(fr).v != 0u;\n  barrier();\n"
                        "  if (had_failed) return;\n  }\n"));
}

TEST(PrintKernel, BehindAFailureMemoryIsLeftAlone) {
  Example e;
  e.store(kir::i32(0), e.load(kir::i32(0)));
  e.k.if_(e.k.lt(e.n, 3), [&] { e.k.fail(5, {e.n}); });
  e.store(kir::i32(1), e.load(kir::i32(1)));
  EXPECT_THAT(e.text(), HasSubstr("  float t0 = F32(xs_).v;\n"
                                  "  F32(ys_).v = t0;\n"
                                  "  if (n_ < 3l) {\n"
                                  "    if (atomicCompSwap(U32(fr).v, 0u, 6u) == 0u) {\n"
                                  "      I64(fr + 16ul).v = int64_t(n_);\n"
                                  "    }\n"
                                  "    going = false;\n"
                                  "  }\n"
                                  "  float t1 = uintBitsToFloat(uint(zero_bits));\n"
                                  "  if (going) t1 = F32(xs_ + 4ul).v;\n"
                                  "  if (going) F32(ys_ + 4ul).v = t1;\n"));
}

TEST(PrintKernel, ALongLoopLooksWhetherToStopAtTheEndOfEachTurn) {
  Example e;
  e.k.for_(e.n, [&](Value i) {
    Value place = i;
    for (int n = 0; n < 10; n++) place = e.k.quot(e.n, place);
    e.store(place, e.load(i));
  });
  const std::string text = e.text();
  EXPECT_THAT(text, HasSubstr("  for (int64_t i0 = 0l; i0 < n_ && going; i0++) {\n"));
  EXPECT_THAT(text, HasSubstr("    turn();\n  }\n"));
}

TEST(PrintKernel, AShortLoopCountsInALoopAroundIt) {
  Example e;
  e.k.for_(e.n, [&](Value i) { e.store(i, e.load(i)); });
  EXPECT_THAT(e.text(), HasSubstr("  for (int64_t i0 = 0l; i0 < n_ && going;) {\n"
                                  "    int t0 = loops_look && uint64_t(n_ - i0) > 64ul ? 64 : "
                                  "int(uint64_t(n_ - i0));\n"
                                  "    for (; t0 > 0; t0--, i0 += 1l) {\n"
                                  "      float t1 = F32(xs_ + uint64_t(i0) * 4ul).v;\n"
                                  "      F32(ys_ + uint64_t(i0) * 4ul).v = t1;\n"
                                  "    }\n"
                                  "    turn();\n"
                                  "    if (!loops_look) break;\n"
                                  "  }\n"));
}

TEST(PrintKernel, ALoopWithADivisionIsNotUnrolled) {
  Example e;
  e.k.for_(e.n, [&](Value i) { e.store(e.k.quot(e.n, i), e.load(i)); });
  EXPECT_THAT(e.text(), HasSubstr("    [[dont_unroll]] for (; t0 > 0; t0--, i0 += 1l) {\n"));
}

TEST(PrintKernel, AShortLoopBySeveralCountsItsRounds) {
  Example e;
  e.k.for_(kir::i64(0), e.n, kir::i64(4), [&](Value i) { e.store(i, e.load(i)); });
  EXPECT_THAT(e.text(), HasSubstr("  for (int64_t i0 = 0l; i0 < n_ && going;) {\n"
                                  "    int t0 = loops_look && uint64_t(n_ - i0) > 256ul ? 64 : "
                                  "int((uint64_t(n_ - i0) + 3ul) / 4ul);\n"
                                  "    for (; t0 > 0; t0--, i0 += 4l) {\n"));
}

TEST(PrintKernel, OfANestOfShortLoopsTheOuterLooks) {
  Example e;
  e.k.for_(kir::i32(20), [&](Value i) {
    e.k.for_(kir::i32(20), [&](Value j) { e.store(e.k.add(i, j), e.load(j)); });
  });
  EXPECT_THAT(e.text(), HasSubstr("  for (int i0 = 0; i0 < 20 && going; i0++) {\n"
                                  "    for (int i1 = 0; i1 < 20; i1++) {\n"));
}

TEST(PrintKernel, ALoopThatTheDriverEndedIsAFailure) {
  Example e;
  e.k.for_(e.n, [&](Value i) { e.store(i, e.load(i)); });
  const std::string text = print(e.kernel, true).text;
  EXPECT_THAT(text,
              HasSubstr("  if (!loops_look && going && (i0 < n_)) { atomicCompSwap(U32(fr).v, "
                        "0u, 8u); going = false; }\n"));
  EXPECT_THAT(text,
              HasSubstr("void main() {\n  work();\n  if (!loops_look) check_for_cut();\n}\n"));
}

// Where the driver ends loops it also runs lanes that no thread has, and waits for their loops.
TEST(PrintKernel, AThreadAloneIsOneOfMany) {
  Example e;
  e.kernel.group_size = {1};
  e.k.for_(e.n, [&](Value i) { e.store(i, e.load(i)); });
  const std::string text = print(e.kernel, true).text;
  EXPECT_THAT(text, HasSubstr("layout(local_size_x = 16) in;\n"));
  EXPECT_THAT(text,
              HasSubstr("void main() {\n  if (gl_LocalInvocationID.x != 0u) return;\n  work();\n"));
  EXPECT_THAT(print(e.kernel).text, HasSubstr("layout(local_size_x = 1) in;\n"));
}

/// if n == 0 then 0 else if n == 1 then 1 .. else -1
Value chain(Example& e, int links, bool loads, int first = 0) {
  Builder& k = e.k;
  if (first == links) return kir::i64(-1);
  const Value n = loads ? k.load(PrimType::kI64, e.xs, kir::i32(first)) : e.n;
  return k.if_values(
      k.eq(n, first), [&] { return Values{k.add(e.n, first)}; },
      [&] { return Values{chain(e, links, loads, first + 1)}; })[0];
}

TEST(PrintKernel, ALongChainIsNoNest) {
  Example e;
  e.k.store(e.ys, kir::i32(0), chain(e, 200, false));
  const PrintedKernel printed = print(e.kernel);
  EXPECT_LT(printed.nesting, 20);
  EXPECT_THAT(printed.text, HasSubstr("  int b0 = 200;\n"
                                      "  if (n_ == 0l) { b0 = 0; }\n"
                                      "  if (b0 == 200 && (n_ == 1l)) { b0 = 1; }\n"));
  EXPECT_THAT(printed.text, Not(HasSubstr("going")));
}

TEST(PrintKernel, ConditionsOfALongChainPassOverMemoryOnceABranchIsFound) {
  Example e;
  e.k.store(e.ys, kir::i32(0), chain(e, 20, true));
  EXPECT_THAT(e.text(), HasSubstr("  if (t0 == 0l) { b0 = 0; g0 = going; going = false; }\n"
                                  "  int64_t t1 = 0l;\n"
                                  "  if (going) t1 = I64(xs_ + 8ul).v;\n"));
}

TEST(PrintKernel, ShortChainsAreNests) {
  Example e;
  e.k.store(e.ys, kir::i32(0), chain(e, 5, false));
  const int nesting = print(e.kernel).nesting;
  e.k.store(e.ys, kir::i32(0), chain(e, 7, false));
  EXPECT_EQ(print(e.kernel).nesting, nesting + 2);
}

// Drivers put functions where they are called.
TEST(PrintKernel, NestsInFunctionsCountWhereTheyAreCalled) {
  Example e;
  Builder& k = e.k;
  const auto f = k.function("f", {}, [&](const Values&) {
    k.if_(k.lt(e.n, 5), [&] { k.store(e.ys, kir::i32(0), e.n); });
    return Values{};
  });
  const auto g = k.function("g", {}, [&](const Values&) {
    k.if_(k.lt(e.n, 7), [&] { k.call(f, {}); });
    return Values{};
  });
  k.call(g, {});
  const int nesting = print(e.kernel).nesting;
  k.if_(k.lt(e.n, 8), [&] { k.if_(k.lt(e.n, 9), [&] { k.call(g, {}); }); });
  EXPECT_EQ(print(e.kernel).nesting, nesting + 2);
}

TEST(PrintKernel, AValueThatIsUsedOnceStandsWhereItIsUsed) {
  Example e;
  const Value sum = e.k.add(e.n, 7);
  e.k.for_(kir::i32(5), [&](Value i) { e.store(i, e.k.convert(sum, PrimType::kF32)); });
  // Not in the loop, where it would be computed again and again.
  EXPECT_THAT(e.text(), HasSubstr("  int64_t t0 = n_ + 7l;\n  for ("));
  Example f;
  f.k.store(f.ys, f.k.mul(f.k.add(f.n, 7), 2), kir::i32(1));
  EXPECT_THAT(f.text(), HasSubstr("  I32(ys_ + uint64_t((n_ + 7l) * 2l) * 4ul).v = 1;\n"));
}

TEST(PrintKernel, AVariablesValueIsKeptBeforeItChanges) {
  Example e;
  const Value before = e.k.read(e.v);
  e.k.assign(e.v, Value(PrimValue::f32(2)));
  e.store(kir::i32(0), before);
  EXPECT_THAT(e.text(), HasSubstr("  float t0 = v0;\n"
                                  "  v0 = 2.0;\n"
                                  "  F32(ys_).v = t0;\n"));
}

TEST(PrintKernel, AVariablesValueThatBoundsAnInnerLoopCanBeUsedBehindIt) {
  Example e;
  const kir::Var size = e.k.declare(e.n);
  const Value now = e.k.read(size);
  e.k.for_(e.n, [&](const Value& i) {
    e.k.for_(now, [&](const Value& j) { e.store(e.k.add(i, j), PrimValue::f32(1)); });
  });
  e.store(now, PrimValue::f32(2));
  e.store(e.k.add(now, 1), PrimValue::f32(2));
  EXPECT_THAT(e.text(), HasSubstr("F32(ys_ + uint64_t(v1) * 4ul).v = 2.0;"));
}

TEST(PrintKernel, OnlyWhatIsUsedIsDeclared) {
  Example e;
  e.store(kir::i32(0), e.load(e.n));
  const std::string text = e.text();
  for (const char* unused : {"double", "float16_t", "shared", "subgroup", "memory_scope",
                             "zero_bits", "volatile", "loops_look", "U64"}) {
    EXPECT_THAT(text, Not(HasSubstr(unused)));
  }
}

TEST(PrintKernel, FloatZerosAreUnknownToTheDriver) {
  Example e;
  e.store(kir::i32(0), Value(PrimValue::f32(0)));
  EXPECT_THAT(e.text(), HasSubstr("  F32(ys_).v = uintBitsToFloat(uint(zero_bits));\n"));
}

TEST(PrintKernel, NoNameIsAWordOfGlsl) {
  Kernel kernel;
  kernel.group_size = {32};
  Builder k(kernel);
  const Value out = k.block_arg("main");
  for (const char* name : {"float", "float", "gl_Position", "a__b", "3d", "", "x.y", "going_"}) {
    k.store(out, kir::i32(0), k.arg(name, PrimType::kI32));
  }
  print(kernel);
}

}  // namespace
}  // namespace kenaz::glsl
