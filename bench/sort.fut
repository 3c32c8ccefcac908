-- A radix sort out of maps, scans and scatters, and a histogram.
-- ==
-- entry: sort
-- random input { [1000]u32 } auto output
-- random input { [1000000]u32 }

-- ==
-- entry: histogram
-- random input { [10000]u32 } auto output
-- random input { [10000000]u32 }

def by_bit [n] (xs: [n]u32) (bit: i32) : [n]u32 =
  let ones = map (\x -> i64.u32 ((x >> u32.i32 bit) & 1)) xs
  let zeros = map (1 -) ones
  let below = scan (+) 0 zeros
  let above = scan (+) 0 ones
  let total = i64.sum zeros
  let place b z o = if b == 0 then z - 1 else total + o - 1
  in scatter (copy xs) (map3 place ones below above) xs

entry sort [n] (xs: [n]u32) : [n]u32 =
  loop xs for bit < 32 do by_bit xs bit

entry histogram (xs: []u32) : []i32 =
  hist (+) 0 256 (map (\x -> i64.u32 (x & 255)) xs) (map (const 1) xs)
