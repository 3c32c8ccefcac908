// Shaders that are read and run: what they compute is known.
#include "kernels/glsl/compile.h"
#include "kernels/spirv/names.h"
#include "kernels/spirv/testing.h"

namespace kenaz::spirv {

Result<std::vector<uint32_t>> compiled(const std::string& text) {
  return glsl::compile_glsl("test", text);
}

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// ---- control; x is -2 to 5

TEST(SpirvControl, ReturnsLeaveFunctionsFromInside) {
  EXPECT_THAT(eight_of("int f(int x) { if (x < 0) return 7; if (x > 3) { if (x == 4) return 9; "
                       "x += 20; } return x + 1; }"),
              ElementsAre(7, 7, 1, 2, 3, 4, 9, 26));
}

TEST(SpirvControl, LoopsCountAndEnd) {
  EXPECT_THAT(eight_of("int f(int x) { int s = 0; for (int i = 0; i < x; i++) s += i; return s; }"),
              ElementsAre(0, 0, 0, 0, 1, 3, 6, 10));
  EXPECT_THAT(eight_of("int f(int x) { int s = 0; do { s += 3; x--; } while (x > 0); return s; }"),
              ElementsAre(3, 3, 3, 3, 6, 9, 12, 15));
  EXPECT_THAT(eight_of("int f(int x) { while (true) { if (x >= 3) break; x += 2; } return x; }"),
              ElementsAre(4, 3, 4, 3, 4, 3, 4, 5));
}

TEST(SpirvControl, BreakAndContinueConcernTheInnermostLoop) {
  EXPECT_THAT(eight_of("int f(int x) { int s = 0; for (int i = 0; i < 4; i++) { if (i == 1) "
                       "continue; for (int j = 0; ; j++) { if (j > x) break; if (j == 2) continue; "
                       "s += 10; } s += i; } return s; }"),
              ElementsAre(5, 5, 35, 65, 65, 95, 125, 155));
}

TEST(SpirvControl, ReturnsLeaveLoopsInLoops) {
  EXPECT_THAT(eight_of("int f(int x) { for (int i = 0; i < 3; i++) { int j = 0; while (j < 3) { if "
                       "(i * j == x) return 10 * i + j; j++; } } return -1; }"),
              ElementsAre(-1, -1, 0, 11, 12, -1, 22, -1));
}

TEST(SpirvControl, AHeadDoesNotRunAgainBehindABreak) {
  EXPECT_THAT(
      eight_of("int n; bool head(int x) { n++; return n < x; }\nint f(int x) { n = 0; while "
               "(head(4)) { if (n == x) break; } return n; }"),
      ElementsAre(4, 4, 4, 1, 2, 3, 4, 4));
}

TEST(SpirvControl, SwitchesChooseBySeveralValues) {
  EXPECT_THAT(
      eight_of("int f(int x) { int r = 5; switch (x) { case -1: case 3: r = 1; break; case "
               "0: if (r == 5) { r = 2; break; } r = 99; break; case 4: return 50; default: "
               "r = 3; } return r; }"),
      ElementsAre(3, 1, 2, 3, 3, 1, 50, 3));
}

TEST(SpirvControl, TheRightOperandOfAndIsLeftOutWhereTheLeftIsFalse) {
  EXPECT_THAT(eight_of("int n = 0; bool g(int x) { n++; return x < 3; }\nint f(int x) { bool b = x "
                       "> 0 && g(x) || x == -2 && g(x); return (b ? 100 : 0) + n; }"),
              ElementsAre(101, 0, 0, 101, 101, 1, 1, 1));
}

TEST(SpirvControl, CallsGiveBackWhatParametersBecame) {
  EXPECT_THAT(eight_of("void g(inout int a, out int b, const in int c) { b = a + c; a = c; }\n"
                       "int f(int x) { int b; g(x, b, 3); return 100 * x + b; }"),
              ElementsAre(301, 302, 303, 304, 305, 306, 307, 308));
}

TEST(SpirvControl, TheHostEndsALoopInWhichThreadsDoNotMeet) {
  ShaderRun r;
  r.in.assign(1, 0);
  r.out.resize(1);
  r.options.max_steps = 10'000'000;
  const std::string text = kHead +
                           "layout(local_size_x = 1) in;\nvoid main() { while (push.n == 0) "
                           "if (push.in_ == 0ul) break; U(push.out_).v = 1u; }";
  EXPECT_THAT(r.run(text), HasSubstr("kEndless"));
  r.options.stops = [] { return true; };
  EXPECT_EQ(r.run(text), "");
  EXPECT_THAT(r.out, ElementsAre(0));  // the thread has stopped
}

// ---- values

TEST(SpirvValues, IntegersAreSignedOrNotByTheOperation) {
  EXPECT_THAT(
      eight_of("int f(int x) { return x / 2 + 10 * int(uint(x) / 0x80000000u) + 100 * (x >> "
               "1) + 1000 * int(uint(x) >> 31); }"),
      ElementsAre(1000 + 10 - 100 - 1, 1000 + 10 - 100, 0, 0, 101, 101, 202, 202));
  EXPECT_THAT(eight_of("int f(int x) { return int(uint(x) > 3u) + 2 * int(x > 3) + 4 * min(x, 1) + "
                       "int(max(uint(x), 2u) == 2u) * 64; }"),
              ElementsAre(-7, -3, 64, 68, 68, 4, 7, 7));
}

TEST(SpirvValues, NarrowAndWideIntegersConvert) {
  EXPECT_THAT(
      eight_of("int f(int x) { int8_t b = int8_t(x * 100); uint16_t h = uint16_t(x); int64_t "
               "w = int64_t(x) << 33; return int(b) + (int(h) & 3) * 1000 + int(w >> 32); }"),
      ElementsAre(56 + 2000 - 4, -100 + 3000 - 2, 0, 100 + 1000 + 2, -56 + 2000 + 4, 44 + 3000 + 6,
                  -112 + 8, -12 + 1000 + 10));
}

TEST(SpirvValues, BitsOfVectorsBecomeScalars) {
  EXPECT_THAT(eight_of("int f(int x) { int64_t w = packInt2x32(ivec2(x, x + 1)); ivec2 v = "
                       "unpackInt2x32(w + 0x300000000l); return 10 * v.y + v.x; }"),
              ElementsAre(18, 29, 40, 51, 62, 73, 84, 95));
  EXPECT_THAT(eight_of("int f(int x) { return floatBitsToInt(float(x)) >> 23; }"),
              ElementsAre(-256 + 128, -256 + 127, 0, 127, 128, 128, 129, 129));
}

TEST(SpirvValues, FloatsRoundAndCompareAsIeeeSays) {
  EXPECT_THAT(eight_of("int f(int x) { float z = float(x) / 2.0; float nan = 0.0 / (z - z); return "
                       "int(roundEven(z)) + 10 * int(trunc(z)) + 100 * int(nan == nan) + 1000 * "
                       "int(nan != nan) + 10000 * int(!(nan < z)); }"),
              ElementsAre(10989, 11000, 11000, 11000, 11011, 11012, 11022, 11022));
  EXPECT_THAT(eight_of("int f(int x) { double d = double(x) * 1e10lf; return int(d / 1e9lf) + "
                       "int(uint(float(x + 2) * 5e8) >> 29) * 1000; }"),
              ElementsAre(-20, -10, 1000 * 1, 1000 * 2 + 10, 1000 * 3 + 20, 1000 * 4 + 30,
                          1000 * 5 + 40, 1000 * 6 + 50));
}

TEST(SpirvValues, VectorsAreDoneComponentByComponent) {
  EXPECT_THAT(
      eight_of("int f(int x) { ivec4 v = ivec4(x, 1, 2, 3) * 2; v.y += x; ivec2 w = v.wy; "
               "bvec4 b = lessThan(v, ivec4(4)); return w.x + 10 * w.y + int(b.x) * 1000; }"),
      ElementsAre(1006, 1016, 1026, 1036, 46, 56, 66, 76));
}

TEST(SpirvValues, BitsAreCounted) {
  EXPECT_THAT(eight_of("int f(int x) { return bitCount(x) + 100 * (findMSB(uint(x)) + 1) + 10000 * "
                       "(findLSB(x) + 1); }"),
              ElementsAre(23231, 13232, 0, 10101, 20201, 10202, 30301, 10302));
}

// ---- memory

TEST(SpirvMemory, ThreadsHaveArrays) {
  EXPECT_THAT(
      eight_of("int f(int x) { int a[4]; for (int i = 0; i < 4; i++) a[i] = i * i; a[x & 3] "
               "+= 100; return a[1] + a[2] * 1000; }"),
      ElementsAre(104001, 4001, 4001, 4101, 104001, 4001, 4001, 4101));
}

TEST(SpirvMemory, WorkgroupsShareArraysOfVectors) {
  ShaderRun r;
  r.out.resize(8);
  r.in.assign(8, 0);
  ASSERT_EQ(r.run(kHead + R"(layout(local_size_x = 8) in;
shared vec4 tile[8];
shared float sum[2];
void main() {
  int t = int(gl_LocalInvocationID.x);
  tile[t] = vec4(t, 2 * t, 3 * t, 4 * t);
  barrier();
  vec4 other = tile[7 - t];
  if (t < 2) sum[t] = other.x + tile[t].w;
  barrier();
  U(push.out_ + uint64_t(4 * t)).v = uint(other.y + sum[t & 1]);
})"),
            "");
  EXPECT_THAT(r.out, ElementsAre(21, 22, 17, 18, 13, 14, 9, 10));
}

TEST(SpirvMemory, AWorkgroupIsAsLargeAsItsConstantSays) {
  ShaderRun r;
  r.out.resize(12);
  r.in.assign(1, 0);
  r.constants = {4, 3};
  r.groups = 3;
  ASSERT_EQ(r.run(kHead + R"(layout(local_size_x = 64, local_size_x_id = 0) in;
layout(constant_id = 1) const int c = 5;
layout(constant_id = 2) const int d = 7;
shared uint s[c * 2];
void main() {
  uint t = gl_LocalInvocationID.x;
  s[t] = gl_WorkGroupID.x;
  U(push.out_ + 4ul * gl_GlobalInvocationID.x).v = s[t] * 100u + uint(s.length() * d) + gl_NumWorkGroups.x + gl_WorkGroupSize.x;
})"),
            "");
  EXPECT_THAT(r.out, ElementsAre(49, 49, 49, 49, 149, 149, 149, 149, 249, 249, 249, 249));
}

TEST(SpirvMemory, AtomicsCount) {
  ShaderRun r;
  r.out = {0, 0, 5, 0};
  r.in.assign(1, 0);
  r.groups = 4;
  r.options.concurrent_groups = 4;
  ASSERT_EQ(r.run(kHead + R"(layout(local_size_x = 8) in;
shared uint most;
void main() {
  if (gl_LocalInvocationIndex == 0u) most = 0u;
  barrier();
  atomicMax(most, gl_LocalInvocationIndex);
  atomicAdd(U64(push.out_).v, 1ul);
  atomicMin(I(push.out_ + 8ul).v, -int(gl_LocalInvocationIndex));
  barrier();
  if (gl_LocalInvocationIndex == 3u) atomicCompSwap(U(push.out_ + 12ul).v, 0u, most);
})"),
            "");
  EXPECT_THAT(r.out, ElementsAre(32, 0, static_cast<uint32_t>(-7), 7));
}

TEST(SpirvMemory, StorageBuffersAreArguments) {
  ShaderRun r;
  r.in = {3, 4, 5, 6};
  r.out.resize(4);
  ASSERT_EQ(r.run(R"(#version 460
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) readonly buffer In { uint xs[]; };
layout(set = 0, binding = 1) buffer Out { uint head; uint ys[3]; };
void main() {
  uint t = gl_LocalInvocationIndex;
  if (t == 0u) head = xs[0] * 10u; else ys[t - 1u] = xs[t];
})"),
            "");
  EXPECT_THAT(r.out, ElementsAre(30, 4, 5, 6));
}

