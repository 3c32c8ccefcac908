-- Roots that loops compare with a number that stays: of what is next to its square, and where
-- squares say nothing (NaN, negative, subnormal, infinite).
-- ==
-- entry: less_f32 most_f32 greater_f64 least_f64
-- input { [0f64, -0f64, 1f64, 2f64, 0.1f64, 1.5e-30f64, 1e-40f64, 3e25f64, 1e38f64, -1f64, 7f64, f64.inf, f64.nan] }
-- auto output

-- The numbers around the square of r, and some others.
def f32_at (r: f32) (i: i32) : f32 =
  let others: []f32 = [0, -0, -1, f32.nan, f32.inf, -f32.inf, 1e-42, 1]
  in if i < 100 then f32.from_bits (f32.to_bits (r * r) + u32.i32 i - 50) else others[i - 100]

def f64_at (r: f64) (i: i32) : f64 =
  let others: []f64 = [0, -0, -1, f64.nan, f64.inf, -f64.inf, 1e-320, 1]
  in if i < 100 then f64.from_bits (f64.to_bits (r * r) + u64.i32 i - 50) else others[i - 100]

def count (holds: i32 -> bool) : i32 =
  loop n = 0 for i < 108 do n + i32.bool (holds i)

entry less_f32 (rs: []f64) : []i32 =
  map (\r -> let r = f32.f64 r in count (\i -> f32.sqrt (f32_at r i) < r)) rs

entry most_f32 (rs: []f64) : []i32 =
  map (\r -> let r = f32.f64 r in count (\i -> f32.sqrt (f32_at r i) <= r)) rs

entry greater_f64 (rs: []f64) : []i32 =
  map (\r -> count (\i -> r < f64.sqrt (f64_at r i))) rs

entry least_f64 (rs: []f64) : []i32 =
  map (\r -> count (\i -> r <= f64.sqrt (f64_at r i))) rs
