-- Tiles of an image, each flattened: their sizes are the same although they are written as differences.
-- ==
-- entry: counts sums sorted
-- input { 2i64 [[1u8, 2, 3, 0], [3, 2, 1, 0], [0, 0, 1, 1], [2, 2, 3, 3]] } output { true }
-- input { 1i64 [[1u8, 2, 3], [3, 2, 1]] } output { true }
-- input { 3i64 [[1u8, 2, 3, 0, 1, 1], [3, 3, 3, 3, 2, 1], [1, 0, 0, 2, 2, 0]] } output { true }
-- input { 2i64 empty([0][3]u8) } output { true }

-- ==
-- entry: outside
-- input { 2i64 [[1u8, 2, 3], [3, 2, 1], [0, 1, 2]] } error: out of bounds

def by_tiles [h] [w] 'a (k: i64) (f: (i64 -> i64 -> [k * k]u8 -> a)) (image: [h][w]u8) : [][]a =
  tabulate_2d (h / k) (w / k) (\y x ->
    f y x (flatten image[y * k:(y + 1) * k, x * k:(x + 1) * k] :> [k * k]u8))

def all_equal (pairs: [][](i32, i32)) : bool = and (map (\(a, b) -> a == b) (flatten pairs))

entry counts [h] [w] (k: i64) (image: [h][w]u8) : bool =
  let count y x tile =
    let bins = reduce_by_index (replicate 4 0i32) (+) 0 (map i64.u8 tile) (map (const 1) tile)
    let of (v: u8) = loop n = 0i32 for i < k * k do n + i32.bool (image[y * k + i / k, x * k + i % k] == v)
    in and (map (\v -> bins[v] == of (u8.i64 v)) (iota 4))
  in and (flatten (by_tiles k count image))

entry sums [h] [w] (k: i64) (image: [h][w]u8) : bool =
  let sum y x tile =
    let last = if k == 0 then 0 else (scan (+) 0 (map i32.u8 tile))[k * k - 1]
    in (last, loop n = 0i32 for i < k * k do n + i32.u8 image[y * k + i / k, x * k + i % k])
  in all_equal (by_tiles k sum image)

entry sorted [h] [w] (k: i64) (image: [h][w]u8) : bool =
  let most _ _ tile =
    let turned = transpose (unflatten tile)
    in (i32.u8 (u8.maximum (flatten turned)), i32.u8 (reduce u8.max 0 tile))
  in all_equal (by_tiles k most image)

-- The last column of tiles begins inside of the image and ends outside.
entry outside [h] [w] (k: i64) (image: [h][w]u8) : [][]i32 =
  tabulate_2d (h / k) (w / k + 1) (\y x ->
    i32.sum (map i32.u8 (flatten image[y * k:(y + 1) * k, x * k:(x + 1) * k])))