TEST(SpirvMemory, ARaceIsFound) {
  ShaderRun r;
  r.in.assign(1, 0);
  r.out.resize(1);
  EXPECT_THAT(r.run(kHead + "layout(local_size_x = 8) in;\nvoid main() { U(push.out_).v = "
                            "gl_LocalInvocationIndex; }"),
              HasSubstr("kRace"));
}

// ---- threads together

TEST(SpirvTogether, SubgroupsCombineMoveAndVote) {
  ShaderRun r;
  r.in.assign(1, 0);
  r.out.resize(16);
  r.options.subgroup_size = 4;
  ASSERT_EQ(r.run(kHead + R"(layout(local_size_x = 16) in;
void main() {
  int t = int(gl_LocalInvocationIndex), lane = int(gl_SubgroupInvocationID);
  int sum = subgroupAdd(t), below = subgroupExclusiveAdd(t), most = subgroupInclusiveMax(-t);
  uint odd = subgroupBallotBitCount(subgroupBallot((t & 1) != 0));
  uint rank = subgroupBallotExclusiveBitCount(subgroupBallot((t & 1) != 0));
  int up = subgroupShuffle(t, (lane + 1) & 3), down = subgroupShuffleUp(t, 1);
  bool any = subgroupAny(t == 5), all = subgroupAll(t < 8);
  uint r = uint(sum == 4 * (t - lane) + 6 && below == lane * (t - lane) + lane * (lane - 1) / 2);
  r += uint(most == lane - t) * 2u + uint(odd == 2u && rank == uint(lane / 2)) * 4u;
  r += uint(up == (lane == 3 ? t - 3 : t + 1) && (lane == 0 || down == t - 1)) * 8u;
  U(push.out_ + uint64_t(4 * t)).v = r + uint(any) * 100u + uint(all) * 1000u;
})"),
            "");
  for (uint32_t t = 0; t < 16; t++) {
    const bool most = true;  // of -t, the subgroup's first is the greatest
    EXPECT_EQ(r.out[t], 13u + (most ? 2 : 0) + (t / 4 == 1 ? 100 : 0) + (t < 8 ? 1000 : 0)) << t;
  }
}

