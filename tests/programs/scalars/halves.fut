-- What is a half is rounded to a half, wherever it is widened again.
-- ==
-- entry: quotients
-- input { 1i64 [10i32, 3i32] }
-- output { [0x1.998p-4f32, 0x1.554p-2f32] }

-- ==
-- entry: converted
-- input { [2049i32, 70000i32] }
-- output { [2048f32, f32.inf] }

-- ==
-- entry: narrowed
-- input { [0.1f32, 70000f32] [0.1f64, 1e-9f64] }
-- output { [0x1.998p-4f32, f32.inf] [0x1.998p-4f64, 0f64] }

-- ==
-- entry: by_themselves
-- input { [3u32, 70000u32, 0u32] }
-- output { [1f16, f16.nan, f16.nan] }

-- ==
-- entry: roots
-- input { [2f16, 3f16] }
-- output { [0x1.6ap0f32, 0x1.bb8p0f32] }

entry quotients (n: i64) (x: []i32): []f32 = map (\i -> f32.f16 (f16.i64 n / f16.i32 i)) x

entry converted (x: []i32): []f32 = map (\i -> f32.f16 (f16.i32 i)) x

entry narrowed (x: []f32) (y: []f64): ([]f32, []f64) =
  (map (\a -> f32.f16 (f16.f32 a)) x, map (\a -> f64.f16 (f16.f64 a)) y)

entry by_themselves (x: []u32): []f16 = map (\i -> f16.u32 i / f16.u32 i) x

entry roots (x: []f16): []f32 = map (\a -> f32.f16 (f16.sqrt a)) x
