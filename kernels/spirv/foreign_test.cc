// What shaders have that were not made of our kernels.
#include <array>
#include <bit>
#include <map>

#include "kernels/kir/visit.h"
#include "kernels/spirv/names.h"
#include "kernels/spirv/testing.h"

namespace kenaz::spirv {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kBuffers = R"(#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) readonly buffer In { uint words[]; } from;
layout(set = 0, binding = 1) buffer Out { uint to[]; };
)";

/// What `body` leaves in to[0], .. of four words 1, 2, 3, 4 in from.words.
std::vector<uint32_t> out_of(const std::string& body, const std::string& globals = "") {
  ShaderRun r;
  r.in = {1, 2, 3, 4};
  r.out.resize(6);
  EXPECT_EQ(r.run(kBuffers + globals + "void main() {" + body + "}"), "");
  return r.out;
}

/// What is wrong with it.
std::string fault_of(const std::string& body, const std::string& globals = "") {
  ShaderRun r;
  r.in = {1, 2, 3, 4};
  r.out.resize(6);
  return r.run(kBuffers + globals + "void main() {" + body + "}");
}

/// A module whose indices are those of 64 bits that they were made of, which GLSL has not.
std::vector<uint32_t> with_wide_indices(std::vector<uint32_t> words) {
  std::map<uint32_t, uint32_t> wide;
  for (size_t at = 5; at < words.size(); at += words[at] >> 16) {
    const uint32_t op = words[at] & 0xffff;
    if (op == spv::OpUConvert || op == spv::OpSConvert) wide[words[at + 2]] = words[at + 3];
    if (op != spv::OpAccessChain) continue;
    for (size_t n = at + 4; n < at + (words[at] >> 16); n++) {
      if (const auto it = wide.find(words[n]); it != wide.end()) words[n] = it->second;
    }
  }
  return words;
}

/// As fault_of, by indices of 64 bits.
std::string wide_fault_of(const std::string& body, const std::string& globals = "") {
  const auto words = compiled(kBuffers + globals + "void main() {" + body + "}");
  if (!words) return words.error().message;
  const auto read_so = read(with_wide_indices(*words));
  if (!read_so) return read_so.error().message;
  kir::Memory memory;
  const std::vector<uint32_t> in = {1, 2, 3, 4};
  const PrimValue from{PrimType::kU64, memory.allocate(std::as_bytes(std::span(in)))};
  const PrimValue to{PrimType::kU64, memory.allocate(size_t{24})};
  std::vector<PrimValue> args;
  for (const Input& input : read_so->inputs) args.push_back(input.number == 0 ? from : to);
  const auto ran = kir::run(read_so->kernel, memory, args, 1);
  return ran ? "" : ran.error().message;
}

TEST(SpirvIndices, KeepTheirWidth) {
  const std::string wide = "uint64_t n = uint64_t(from.words[0]); ";
  EXPECT_THAT(wide_fault_of(wide + "a[1] = 7u; to[0] = a[uint(n * 0x100000000ul + 1ul)];",
                            "shared uint a[8];"),
              HasSubstr("index 4294967297 of an array of 8"));
  EXPECT_THAT(wide_fault_of(wide + "a[0] = vec4(1); to[0] = uint(a[uint(n << 62)].x);",
                            "shared vec4 a[8];"),
              HasSubstr("kOutOfBlock"));
  EXPECT_THAT(wide_fault_of(wide + "to[0] = from.words[uint(n << 62)];"), HasSubstr("kOutOfBlock"));
  EXPECT_EQ(wide_fault_of(wide + "a[1] = 7u; to[0] = a[uint(n)];", "shared uint a[8];"), "");
  // Four scalars each: the product does not fit into 32 bits.
  EXPECT_THAT(
      fault_of("a[0] = vec4(1); to[0] = uint(a[from.words[0] << 30].x);", "shared vec4 a[8];"),
      HasSubstr("kOutOfBlock"));
}

TEST(SpirvIndices, LeaveABufferForNoOther) {
  EXPECT_THAT(fault_of("to[0] = from.words[from.words[3]];"), HasSubstr("index 4 from byte 0"));
  // Blocks of the interpreter's memory are 2^33 bytes apart.
  EXPECT_THAT(fault_of("to[int(from.words[0] << 31)] = 1u;"), HasSubstr("kOutOfBlock"));
}

TEST(SpirvBuffers, HaveALength) {
  EXPECT_THAT(
      out_of("to[0] = from.words.length(); to[1] = to.length(); to[2] = pairs.length();",
             "layout(std430, set = 0, binding = 1) buffer P { uint head; uvec2 pairs[]; };"),
      ElementsAre(4, 6, 2, 0, 0, 0));
}

TEST(SpirvBuffers, ThatAreNotUsedAreNoArguments) {
  const auto read = read_glsl(kBuffers +
                              "layout(set = 2, binding = 3) buffer No { uint no[]; };\n"
                              "void main() { to[0] = gl_NumWorkGroups.x; }");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->inputs, ElementsAre(Input{Input::kGroups, 0, 0}, Input{Input::kBuffer, 1, 0}));
  EXPECT_EQ(read->kernel.args[0].name, "groups0");
  EXPECT_THAT(read->kernel.args[1].name, "buffer0_1");  // compiled without names
}

