// Modules that are cut short or spoilt are read or refused, whatever they hold.
#include <random>

#include "kernels/spirv/testing.h"

namespace kenaz::spirv {
namespace {

/// A shader with something of everything.
std::vector<uint32_t> module_words() {
  const auto words = compiled(kHead + R"(layout(local_size_x_id = 0) in;
layout(constant_id = 1) const int size = 8;
shared vec4 tile[size];
float own[4];
int g(inout int x) {
  for (int i = 0; i < x; i++) { if (i == 5) return i; if (i == 3) continue; own[i & 3] += 1.0; }
  switch (x) { case 1: x = 2; break; case 2: return 7; default: x++; }
  return x > 3 && own[0] < 2.0 || x == 1 ? 3 : int(own[1]);
}
void main() {
  int t = int(gl_LocalInvocationID.x), x = push.n;
  tile[t] = F4(push.in_ + uint64_t(t) * 16ul).v;
  barrier();
  int y = g(x);
  uint count = subgroupBallotBitCount(subgroupBallot(y < subgroupAdd(t)));
  atomicAdd(U64(push.out_).v, uint64_t(count));
  do { y--; } while (y > 0);
  F4(push.out_ + 16ul).v = tile[y & 7] * 2.0;
})");
  EXPECT_TRUE(words) << words.error().message;
  return *words;
}

TEST(SpirvFuzz, EveryBeginningIsRefused) {
  const std::vector<uint32_t> words = module_words();
  ASSERT_TRUE(read(words));
  for (size_t n = 0; n < words.size(); n++) {
    // Behind the last function there is nothing.
    EXPECT_FALSE(read(std::span(words).first(n))) << n;
  }
}

TEST(SpirvFuzz, SpoiltWordsAreReadOrRefused) {
  const std::vector<uint32_t> words = module_words();
  std::mt19937 random(7);
  int refused = 0;
  constexpr int kRuns = 4000;
  for (int run = 0; run < kRuns; run++) {
    std::vector<uint32_t> spoilt = words;
    for (uint32_t n = 1 + random() % 3; n > 0; n--) {
      uint32_t& word = spoilt[random() % spoilt.size()];
      switch (random() % 4) {
        case 0: word ^= 1u << random() % 32; break;
        case 1: word = random() % words[3]; break;  // another <id>
        case 2: word = words[random() % words.size()]; break;
        default: word = static_cast<uint32_t>(random());
      }
    }
    refused += read(spoilt) ? 0 : 1;
  }
  EXPECT_GT(refused, kRuns / 2);
  EXPECT_LT(refused, kRuns);
}

}  // namespace
}  // namespace kenaz::spirv
