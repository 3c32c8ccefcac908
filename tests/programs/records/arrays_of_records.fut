-- Arrays of tuples and records.
-- ==
-- entry: zips
-- input { [1, 2, 3] [true, false, true] }
-- output { [1, 0, 3] }

-- ==
-- entry: unzips
-- input { [1, 2, 3] }
-- output { [2, 4, 6] [1, 4, 9] }

-- ==
-- entry: field_of_element
-- input { 2i64 }
-- output { 4.0f32 }

-- ==
-- entry: five
-- input { [1, 2] }
-- output { [15, 30] }

entry zips [n] (xs: [n]i32) (bs: []bool) = map (\(x, b) -> if b then x else 0) (zip xs (sized n bs))

entry unzips (xs: []i32) = unzip (map (\x -> (2 * x, x * x)) xs)

entry field_of_element (i: i64) =
  let ps = map (\k -> {k, square = f32.i64 (k * k)}) (iota 5)
  in ps[i].square

entry five (xs: []i32) =
  let rs = zip5 xs (map (2 *) xs) (map (3 *) xs) (map (4 *) xs) (map (5 *) xs)
  let (a, b, c, d, e) = unzip5 rs
  in map5 (\v w x y z -> v + w + x + y + z) a b c d e