TEST(SpirvLinear, ProductsOfMatrices) {
  const std::string m =
      "mat2 m = mat2(from.words[0], from.words[1], from.words[2], from.words[3]);";
  EXPECT_THAT(out_of(m + "vec2 v = m * vec2(10, 1); vec2 w = vec2(10, 1) * m; to[0] = uint(v.x); "
                         "to[1] = uint(v.y); to[2] = uint(w.x); to[3] = uint(w.y); "
                         "to[4] = uint(dot(v, w)); to[5] = uint((2.0 * m)[1].y);"),
              ElementsAre(13, 24, 12, 34, 13 * 12 + 24 * 34, 8));
  EXPECT_THAT(out_of(m + "mat2 p = m * m, t = transpose(m); mat2 o = outerProduct(vec2(1, 2), "
                         "vec2(3, 4)); to[0] = uint(p[0].x); to[1] = uint(p[1].x); "
                         "to[2] = uint(t[0].y); to[3] = uint(o[1].x); uint k = from.words[0]; "
                         "to[4] = uint(p[k].y); to[5] = uint(p[1][k - 1u]);"),
              ElementsAre(7, 15, 3, 4, 22, 15));
}

TEST(SpirvLinear, MatricesLieInMemoryAsTheySay) {
  const std::string globals =
      "layout(std430, set = 0, binding = 0) buffer M { layout(row_major) mat2 rows; } m;"
      "layout(std430, set = 0, binding = 0) buffer N { mat2 columns[]; } n;"
      "layout(scalar, set = 0, binding = 1) buffer O { mat2 first; layout(row_major) mat2 last; };";
  EXPECT_THAT(out_of("uint k = from.words[0]; to[0] = uint(m.rows[1].x); to[1] = uint(m.rows[k].y);"
                     "to[2] = uint(n.columns[0][k].x); to[3] = uint(n.columns[0][1][k]);"
                     "vec2 c = m.rows[1]; to[4] = uint(c.x);",
                     "#extension GL_EXT_scalar_block_layout : require\n" + globals)
                  .size(),
              6U);  // bits of whole numbers are tiny floats: what matters is that all are read
  ShaderRun r;
  for (const float x : {1.0F, 2.0F, 3.0F, 4.0F}) r.in.push_back(std::bit_cast<uint32_t>(x));
  r.out.resize(8);
  ASSERT_EQ(
      r.run("#version 460\nlayout(local_size_x = 1) in;\n"
            "layout(std430, set = 0, binding = 0) buffer M { layout(row_major) mat2 rows; } m;"
            "layout(std430, set = 0, binding = 1) buffer O { layout(row_major) mat2 same; mat2 "
            "turned; } o;\nvoid main() { o.same = m.rows; o.turned[0] = m.rows[0]; "
            "o.turned[1].x = m.rows[1].x; o.turned[1].y = m.rows[1].y; }"),
      "");
  std::vector<float> out;
  for (const uint32_t w : r.out) out.push_back(std::bit_cast<float>(w));
  EXPECT_THAT(out, ElementsAre(1, 2, 3, 4, 1, 3, 2, 4));
}

TEST(SpirvMemory, StructuresOfSeveralTypesHaveArrays) {
  const std::string types =
      "struct S { float x; uint n[3]; float16_t h; }; struct T { float v; uint i; };"
      "shared T best[4];";
  EXPECT_THAT(
      out_of("S s; uint k = from.words[0]; s.x = 2.5; s.n[0] = 5u; s.n[k] = 6u; s.n[2] = 7u; "
             "s.h = float16_t(1.5); S r = s; best[k] = T(0.5, 9u); best[0] = best[k]; "
             "to[0] = r.n[0] + 10u * r.n[k] + 100u * s.n[k + 1u]; to[1] = uint(r.x * 10.0); "
             "to[2] = uint(float(r.h) * 2.0); to[3] = best[0].i; to[4] = uint(best[0].v * 8.0);",
             types),
      ElementsAre(765, 25, 3, 9, 4, 0));
}

TEST(SpirvValues, ComponentsAreChosenByAnIndex) {
  EXPECT_THAT(out_of("uvec4 v = uvec4(5, 6, 7, 8); uint k = from.words[1]; v[k] = 9u; to[0] = v.z; "
                     "to[1] = v[k + 1u]; to[2] = uint(any(equal(v, uvec4(9)))); "
                     "to[3] = uint(all(lessThan(v, uvec4(9))));"),
              ElementsAre(9, 8, 1, 0, 0, 0));
}

TEST(SpirvValues, FloatsOfTheStandardLibrary) {
  EXPECT_THAT(
      out_of("float x = float(from.words[2]); to[0] = uint(exp2(x)); "
             "to[1] = uint(mix(x, 10.0, 0.5) * 10.0); to[2] = uint(fract(x + 0.25) * 100.0); "
             "to[3] = uint(step(x, 3.0)); to[4] = uint(mod(-x, 4.0)); "
             "to[5] = uint(degrees(radians(x)) + 0.5);"),
      ElementsAre(8, 65, 25, 1, 1, 3));
}

