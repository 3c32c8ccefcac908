-- Sorts of rows that stay in the thread of their row: they are packings, bit by bit.
-- ==
-- entry: beside_a_filter in_a_while_loop
-- random input { [7][50]u32 } auto output
-- random input { [1][40]u32 } auto output
-- random input { [0][40]u32 } auto output
def by_bit [n] 't (bit: t -> i64) (xs: [n]t) : [n]t =
  let ones = scan (+) 0 (map bit xs)
  let total = i64.sum (map bit xs)
  let place x i k = if bit x == 1 then n - total + k - 1 else i - k
  in scatter (copy xs) (map3 place xs (iota n) ones) xs
def sorted [n] (xs: [n]u32) : [n]u32 = loop xs for i < 32 do by_bit (\x -> i64.i32 (u32.get_bit i x)) xs
entry beside_a_filter [n] [m] (xss: [n][m]u32) : [n]u32 =
  map (\xs -> let ys = filter (> 2000000000) xs
              let s = sorted (map (* 3) xs)
              in s[length ys % m] + u32.sum ys) xss
entry in_a_while_loop [n] [m] (xss: [n][m]u32) : [n][m]u32 =
  map (\xs -> (loop (zs, k) = (xs, 0) while k < 1 + i32.u32 (xs[0] % 3) do (sorted (map (* 5) zs), k + 1)).0) xss
