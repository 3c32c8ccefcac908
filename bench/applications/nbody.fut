-- Bodies that attract each other, all pairs, moved in a few steps.
-- ==
-- entry: nbody
-- script input { make_nbody 30i64 1i64 } auto output

-- ==
-- entry: check_nbody
-- input { 50i64 1i64 } output { true }

import "../random"

type vector = {x: f32, y: f32, z: f32}
type body = {place: vector, speed: vector, mass: f32}

def plus (a: vector) (b: vector) : vector = {x = a.x + b.x, y = a.y + b.y, z = a.z + b.z}
def times (k: f32) (a: vector) : vector = {x = k * a.x, y = k * a.y, z = k * a.z}
def zero : vector = {x = 0, y = 0, z = 0}

def pull (on: vector) (from: body) : vector =
  let d = from.place `plus` times (-1) on
  let near = d.x * d.x + d.y * d.y + d.z * d.z + 0.01
  in times (from.mass / (near * f32.sqrt near)) d

def moved [n] (dt: f32) (bodies: [n]body) : [n]body =
  let move (b: body) =
    let force = reduce_comm plus zero (map (pull b.place) bodies)
    let speed = b.speed `plus` times dt force
    in {place = b.place `plus` times dt speed, speed, mass = b.mass}
  in map move bodies

entry make_nbody (n: i64) (seed: i64) : ([n]f32, [n]f32, [n]f32, [n]f32, i64) =
  let along k = tabulate n (random_sign_f32 (seed + k))
  in (along 0, along 1, along 2, map (\m -> (m + 1.5) / f32.i64 n) (along 3), 2)

def simulated [n] (xs: [n]f32) (ys: [n]f32) (zs: [n]f32) (masses: [n]f32) (steps: i64) : [n]body =
  let bodies = map4 (\x y z mass -> {place = {x, y, z}, speed = zero, mass}) xs ys zs masses
  in loop bodies for _i < steps do moved 0.01 bodies

entry nbody [n] (xs: [n]f32) (ys: [n]f32) (zs: [n]f32) (masses: [n]f32) (steps: i64)
    : ([n]f32, [n]f32, [n]f32) =
  unzip3 (map (\(b: body) -> (b.place.x, b.place.y, b.place.z)) (simulated xs ys zs masses steps))

-- Every pull has its counterpart: the momentum of all stays zero.
entry check_nbody (n: i64) (seed: i64) : bool =
  let (xs, ys, zs, masses, steps) = make_nbody n seed
  let bodies = simulated xs ys zs masses steps
  let all = reduce plus zero (map (\(b: body) -> times b.mass b.speed) bodies)
  in f32.abs all.x + f32.abs all.y + f32.abs all.z < 1e-5
