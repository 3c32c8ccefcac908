-- Shortest ways between all pairs of vertices, by Floyd and Warshall's loop over matrices.
-- ==
-- entry: distances
-- script input { make_distances 20i64 1i64 } auto output

-- ==
-- entry: check_distances
-- input { 30i64 1i64 } output { true }

import "../random"

-- | A ring of short ways, and dear ones between all.
entry make_distances (n: i64) (seed: i64) : [n][n]i32 =
  tabulate_2d n n (\i j ->
    if i == j then 0
    else if (i + 1) % n == j then 5
    else 10 + i32.i64 (random_below 1000 seed (i * n + j)))

entry distances [n] (ways: [n][n]i32) : [n][n]i32 =
  loop d = ways for k < n do
    tabulate_2d n n (\i j -> i32.min d[i, j] (d[i, k] + d[k, j]))

-- No detour is shorter.
entry check_distances (n: i64) (seed: i64) : bool =
  let d = distances (make_distances n seed)
  in and (flatten_3d (tabulate_3d n n n (\i j k -> d[i, j] <= d[i, k] + d[k, j])))
