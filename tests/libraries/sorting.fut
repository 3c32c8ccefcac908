-- kenaz/sort: keys and values of several widths, in both directions, of sizes around those where work
-- is divided, at host level, in loops and branches, and inside of maps.
-- ==
-- entry: unsigned signed floats carried_along
-- input { }
-- output { true }

-- ==
-- entry: numbers
-- input { [3f32, -0f32, f32.nan, 0f32, -f32.inf, -1f32, f32.inf] }
-- output { [-f32.inf, -1f32, -0f32, 0f32, 3f32, f32.inf, f32.nan] [2i64, 6i64, 0i64, 3i64, 1i64, 5i64, 4i64] }
-- input { empty([0]f32) }
-- output { empty([0]f32) empty([0]i64) }

-- ==
-- entry: inside
-- input { [[3i16, -1i16, 2i16], [-5i16, -5i16, 0i16]] }
-- output { [[-1i16, 2i16, 3i16], [-5i16, -5i16, 0i16]] [[0i64, 2i64, 1i64], [2i64, 0i64, 1i64]] }

-- ==
-- entry: rounds
-- input { [5, 2, 9, 1, 7, 3, 8] 3i64 }
-- output { [9, 8, 7, 5] }

-- ==
-- entry: few
-- input { 40u8 }
-- output { [3u8, 7u8, 40u8] [1i32, 2i32, 0i32] }

-- ==
-- entry: failing
-- input { [4, 2, 1] }
-- output { [1, 2, 4] }
-- input { [4, 0, 1] }
-- error: division by zero

import "kenaz/sort"

def sizes : []i64 = [0, 1, 2, 33, 257, 4097]

-- Whether `order` has every index once, and keys rise in that order, equal ones with their indices.
def rises [n] 't (lt: t -> t -> bool) (keys: [n]t) (order: [n]i64) : bool =
  let seen = reduce_by_index (replicate n 0i32) (+) 0 order (map (const 1) order)
  let after i = let (a, b) = (order[i], order[i + 1])
                in lt keys[a] keys[b] || (!(lt keys[b] keys[a]) && a < b)
  in all (== 1) seen && all after (iota (i64.max 0 (n - 1)))

def same [n] 't (eq: t -> t -> bool) (xs: [n]t) (order: [n]i64) (ys: [n]t) : bool =
  and (map2 (\i y -> eq xs[i] y) order ys)

def hash (i: i64) : i64 = let x = (i + 1) * 0x9E3779B97F4A7C1 in x ^ (x >> 29)

module check_sorts (T: {type t val i64 : i64 -> t val < : t -> t -> bool val == : t -> t -> bool})
                   (S: sorts with key = T.t) = {
  def holds (n: i64) (values: i64) : bool =
    let keys = map (\i -> T.i64 (hash i %% values)) (#[opaque] iota n)
    let (up, down) = (S.order keys, S.order_desc keys)
    in rises (T.<) keys up
       && rises (\a b -> b T.< a) keys down
       && same (T.==) keys down (S.sort_desc keys)

  def all_sizes : bool = loop ok = true for n in sizes do ok && holds n (i64.highest) && holds n 5
}

module checked_u8 = check_sorts u8 sort_u8
module checked_i16 = check_sorts i16 sort_i16
module checked_f32 = check_sorts f32 sort_f32

entry unsigned = checked_u8.all_sizes

entry signed = checked_i16.all_sizes

entry floats = checked_f32.all_sizes

-- Of values that are more than is carried along, and rows.
entry carried_along =
  loop ok = true for n in sizes do
    let keys = map (\i -> u8.i64 (hash i)) (#[opaque] iota n)
    let order = sort_u8.order keys
    let large = map (\i -> (i, (f64.i64 i, i32.i64 i))) (iota n)
    let rows = map (\i -> [i, i + 1, i + 2]) (iota n)
    let both = sort_u8.by (.0) (zip3 keys large rows)
    in ok
       && same (==) keys order (map (.0) both)
       && same (==) large order (map (.1) both)
       && same (==) rows order (map (.2) both)

entry numbers (xs: []f32) = (sort_f32.sort xs, sort_f32.order_desc xs)

entry inside (xss: [][]i16) =
  (map sort_i16.sort xss, map sort_i16.order_desc xss)

-- In loops and branches.
entry rounds (xs: []i32) (n: i64) =
  let largest = loop xs = xs for i < n do
    if i % 2 == 0 then sort_i32.sort_desc xs else map (+ 0) xs
  in take 4 largest

entry few (x: u8) = let keys = [x, 3, 7] in (sort_u8.sort keys, sort_u8.by (\i -> keys[i]) [0i32, 1, 2])

entry failing (xs: []i32) = sort_i32.by (\x -> 8 / (- x)) xs
