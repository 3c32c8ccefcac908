-- The ends of the number ranges.
-- ==
-- entry: ints
-- input { }
-- output { [-128i64, 127i64, -2147483648i64, 2147483647i64, 0i64, 255i64] }

-- ==
-- entry: floats
-- input { }
-- output { [true, true, true] }

entry ints =
  [ i64.i8 i8.lowest, i64.i8 i8.highest, i64.i32 i32.lowest, i64.i32 i32.highest
  , i64.u8 u8.lowest, i64.u8 u8.highest ]

entry floats =
  [ f32.highest == f32.inf, f64.lowest == -f64.inf
  , 1 + f64.epsilon != 1 && 1 + f64.epsilon / 2 == 1 ]
