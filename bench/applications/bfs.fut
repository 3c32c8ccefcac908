-- Breadth-first search of a graph in compressed rows: by looking at all edges in every round, and
-- by expanding a frontier.
-- ==
-- entry: bfs_edges bfs_frontier
-- script input { make_bfs 200i64 1i64 } auto output

-- ==
-- entry: check_bfs
-- input { 500i64 1i64 } output { true }

import "../random"

-- | Rows of 0 to 15 edges: where each begins (n + 1 numbers), and where the edges go.
entry make_bfs (n: i64) (seed: i64) : ([]i32, []i32) =
  let degrees = tabulate (n + 1) (\i -> if i == 0 then 0 else i32.i64 (random_below 16 seed (i - 1)))
  let offsets = scan (+) 0 degrees
  let edges = i64.i32 offsets[n]
  in (offsets, tabulate edges (\e -> i32.i64 (random_below n (seed + 1) e)))

-- | For every element of rows of these sizes, the row that it is in.
def owners (total: i64) (starts: []i64) (sizes: []i64) : [total]i64 =
  let heads = map2 (\s size -> if size > 0 then s else -1) starts sizes
  in scan i64.max 0 (scatter (replicate total 0) heads (indices heads))

entry bfs_edges [n] [m] (offsets: [n]i32) (targets: [m]i32) : []i32 =
  let starts = map i64.i32 (init offsets)
  let sizes = map2 (\a b -> i64.i32 (b - a)) (init offsets) (tail offsets)
  let sources = owners m starts sizes
  let first = tabulate (n - 1) (\i -> if i == 0 then 0 else -1)
  let (levels, _, _) =
    loop (levels, round, going) = (first, 0i32, true) while going do
      let reached = map2 (\s t -> if levels[s] == round && levels[i64.i32 t] < 0 then i64.i32 t else -1)
                         sources targets
      let levels = scatter levels reached (replicate m (round + 1))
      in (levels, round + 1, any (>= 0) reached)
  in levels

entry bfs_frontier [n] [m] (offsets: [n]i32) (targets: [m]i32) : []i32 =
  let first = tabulate (n - 1) (\i -> if i == 0 then 0 else -1)
  let (levels, _, _) =
    loop (levels, frontier, round) = (first, [0i64], 1i32) while length frontier > 0 do
      let sizes = map (\v -> i64.i32 (offsets[v + 1] - offsets[v])) frontier
      let ends = scan (+) 0 sizes
      let starts = map2 (-) ends sizes
      let total = last ends
      let neighbours =
        map2 (\o e -> i64.i32 targets[i64.i32 offsets[frontier[o]] + e - starts[o]])
             (owners total starts sizes) (iota total)
      let fresh = filter (\v -> levels[v] < 0) neighbours
      let levels = scatter levels fresh (map (const round) fresh)
      -- One of the edges to a vertex brings it into the next frontier.
      let claims = scatter (replicate (n - 1) (-1)) fresh (indices fresh)
      let next = map2 (\v i -> (v, claims[v] == i)) fresh (indices fresh)
      in (levels, map (.0) (filter (.1) next), round + 1)
  in levels

-- Both ways find the same, and no edge spans more than one level.
entry check_bfs (n: i64) (seed: i64) : bool =
  let (offsets, targets) = make_bfs n seed
  let a = bfs_edges offsets targets
  let b = bfs_frontier offsets targets
  let spans v =
    let from = a[v]
    in loop right = true for e < offsets[v + 1] - offsets[v] do
       right && (from < 0 || (let to = a[i64.i32 targets[i64.i32 (offsets[v] + e)]] in to >= 0 && to <= from + 1))
  in and (map2 (==) (a :> [n]i32) (b :> [n]i32)) && all spans (iota n)
