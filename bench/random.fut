-- Random numbers of benchmark programs: a hash of a seed and a counter, so that each is made on its own.

def scramble (x: u32) : u32 =
  let x = (x ^ (x >> 16)) * 0x7feb352d
  let x = (x ^ (x >> 15)) * 0x846ca68b
  in x ^ (x >> 16)

def random_u32 (seed: i64) (i: i64) : u32 =
  scramble (u32.i64 i ^ scramble (u32.i64 seed + 0x9e3779b9))

-- | From 0 to limit - 1.
def random_below (limit: i64) (seed: i64) (i: i64) : i64 =
  i64.u32 (random_u32 seed i) % limit

-- | In [0, 1), a multiple of 2^-24.
def random_f32 (seed: i64) (i: i64) : f32 =
  f32.u32 (random_u32 seed i >> 8) / 16777216

-- | In [-1, 1).
def random_sign_f32 (seed: i64) (i: i64) : f32 = 2 * random_f32 seed i - 1

def random_matrix (h: i64) (w: i64) (seed: i64) : [h][w]f32 =
  tabulate_2d h w (\i j -> random_sign_f32 seed (i * w + j))
