-- Update paths through records and arrays.
-- ==
-- entry: field_then_element
-- input { [1, 2, 3] }
-- output { [1, 20, 3] 4 }

-- ==
-- entry: let_paths
-- input { [1, 2] }
-- output { [7, 2] 5 }

-- ==
-- entry: tuple_parts
-- input { [1, 2] [3, 4] }
-- output { [3, 4] [0, 2] }

entry field_then_element (xs: []i32) =
  let r = {xs = copy xs, k = 3i32}
  let r = r with xs[1] = 20
  let r = r with k = r.k + 1
  in (r.xs, r.k)

entry let_paths (xs: []i32) =
  let r = {inner = {xs = copy xs}, k = 1i32}
  let r.inner.xs[0] = 7
  let r.k = 5
  in (r.inner.xs, r.k)

entry tuple_parts (xs: []i32) (ys: []i32) =
  let (a, b) = (copy xs, copy ys)
  let a[0] = 0
  in (b, a)