// ---- what is not read

std::string refusal(const std::string& text) {
  auto kernel = read_glsl(text);
  return kernel ? "it was read" : kernel.error().message;
}

TEST(SpirvRefused, WhatIsNotReadIsNamed) {
  EXPECT_THAT(refusal("#version 460\nlayout(rgba8, binding = 0) uniform image2D i;\nvoid main() { "
                      "imageStore(i, ivec2(0), vec4(0)); }"),
              HasSubstr("test cannot be read as a kernel: OpTypeImage is not read"));
  EXPECT_THAT(refusal(per_thread("int f(int x) { return bitfieldReverse(x); }")),
              HasSubstr("OpBitReverse is not read"));
  EXPECT_THAT(
      refusal(per_thread("int f(int x) { return int(smoothstep(0.0, 4.0, float(x))); }")),
      testing::ContainsRegex("OpExtInst 49 of GLSL.std.450 is not read .instruction [0-9]+"));
  EXPECT_THAT(
      refusal(per_thread("int f(int x) { switch (x) { case 1: x++; case 2: x++; } return x; "
                         "}")),
      HasSubstr("control flow without structure"));
  EXPECT_THAT(refusal(kHead + "layout(local_size_x = 8) in;\nvoid main() { subgroupBarrier(); }"),
              HasSubstr("OpControlBarrier: of scope 3"));
}

