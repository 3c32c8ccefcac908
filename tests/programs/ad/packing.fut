-- Derivatives of filters and partitions: of elements and of rows.
-- ==
-- entry: filters
-- input { [1.0, 7.0, 2.0] }
-- output { [1.0, 0.0, 1.0] }

-- ==
-- entry: parts
-- input { [1.0, 7.0, 2.0] }
-- output { [1.0, 2.0, 1.0] [5.0, 7.0] }

-- ==
-- entry: rows
-- input { [[1.0, 7.0], [6.0, 1.0], [3.0, 1.0]] }
-- output { [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]] }

entry filters (xs: []f64) = vjp (\ys -> f64.sum (filter (< 5) ys)) xs 1

def weighted (xs: []f64) : f64 =
  let (p, q) = partition (< 5) xs
  in f64.sum p + 2 * f64.sum q

entry parts [n] (xs: [n]f64) =
  ( vjp weighted xs 1
  , [jvp weighted xs (map (const 1) xs) + 1, jvp weighted xs (map (/ 2) xs) - 1.5]
  )

entry rows (xs: [][2]f64) = vjp (\ys -> f64.sum (flatten (filter (\y -> y[0] < 5) ys))) xs 1
