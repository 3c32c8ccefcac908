-- Programs whose derivatives go through several rules at once: reverse mode, forward mode and central
-- differences agree.

def near (a: f64) (b: f64) = f64.abs (a - b) <= 1e-5 * (1 + f64.abs a + f64.abs b)

def agrees [n] (f: [n]f64 -> f64) (xs: [n]f64) : bool =
  let unit i = tabulate n (\j -> f64.bool (i == j))
  let h = 1e-5
  let slope i =
    let moved by = f (map2 (\x u -> x + by * u) xs (unit i))
    in (moved h - moved (-h)) / (2 * h)
  let reverse = vjp f xs 1
  let forward = tabulate n (\i -> jvp f xs (unit i))
  in and (map2 near reverse forward) && and (map2 near forward (tabulate n slope))

-- ==
-- entry: reverse_of_forward forward_of_reverse reverse_of_reverse
-- input { [0.5, 1.25, 2.0, 0.75, 1.5] } output { true }
-- input { [1.5] } output { true }
-- input { empty([0]f64) } output { true }

-- Derivatives of derivatives along a direction.
def bent [n] (ys: [n]f64) = f64.sum (map2 (\y i -> f64.sin (y * f64.i64 (i + 1)) * ys[(i * 3 + 1) % n]) ys (iota n))

entry reverse_of_forward [n] (xs: [n]f64) : bool =
  agrees (\ys -> jvp bent ys (map (\y -> y * y) ys)) xs

entry forward_of_reverse [n] (xs: [n]f64) : bool =
  agrees (\ys -> f64.sum (map2 (*) (vjp bent ys 1) ys)) xs

entry reverse_of_reverse [n] (xs: [n]f64) : bool =
  agrees (\ys -> f64.sum (map (** 2) (vjp (\zs -> f64.sum (map2 (*) (vjp bent zs 1) ys)) ys 1))) xs

-- ==
-- entry: records choices counted_while in_place
-- input { [0.5, 1.25, 2.0, 0.75, 1.5] } output { true }
-- input { [1.5] } output { true }
-- input { empty([0]f64) } output { true }

type body = {at: (f64, f64), mass: f64, tag: i32}

-- Gradients of functions of records, in a map.
entry records [n] (xs: [n]f64) : bool =
  let energy (b: body) = b.mass * (f64.hypot b.at.0 b.at.1 + f64.i32 b.tag)
  in agrees (\ys ->
       let bodies = map2 (\y i -> {at = (y, ys[n - 1 - i] + 1), mass = 1 + y * y, tag = i32.i64 i}) ys (iota n)
       let forces = map (\b -> vjp energy b 1) bodies
       in f64.sum (map (\f -> f.mass * f.at.0 + f64.sin f.at.1) forces)) xs

type choice = #none | #one f64 | #two f64 [2]f64

