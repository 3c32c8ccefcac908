-- All integer widths, signed and unsigned, wrap at their own width.
-- ==
-- entry: i8s
-- input { 127i8 }
-- output { [-128i8, -2i8, 63i8] }

-- ==
-- entry: u8s
-- input { 255u8 }
-- output { [0u8, 254u8, 127u8] }

-- ==
-- entry: i16s
-- input { -32768i16 }
-- output { [-32767i16, 0i16, -16384i16] }

-- ==
-- entry: u16s
-- input { 65535u16 }
-- output { [0u16, 65534u16, 32767u16] }

-- ==
-- entry: i64s
-- input { 9223372036854775807i64 }
-- output { [-9223372036854775808i64, -2i64, 4611686018427387903i64] }

-- ==
-- entry: u64s
-- input { 9223372036854775808u64 }
-- output { [9223372036854775809u64, 0u64, 4611686018427387904u64] }

-- ==
-- entry: u32_compare
-- input { 4000000000u32 1u32 }
-- output { [false, true] }

entry i8s (x: i8) = [x + 1, x * 2, x / 2]
entry u8s (x: u8) = [x + 1, x * 2, x / 2]
entry i16s (x: i16) = [x + 1, x * 2, x / 2]
entry u16s (x: u16) = [x + 1, x * 2, x / 2]
entry i64s (x: i64) = [x + 1, x * 2, x / 2]
entry u64s (x: u64) = [x + 1, x * 2, x / 2]
entry u32_compare (x: u32) (y: u32) = [x < y, x > y]
