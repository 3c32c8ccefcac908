-- Constant arrays whose elements are other values of the constants.
-- ==
-- entry: filled
-- input { [1u64, 2u64, 3u64] }
-- output { [641u64, 642u64, 643u64] }

-- ==
-- entry: maximum
-- input { 3.0 }
-- output { 8.0 }

-- ==
-- entry: literal
-- input { 3.0 }
-- output { 13.0 }

-- ==
-- entry: mapped
-- input { 2i64 }
-- output { [5.0, 5.0] }

def ks : [7]u64 =
  let s = (loop x = 1u64 for c in [49u8, 50] do x * 10 + u64.u8 c)
  in replicate 7 s

def ms : []f64 = let m = f64.maximum [1, 5, 3] in replicate 7 m
def pair : []f64 = let m = f64.maximum [1, 5, 3] in [m, m + m]
def all : []f64 = let m = f64.maximum [1, 5, 3] in map (\_ -> m) (iota 4)

entry filled [n] (xs: [n]u64) : [n]u64 = map (\x -> x + ks[1]) xs
entry maximum (x: f64) : f64 = x + ms[1]
entry literal (x: f64) : f64 = x + pair[1]
entry mapped (n: i64) : [n]f64 = map (\i -> all[i]) (iota n)
