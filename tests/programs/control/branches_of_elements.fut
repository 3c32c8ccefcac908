-- Branches that read elements and make arrays of different sizes.
-- ==
-- entry: either
-- input { [5i64, 7i64] } output { [5i64] }
-- input { [-5i64, 7i64] } output { [1i64, 2i64, 7i64] }
-- input { empty([0]i64) } error: Index

-- ==
-- entry: again
-- input { [4i64, 1i64, 9i64] 0i64 } output { [4i64] }
-- input { [4i64, 1i64, 9i64] 2i64 } output { [4i64, 3i64, 4i64] }
-- input { [4i64, 1i64, 9i64] 3i64 } output { [9i64, 4i64] }

entry either [n] (xs: [n]i64) : []i64 =
  if n > 0 && xs[0] > 0 then [xs[0]] else [1, 2, xs[n - 1]]

entry again [n] (xs: [n]i64) (m: i64) : []i64 =
  loop ys = [xs[0]] for i < m do
    if xs[i] > 3 then [xs[i], ys[0]] else [ys[0], 3, 4]
