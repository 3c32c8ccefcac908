-- A gas that flows on a lattice (the lattice Boltzmann method D2Q9): at every point nine numbers say how much of it
-- goes in which direction; these move by a step, and collide. Once the numbers of a point lie side by side, once
-- those of a direction do.
-- ==
-- entry: by_points
-- script input { make_points 9i64 14i64 1i64 } auto output

-- ==
-- entry: by_directions
-- script input { make_directions 9i64 14i64 1i64 } auto output

-- ==
-- entry: check_lattice
-- input { 12i64 17i64 1i64 } output { true }

import "../random"

def across : [9]i64 = [0, 1, 0, -1, 0, 1, -1, -1, 1]
def down : [9]i64 = [0, 0, 1, 0, -1, 1, 1, -1, -1]
def weights : [9]f32 = [4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36]

def collided (f: [9]f32) : [9]f32 =
  let mass = f32.sum f
  let x = f32.sum (map2 (\c n -> f32.i64 c * n) across f) / mass
  let y = f32.sum (map2 (\c n -> f32.i64 c * n) down f) / mass
  let at_rest = 1 - 1.5 * (x * x + y * y)
  let relaxed w a b n =
    let c = 3 * (f32.i64 a * x + f32.i64 b * y)
    in n + 0.6 * (w * mass * (at_rest + c + 0.5 * c * c) - n)
  in map4 relaxed weights across down f

-- What comes to a point; behind the border the lattice begins again.
def arriving (h: i64) (w: i64) (at: i64 -> i64 -> i64 -> f32) (i: i64) (j: i64) : [9]f32 =
  map3 (\k a b -> at k ((i - b) % h) ((j - a) % w)) (iota 9) across down

def start (h: i64) (w: i64) (seed: i64) (k: i64) (i: i64) (j: i64) : f32 =
  weights[k] * (1 + 0.2 * random_f32 seed ((i * w + j) * 9 + k) + f32.i64 (i / 4 % 2) * f32.i64 h / 100)

entry make_points (h: i64) (w: i64) (seed: i64) : ([h][w][9]f32, i64) =
  (tabulate_3d h w 9 (\i j k -> start h w seed k i j), 10)

entry make_directions (h: i64) (w: i64) (seed: i64) : ([9][h][w]f32, i64) =
  (tabulate_3d 9 h w (start h w seed), 10)

entry by_points [h] [w] (gas: [h][w][9]f32) (steps: i64) : [h][w][9]f32 =
  loop (g: [h][w][9]f32) = gas for _i < steps do
    tabulate_2d h w (\i j -> collided (arriving h w (\k i j -> g[i, j, k]) i j))

entry by_directions [h] [w] (gas: [9][h][w]f32) (steps: i64) : [9][h][w]f32 =
  loop (g: [9][h][w]f32) = gas for _i < steps do
    transpose (map transpose (tabulate_2d h w (\i j -> collided (arriving h w (\k i j -> g[k, i, j]) i j))))

-- Nothing is lost, it does not matter how the numbers lie, and what moves at first comes to rest.
entry check_lattice (h: i64) (w: i64) (seed: i64) : bool =
  let (points, _) = make_points h w seed
  let after = by_points points 40
  let turned = by_directions (transpose (map transpose points)) 40
  let near a b = f32.abs (a - b) < 1e-4
  let mass gas = f32.sum (flatten_3d gas)
  let speed gas =
    f32.sum (map (\f -> f32.abs (f32.sum (map2 (\c n -> f32.i64 c * n) down f))) (flatten gas))
  in f32.abs (mass points - mass after) < 1e-3 * mass points
     && and (flatten_3d (tabulate_3d h w 9 (\i j k -> after[i, j, k] `near` turned[k, i, j])))
     && speed after < speed points
