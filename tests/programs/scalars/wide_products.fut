-- Products of numbers of several words: both words of a product, with sums and their carries.
-- ==
-- entry: product_u64
-- input { [0xffffffffffffffffu64, 0xffffffffffffffffu64] [0xffffffffffffffffu64, 0xffffffffffffffffu64] }
-- output { [1u64, 0u64, 0xfffffffffffffffeu64, 0xffffffffffffffffu64] }
-- input { [0x0123456789abcdefu64, 0xfedcba9876543210u64] [0xdeadbeefcafebabeu64, 0x0f1e2d3c4b5a6978u64] }
-- output { [0x7eb689f4ea447d62u64, 0xf9ce15b9a474f705u64, 0x786e667bd0ec88fdu64, 0x0f0cf9d5a05a029au64] }

-- ==
-- entry: both_ways
-- input { 1i64 } output { true }
-- input { 1000i64 } output { true }

def with_carry_u64 (a: u64) (b: u64) (c: u64) (d: u64) : (u64, u64) =
  let low = a * b + c
  let high = u64.mad_hi a b (u64.bool (low < c))
  let low2 = low + d
  in (low2, high + u64.bool (low2 < low))

def with_carry_u32 (a: u32) (b: u32) (c: u32) (d: u32) : (u32, u32) =
  let low = a * b + c
  let high = u32.mad_hi a b (u32.bool (low < c))
  let low2 = low + d
  in (low2, high + u32.bool (low2 < d))

entry product_u64 (a: [2]u64) (b: [2]u64) : [4]u64 =
  let (r0, c) = with_carry_u64 a[0] b[0] 0 0
  let (r1, r2) = with_carry_u64 a[0] b[1] c 0
  let (r1, c) = with_carry_u64 a[1] b[0] r1 0
  let (r2, r3) = with_carry_u64 a[1] b[1] r2 c
  in [r0, r1, r2, r3]

-- Numbers with runs of equal bits are where carries happen.
def some (i: i64) : u64 =
  let x = u64.i64 i * 0x9e3779b97f4a7c15
  in if i % 3 == 0 then x else if i % 3 == 1 then 0 - (x >> 48) else (x >> 40) << (x & 63)

-- Of u32, against the same in u64; of u64, against the four products of its halves.
entry both_ways (n: i64) : bool =
  let of_u32 (i: i64) : bool =
    let a = u32.u64 (some i)
    let b = u32.u64 (some (i + 1) >> 7)
    let c = u32.u64 (some (i + 2) >> 13)
    let d = u32.u64 (some (i + 3) >> 21)
    let (low, high) = with_carry_u32 a b c d
    let all = u64.u32 a * u64.u32 b + u64.u32 c + u64.u32 d
    in low == u32.u64 all && high == u32.u64 (all >> 32)
  let of_u64 (i: i64) : bool =
    let a = some i
    let b = some (i + 1)
    let c = some (i + 2)
    let d = some (i + 3)
    let (low, high) = with_carry_u64 a b c d
    let half = 0xffffffff
    let sums =
      [ (a & half) * (b & half) & half, c & half, d & half ]
    let first = reduce (+) 0 sums
    let middle =
      ((a & half) * (b & half) >> 32) + ((a >> 32) * (b & half) & half)
      + ((a & half) * (b >> 32) & half) + (c >> 32) + (d >> 32) + (first >> 32)
    let upper =
      (a >> 32) * (b >> 32) + ((a >> 32) * (b & half) >> 32) + ((a & half) * (b >> 32) >> 32)
      + (middle >> 32)
    in low == (first & half) | (middle << 32) && high == upper
  in all (\i -> of_u32 i && of_u64 i) (iota n)
