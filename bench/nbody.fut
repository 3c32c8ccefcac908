-- All pairs of bodies: a reduction inside a map, over records.
-- ==
-- entry: accelerations
-- random input { [100]f32 [100]f32 [100]f32 [100]f32 } auto output
-- random input { [1000]f32 [1000]f32 [1000]f32 [1000]f32 }
-- random input { [10000]f32 [10000]f32 [10000]f32 [10000]f32 }

type vec = {x: f32, y: f32, z: f32}

def add (a: vec) (b: vec) : vec = {x = a.x + b.x, y = a.y + b.y, z = a.z + b.z}

def pull (p: vec) (q: vec, mass: f32) : vec =
  let dx = q.x - p.x
  let dy = q.y - p.y
  let dz = q.z - p.z
  let r2 = dx * dx + dy * dy + dz * dz + 0.01
  let s = mass / (r2 * f32.sqrt r2)
  in {x = s * dx, y = s * dy, z = s * dz}

entry accelerations [n] (xs: [n]f32) (ys: [n]f32) (zs: [n]f32) (masses: [n]f32)
                        : ([n]f32, [n]f32, [n]f32) =
  let bodies = map3 (\x y z -> {x, y, z}) xs ys zs
  let on p = reduce add {x = 0, y = 0, z = 0} (map2 (\q m -> pull p (q, m)) bodies masses)
  in unzip3 (map (\p -> let a = on p in (a.x, a.y, a.z)) bodies)