entry choices [n] (xs: [n]f64) : bool =
  let choose (i: i64) (y: f64) : choice =
    if i % 3 == 0 then #none else if i % 3 == 1 then #one (y * y) else #two y [y + 1, f64.exp y]
  let value (c: choice) : f64 =
    match c
    case #none -> 2
    case #one y -> f64.sin y
    case #two y ys -> y * ys[0] + ys[1]
  in agrees (\ys -> f64.sum (map value (map2 choose (iota n) ys))) xs
     && agrees (\ys -> f64.sum (map2 (\i y -> value (loop c = choose i y for j < i do
                  match c
                  case #none -> #one (y + 1)
                  case #one z -> #two (z * y) [z, y]
                  case #two z zs -> #two (z + zs[0]) [zs[1], f64.cos z])) (iota n) ys)) xs

-- How often a loop runs depends on the values.
entry counted_while [n] (xs: [n]f64) : bool =
  agrees (\ys -> f64.sum (map (\y ->
    (loop (a, b, k) = (y, 1, 0i32) while a * b < 9.3 && k < 40 do (a * 1.3 + b / 5, b + a / 7, k + 1)).0) ys)) xs
  && agrees (\ys -> (loop (a, zs) = (0.3, copy ys) while a < 4 && n > 0 do
       let zs = zs with [i64.f64 (a * 3) % n] = zs[i64.f64 a % n] * a + 1
       in (a + 0.7, zs)) |> \(a, zs) -> a * f64.sum zs) xs

-- What an update overwrites was needed before.
entry in_place [n] (xs: [n]f64) : bool =
  agrees (\ys -> f64.sum (loop zs = copy ys for i < n do
    let zs = zs with [i] = f64.sin zs[i] * zs[n - 1 - i]
    in zs with [(i * 2) % n] = zs[i] * zs[i])) xs
  && agrees (\ys -> f64.sum (flatten (loop zss = replicate 3 (copy ys) for i < n do
       let row = map2 (*) zss[i % 3] zss[(i + 1) % 3]
       let zss[i % 3] = copy row
       in zss with [(i + 2) % 3, i] = row[i] + zss[0, i]))) xs

-- ==
-- entry: bins scattered matrices selected streams
-- input { [0.5, 1.25, 2.0, 0.75, 1.5] } output { true }
-- input { [1.5] } output { true }
-- input { empty([0]f64) } output { true }

-- Histograms by products, by the extreme, by an operator of their own, of pairs.
entry bins [n] (xs: [n]f64) : bool =
  let at = map (\i -> (i * i) % 3) (iota n)
  in agrees (\ys -> f64.sum (map f64.sin (reduce_by_index (replicate 4 1.5) (*) 1 at ys))) xs
     && agrees (\ys -> f64.sum (map f64.exp (reduce_by_index (replicate 4 0.1) f64.min f64.inf at (map (* 2) ys)))) xs
     && agrees (\ys -> f64.sum (map f64.sin (reduce_by_index (replicate 4 0.2) (\a b -> a + b + a * b) 0 at ys))) xs
     && agrees (\ys ->
          let (a, b) = unzip (reduce_by_index (replicate 4 (0.5, 1)) (\(a, b) (c, d) -> (a + c, b * d)) (0, 1) at
                                              (zip ys (map (+ 1) ys)))
          in f64.sum (map2 (*) a b)) xs
     && agrees (\ys ->
          f64.sum (flatten (reduce_by_index (replicate 2 [1, 2]) (map2 (*)) [1, 1] (map (% 2) at)
                                            (map (\y -> [y, y * y + 1]) ys)))) xs

entry scattered [n] (xs: [n]f64) : bool =
  let to = map (\i -> (i * 3 + 1) % (n + 2)) (iota n)
  in agrees (\ys -> f64.sum (map2 (*) (scatter (copy ys) (map (\i -> n - 1 - i) (iota n)) (map (** 2) ys)) ys)) xs
     && agrees (\ys -> f64.sum (map f64.sin (scatter (replicate (n + 2) (f64.sum ys)) to ys))) xs

-- Products of 2x2 matrices one after the other.
entry matrices [n] (xs: [n]f64) : bool =
  let mul (a, b, c, d) (e, f, g, h) : (f64, f64, f64, f64) = (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)
  let one = (1, 0, 0, 1)
  let product (a: [2][2]f64) (b: [2][2]f64) = map (\r -> map (\c -> f64.sum (map2 (*) r c)) (transpose b)) a
  in agrees (\ys ->
       f64.sum (map (\(a, b, c, d) -> a * d + f64.sin (b + c))
                    (scan mul one (map2 (\y i -> (y, 1, f64.i64 i / 3, y * y)) ys (iota n))))) xs
     && agrees (\ys -> let (a, b, c, d) = reduce mul one (map (\y -> (y, 1, 0.5, f64.cos y)) ys) in a + b * c - d) xs
     && agrees (\ys -> f64.sum (flatten (reduce product [[1, 0], [0, 1]] (map (\y -> [[y, 1], [0.5, y]]) ys)))) xs
     && agrees (\ys -> f64.sum (flatten (flatten (scan product [[1, 0], [0, 1]] (map (\y -> [[y, 1], [0.5, y]]) ys))))) xs

-- Elements that were selected by other numbers.
entry selected [n] (xs: [n]f64) : bool =
  let even = map (\i -> i % 2 == 0) (iota n)
  in agrees (\ys -> f64.sum (map (\(y, _) -> f64.sin y) (filter (.1) (zip ys even)))) xs
     && agrees (\ys -> let (a, b) = partition (\(_, e) -> e) (zip ys even)
                       in f64.sum (map (\(y, _) -> y * y) a) + f64.product (map (.0) b)) xs

def write [k] (acc: *intrinsics.acc ([k]f64)) (i: i64) (v: f64) : *intrinsics.acc ([k]f64) = intrinsics.acc_write acc i v

entry streams [n] (xs: [n]f64) : bool =
  agrees (\ys ->
    let f (acc: *intrinsics.acc ([4]f64)) (y, i) = loop (acc: *intrinsics.acc ([4]f64)) = acc for j < 3 do write acc ((i + j) % 4) (y * f64.i64 (j + 1))
    let sums = intrinsics.hist_stream (replicate 4 0.5) (+) 0 f (zip ys (iota n)) :> [4]f64
    in f64.sum (map f64.sin sums)) xs

-- ==
-- entry: extremes
-- input { [0.5, 2.0, 2.0, 0.75] } output { [0.0, 1.0, 0.0, 0.0] [1.0, 0.0, 0.0, 0.0] [0.0, 0.0, 0.0, 0.0] }
-- input { [f64.nan, 2.0, -1.0, 0.75] } output { [0.0, 1.0, 0.0, 0.0] [0.0, 0.0, 1.0, 0.0] [0.0, 0.0, 0.0, 0.0] }
-- input { [-f64.inf, f64.inf] } output { [0.0, 1.0] [1.0, 0.0] [0.0, 0.0] }
-- input { empty([0]f64) } output { empty([0]f64) empty([0]f64) empty([0]f64) }
entry extremes [n] (xs: [n]f64) =
  (vjp f64.maximum xs 1, vjp f64.minimum xs 1, vjp (reduce f64.max 1e300 <-< map (f64.min 5)) xs 1)

-- ==
-- entry: recursive
-- input { [0.5, 1.25, 2.0, 0.75, 1.5] } output { true }
def power (x: f64) (n: i64) : f64 = if n <= 0 then x else power (x * 1.1 + f64.i64 n) (n - 1)
entry recursive [n] (xs: [n]f64) : bool =
  agrees (\ys -> f64.sum (map2 power ys (iota n))) xs
  && agrees (\ys -> f64.sum (map2 (\y i -> vjp (\z -> power (z * z) i) y 1) ys (iota n))) xs

-- ==
-- entry: restarted pairs_of_rows bins_of_bins
-- input { [0.5, 1.25, 2.0, 0.75, 1.5] } output { true }
-- input { [1.5] } output { true }
-- input { empty([0]f64) } output { true }

-- A loop whose body reads what its param is at first; not all of these loops run.
entry restarted [n] (xs: [n]f64) : bool =
  agrees (\ys -> f64.sum (map (\i -> f64.sum (loop zs = ys for _j < i % 2 do map f64.sin ys)) (iota n))) xs
  && agrees (\ys -> f64.sum (loop zs = ys for _j < n - 1 do map2 (\y z -> f64.sin y - z) ys zs)) xs

-- An operator on a number and a row.
entry pairs_of_rows [n] (xs: [n]f64) : bool =
  agrees (\ys ->
    let (a, bs) = reduce (\(a, bs) (c, ds) -> (a * c, map2 (*) bs ds)) (1, replicate n 1)
                         (map (\y -> (y, map (+ y) ys)) ys)
    in a + f64.sum bs) xs

-- The way back through a histogram by products is a scan of truth values and numbers.
entry bins_of_bins [n] (xs: [n]f64) : bool =
  agrees (\ys ->
    f64.sum (map (\y ->
      f64.sum (map (\z -> vjp (\u -> f64.sum (hist (*) 1 3 (map (% 2) (iota n)) (map (* u) ys))) z y) ys)) ys)) xs
