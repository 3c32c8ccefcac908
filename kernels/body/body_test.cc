// Array IR inside a thread against array IR's evaluator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/body/testing.h"

namespace kenaz::body {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string thread(const std::string& params, const std::string& results, const std::string& body) {
  return "fun main(i: i64" + params + ") -> (" + results + ") {\n" + body +
         "\n}\nentry main = main\n";
}

constexpr const char* kAdd = R"(\(a: i64, b: i64) -> (i64) {
  let c: i64 = add.i64(a, b)
  return c
} {0i64})";

// ---- scalars, index

TEST(Body, ScalarsAndElementsOfHostArrays) {
  BodyTest t(thread(", xs: [n]i64, k: i64", "i64, bool", R"(
    let j: i64 = mod.i64(i, n)
    let x: i64 = index xs[j]
    let y: i64 = mul.i64(x, k)
    let z: bool = lt.i64(y, n)
    return y, z)"));
  t.array({3}, {5, -7, 9});
  t.scalar(PrimValue::i64(11));
  EXPECT_EQ(t.difference(), "");
  EXPECT_EQ(t.arguments, 5U);  // two results, xs, n and k: each once
  EXPECT_FALSE(t.uses_private_memory);
}

TEST(Body, SlicesTurnedAndReshapedAreViews) {
  BodyTest t(thread(", xs: [4][6]i64", "[3][2]i64, i64", R"(
    let turned: [6][4]i64 = rearrange (1, 0) xs
    let from: i64 = add.i64(i, 2i64)
    let part: [3][2]i64 = index turned[from : 3i64 : -1i64, 1i64 : 2i64 : 2i64]
    let flat: [24]i64 = reshape [24i64] xs
    let x: i64 = index flat[i]
    return part, x)"));
  std::vector<int64_t> elements;
  for (int64_t n = 0; n < 24; n++) elements.push_back(n * n);
  t.array({4, 6}, elements);
  t.width = 4;
  EXPECT_EQ(t.difference(), "");
  EXPECT_FALSE(t.uses_private_memory);
}

TEST(Body, IotasAndReplicatedScalarsHaveNoMemory) {
  BodyTest t(thread(", n: i64", "i64, i64, i32", R"(
    let a: [n]i64 = iota.i64(n, i, 3i64)
    let b: [n]i64 = replicate [n] i
    let part: [2]i64 = index a[1i64 : 2i64 : 2i64]
    let x: i64 = index part[1i64]
    let y: i64 = index b[2i64]
    let small: [n]i32 = iota.i32(n, 7i32, -2i32)
    let z: i32 = index small[i]
    return x, y, z)"));
  t.scalar(PrimValue::i64(9));
  EXPECT_EQ(t.difference(), "");
  EXPECT_FALSE(t.uses_private_memory);
  EXPECT_THAT(t.text(), Not(HasSubstr(" load ")));
}

// ---- making arrays

TEST(Body, AResultIsMadeInItsPlace) {
  BodyTest t(thread(", n: i64", "[3]i64, [n]i64", R"(
    let twice: i64 = mul.i64(i, 2i64)
    let a: [3]i64 = array i64 [i, twice, 7i64]
    let b: [n]i64 = replicate [n] twice
    let c: [n]i64 = update b[1i64] = i
    return a, c)"));
  t.scalar(PrimValue::i64(4));
  EXPECT_EQ(t.difference(), "");
  EXPECT_FALSE(t.uses_private_memory);
  EXPECT_THAT(t.text(), Not(HasSubstr(" load ")));
}

TEST(Body, ALoopUpdatesItsResultInItsPlace) {
  BodyTest t(thread("", "[2][3]i64", R"(
    let s: [2][3]i64 = scratch [2][3]i64
    let (r: [2][3]i64) = loop (m: [2][3]i64 = s) for k: i64 < 2i64 do {
      let row: [3]i64 = replicate [3i64] k
      let next: [2][3]i64 = update m[k, 0i64 : 3i64 : 1i64] = row
      return next
    }
    return r)"));
  EXPECT_EQ(t.difference(), "");
  EXPECT_FALSE(t.uses_private_memory);
  EXPECT_THAT(t.text(), Not(HasSubstr(" load ")));
}

TEST(Body, ArraysOfSizesThatTheHostKnowsAreInterleaved) {
  BodyTest t(thread(", n: i64, xs: [m]i64", "i64", R"(
    let size: i64 = mul.i64(n, 2i64)
    let b: [size]i64 = scratch [size]i64
    let filled: [size]i64 = loop (a: [size]i64 = b) for k: i64 < size do {
      let v: i64 = mul.i64(k, i)
      let w: [size]i64 = update a[k] = v
      return w
    }
    let all: i64 = add.i64(size, m)
    let both: [all]i64 = concat (all; filled, xs)
    let at: i64 = add.i64(i, 2i64)
    let x: i64 = index both[at]
    return x)"));
  t.scalar(PrimValue::i64(3));
  t.array({4}, {100, 200, 300, 400});
  EXPECT_EQ(t.difference(), "");
  EXPECT_TRUE(t.uses_private_memory);
  EXPECT_FALSE(t.uses_heap);
}

TEST(Body, ASingleThreadsArraysAreDense) {
  BodyTest t(thread("", "i64", R"(
    let a: [3]i64 = array i64 [i, 5i64, 6i64]
    let at: i64 = mod.i64(i, 3i64)
    let x: i64 = index a[at]
    return x)"));
  t.single_thread = true;
  EXPECT_EQ(t.difference(), "");
  EXPECT_TRUE(t.uses_private_memory);
  EXPECT_THAT(t.text(), HasSubstr("[2i64] = 6i64"));
}

TEST(Body, ArraysOfSizesThatOnlyTheThreadKnowsAreOnTheHeap) {
  const std::string text = thread(", xs: [n]i64", "i64", R"(
    let size: i64 = index xs[i]
    let r: i64 = loop (sum: i64 = 0i64) for k: i64 < 50i64 do {
      let a: [size]i64 = iota.i64(size, k, 1i64)
      let b: [size]i64 = copy a
      let last: i64 = sub.i64(size, 1i64)
      let x: i64 = index b[last]
      let next: i64 = add.i64(sum, x)
      return next
    }
    return r)");
  for (const int64_t bytes : {64, 32}) {  // room for 8 elements, and not
    BodyTest t(text);
    t.array({6}, {1, 2, 3, 8, 5, 6});
    t.heap_bytes = bytes;
    EXPECT_EQ(t.difference(), "");
    EXPECT_TRUE(t.uses_heap);
    EXPECT_EQ(t.heap_was_too_small, bytes == 32);
  }
}

TEST(Body, SmallArraysOfAKnownSizeAreLocal) {
  BodyTest t(thread("", "[4]i64, i64", R"(
    let a: [4]i64 = iota.i64(4i64, i, 3i64)
    let b: [4]i64 = copy a
    let c: [4]i64 = loop (w: [4]i64 = b) for k: i64 < 3i64 do {
      let x: i64 = index w[k]
      let next: i64 = add.i64(k, 1i64)
      let y: i64 = index w[next]
      let z: i64 = mul.i64(x, y)
      let u: [4]i64 = update w[next] = z
      return u
    }
    let last: i64 = index c[3i64]
    return c, last)"));
  EXPECT_EQ(t.difference(), "");
  EXPECT_EQ(t.local_arrays, 1U);  // the loop works apart from the result's row, from b on
}

TEST(Body, LargeArraysAreNotLocal) {
  BodyTest t(thread("", "i64", R"(
    let a: [100]i64 = iota.i64(100i64, i, 3i64)
    let b: [100]i64 = copy a
    let x: i64 = index b[99i64]
    return x)"));
  EXPECT_EQ(t.difference(), "");
  EXPECT_EQ(t.local_arrays, 0U);
}

TEST(Body, BranchesMakeLocalArraysInOnePlace) {
  BodyTest t(thread("", "i64", R"(
    let c: bool = lt.i64(i, 3i64)
    let a: [3]i64 = if c then {
      let x: [3]i64 = array i64 [i, 5i64, 6i64]
      return x
    } else {
      let y: [3]i64 = array i64 [7i64, 8i64, i]
      return y
    }
    let at: i64 = mod.i64(i, 3i64)
    let x: i64 = index a[at]
    return x)"));
  EXPECT_EQ(t.difference(), "");
  EXPECT_EQ(t.local_arrays, 1U);
}

TEST(Body, BranchesWithALocalArrayAndOneOfTheHost) {
  BodyTest t(thread(", xs: [3]i64, ys: [2][2]i64", "i64, [2][2]i64", R"(
    let c: bool = lt.i64(i, 3i64)
    let fresh: [3]i64 = array i64 [i, 5i64, 6i64]
    let (a: [3]i64, b: [2][2]i64) = if c then {
      let turned: [2][2]i64 = rearrange (1, 0) ys
      return xs, turned
    } else {
      let u: [3]i64 = update fresh[1i64] = i
      let z: [2][2]i64 = replicate [2i64, 2i64] i
      let v: [2][2]i64 = update z[0i64, 1i64] = 9i64
      let w: [2][2]i64 = rearrange (1, 0) v
      return u, w
    }
    let at: i64 = mod.i64(i, 3i64)
    let x: i64 = index a[at]
    return x, b)"));
  t.array({3}, {10, 20, 30});
  t.array({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(t.difference(), "");
}

TEST(Body, BranchesWithOneLocalArrayUpdateItInPlace) {
  BodyTest t(thread("", "i64", R"(
    let c: bool = lt.i64(i, 3i64)
    let a: [3]i64 = array i64 [i, 5i64, 6i64]
    let b: [3]i64 = if c then {
      let u: [3]i64 = update a[1i64] = i
      return u
    } else {
      return a
    }
    let x: i64 = index b[1i64]
    return x)"));
  EXPECT_EQ(t.difference(), "");
  EXPECT_EQ(t.local_arrays, 1U);
}

TEST(Body, BranchesBetweenPartsOfOneArrayNeedNoLocalArray) {
  BodyTest t(thread(", xs: [2][3]i64", "i64", R"(
    let c: bool = lt.i64(i, 3i64)
    let a: [3]i64 = if c then {
      let x: [3]i64 = index xs[0i64, 0i64 : 3i64 : 1i64]
      return x
    } else {
      let y: [3]i64 = index xs[1i64, 0i64 : 3i64 : 1i64]
      return y
    }
    let x: i64 = index a[1i64]
    return x)"));
  t.array({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(t.difference(), "");
  EXPECT_EQ(t.local_arrays, 0U);
}

TEST(Body, BranchesThatUpdateOneArrayWithoutMemory) {
  BodyTest t(thread("", "i64", R"(
    let c: bool = lt.i64(i, 3i64)
    let a: [3]i64 = replicate [3i64] i
    let b: [3]i64 = if c then {
      let u: [3]i64 = update a[1i64] = 7i64
      return u
    } else {
      let v: [3]i64 = update a[2i64] = 8i64
      return v
    }
    let at: i64 = mod.i64(i, 3i64)
    let x: i64 = index b[at]
    return x)"));
  EXPECT_EQ(t.difference(), "");
  EXPECT_EQ(t.local_arrays, 1U);
  EXPECT_FALSE(t.spills);
}

TEST(Body, BranchesWithLocalArraysPutThemWhereTheyAreWanted) {
  BodyTest t(thread("", "[3]i64", R"(
    let c: bool = lt.i64(i, 3i64)
    let a: [3]i64 = array i64 [i, 5i64, 6i64]
    let b: [3]i64 = if c then {
      let x: [3]i64 = loop (p: [3]i64 = a) for k: i64 < 2i64 do {
        let u: [3]i64 = update p[k] = k
        return u
      }
      return x
    } else {
      let s: [3]i64 = iota.i64(3i64, i, 2i64)
      let y: [3]i64 = loop (q: [3]i64 = s) for j: i64 < i do {
        let v: [3]i64 = update q[1i64] = j
        return v
      }
      return y
    }
    return b)"));
  EXPECT_EQ(t.difference(), "");
  EXPECT_FALSE(t.spills);
}

TEST(Body, LocalArraysThatChangePlacesInALoop) {
  BodyTest t(thread("", "[2]i64, [2]i64", R"(
    let a: [2]i64 = array i64 [i, 5i64]
    let b: [2]i64 = array i64 [7i64, i]
    let (r: [2]i64, s: [2]i64) = loop (p: [2]i64 = a, q: [2]i64 = b) for k: i64 < i do {
      return q, p
    }
    return r, s)"));
  EXPECT_EQ(t.difference(), "");
}

TEST(Body, OtherArraysThatChangePlacesInALoopStayWhereTheyAre) {
  const auto with = [](const std::string& results) {
    return thread(", n: i64", "[2]i64, i64", R"(
    let a: [n]i64 = replicate [n] i
    let b: [n]i64 = replicate [n] 7i64
    let c: [n]i64 = replicate [n] 9i64
    let (r: [n]i64, s: [n]i64, t: [n]i64) =
      loop (p: [n]i64 = a, q: [n]i64 = b, o: [n]i64 = c) for k: i64 < i do {
        let first: i64 = index p[0i64]
        let next: i64 = add.i64(first, k)
        let u: [n]i64 = update q[1i64] = next
        return )" + results + R"(
      }
    let x: i64 = index r[1i64]
    let y: i64 = index s[1i64]
    let z: i64 = index t[1i64]
    let both: [2]i64 = array i64 [x, y]
    return both, z)");
  };
  const auto loops = [](const std::string& text) {
    size_t n = 0;
    for (size_t at = 0; (at = text.find("for ", at)) != std::string::npos; at++) n++;
    return n;
  };
  BodyTest swapped(with("u, p, o")), turned(with("u, o, p"));
  for (BodyTest* t : {&swapped, &turned}) {
    t->scalar(PrimValue::i64(3));
    EXPECT_EQ(t->difference(), "");
  }
  // That over the threads' elements, this one, and those which make the arrays before it.
  EXPECT_EQ(loops(swapped.text()), 4U);
  EXPECT_EQ(loops(turned.text()), 5U);
}

TEST(Body, ArraysThatWereToChangePlacesAreCopied) {
  // The second is made anew by a branch, which nobody can tell from an array that stays.
  BodyTest t(thread(", n: i64", "i64, i64", R"(
    let a: [n]i64 = replicate [n] i
    let b: [n]i64 = replicate [n] 7i64
    let (r: [n]i64, s: [n]i64) = loop (p: [n]i64 = a, q: [n]i64 = b) for k: i64 < 5i64 do {
      let odd: i64 = mod.i64(k, 2i64)
      let is: bool = eq.i64(odd, 1i64)
      let m: [n]i64 = if is then {
        let u: [n]i64 = update q[0i64] = k
        return u
      } else {
        let v: [n]i64 = replicate [n] k
        return v
      }
      return m, p
    }
    let x: i64 = index r[0i64]
    let y: i64 = index s[1i64]
    return x, y)"));
  t.scalar(PrimValue::i64(3));
  EXPECT_EQ(t.difference(), "");
}

// ---- control

TEST(Body, JoinedArraysOfUnlikeLayout) {
  BodyTest t(thread(", xs: [3][3]i64", "[3][3]i64, i64", R"(
    let odd: i64 = mod.i64(i, 2i64)
    let c: bool = eq.i64(odd, 1i64)
    let (a: [3][3]i64, k: i64) = if c then {
      let turned: [3][3]i64 = rearrange (1, 0) xs
      return turned, 7i64
    } else {
      return xs, i
    }
    let x: i64 = index a[0i64, 2i64]
    return a, x)"));
  t.array({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(t.difference(), "");
}

TEST(Body, JoinedArraysOfUnlikeSizesAndMemory) {
  BodyTest t(thread(", xs: [n]i64, ys: [m]i64", "i64, i64", R"(
    let c: bool = lt.i64(i, 3i64)
    let (k: i64, a: [k]i64) = if c then {
      return n, xs
    } else {
      let part: [2]i64 = index ys[1i64 : 2i64 : 1i64]
      return 2i64, part
    }
    let at: i64 = sub.i64(k, 1i64)
    let x: i64 = index a[at]
    return x, k)"));
  t.array({4}, {1, 2, 3, 4});
  t.array({3}, {10, 20, 30});
  EXPECT_EQ(t.difference(), "");
}

TEST(Body, WhatBothBranchesHaveNeedsNoVariable) {
  BodyTest t(thread(", xs: [n]i64", "i64", R"(
    let c: bool = lt.i64(i, 3i64)
    let (a: [n]i64, k: i64) = if c then {
      return xs, i
    } else {
      return xs, i
    }
    let x: i64 = index a[k]
    return x)"));
  t.array({6}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(t.difference(), "");
  EXPECT_THAT(t.text(), Not(HasSubstr("if ")));
}

TEST(Body, ABranchOnAConstantIsTheBranch) {
  BodyTest t(thread("", "i64", R"(
    let x: i64 = if true then {
      return i
    } else {
      let bad: i64 = mul.i64(i, 77i64)
      return bad
    }
    return x)"));
  EXPECT_EQ(t.difference(), "");
  EXPECT_THAT(t.text(), Not(HasSubstr("77i64")));
}

TEST(Body, LoopParametersAreReplacedAllAtOnce) {
  BodyTest t(thread("", "i64, i64, [2]i64, [2]i64", R"(
    let p: [2]i64 = array i64 [i, 1i64]
    let q: [2]i64 = array i64 [2i64, 3i64]
    let (a: i64, b: i64, u: [2]i64, v: [2]i64) =
      loop (x: i64 = 0i64, y: i64 = 1i64, f: [2]i64 = p, g: [2]i64 = q) for k: i64 < i do {
      let z: i64 = add.i64(x, y)
      return y, z, g, f
    }
    return a, b, u, v)"));
  EXPECT_EQ(t.difference(), "");
}

TEST(Body, WhileLoopsReadTheirConditionAnew) {
  BodyTest t(thread("", "i64", R"(
    let start: bool = lt.i64(0i64, i)
    let (go: bool, n: i64) = loop (c: bool = start, v: i64 = i) while c do {
      let w: i64 = mul.i64(v, 3i64)
      let d: bool = lt.i64(w, 100i64)
      return d, w
    }
    return n)"));
  EXPECT_EQ(t.difference(), "");
}

TEST(Body, ArraysThatGrowInALoopMove) {
  const std::string text = thread("", "i64, i64", R"(
    let none: [0]i64 = array i64 []
    let (n: i64, r: [n]i64, s: i64) = loop (k: i64 = 0i64, a: [k]i64 = none, sum: i64 = 0i64) for j: i64 < i do {
      let more: i64 = add.i64(k, 2i64)
      let b: [2]i64 = array i64 [j, 7i64]
      let c: [more]i64 = concat (more; a, b)
      let x: i64 = index c[j]
      let next: i64 = add.i64(sum, x)
      return more, c, next
    }
    let t: i64 = soac (n; r) map \(x: i64) -> (i64) {
      return x
    } reduce commutative )" + std::string(kAdd) + R"(
    let u: i64 = add.i64(s, n)
    return t, u)");
  for (const int64_t bytes : {512, 48}) {
    BodyTest t(text);
    t.heap_bytes = bytes;
    EXPECT_EQ(t.difference(), "");
    EXPECT_TRUE(t.uses_heap);
    EXPECT_EQ(t.heap_was_too_small, bytes == 48);
  }
}

// ---- combinators

TEST(Body, ScansReductionsAndMapsInOneLoop) {
  BodyTest t(thread(", xs: [n]i64", "[n]i64, i64, [n]i64", R"(
    let (s: [n]i64, m: i64, d: [n]i64) = soac (n; xs) map \(x: i64) -> (i64, i64, i64) {
      let y: i64 = mul.i64(x, i)
      let z: i64 = add.i64(x, 1i64)
      return y, y, z
    } scan )" + std::string(kAdd) + R"( reduce \(a: i64, b: i64) -> (i64) {
      let c: i64 = max.i64(a, b)
      return c
    } {-1000i64}
    return s, m, d)"));
  t.array({5}, {3, -4, 5, -6, 7});
  EXPECT_EQ(t.difference(), "");
  EXPECT_FALSE(t.uses_private_memory);
}

TEST(Body, OperatorsOnArrays) {
  BodyTest t(thread(", xs: [n][2]i64", "[2]i64, [n][2]i64", R"(
    let zero: [2]i64 = replicate [2i64] 0i64
    let (s: [n][2]i64, r: [2]i64) = soac (n; xs) map \(x: [2]i64) -> ([2]i64, [2]i64) {
      return x, x
    } scan \(a: [2]i64, b: [2]i64) -> ([2]i64) {
      let c: [2]i64 = soac (2i64; a, b) map \(u: i64, v: i64) -> (i64) {
        let w: i64 = add.i64(u, v)
        return w
      }
      return c
    } {zero} reduce \(d: [2]i64, e: [2]i64) -> ([2]i64) {
      let p: i64 = index d[0i64]
      let q: i64 = index e[1i64]
      let f: [2]i64 = array i64 [q, p]
      return f
    } {zero}
    return r, s)"));
  t.array({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(t.difference(), "");
}

TEST(Body, ScattersIgnoreWhatIsOutOfBounds) {
  BodyTest t(thread(", xs: [n]i64", "[3]i64", R"(
    let a: [3]i64 = replicate [3i64] i
    let b: [3]i64 = scatter (n; xs) map \(x: i64) -> (i64, i64) {
      let y: i64 = mul.i64(x, 10i64)
      return x, y
    } into a/1
    return b)"));
  t.array({4}, {2, -1, 0, 3});
  EXPECT_EQ(t.difference(), "");
  EXPECT_FALSE(t.uses_private_memory);
}

TEST(Body, HistogramsOfScalarsAndOfRows) {
  BodyTest t(thread(", xs: [n]i64", "[3]i64, [2][2]i64", R"(
    let a: [3]i64 = replicate [3i64] i
    let b: [3]i64 = hist (n; xs) map \(x: i64) -> (i64, i64) {
      return x, 1i64
    } into a /1 )" + std::string(kAdd) + R"(
    let rows: [2][2]i64 = replicate [2i64, 2i64] 0i64
    let zero: [2]i64 = replicate [2i64] 0i64
    let c: [2][2]i64 = hist (n; xs) map \(x: i64) -> (i64, [2]i64) {
      let row: [2]i64 = iota.i64(2i64, x, i)
      return x, row
    } into rows /1 \(a: [2]i64, b: [2]i64) -> ([2]i64) {
      let c: [2]i64 = soac (2i64; a, b) map \(u: i64, v: i64) -> (i64) {
        let w: i64 = add.i64(u, v)
        return w
      }
      return c
    } {zero}
    return b, c)"));
  t.array({6}, {1, 1, -5, 0, 1, 3});
  EXPECT_EQ(t.difference(), "");
}

// ---- failures, operators

TEST(Body, AFailedCheckSaysWhatWasWrong) {
  BodyTest t(thread(", n: i64", "i64", R"(
    let ok: bool = lt.i64(i, n)
    let cert: bool = assert (ok, "element ", i, " of ", n)
    let x: i64 = add.i64(i, 1i64) cert {cert}
    return x)"));
  t.scalar(PrimValue::i64(4));
  t.width = 5;
  EXPECT_EQ(t.difference(), "");
  ASSERT_TRUE(t.failure.has_value());
  EXPECT_EQ(t.failure->args, (std::vector<PrimValue>{PrimValue::i64(4), PrimValue::i64(4)}));
  ASSERT_EQ(t.host.failures.size(), 1U);
  EXPECT_EQ(t.host.failures[0].message.size(), 4U);
}

TEST(Body, ACheckThatHoldsForSureIsNotMade) {
  BodyTest t(thread("", "i64", R"(
    let ok: bool = lt.i64(3i64, 4i64)
    let cert: bool = assert (ok, "never")
    return i)"));
  EXPECT_EQ(t.difference(), "");
  EXPECT_TRUE(t.host.failures.empty());
}

TEST(Body, AnArgumentThatNothingNeedsIsDropped) {
  BodyTest t(thread(", xs: [n][m]i64", "i64", R"(
    let x: i64 = index xs[0i64, i]
    return x)"));
  t.array({2, 6}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  EXPECT_EQ(t.difference(), "");
  EXPECT_EQ(t.arguments, 2U);  // the result and xs; not n and m
}

}  // namespace
}  // namespace kenaz::body
