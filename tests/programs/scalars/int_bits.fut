-- Bitwise operators, shifts and the bit functions of the integer modules.
-- ==
-- entry: bits
-- input { 12 10 }
-- output { [8, 14, 6, -13] }

-- ==
-- entry: shifts
-- input { -16 2 }
-- output { [-64, -4, 1073741820] }

-- ==
-- entry: unsigned_shifts
-- input { 4294967280u32 2u32 }
-- output { [4294967232u32, 1073741820u32, 1073741820u32] }

-- ==
-- entry: counts
-- input { 40 }
-- output { [2, 26, 3] }
-- input { 0 }
-- output { [0, 32, 32] }
-- input { -1 }
-- output { [32, 0, 0] }

-- ==
-- entry: single_bits
-- input { 5 }
-- output { [1, 0, 7, 4] }

-- ==
-- entry: high_half
-- input { 2147483647 4 }
-- output { 1 }
-- input { -1 1 }
-- output { -1 }

entry bits (x: i32) (y: i32) = [x & y, x | y, x ^ y, !x]

entry shifts (x: i32) (y: i32) = [x << y, x >> y, x i32.>>> y]

entry unsigned_shifts (x: u32) (y: u32) = [x << y, x >> y, x u32.>>> y]

entry counts (x: i32) = [i32.popc x, i32.clz x, i32.ctz x]

entry single_bits (x: i32) =
  [i32.get_bit 2 x, i32.get_bit 1 x, i32.set_bit 1 x 1, i32.set_bit 0 x 0]

entry high_half (x: i32) (y: i32) = i32.mul_hi x y
