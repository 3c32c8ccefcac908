-- A layer of a neural network for pictures: kernels of 3 by 3 over all channels, ReLU, and the greatest of each 2 by 2;
-- directly, and as a product of matrices.
-- ==
-- entry: layer_direct
-- script input { make_layer 2i64 3i64 4i64 4i64 6i64 1i64 } auto output

-- ==
-- entry: layer_product
-- script input { make_layer 2i64 3i64 4i64 4i64 6i64 1i64 } auto output

-- ==
-- entry: layer_direct layer_product
-- input { [[[[1f32, 2], [3, 4]]]] [[[[0f32, 0, 0], [0, 2, 0], [0, 1, 0]]]] [-0.5f32] } output { [[[[7.5f32]]]] }

-- ==
-- entry: check_layer
-- input { 2i64 3i64 } output { true }

import "../random"

-- | A channel's value, zero outside.
def at [h] [w] (xs: [h][w]f32) (i: i64) (j: i64) : f32 =
  if i >= 0 && i < h && j >= 0 && j < w then xs[i, j] else 0

def relu (x: f32) : f32 = f32.max 0 x

def pool [h] [w] (xs: [h][w]f32) : [h / 2][w / 2]f32 =
  tabulate_2d (h / 2) (w / 2) (\i j -> f32.max (f32.max xs[2 * i, 2 * j] xs[2 * i, 2 * j + 1])
                                              (f32.max xs[2 * i + 1, 2 * j] xs[2 * i + 1, 2 * j + 1]))

def convolve [c] [h] [w] (xs: [c][h][w]f32) (kernel: [c][3][3]f32) : [h][w]f32 =
  tabulate_2d h w (\i j ->
    map2 (\x k -> f32.sum (map (\a -> f32.sum (map (\b -> k[a, b] * at x (i + a - 1) (j + b - 1)) (iota 3))) (iota 3)))
         xs kernel |> f32.sum)

def matmul [n] [m] [p] (a: [n][m]f32) (b: [m][p]f32) : [n][p]f32 =
  map (\row -> map (\column -> map2 (*) row column |> f32.sum) (transpose b)) a

entry make_layer (n: i64) (c: i64) (k: i64) (h: i64) (w: i64) (seed: i64)
    : ([n][c][h][w]f32, [k][c][3][3]f32, [k]f32) =
  let pictures = tabulate n (\i -> tabulate_3d c h w (\j y x -> random_sign_f32 seed (((i * c + j) * h + y) * w + x)))
  let kernels = tabulate k (\i -> tabulate_3d c 3 3 (\j y x -> random_sign_f32 (seed + 1) (((i * c + j) * 3 + y) * 3 + x)))
  in (pictures, kernels, tabulate k (random_sign_f32 (seed + 2)))

entry layer_direct [n] [c] [h] [w] [k] (pictures: [n][c][h][w]f32) (kernels: [k][c][3][3]f32) (bias: [k]f32)
    : [n][k][h / 2][w / 2]f32 =
  map (\xs -> map2 (\kernel b -> convolve xs kernel |> map (map (\v -> relu (v + b))) |> pool) kernels bias) pictures

entry layer_product [n] [c] [h] [w] [k] (pictures: [n][c][h][w]f32) (kernels: [k][c][3][3]f32) (bias: [k]f32)
    : [n][k][h / 2][w / 2]f32 =
  let rows = map flatten_3d kernels
  let columns (xs: [c][h][w]f32) : [c * 3 * 3][h * w]f32 =
    tabulate_3d c 3 3 (\j a b -> flatten (tabulate_2d h w (\y x -> at xs[j] (y + a - 1) (x + b - 1)))) |> flatten_3d
  in map (\xs -> matmul rows (columns xs)
                 |> map2 (\b row -> pool (unflatten (map (\v -> relu (v + b)) row))) bias) pictures

entry check_layer (n: i64) (c: i64) : bool =
  let (pictures, kernels, bias) = make_layer n c 5 6 8 3
  let a = layer_direct pictures kernels bias |> flatten_4d
  let b = layer_product pictures kernels bias |> flatten_4d
  in and (map2 (\x y -> f32.abs (x - y) < 1e-4) a b) && f32.minimum a >= 0 && f32.maximum a > 0
