-- One block of a transformer in f32: attention by heads, then two dense layers, each with a norm
-- before it and a sum with what came in.
-- ==
-- entry: transformer
-- script input { make_transformer 6i64 2i64 4i64 1i64 } auto output

-- ==
-- entry: check_transformer
-- input { 5i64 3i64 4i64 1i64 } output { true }

import "../random"

def product [n] [m] [p] (a: [n][m]f32) (b: [m][p]f32) : [n][p]f32 =
  map (\row -> map (\column -> f32.sum (map2 (*) row column)) (transpose b)) a

def softmax [n] (xs: [n]f32) : [n]f32 =
  let top = f32.maximum xs
  let powers = map (\x -> f32.exp (x - top)) xs
  let sum = f32.sum powers
  in map (/ sum) powers

def normed [n] (xs: [n]f32) : [n]f32 =
  let mean = f32.sum xs / f32.i64 n
  let variance = f32.sum (map (\x -> (x - mean) * (x - mean)) xs) / f32.i64 n
  in map (\x -> (x - mean) / f32.sqrt (variance + 1e-5)) xs

def soft_gate (x: f32) : f32 =
  0.5 * x * (1 + f32.tanh (0.79788456 * (x + 0.044715 * x * x * x)))

-- | s tokens; heads of width e, h of them; dense layers are four times as wide.
entry make_transformer (s: i64) (h: i64) (e: i64) (seed: i64)
    : ([s][]f32, [h][][e]f32, [h][][e]f32, [h][][e]f32, [h][e][]f32, [][]f32, [][]f32) =
  let d = h * e
  let f = 4 * d
  let scale = 1 / f32.sqrt (f32.i64 d)
  let weights a b c seed = tabulate_3d a b c (\i j k -> scale * random_sign_f32 seed ((i * b + j) * c + k))
  in ( random_matrix s d seed
     , weights h d e (seed + 1), weights h d e (seed + 2), weights h d e (seed + 3), weights h e d (seed + 4)
     , map (map (* scale)) (random_matrix d f (seed + 5)), map (map (* scale)) (random_matrix f d (seed + 6)))

def attention [s] [d] [h] [e] (x: [s][d]f32) (wq: [h][d][e]f32) (wk: [h][d][e]f32) (wv: [h][d][e]f32)
                              (wo: [h][e][d]f32) : [s][d]f32 =
  let head wq wk wv =
    let (q, k, v) = (product x wq, product x wk, product x wv)
    let scores = map (map (/ f32.sqrt (f32.i64 e))) (product q (transpose k))
    in product (map softmax scores) v
  let heads = map3 head wq wk wv
  in product (map flatten (transpose heads)) (flatten wo)

entry transformer [s] [d] [h] [e] [f] (x: [s][d]f32) (wq: [h][d][e]f32) (wk: [h][d][e]f32)
                                      (wv: [h][d][e]f32) (wo: [h][e][d]f32)
                                      (w1: [d][f]f32) (w2: [f][d]f32) : [s][d]f32 =
  let x = map2 (map2 (+)) x (attention (map normed x) wq wk wv wo)
  let dense = product (map (map soft_gate) (product (map normed x) w1)) w2
  in map2 (map2 (+)) x dense

-- Without positions, the order of the tokens does not matter to any of them.
entry check_transformer (s: i64) (h: i64) (e: i64) (seed: i64) : bool =
  let (x, wq, wk, wv, wo, w1, w2) = make_transformer s h e seed
  let d = h * e
  let f = 4 * d
  let block (x: [s][d]f32) =
    transformer x (wq :> [h][d][e]f32) (wk :> [h][d][e]f32) (wv :> [h][d][e]f32)
                (wo :> [h][e][d]f32) (w1 :> [d][f]f32) (w2 :> [f][d]f32)
  let x = x :> [s][d]f32
  let near a b = f32.abs (a - b) < 0.001
  in and (map2 near (flatten (reverse (block x))) (flatten (block (reverse x))))
