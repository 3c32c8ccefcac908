-- Nests whose inner parts differ in length between elements.

-- | Where rows of these sizes begin, and where the last one ends.
def offsets_of [n] (sizes: [n]i64) : []i64 = [0] ++ scan (+) 0 sizes

-- | Sizes that are mostly small: every `many`-th is of `large`.
def some_sizes (n: i64) (many: i64) (large: i64) : [n]i64 =
  tabulate n (\i -> if i % many == many - 1 then large + i else i * i % 7)

def element (e: i64) : i64 = (e * 7919 + 13) % 101

-- By loops, in one thread each.
def each_row [n] (offsets: []i64) (f: i64 -> i64 -> i64) (_: [n]i64) : [n]i64 =
  tabulate n (\i -> loop acc = 0 for e < offsets[i + 1] - offsets[i] do f acc (element (offsets[i] + e)))

-- Sums of rows.
-- ==
-- entry: sums
-- input { 0i64 1i64 0i64 } output { true }
-- input { 1i64 2i64 0i64 } output { true }
-- input { 1i64 1i64 1000i64 } output { true }
-- input { 3i64 2i64 5000i64 } output { true }
-- input { 200i64 300i64 0i64 } output { true }
-- input { 300i64 7i64 33i64 } output { true }
-- input { 300i64 97i64 700i64 } output { true }
-- input { 700i64 300i64 4500i64 } output { true }

entry sums (n: i64) (many: i64) (large: i64) : bool =
  let sizes = some_sizes n many large
  let offsets = offsets_of sizes
  let values = tabulate (last offsets) element
  let found = tabulate n (\i -> i64.sum values[offsets[i]:offsets[i + 1]])
  in and (map2 (==) found (each_row offsets (+) sizes))

-- An operator that does not commute, on pairs, over what the row's own factor makes of its elements.
-- ==
-- entry: maps
-- input { 0i64 1i64 0i64 } output { true }
-- input { 5i64 2i64 40i64 } output { true }
-- input { 260i64 9i64 70i64 } output { true }
-- input { 300i64 150i64 900i64 } output { true }

entry maps (n: i64) (many: i64) (large: i64) : bool =
  let sizes = some_sizes n many large
  let offsets = offsets_of sizes
  let values = tabulate (last offsets) element
  let after (a, b) (c, d) = (a * c, b * c + d) : (i32, i32)
  let found = tabulate n (\i ->
    let factor = i32.i64 i * 2 + 1
    in reduce after (1, 0) (map (\x -> (factor, i32.i64 x)) values[offsets[i]:offsets[i + 1]]))
  let wanted = tabulate n (\i ->
    let factor = i32.i64 i * 2 + 1
    in loop acc = (1, 0) for e < sizes[i] do after acc (factor, i32.i64 values[offsets[i] + e]))
  in and (map2 (==) (map (.0) found) (map (.0) wanted)) && and (map2 (==) (map (.1) found) (map (.1) wanted))

-- Reductions one after the other, each of what those before it gave, and something before and behind.
-- ==
-- entry: stages
-- input { 0i64 1i64 0i64 } output { true }
-- input { 4i64 2i64 300i64 } output { true }
-- input { 270i64 50i64 200i64 } output { true }

entry stages (n: i64) (many: i64) (large: i64) : bool =
  let sizes = some_sizes n many large
  let offsets = offsets_of sizes
  let values = tabulate (last offsets) element
  let rows = tabulate n (\i ->
    let row = values[offsets[i]:offsets[i + 1]]
    let most = i64.maximum row
    let where = reduce i64.min i64.highest (map2 (\x j -> if x == most then j else i64.highest) row (indices row))
    let further = i64.sum (map (\x -> x - most) (drop (i64.min where (length row)) row))
    in (i, most, where, further))
  let row_is (i, most, where, further) =
    let size = sizes[i]
    let (best, at) = loop (best, at) = (i64.lowest, i64.highest) for e < size do
      let x = values[offsets[i] + e]
      in if x > best then (x, e) else (best, at)
    let rest = loop sum = 0 for e < size do
      if e >= at then sum + values[offsets[i] + e] - best else sum
    in most == best && where == at && further == rest
  in all row_is rows

-- Several reductions of a row in one, in a nest of two levels.
-- ==
-- entry: triangles
-- input { 0i64 3i64 } output { true }
-- input { 1i64 1i64 } output { true }
-- input { 40i64 3i64 } output { true }
-- input { 3i64 200i64 } output { true }