TEST(SpirvAtomics, SubtractWhatTheyAreGiven) {
  EXPECT_THAT(out_of("to[0] = 9u; atomicAdd(to[0], uint(-int(from.words[1]))); to[1] = to[0];"),
              ElementsAre(7, 7, 0, 0, 0, 0));
}

TEST(SpirvAtomics, SumFloats) {
  ShaderRun r;
  r.out = {0, 0, std::bit_cast<uint32_t>(0.5f), 0};
  r.in.assign(1, 0);
  r.groups = 4;
  r.options.concurrent_groups = 4;
  ASSERT_EQ(r.run(kHead + R"(layout(local_size_x = 8) in;
shared float sum;
void main() {
  if (gl_LocalInvocationIndex == 0u) sum = 0.0;
  barrier();
  atomicAdd(sum, 0.25);
  atomicAdd(F64(push.out_).v, 0.25LF);
  atomicAdd(F(push.out_ + 8ul).v, -1.0);
  barrier();
  if (gl_LocalInvocationIndex == 3u && gl_WorkGroupID.x == 1u) {
    F(push.out_ + 12ul).v = atomicAdd(sum, 1.0);
  }
})"),
            "");
  const auto eight = std::bit_cast<std::array<uint32_t, 2>>(8.0);
  EXPECT_THAT(r.out, ElementsAre(eight[0], eight[1], std::bit_cast<uint32_t>(-31.5f),
                                 std::bit_cast<uint32_t>(2.0f)));
}

TEST(SpirvEntries, AShaderIsChosenByItsName) {
  auto words = compiled(kBuffers + "void main() { to[0] = 1u; }");
  ASSERT_TRUE(words);
  EXPECT_TRUE(read(*words, {.entry = "main"}));
  const auto other = read(*words, {.entry = "other"});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("no compute shader other in it, but main"));
}

TEST(SpirvConstants, AreSpecialisedByNumber) {
  const std::string text = kBuffers +
                           "layout(constant_id = 7) const float scale = 2;\n"
                           "layout(constant_id = 900) const bool twice = false;\n"
                           "void main() { to[0] = uint(scale * 10.0) + uint(twice); }";
  auto words = compiled(text);
  ASSERT_TRUE(words);
  const auto read_so =
      read(*words, {.specialised = {{7, std::bit_cast<uint32_t>(3.5F)}, {900, 1}}});
  ASSERT_TRUE(read_so) << read_so.error().message;
  ASSERT_EQ(read_so->spec_constants.size(), 2U);
  EXPECT_EQ(read_so->spec_constants.at(7).type, PrimType::kF32);
  EXPECT_EQ(read_so->spec_constants.at(900).type, PrimType::kBool);
  kir::Memory memory;
  const uint64_t to = memory.allocate(size_t{16});
  const PrimValue arg{PrimType::kU64, to};
  ASSERT_TRUE(kir::run(read_so->kernel, memory, {&arg, 1}, 1));
  uint32_t first = 0;
  std::memcpy(&first, memory.bytes(to).data(), sizeof first);
  EXPECT_EQ(first, 36U);
}

TEST(SpirvPlaces, OfAFileWithoutNameAreInstructions) {
  auto words = compiled(kBuffers + "void main() { to[0] = 1u; }");
  ASSERT_TRUE(words);
  for (size_t at = 5; at < words->size(); at += (*words)[at] >> 16) {
    if (((*words)[at] & 0xffff) != spv::OpStore) continue;
    const uint32_t line[] = {4 << 16 | spv::OpLine, 9, 1, 0};
    words->insert(words->begin() + static_cast<int64_t>(at), std::begin(line), std::end(line));
    break;
  }
  const auto read_so = read(*words);
  ASSERT_TRUE(read_so) << read_so.error().message;
  ASSERT_EQ(read_so->files.size(), 1U);
  for (const auto& place : read_so->places) EXPECT_EQ(place.at(0).file, 0U);
}

TEST(SpirvPlaces, AreInstructionsIfTheModuleHasNoLines) {
  const auto read = read_glsl(kBuffers + "void main() { to[0] = 1u; }");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->files.size(), 1U);
  EXPECT_EQ(read->files[0].name, "");
  std::vector<std::string> lines;
  for (size_t at = 0; at < read->files[0].text.size();) {
    const size_t end = read->files[0].text.find('\n', at);
    lines.push_back(read->files[0].text.substr(at, end - at));
    at = end + 1;
  }
  bool stores = false;
  kir::for_each_inst_of(read->kernel, [&](const kir::Inst& inst) {
    if (!std::holds_alternative<kir::IStore>(inst.op)) return;
    stores = true;
    const auto& place = read->places.at(inst.prov.index);
    ASSERT_EQ(place.size(), 1U);
    EXPECT_THAT(lines.at(place[0].line - 1), HasSubstr("OpStore"));
  });
  EXPECT_TRUE(stores);
}

}  // namespace
}  // namespace kenaz::spirv
