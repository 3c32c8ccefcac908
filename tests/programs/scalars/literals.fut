-- Spellings of numbers and characters.
-- ==
-- entry: ints
-- input { }
-- output { [255, 10, 14, 1000000, 97, 10, -1] }

-- ==
-- entry: suffixed
-- input { }
-- output { [255u8, 7u8, 4u8, 44u8] }

-- ==
-- entry: floats
-- input { }
-- output { [12.0, 1000.0, 0.25, 1.5] }

-- ==
-- entry: text
-- input { }
-- output { [97u8, 34u8, 98u8] }

entry ints : []i32 = [0xff, 0b1010, 0rXIV, 1_000_000, 'a', '\n', -1]
entry suffixed = [0xFFu8, 0b111u8, 0rIVu8, 300u8]
entry floats : []f64 = [0x1.8p3, 1e3, 25e-2, 1.5]
entry text : []u8 = "a\"b"
