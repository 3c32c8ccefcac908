-- Quotients and remainders by constants that are powers of two, rounded downwards and towards zero,
-- at the edges of every integer type.
-- ==
-- entry: of_i8 of_i16 of_i32 of_i64 of_u8 of_u16 of_u32 of_u64
-- input { [0i64, 1i64, -1i64, 7i64, 8i64, -7i64, -8i64, -9i64, 127i64, -128i64, 255i64, 32767i64, -32768i64, 2147483647i64, -2147483648i64, 4294967295i64, -4294967296i64, 9223372036854775807i64, -9223372036854775808i64] }
-- auto output

entry of_i8 (xs: []i64) : [][8]i8 =
  map (\x -> let x = i8.i64 x in [x / 2, x % 2, x / 64, x % 64, x // 2, x %% 2, x / -128, x % -128]) xs

entry of_i16 (xs: []i64) : [][8]i16 =
  map (\x -> let x = i16.i64 x in [x / 8, x % 8, x / 1, x % 1, x // 8, x %% 8, x / -8, x % -8]) xs

entry of_i32 (xs: []i64) : [][8]i32 =
  map (\x -> let x = i32.i64 x in [x / 2, x % 2, x / 65536, x % 65536, x // 2, x %% 2, x / -2, x % -2]) xs

entry of_i64 (xs: []i64) : [][8]i64 =
  map (\x -> [x / 8, x % 8, x / 4294967296, x % 4294967296, x // 8, x %% 8, x / i64.lowest, x % i64.lowest]) xs

entry of_u8 (xs: []i64) : [][6]u8 =
  map (\x -> let x = u8.i64 x in [x / 2, x % 2, x / 128, x % 128, x // 16, x %% 16]) xs

entry of_u16 (xs: []i64) : [][6]u16 =
  map (\x -> let x = u16.i64 x in [x / 2, x % 2, x / 32768, x % 32768, x // 16, x %% 16]) xs

entry of_u32 (xs: []i64) : [][6]u32 =
  map (\x -> let x = u32.i64 x in [x / 2, x % 2, x / 2147483648, x % 2147483648, x // 16, x %% 16]) xs

entry of_u64 (xs: []i64) : [][6]u64 =
  map (\x -> let x = u64.i64 x
             in [x / 2, x % 2, x / 9223372036854775808, x % 9223372036854775808, x // 16, x %% 16]) xs