/// A module with one kernel, %1, by instructions: each one's number and its operands. Types and
/// constants are `globals`; %2 is void, %3 its function, %4 u32 and %5 of it 1024.
struct Written {
  using Instructions = std::vector<std::vector<uint32_t>>;
  Instructions globals, functions, body;
  uint32_t bound = 5000;

  std::string refusal() const {
    std::vector<uint32_t> words = {spv::MagicNumber, 0x10500, 0, bound, 0};
    const auto add = [&](const Instructions& all) {
      for (const std::vector<uint32_t>& in : all) {
        words.push_back(static_cast<uint32_t>(in.size()) << 16 | in[0]);
        words.insert(words.end(), in.begin() + 1, in.end());
      }
    };
    add({{spv::OpEntryPoint, spv::ExecutionModelGLCompute, 1, 0},
         {spv::OpTypeVoid, 2},
         {spv::OpTypeFunction, 3, 2},
         {spv::OpTypeInt, 4, 32, 0},
         {spv::OpConstant, 4, 5, 1024}});
    add(globals);
    add(functions);
    add({{spv::OpFunction, 2, 1, 0, 3}, {spv::OpLabel, 9}});
    add(body);
    add({{spv::OpReturn}, {spv::OpFunctionEnd}});
    const auto kernel = read(words);
    return kernel ? "it was read" : kernel.error().message;
  }
};