entry triangles (n: i64) (m: i64) : bool =
  let found = tabulate_2d n m (\i j ->
    let row = map (\k -> (k * i + j) % 17) (iota (i * j))
    in (i64.sum row, i64.maximum row, or (map (== 3) row)))
  let wanted = tabulate_2d n m (\i j ->
    loop (sum, most, any3) = (0, i64.lowest, false) for k < i * j do
      let x = (k * i + j) % 17
      in (sum + x, i64.max most x, any3 || x == 3))
  in and (map2 (==) (flatten found |> map (.0)) (flatten wanted |> map (.0)))
     && and (map2 (==) (flatten found |> map (.1)) (flatten wanted |> map (.1)))
     && and (map2 (==) (flatten found |> map (.2)) (flatten wanted |> map (.2)))

-- What rows reduce to goes where the program says: into an array, a histogram, a sum, a scan.
-- ==
-- entry: onward
-- input { 0i64 } output { true }
-- input { 2i64 } output { true }
-- input { 310i64 } output { true }

entry onward (n: i64) : bool =
  let sizes = some_sizes n 90 400
  let offsets = offsets_of sizes
  let values = tabulate (last offsets) element
  let row_sum i = i64.sum values[offsets[i]:offsets[i + 1]]
  let wanted = each_row offsets (+) sizes
  let written = scatter (replicate n (-1)) (map (\i -> n - 1 - i) (iota n)) (tabulate n row_sum)
  let counted = hist (+) 0 5 (map (% 5) (iota n)) (tabulate n row_sum)
  let total = i64.sum (tabulate n row_sum)
  let so_far = scan (+) 0 (tabulate n row_sum)
  in and (map2 (==) (reverse written) wanted)
     && total == i64.sum values
     && and (tabulate 5 (\b -> counted[b] == i64.sum (map2 (\i x -> if i % 5 == b then x else 0) (iota n) wanted)))
     && and (map2 (==) so_far (scan (+) 0 wanted))

-- Rows as records with small arrays, and a row of a matrix for each element.
-- ==
-- entry: vectors
-- input { 0i64 2i64 } output { true }
-- input { 100i64 3i64 } output { true }

type point = {x: i64, y: i64}

entry vectors (n: i64) (d: i64) : bool =
  let sizes = some_sizes n 40 100
  let offsets = offsets_of sizes
  let points = tabulate (last offsets) (\e -> {x = element e, y = element (e + 1)})
  let weights = tabulate_2d n d (\i j -> i + j)
  let found = map2 (\i (w: [d]i64) ->
      let p: point = reduce (\(p: point) (q: point) -> {x = p.x + q.x, y = i64.max p.y q.y}) {x = 0, y = 0}
                            points[offsets[i]:offsets[i + 1]]
      in map (\v -> v * p.x + p.y) w)
    (iota n) weights
  let wanted = tabulate_2d n d (\i j ->
    let (x, y) = loop (x, y) = (0, 0) for e < sizes[i] do
      (x + element (offsets[i] + e), i64.max y (element (offsets[i] + e + 1)))
    in (i + j) * x + y)
  in all id (flatten (map2 (map2 (==)) found wanted))

-- A row that does not exist, an element that is none, a result that is used as an index: checks keep their messages.
-- ==
-- entry: bad_row
-- input { [0i64, 3i64, 5i64] } output { [3i64, 7i64] }
-- input { [0i64, 3i64, 600i64] } error: out of bounds
-- input { [4i64, 3i64, 5i64] } error: out of bounds

entry bad_row [n] (offsets: [n]i64) : []i64 =
  let values = iota 500
  in tabulate (n - 1) (\i -> i64.sum values[offsets[i]:offsets[i + 1]])

-- ==
-- entry: bad_element
-- input { 300i64 30i64 500i64 } output { true }
-- input { 300i64 30i64 20i64 } error: out of bounds
-- input { 3i64 500i64 40i64 } error: out of bounds

entry bad_element (n: i64) (size: i64) (bound: i64) : bool =
  let table = iota bound
  let found = tabulate n (\i -> i64.sum (map (\j -> table[j]) (iota (size + i % 3 - 1))))
  in and (map2 (\i x -> let k = size + i % 3 - 1 in x == k * (k - 1) / 2) (iota n) found)

-- ==
-- entry: bad_result
-- input { 200i64 60i64 } output { true }
-- input { 200i64 50i64 } error: out of bounds

entry bad_result (n: i64) (bound: i64) : bool =
  let table = iota bound
  let found = tabulate n (\i -> table[i64.maximum (map (\j -> (j * 7) % 60) (iota (60 + i)))])
  in all (== 59) found
