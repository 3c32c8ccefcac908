-- f32 and f64: arithmetic, comparison, special values.
-- ==
-- entry: basic
-- input { 7.5f64 2.0f64 }
-- output { [9.5, 5.5, 15.0, 3.75, 1.5, 56.25] }

-- ==
-- entry: single
-- input { 1.0f32 3.0f32 }
-- output { [4.0f32, -2.0f32, 3.0f32, 0.33333334f32] }

-- ==
-- entry: not_a_number
-- input { f32.nan 1.0f32 }
-- output { [false, true, false, false] }

-- ==
-- entry: picks
-- input { f32.nan 2.0f32 }
-- output { [2.0f32, 2.0f32] }
-- input { -3.0f32 2.0f32 }
-- output { [-3.0f32, 2.0f32] }

-- ==
-- entry: tests
-- input { 1.0f64 0.0f64 }
-- output { [false, true, false] }
-- input { 0.0f64 0.0f64 }
-- output { [true, false, false] }

entry basic (x: f64) (y: f64) = [x + y, x - y, x * y, x / y, x % y, x ** y]
entry single (x: f32) (y: f32) = [x + y, x - y, x * y, x / y]
entry not_a_number (x: f32) (y: f32) = [x == x, x != x, x < y, x >= y]
entry picks (x: f32) (y: f32) = [f32.min x y, f32.max x y]
entry tests (x: f64) (y: f64) = let q = x / y in [f64.isnan q, f64.isinf q, f64.isinf x]