TEST(SpirvRefused, NoTypeContainsItself) {
  const uint32_t device = spv::StorageClassPhysicalStorageBuffer;
  const std::vector<uint32_t> forward = {spv::OpTypeForwardPointer, 15, device};
  const std::vector<uint32_t> holder = {spv::OpTypeStruct, 16, 15};
  EXPECT_EQ((Written{{forward, holder, {spv::OpTypePointer, 15, device, 16}}}.refusal()),
            "it was read");
  EXPECT_THAT(
      (Written{{forward, holder, {spv::OpTypeStruct, 15, 16}, {spv::OpUndef, 15, 17}}}.refusal()),
      HasSubstr("OpTypeStruct: %15 is a type already"));
  EXPECT_THAT(
      (Written{{forward, {spv::OpTypePointer, 15, spv::StorageClassFunction, 4}}}.refusal()),
      HasSubstr("OpTypePointer: %15 is a type already"));
  EXPECT_THAT((Written{{{spv::OpTypeStruct, 15, 4}, forward}}.refusal()),
              HasSubstr("OpTypeForwardPointer: %15 is a type already"));
}

TEST(SpirvRefused, ANameOfNothing) {
  EXPECT_THAT((Written{{{spv::OpName}}}.refusal()), HasSubstr("OpName: of nothing"));
}

TEST(SpirvRefused, FewWordsThatMakeMuch) {
  const std::vector<uint32_t> type = {spv::OpTypeArray, 10, 4, 5},
                              none = {spv::OpConstantNull, 10, 11};
  Written constants{{type}};
  for (uint32_t k = 0; k < 1100; k++)
    constants.globals.push_back({spv::OpConstantNull, 10, 100 + k});
  EXPECT_THAT(constants.refusal(), HasSubstr("more than 1048576 instructions and values"));

  Written stores{{type, none, {spv::OpTypePointer, 12, spv::StorageClassFunction, 10}}};
  stores.body = {{spv::OpVariable, 12, 13, spv::StorageClassFunction}};
  for (int k = 0; k < 1100; k++) stores.body.push_back({spv::OpStore, 13, 11});
  EXPECT_THAT(stores.refusal(), HasSubstr("more than 1048576 instructions and values"));

  // A function with a phi that nobody uses, or of many blocks, called many times.
  Written phis{{type, none}}, blocks;
  phis.functions = {
      {spv::OpFunction, 2, 20, 0, 3}, {spv::OpLabel, 21}, {spv::OpBranch, 22}, {spv::OpLabel, 22},
      {spv::OpPhi, 10, 23},           {spv::OpReturn},    {spv::OpFunctionEnd}};
  blocks.functions = {{spv::OpFunction, 2, 20, 0, 3}};
  for (uint32_t k = 0; k < 1000; k++) {
    blocks.functions.push_back({spv::OpLabel, 1000 + k});
    blocks.functions.push_back({spv::OpBranch, 1001 + k});
  }
  for (const auto& in :
       Written::Instructions{{spv::OpLabel, 2000}, {spv::OpReturn}, {spv::OpFunctionEnd}}) {
    blocks.functions.push_back(in);
  }
  for (uint32_t k = 0; k < 1100; k++) {
    phis.body.push_back({spv::OpFunctionCall, 2, 3000 + k, 20});
    blocks.body.push_back({spv::OpFunctionCall, 2, 3000 + k, 20});
  }
  EXPECT_THAT(phis.refusal(), HasSubstr("more than 1048576 instructions and values"));
  EXPECT_THAT(blocks.refusal(), HasSubstr("more than 1048576 instructions and values"));

  Written parts{{type, none}};
  parts.globals.push_back({spv::OpConstantComposite, 4, 30, 11});
  EXPECT_THAT(parts.refusal(), HasSubstr("OpCompositeConstruct: of too many values"));
}

TEST(SpirvRefused, WhatIsNoModuleIsNone) {
  const auto text = [](std::vector<uint32_t> words) { return read(words).error().message; };
  EXPECT_THAT(text({}), HasSubstr("0 words are no SPIR-V"));
  EXPECT_THAT(text({1, 2, 3, 4, 5}), HasSubstr("it begins with 0x1"));
  EXPECT_THAT(text({spv::MagicNumber, 0x10500, 0, 1, 0}), HasSubstr("there is no compute shader"));
  EXPECT_THAT(text({spv::MagicNumber, 0x10500, 0, 1, 0, 0}), HasSubstr("ends no instruction"));
}

}  // namespace
}  // namespace kenaz::spirv
