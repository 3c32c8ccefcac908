-- Zeros of float types, which compilers like to simplify away: x + 0 is not x if x is -0, x * 0 is
-- not 0 if x is negative or infinite, and x / 0 is no number of memory's choice.
-- ==
-- entry: add_f16
-- input { [-0f16, 0f16, 2f16] }
-- output { [0u16, 0u16, 16384u16] }

-- ==
-- entry: add_f32
-- input { [-0f32, 0f32, 2f32] }
-- output { [0u32, 0u32, 1073741824u32] }

-- ==
-- entry: add_f64
-- input { [-0f64, 0f64, 2f64] }
-- output { [0u64, 0u64, 4611686018427387904u64] }

-- ==
-- entry: sub_from
-- input { [-0f32, 0f32, 2f32] }
-- output { [0u32, 0u32, 3221225472u32] }

-- ==
-- entry: mul
-- input { [-0f32, 0f32, -2f32, f32.inf, f32.nan] }
-- output { [-0f32, 0f32, -0f32, f32.nan, f32.nan] }

-- ==
-- entry: mul_bits
-- input { [-0f32, 0f32, -2f32] }
-- output { [2147483648u32, 0u32, 2147483648u32] }

-- ==
-- entry: div
-- input { [1f32, -1f32, f32.inf, 0f32, f32.nan] }
-- output { [f32.inf, -f32.inf, f32.inf, f32.nan, f32.nan] }

-- ==
-- entry: div_f64
-- input { [1f64, -1f64, f64.inf, 0f64, f64.nan] }
-- output { [f64.inf, -f64.inf, f64.inf, f64.nan, f64.nan] }

-- ==
-- entry: zero_over
-- input { [2f32, 0f32, f32.inf, f32.nan] }
-- output { [0f32, f32.nan, 0f32, f32.nan] }

-- ==
-- entry: fused
-- input { [f32.inf, f32.nan, 2f32] }
-- output { [f32.nan, f32.nan, 0f32] }

-- ==
-- entry: by_counter
-- input { [1f32, 0f32] }
-- output { [[f32.inf, 1f32, 0.5f32], [f32.nan, 0f32, 0f32]] }

-- ==
-- entry: times_counter
-- input { [f32.inf, 2f32] }
-- output { [f32.nan, 12f32] }

-- ==
-- entry: remainder_f64
-- input { [1f64, 1f64, 1e300, 3.5e-323, -7.5, 5e-324] [1e-310, 3e-310, 3e-320, 1e-323, 2f64, 1f64] }
-- output { [3.5074317610433367e-311, 3.5074317610433367e-311, 1.3161908805210808e-320, 5e-324, -1.5, 5e-324] }

entry add_f16 (xs: []f16) = map (\x -> f16.to_bits (x + 0)) xs
entry add_f32 (xs: []f32) = map (\x -> f32.to_bits (x + 0)) xs
entry add_f64 (xs: []f64) = map (\x -> f64.to_bits (0 + x)) xs
entry sub_from (xs: []f32) = map (\x -> f32.to_bits (0 - x)) xs
entry mul (xs: []f32) = map (\x -> x * 0) xs
entry mul_bits (xs: []f32) = map (\x -> f32.to_bits (x * 0)) xs
entry div (xs: []f32) = map (\x -> x / 0) xs
entry div_f64 (xs: []f64) = map (\x -> x / 0) xs
entry zero_over (xs: []f32) = map (\x -> 0 / x) xs
entry fused (xs: []f32) = map (\x -> f32.fma x 0 0) xs
entry by_counter (xs: []f32) = map (\x -> loop a = [0, 0, 0] for k < 3 do a with [k] = x / f32.i32 k) xs
entry times_counter (xs: []f32) = map (\x -> loop a = 0 for k < 4i64 do a + x * f32.i64 k) xs
entry remainder_f64 (xs: []f64) (ys: []f64) = map2 (%) xs ys

-- ==
-- entry: abs_of_zero
-- input { [0f32, 1f32, -1f32, -0f32] } output { [0u32, 0, 0, 0] }
entry abs_of_zero (xs: []f32) = map (\x -> f32.to_bits (f32.abs (x * (-0.0)))) xs

-- ==
-- entry: negated_conversion
-- input { [false, true] } output { [0x80000000u32, 0xbf800000u32] }
entry negated_conversion (bs: []bool) = map (\b -> f32.to_bits (-(f32.bool b))) bs
