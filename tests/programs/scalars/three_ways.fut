-- Signs and three-way comparisons, as programs write them.
-- ==
-- entry: bools
-- input { [-1i32, 5i32, 9i32] 5i32 }
-- output { [-1i32, 0i32, 1i32] }

-- ==
-- entry: branches
-- input { [-1i64, 5i64, 9i64] 5i64 }
-- output { [-1i64, 0i64, 1i64] [-1i64, 0i64, 1i64] }

-- ==
-- entry: narrow
-- input { [-1i8, 5i8, 9i8] 5i8 }
-- output { [-1i8, 0i8, 1i8] }

-- ==
-- entry: negated
-- input { [-1f64, 5f64, 9f64] 5f64 }
-- output { [-1i64, 0i64, 1i64] }

-- ==
-- entry: signs
-- input { [-3i16, 0i16, 32767i16] [-9223372036854775808i64, 0i64, 7i64] [0u32, 4294967295u32, 1u32] }
-- output { [-1i16, 0i16, 1i16] [-1i64, 0i64, 1i64] [0u32, 1u32, 1u32] }

-- ==
-- entry: divided
-- input { [-4i64, 0i64, 7i64] 3i64 }
-- output { [2i64, 0i64, 1i64] [-1i64, 0i64, 0i64] }

-- ==
-- entry: kept
-- input { [-31i32, 0i32, -40i32, 7i32] }
-- output { [1i32, -1i32, 1i32] 3i64 }

-- ==
-- entry: chosen
-- input { [-1i32, 5i32, 9i32] 5i32 }
-- output { [-1i32, 0i32, 1i32] [-1i32, 0i32, 1i32] }

entry bools (x: []i32) (y: i32): []i32 = map (\v -> i32.bool (v > y) - i32.bool (v < y)) x

entry branches (x: []i64) (y: i64): ([]i64, []i64) =
  (map (\v -> (if v > y then 1 else 0) - (if v < y then 1 else 0)) x,
   map (\v -> (if v < y then -1 else 0) + (if v > y then 1 else 0)) x)

entry narrow (x: []i8) (y: i8): []i8 = map (\v -> i8.bool (v > y) - i8.bool (v < y)) x

entry negated (x: []f64) (y: f64): []i64 = map (\v -> -i64.bool (v < y) + i64.bool (v > y)) x

entry signs (x: []i16) (y: []i64) (z: []u32): ([]i16, []i64, []u32) =
  (map i16.sgn x, map i64.sgn y, map u32.sgn z)

entry divided (x: []i64) (n: i64): ([]i64, []i64) =
  (map (\i -> i64.sgn i % n) x, map (\i -> i64.sgn i / n) x)

entry kept (x: []i32): ([]i32, i64) =
  let kept = filter (!= 0) (map (\v -> i32.sgn (31 + v)) x)
  in (kept, length kept)

entry chosen (x: []i32) (y: i32): ([]i32, []i32) =
  (map (\v -> if v < y then -1 else i32.bool (v != y)) x,
   map (\v -> if v == y then 0 else if v > y then 1 else -1) x)
