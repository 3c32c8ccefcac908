-- Products of matrices and what is like them: what their elements are made of is shared by rows and
-- by columns. Sizes stand around those of blocks.

let sizes_a (n: i64) (m: i64): [n][m]f32 =
  tabulate_2d n m (\i j -> f32.i64 ((i * 7 + j * 3) % 11 - 5))
let sizes_b (n: i64) (m: i64): [n][m]f32 =
  tabulate_2d n m (\i j -> f32.i64 ((i * 5 + j * 2) % 13 - 6))

let product [n][m][q] (a: [n][q]f32) (b: [q][m]f32): [n][m]f32 =
  map (\x -> map (\y -> f32.sum (map2 (*) x y)) (transpose b)) a

-- The numbers are whole, so sums are exact in any order; this one is independent of products.
let slowly [n][m][q] (a: [n][q]f32) (b: [q][m]f32): [n][m]f32 =
  tabulate_2d n m (\i j -> loop s = 0 for k < q do s + a[i, k] * b[k, j])

-- ==
-- entry: agree
-- input { 1i64 1i64 1i64 } output { true }
-- input { 16i64 16i64 16i64 } output { true }
-- input { 33i64 31i64 17i64 } output { true }
-- input { 32i64 64i64 32i64 } output { true }
-- input { 200i64 200i64 24i64 } output { true }
-- input { 129i64 130i64 0i64 } output { true }
-- input { 0i64 130i64 40i64 } output { true }
-- input { 300i64 257i64 9i64 } output { true }
-- input { 760i64 720i64 8i64 } output { true }
entry agree (n: i64) (m: i64) (q: i64): bool =
  let a = sizes_a n q
  let b = sizes_b q m
  in and (flatten (map2 (map2 (==)) (product a b) (slowly a b)))

-- ==
-- entry: scaled
-- input { 2f32 3f32 [[1f32, 2f32, 3f32], [3f32, 4f32, 5f32]] [[1f32, 2f32], [3f32, 4f32], [5f32, 6f32]]
--         [[1f32, 2f32], [3f32, 4f32]] }
-- output { [[47f32, 62f32], [89f32, 116f32]] }
entry scaled [n][m][q] (alpha: f32) (beta: f32) (a: [n][q]f32) (b: [q][m]f32) (c: [n][m]f32): [n][m]f32 =
  map2 (\x zs -> map2 (\y z -> alpha * f32.sum (map2 (*) x y) + beta * z) (transpose b) zs) a c

-- ==
-- entry: scaled_agrees
-- input { 64i64 65i64 50i64 } output { true }
-- input { 150i64 190i64 33i64 } output { true }
entry scaled_agrees (n: i64) (m: i64) (q: i64): bool =
  let a = sizes_a n q
  let b = sizes_b q m
  let c = sizes_b n m
  let want = map2 (map2 (\x y -> 2 * x + 3 * y)) (slowly a b) c
  in and (flatten (map2 (map2 (==)) (scaled 2 3 a b c) want))

-- Shortest ways of one more step: another operator, and another element.
-- ==
-- entry: steps
-- input { 40i64 } output { true }
-- input { 130i64 } output { true }
entry steps (n: i64): bool =
  let d = tabulate_2d n n (\i j -> i32.i64 ((i * 7 + j * 11) % 50))
  let next = map (\x -> map (\y -> i32.minimum (map2 (+) x y)) (transpose d)) d
  let want =
    tabulate_2d n n (\i j -> loop s = i32.highest for k < n do i32.min s (d[i, k] + d[k, j]))
  in and (flatten (map2 (map2 (==)) next want))

-- Many small matrices, the left ones transposed, their elements made on the way.
-- ==
-- entry: batch
-- input { 3i64 5i64 20i64 17i64 } output { true }
-- input { 40i64 2i64 32i64 32i64 } output { true }
entry batch (s: i64) (t: i64) (n: i64) (q: i64): bool =
  let of k l = i32.i64 ((k * 31 + l * 17) % 23)
  let as = tabulate s (\u -> tabulate t (\v -> tabulate_2d q n (\i j -> of (u + i) (v + j))))
  let bs = tabulate s (\u -> tabulate t (\v -> tabulate_2d n q (\i j -> of (u * i) (v * j))))
  let products =
    map2 (map2 (\a b -> map (\x -> map (\y -> i32.sum (map2 (\p r -> (p + 1) * (r - 2)) x y)) b)
                            (transpose a)))
         as bs
  let want =
    tabulate s (\u -> tabulate t (\v ->
      tabulate_2d n n (\i j ->
        loop sum = 0 for k < q do sum + (as[u, v, k, i] + 1) * (bs[u, v, j, k] - 2))))
  in and (flatten (flatten_3d (map2 (map2 (map2 (map2 (==)))) products want)))

-- The operator does not commute, and an element depends on where it is.
-- ==
-- entry: composed
-- input { 35i64 18i64 } output { true }
-- input { 80i64 70i64 } output { true }
entry composed (n: i64) (q: i64): bool =
  let a = tabulate_2d n q (\i j -> i32.i64 (i * 3 + j) | 1)
  let b = tabulate_2d n q (\i j -> i32.i64 (i * 5 - j))
  let op (p, r) (s, t) = (p * s, r * s + t)
  let first (x, y) = x ^ y : i32
  let got =
    map (\x -> map (\y -> first (reduce op (1, 0) (map2 (\p r -> (p, r)) x y))) b) a
  let want =
    tabulate_2d n n (\i j -> first (loop s = (1, 0) for k < q do op s (a[i, k], b[j, k])))
  in and (flatten (map2 (map2 (==)) got want))
