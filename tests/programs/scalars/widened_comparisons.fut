-- A value is widened, then compared with a constant: whatever the types, the answer is the number's.

def bits (a: bool) (b: bool) (c: bool) (d: bool) (e: bool): i32 =
  i32.bool a | i32.bool b << 1 | i32.bool c << 2 | i32.bool d << 3 | i32.bool e << 4

-- ==
-- entry: i8_i32
-- input { [0i8, 3i8, 4i8, 5i8, 127i8, -128i8] }
-- output { [99i32, 99i32, 122i32, 108i32, 844i32, 99i32] }
entry i8_i32 (xs: []i8) = map (\x -> let y = i32.i8 x in bits (y < 4) (y <= 4) (y > 4) (y >= 4) (y == 4)
  | bits (y < 127) (y <= 127) (y > 127) (y >= 127) (y == 127) << 5) xs

-- ==
-- entry: i8_i64
-- input { [0i8, 3i8, 4i8, 5i8, 127i8, -128i8] }
-- output { [99i32, 99i32, 122i32, 108i32, 844i32, 99i32] }
entry i8_i64 (xs: []i8) = map (\x -> let y = i64.i8 x in bits (y < 4) (y <= 4) (y > 4) (y >= 4) (y == 4)
  | bits (y < 127) (y <= 127) (y > 127) (y >= 127) (y == 127) << 5) xs

-- ==
-- entry: i16_i32
-- input { [0i16, 3i16, 4i16, 5i16, 32767i16, -32768i16] }
-- output { [99i32, 99i32, 122i32, 108i32, 844i32, 99i32] }
entry i16_i32 (xs: []i16) = map (\x -> let y = i32.i16 x in bits (y < 4) (y <= 4) (y > 4) (y >= 4) (y == 4)
  | bits (y < 32767) (y <= 32767) (y > 32767) (y >= 32767) (y == 32767) << 5) xs

-- ==
-- entry: i16_i64
-- input { [0i16, 3i16, 4i16, 5i16, 32767i16, -32768i16] }
-- output { [99i32, 99i32, 122i32, 108i32, 844i32, 99i32] }
entry i16_i64 (xs: []i16) = map (\x -> let y = i64.i16 x in bits (y < 4) (y <= 4) (y > 4) (y >= 4) (y == 4)
  | bits (y < 32767) (y <= 32767) (y > 32767) (y >= 32767) (y == 32767) << 5) xs

-- ==
-- entry: i32_i64
-- input { [0i32, 3i32, 4i32, 5i32, 2147483647i32, -2147483648i32] }
-- output { [99i32, 99i32, 122i32, 108i32, 844i32, 99i32] }
entry i32_i64 (xs: []i32) = map (\x -> let y = i64.i32 x in bits (y < 4) (y <= 4) (y > 4) (y >= 4) (y == 4)
  | bits (y < 2147483647) (y <= 2147483647) (y > 2147483647) (y >= 2147483647) (y == 2147483647) << 5) xs

-- ==
-- entry: u8_i32
-- input { [0u8, 3u8, 4u8, 5u8, 255u8, 0u8] }
-- output { [99i32, 99i32, 122i32, 108i32, 844i32, 99i32] }
entry u8_i32 (xs: []u8) = map (\x -> let y = i32.u8 x in bits (y < 4) (y <= 4) (y > 4) (y >= 4) (y == 4)
  | bits (y < 255) (y <= 255) (y > 255) (y >= 255) (y == 255) << 5) xs

-- ==
-- entry: u8_i64
-- input { [0u8, 3u8, 4u8, 5u8, 255u8, 0u8] }
-- output { [99i32, 99i32, 122i32, 108i32, 844i32, 99i32] }
entry u8_i64 (xs: []u8) = map (\x -> let y = i64.u8 x in bits (y < 4) (y <= 4) (y > 4) (y >= 4) (y == 4)
  | bits (y < 255) (y <= 255) (y > 255) (y >= 255) (y == 255) << 5) xs

-- ==
-- entry: u8_u64
-- input { [0u8, 3u8, 4u8, 5u8, 255u8, 0u8] }
-- output { [99i32, 99i32, 122i32, 108i32, 844i32, 99i32] }
entry u8_u64 (xs: []u8) = map (\x -> let y = u64.u8 x in bits (y < 4) (y <= 4) (y > 4) (y >= 4) (y == 4)
  | bits (y < 255) (y <= 255) (y > 255) (y >= 255) (y == 255) << 5) xs

-- ==
-- entry: u16_i32
-- input { [0u16, 3u16, 4u16, 5u16, 65535u16, 0u16] }
-- output { [99i32, 99i32, 122i32, 108i32, 844i32, 99i32] }
entry u16_i32 (xs: []u16) = map (\x -> let y = i32.u16 x in bits (y < 4) (y <= 4) (y > 4) (y >= 4) (y == 4)
  | bits (y < 65535) (y <= 65535) (y > 65535) (y >= 65535) (y == 65535) << 5) xs

-- ==
-- entry: u16_i64
-- input { [0u16, 3u16, 4u16, 5u16, 65535u16, 0u16] }
-- output { [99i32, 99i32, 122i32, 108i32, 844i32, 99i32] }
entry u16_i64 (xs: []u16) = map (\x -> let y = i64.u16 x in bits (y < 4) (y <= 4) (y > 4) (y >= 4) (y == 4)
  | bits (y < 65535) (y <= 65535) (y > 65535) (y >= 65535) (y == 65535) << 5) xs

-- ==
-- entry: u16_u64
-- input { [0u16, 3u16, 4u16, 5u16, 65535u16, 0u16] }
-- output { [99i32, 99i32, 122i32, 108i32, 844i32, 99i32] }
entry u16_u64 (xs: []u16) = map (\x -> let y = u64.u16 x in bits (y < 4) (y <= 4) (y > 4) (y >= 4) (y == 4)
  | bits (y < 65535) (y <= 65535) (y > 65535) (y >= 65535) (y == 65535) << 5) xs

-- ==
-- entry: u32_i64
-- input { [0u32, 3u32, 4u32, 5u32, 4294967295u32, 0u32] }
-- output { [99i32, 99i32, 122i32, 108i32, 844i32, 99i32] }
entry u32_i64 (xs: []u32) = map (\x -> let y = i64.u32 x in bits (y < 4) (y <= 4) (y > 4) (y >= 4) (y == 4)
  | bits (y < 4294967295) (y <= 4294967295) (y > 4294967295) (y >= 4294967295) (y == 4294967295) << 5) xs

-- ==
-- entry: u32_u64
-- input { [0u32, 3u32, 4u32, 5u32, 4294967295u32, 0u32] }
-- output { [99i32, 99i32, 122i32, 108i32, 844i32, 99i32] }
entry u32_u64 (xs: []u32) = map (\x -> let y = u64.u32 x in bits (y < 4) (y <= 4) (y > 4) (y >= 4) (y == 4)
  | bits (y < 4294967295) (y <= 4294967295) (y > 4294967295) (y >= 4294967295) (y == 4294967295) << 5) xs
