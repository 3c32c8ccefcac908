-- An element is read, a function that calls itself runs in a branch or loop, and the array is overwritten: what was
-- read stays what it was.
-- ==
-- entry: in_branch computed in_loop
-- input { 1i64 [4, 5, 6] } auto output
-- input { 0i64 [4, 5, 6] } auto output

def sums [n] (d: i64) (ys: [n]i32): [n]i32 =
  if d <= 0 then map (+ 1) ys else map2 (+) (sums (d - 1) ys) (sums (d - 2) ys)

entry in_branch [n] (c: i64) (xs: *[n]i32): ([n]i32, [n]i32) =
  let a = xs[0]
  let zs = if c > 0 then sums 3 (map i32.i64 (iota n)) else sums 4 (map i32.i64 (iota n))
  let xs[0] = 500
  in (map2 (\z x -> z + x + a) zs xs, xs)

entry computed [n] (c: i64) (xs: *[n]i32): ([n]i32, [n]i32) =
  let twice = xs[0] * 2
  let zs = if c > 0 then sums 3 (map i32.i64 (iota n)) else sums 4 (map i32.i64 (iota n))
  let xs[0] = 500
  in (map2 (\z x -> z + x + twice) zs xs, xs)

entry in_loop [n] (c: i64) (xs: *[n]i32): ([n]i32, [n]i32) =
  let a = xs[0]
  let zs = loop zs = map i32.i64 (iota n) for _i < c do sums 3 zs
  let xs[0] = 500
  in (map2 (\z x -> z + x + a) zs xs, xs)
