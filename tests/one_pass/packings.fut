-- Packings of several tiles, whose workgroups wait for each other. Nobody else counts: a scan and a
-- look at every element say whether they are right.
-- ==
-- entry: half few every none longs floats pairs
-- input { 0i64 } output { true }
-- input { 1000i64 } output { true }
-- input { 4096i64 } output { true }
-- input { 12289i64 } output { true }

def numbers (n: i64) : [n]i32 = map (\i -> i32.i64 (i * 2654435761 >> 7)) (iota n)

def is_right [n] 't (xs: [n]t) (keep: t -> bool) (same: t -> t -> bool) : bool =
  let ys = filter keep xs
  let ends = scan (+) 0 (map (\x -> i64.bool (keep x)) xs)
  let kept = if n == 0 then 0 else ends[n - 1]
  in length ys == kept && all (\i -> !(keep xs[i]) || same ys[ends[i] - 1] xs[i]) (iota n)

entry half (n: i64) : bool = is_right (numbers n) (\x -> x & 4 == 0) (==)
entry few (n: i64) : bool = is_right (numbers n) (\x -> x % 1009 == 3) (==)
entry every (n: i64) : bool = is_right (numbers n) (\_ -> true) (==)
entry none (n: i64) : bool = is_right (numbers n) (\_ -> false) (==)
entry longs (n: i64) : bool = is_right (map (\x -> i64.i32 x << 20) (numbers n)) (>= 0) (==)
entry floats (n: i64) : bool = is_right (map f32.i32 (numbers n)) (> 1e8) (==)
entry pairs (n: i64) : bool =
  is_right (zip (numbers n) (iota n)) (\(x, _) -> x % 3 == 0) (\a b -> a.0 == b.0 && a.1 == b.1)
