-- Conversions between primitive types.
-- ==
-- entry: narrow
-- input { 300i32 }
-- output { [44i64, 44i64, 300i64] }
-- input { -1i32 }
-- output { [-1i64, 255i64, -1i64] }

-- ==
-- entry: to_unsigned_extends_with_zeros
-- input { -1i8 }
-- output { 255u16 }

-- ==
-- entry: truncates
-- input { 2.9f32 }
-- output { 2 }
-- input { -2.9f32 }
-- output { -2 }
-- input { f32.nan }
-- output { 0 }
-- input { f32.inf }
-- output { 0 }

-- ==
-- entry: bools
-- input { 2i32 0.0f32 }
-- output { [true, false] }
-- input { 0i32 -0.5f32 }
-- output { [false, true] }

-- ==
-- entry: from_bool
-- input { true }
-- output { 1.0f32 }
-- input { false }
-- output { 0.0f32 }

-- ==
-- entry: patterns
-- input { 1.0f32 }
-- output { 1065353216u32 }
-- input { -0.0f32 }
-- output { 2147483648u32 }

entry narrow (x: i32) = [i64.i8 (i8.i32 x), i64.u8 (u8.i32 x), i64.i16 (i16.i32 x)]
entry to_unsigned_extends_with_zeros (x: i8) = u16.i8 x
entry truncates (x: f32) = i32.f32 x
entry bools (x: i32) (y: f32) = [bool.i32 x, bool.f32 y]
entry from_bool (x: bool) = f32.bool x
entry patterns (x: f32) = f32.to_bits (f32.from_bits (f32.to_bits x))
