-- A layer of long short-term memory over a batch of sequences, its loss against targets, and the gradient of
-- that with regard to its weights.
-- ==
-- entry: loss gradient
-- script input { make_recurrent 3i64 4i64 5i64 2i64 1i64 } auto output

-- ==
-- entry: check_recurrent
-- input { 3i64 4i64 5i64 2i64 1i64 } output { true }

import "../random"

type layer [h] [d] = {inner: [4][h][d]f32, outer: [4][h][h]f32, bias: [4][h]f32}

def random_table (a: i64) (b: i64) (scale: f32) (seed: i64) : [4][a][b]f32 =
  tabulate_3d 4 a b (\g i j -> scale * random_sign_f32 seed ((g * a + i) * b + j))

def sigmoid (x: f32) : f32 = 1 / (1 + f32.exp (-x))

def product [n] [m] [k] (a: [n][k]f32) (b: [m][k]f32) : [n][m]f32 =
  map (\x -> map (\y -> f32.sum (map2 (*) x y)) b) a

def run [steps] [batch] [h] [d] (l: layer [h] [d]) (inputs: [steps][batch][d]f32) (target: [batch][h]f32) : f32 =
  let zeros = replicate batch (replicate h 0f32)
  let (out, _) =
    loop (out, cell) = (zeros, zeros) for x in inputs do
      let gate g = map2 (map3 (\b y z -> b + y + z) l.bias[g]) (product x l.inner[g]) (product out l.outer[g])
      let (forget, input, output, change) = (gate 0, gate 1, gate 2, gate 3)
      let cell =
        map4 (map4 (\c f i n -> c * sigmoid f + sigmoid i * f32.tanh n)) cell forget input change
      in (map2 (map2 (\c o -> sigmoid o * f32.tanh c)) cell output, cell)
  in f32.sum (map2 (\o t -> f32.sum (map2 (\a b -> (a - b) * (a - b)) o t)) out target) / f32.i64 batch

entry make_recurrent (steps: i64) (batch: i64) (h: i64) (d: i64) (seed: i64)
    : ([4][h][d]f32, [4][h][h]f32, [4][h]f32, [steps][batch][d]f32, [batch][h]f32) =
  ( random_table h d (1 / f32.sqrt (f32.i64 d)) seed
  , random_table h h (1 / f32.sqrt (f32.i64 h)) (seed + 1)
  , tabulate_2d 4 h (\g i -> random_sign_f32 (seed + 2) (g * h + i))
  , tabulate_3d steps batch d (\s i j -> random_sign_f32 (seed + 3) ((s * batch + i) * d + j))
  , random_matrix batch h (seed + 4))

entry loss [steps] [batch] [h] [d] (inner: [4][h][d]f32) (outer: [4][h][h]f32) (bias: [4][h]f32)
    (inputs: [steps][batch][d]f32) (target: [batch][h]f32) : f32 =
  run {inner, outer, bias} inputs target

entry gradient [steps] [batch] [h] [d] (inner: [4][h][d]f32) (outer: [4][h][h]f32) (bias: [4][h]f32)
    (inputs: [steps][batch][d]f32) (target: [batch][h]f32) : ([4][h][d]f32, [4][h][h]f32, [4][h]f32) =
  let g = vjp (\l -> run l inputs target) {inner, outer, bias} 1
  in (g.inner, g.outer, g.bias)

-- A step along the gradient changes the loss by the step and the gradient's square.
entry check_recurrent (steps: i64) (batch: i64) (h: i64) (d: i64) (seed: i64) : bool =
  let (inner, outer, bias, inputs, target) = make_recurrent steps batch h d seed
  let (i, o, b) = gradient inner outer bias inputs target
  let square = f32.sum (map (** 2) (flatten_3d i ++ flatten_3d o ++ flatten b))
  let step [m] s (xs: [m]f32) (gs: [m]f32) = map2 (\x g -> x + s * g) xs gs
  let table [a] [b] s (xs: [4][a][b]f32) (gs: [4][a][b]f32) = map2 (map2 (step s)) xs gs
  let at s = run { inner = table s inner i, outer = table s outer o
                 , bias = map2 (step s) bias b } inputs target
  let s = 1e-2
  in f32.abs ((at s - at (-s)) / (2 * s) - square) < 1e-2 * square
