-- What zip makes is nobody else's, whatever it is made of.
-- ==
-- entry: parts pairs sums
-- input { [1, 2, 3] } auto output

entry parts (xs: []i32) : ([]i32, []i32) =
  let a = map (+ 1) xs
  let b = unzip (zip a a)
  let c = a with [0] = 5
  in (b.0, c)
entry pairs (xs: *[]i32) : ([]i32, []i32, []i32) =
  let b = zip xs xs
  let d = b with [0] = (5, 6)
  let (e, f) = unzip d
  in (xs, e, f)
entry sums (xs: *[]i32) : ([]i32, []i32) =
  let z = zip (zip xs xs) xs
  let c = xs with [0] = 5
  in (map (\((x, y), w) -> x + y + w) z, c)
