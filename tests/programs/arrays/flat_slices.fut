-- Flat slices: an array of one dimension seen as several, each with a stride. They are reached as
-- intrinsics only, as in Futhark.

def two [n] 't (as: [n]t) (offset: i64) (n1: i64) (s1: i64) (n2: i64) (s2: i64) : [n1][n2]t =
  intrinsics.flat_index_2d as offset n1 s1 n2 s2

-- ==
-- entry: gather
-- input { [10, 11, 12, 13, 14, 15, 16, 17] 1i64 2i64 3i64 3i64 1i64 }
-- output { [[11, 12, 13], [14, 15, 16]] }
-- input { [10, 11, 12, 13, 14, 15, 16, 17] 7i64 2i64 -1i64 3i64 -2i64 }
-- output { [[17, 15, 13], [16, 14, 12]] }
-- input { [10, 11] 1i64 2i64 0i64 2i64 0i64 }
-- output { [[11, 11], [11, 11]] }
-- input { [10, 11] 1i64 1i64 9223372036854775807i64 1i64 -9223372036854775808i64 }
-- output { [[11]] }
-- input { empty([0]i32) 100i64 0i64 50i64 2i64 -70i64 }
-- output { empty([0][2]i32) }
-- input { [10, 11] -9i64 3i64 50i64 0i64 -70i64 }
-- output { empty([3][0]i32) }
-- input { [10, 11, 12, 13, 14, 15, 16, 17] 1i64 2i64 4i64 4i64 1i64 }
-- error: Flat slice of shape \[2\]\[4\] from 1 with strides 4, 1 is out of bounds for array of shape \[8\]
-- input { [10, 11, 12, 13] 0i64 2i64 -1i64 2i64 3i64 }
-- error: out of bounds
-- input { [10, 11, 12, 13] 4i64 1i64 0i64 1i64 0i64 }
-- error: out of bounds
-- input { [10, 11, 12, 13] 0i64 -1i64 1i64 1i64 1i64 }
-- error: out of bounds
-- input { [10, 11, 12, 13] 3i64 2i64 9223372036854775807i64 3i64 -4611686018427387904i64 }
-- error: out of bounds
-- input { [10, 11, 12, 13] 0i64 3i64 -9223372036854775808i64 2i64 0i64 }
-- error: out of bounds
-- input { [10, 11, 12, 13] 0i64 4294967297i64 4294967296i64 1i64 0i64 }
-- error: out of bounds
entry gather (as: []i32) (offset: i64) (n1: i64) (s1: i64) (n2: i64) (s2: i64) : [][]i32 =
  two as offset n1 s1 n2 s2

-- ==
-- entry: replace
-- input { [0, 0, 0, 0, 0, 0, 0, 0] 1i64 4i64 2i64 [[1, 2], [3, 4]] }
-- output { [0, 1, 0, 2, 0, 3, 0, 4] }
-- input { [0, 0, 0, 0] 3i64 -1i64 -2i64 [[1, 2], [3, 4]] }
-- output { [4, 2, 3, 1] }
-- input { [7] 5i64 1i64 1i64 empty([0][3]i32) }
-- output { [7] }
-- input { [0, 0, 0, 0] 1i64 1i64 2i64 [[1, 2], [3, 4]] }
-- error: Flat slice of shape \[2\]\[2\] from 1 with strides 1, 2 is out of bounds for array of shape \[4\]
entry replace (as: *[]i32) (offset: i64) (s1: i64) (s2: i64) (vs: [][]i32) : []i32 =
  intrinsics.flat_update_2d as offset s1 s2 vs

-- Rows of arrays, and elements of several fields.
-- ==
-- entry: rows
-- input { [[1, 2], [3, 4], [5, 6]] }
-- output { [[[[5, 6]], [[3, 4]]], [[[3, 4]], [[1, 2]]]] [[1, 2], [1, 2], [5, 6]] }
entry rows [k] (as: [][k]i32) =
  let moved = intrinsics.flat_update_3d (copy as) 1 1 1 1 [[[as[0]]]]
  in (intrinsics.flat_index_3d as 2 2 (-1) 2 (-1) 1 1, moved)

-- ==
-- entry: pairs
-- input { [1i64, 2i64, 3i64, 4i64] [5i8, 6i8, 7i8, 8i8] }
-- output { [1i64, 20i64, 3i64, 40i64] [5i8, 2i8, 7i8, 4i8] [[[[2i64]], [[4i64]]]] }
entry pairs [n] (xs: [n]i64) (ys: []i8) =
  let zipped = zip xs (ys :> [n]i8)
  let found = intrinsics.flat_index_4d zipped 1 1 1 2 2 1 1 1 1
  let twice = map (map (map (map (\(x, _) -> (10 * x, i8.i64 x))))) found
  let (as, bs) = unzip (intrinsics.flat_update_4d (copy zipped) 1 1 2 1 1 twice)
  in (as, bs, map (map (map (map (.0)))) found)

-- In maps, and where the slice depends on the element.
-- ==
-- entry: mapped
-- input { [0i64, 1i64, 2i64] [1, 2, 3, 4, 5, 6] }
-- output { [10, 14, 18] [[0, 2, 0, 4, 5, 6], [1, 0, 3, 0, 5, 6], [1, 2, 0, 4, 0, 6]] }
entry mapped (is: []i64) (as: []i32) =
  let sums = map (\i -> i32.sum (flatten (two as i 2 1 2 2))) is
  let zeros = [[0], [0]]
  in (sums, map (\i -> intrinsics.flat_update_2d (copy as) i 2 1 zeros) is)

-- ==
-- entry: unchecked
-- input { [1, 2, 3] 5i64 }
-- output { [9, 9, 3] }
entry unchecked (as: *[]i32) (n: i64) =
  #[unsafe] intrinsics.flat_update_2d as 0 1 1 (replicate 1 (replicate n 9))[:, :2]

-- Derivatives: a place that is read twice counts twice, and what is replaced does not count.
-- ==
-- entry: derivatives
-- input { [1.0, 2.0, 3.0] }
-- output { [2.0, 8.0, 6.0] [4.0, 5.0] [0.0, 0.0, 5.0] }
entry derivatives (xs: [3]f64) =
  let squares (xs: [3]f64) = f64.sum (map (\x -> x * x) (flatten (two xs 0 2 1 2 1)))
  let put (ys: [2]f64) (xs: [3]f64) = intrinsics.flat_update_2d (copy xs) 0 1 1 [ys]
  let seed = [4, 5, 5]
  in (vjp squares xs 1, vjp (\ys -> put ys xs) [0, 0] seed, vjp (put [0, 0]) xs seed)
