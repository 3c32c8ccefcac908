-- Arithmetic of every kind of number.
-- ==
-- entry: quotients
-- input { 7 2 } output { 3 1 3 1 }
-- input { -7 2 } output { -4 1 -3 -1 }
-- input { 7 -2 } output { -4 -1 -3 1 }
-- input { 1 0 } error: division by zero

-- ==
-- entry: wrap
-- input { 127i8 255u8 } output { -128i8 0u8 }

-- ==
-- entry: powers
-- input { 3 4 } output { 81 }
-- input { 2 31 } output { -2147483648 }
-- input { 2 -1 } error: negative exponent

-- ==
-- entry: roots
-- input { 2.0 } output { 1.4142135623730951 1.4142135f32 }
-- input { -1.0 } output { f64.nan f32.nan }

-- ==
-- entry: extremes
-- input { [1.0f32, f32.nan, -f32.inf] } output { 1f32 -f32.inf }

-- ==
-- entry: truncated
-- input { 3.99 } output { 3i8 3u16 3i64 true }
-- input { -3.99 } output { -3i8 65533u16 -3i64 true }
-- input { 0.0 } output { 0i8 0u16 0i64 false }

entry quotients (x: i32) (y: i32) = (x / y, x % y, x // y, x %% y)

entry wrap (x: i8) (y: u8) = (x + 1, y + 1)

entry powers (x: i32) (y: i32) = x ** y

entry roots (x: f64) = (f64.sqrt x, f32.sqrt (f32.f64 x))

entry extremes (xs: []f32) = (reduce f32.max (-f32.inf) xs, reduce f32.min f32.inf xs)

entry truncated (x: f64) = (i8.f64 x, u16.f64 x, i64.f64 x, bool.f64 x)
