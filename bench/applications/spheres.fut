-- An image of spheres that mirror each other: a ray per pixel, the nearest hit, up to four reflections.
-- ==
-- entry: spheres
-- script input { make_spheres 8i64 4i64 1i64 } auto output

-- ==
-- entry: check_spheres
-- input { 32i64 } output { true }

import "../random"

type vector = {x: f32, y: f32, z: f32}

def vec (x: f32) (y: f32) (z: f32) : vector = {x, y, z}
def plus (a: vector) (b: vector) : vector = vec (a.x + b.x) (a.y + b.y) (a.z + b.z)
def times (k: f32) (a: vector) : vector = vec (k * a.x) (k * a.y) (k * a.z)
def minus (a: vector) (b: vector) : vector = a `plus` times (-1) b
def dot (a: vector) (b: vector) : f32 = a.x * b.x + a.y * b.y + a.z * b.z
def unit (a: vector) : vector = times (1 / f32.sqrt (dot a a)) a

-- | How far along the ray it meets the sphere; infinity if not.
def meets (from: vector) (way: vector) (centre: vector, radius: f32) : f32 =
  let to = centre `minus` from
  let along = dot to way
  let under = radius * radius - (dot to to - along * along)
  let t = along - f32.sqrt (f32.max 0 under)
  in if under > 0 && t > 0.001 then t else f32.inf

def light : vector = unit (vec 0.5 0.8 (-0.6))

def sky (way: vector) : f32 = 0.5 + 0.4 * way.y

def brightness [k] (balls: [k](vector, f32)) (from: vector) (way: vector) : f32 =
  let (_, _, sum, weight, _, last) =
    loop (from, way, sum, weight, bounces, last) = (from, way, 0, 1, 0i32, sky way)
    while bounces < 4 && weight > 0 do
      let (at, t) =
        loop (at, t) = (-1, f32.inf) for i < k do
          let s = meets from way balls[i]
          in if s < t then (i, s) else (at, t)
      in if at < 0
         then (from, way, sum + weight * sky way, 0, bounces, last)
         else let point = from `plus` times t way
              let normal = unit (point `minus` balls[at].0)
              let shade = f32.max 0 (dot normal light)
              let back = way `minus` times (2 * dot way normal) normal
              in (point, back, sum + weight * 0.5 * shade, weight * 0.5, bounces + 1, sky back)
  in sum + weight * last

entry make_spheres (size: i64) (k: i64) (seed: i64) : (i64, [k]f32, [k]f32, [k]f32, [k]f32) =
  let along j = tabulate k (\i -> 3 * random_sign_f32 (seed + j) i)
  in (size, along 0, along 1, map (+ 7) (along 2), tabulate k (\i -> 0.3 + 0.7 * random_f32 (seed + 3) i))

entry spheres [k] (size: i64) (xs: [k]f32) (ys: [k]f32) (zs: [k]f32) (radii: [k]f32) : [size][size]f32 =
  let balls = map4 (\x y z r -> (vec x y z, r)) xs ys zs radii
  let place i = 2 * (f32.i64 i + 0.5) / f32.i64 size - 1
  in tabulate_2d size size (\i j -> brightness balls (vec 0 0 (-5)) (unit (vec (place j) (- place i) 1.5)))

-- Without spheres there is the sky; a sphere changes the middle alone.
entry check_spheres (size: i64) : bool =
  let bare = spheres size [] [] [] []
  let one = spheres size [0] [0] [0] [1]
  in all (\i -> bare[i, 0] == one[i, 0]) (iota size) && bare[size / 2, size / 2] != one[size / 2, size / 2]
