-- Logistic regression by steps along the gradient: products of a tall matrix and its transpose with vectors.
-- ==
-- entry: regression
-- script input { make_regression 100i64 5i64 1i64 } auto output

-- ==
-- entry: check_regression
-- input { 500i64 6i64 1i64 } output { true }

import "../random"

-- | Samples and their labels, which a hidden vector decides.
entry make_regression (n: i64) (d: i64) (seed: i64) : ([n][d]f32, [n]f32, i64) =
  let samples = random_matrix n d seed
  let label xs = f32.bool (f32.sum (map2 (*) xs (tabulate d (random_sign_f32 (seed + 1)))) > 0)
  in (samples, map label samples, 10)

def dot [d] (a: [d]f32) (b: [d]f32) : f32 = f32.sum (map2 (*) a b)

entry regression [n] [d] (samples: [n][d]f32) (labels: [n]f32) (steps: i64) : [d]f32 =
  loop weights = replicate d 0 for _i < steps do
    let errors = map2 (\xs y -> 1 / (1 + f32.exp (-(dot xs weights))) - y) samples labels
    let gradient = map (\column -> dot column errors / f32.i64 n) (transpose samples)
    in map2 (\w g -> w - 4 * g) weights gradient

-- Nine labels of ten are found again.
entry check_regression (n: i64) (d: i64) (seed: i64) : bool =
  let (samples, labels, steps) = make_regression n d seed
  let weights = regression samples labels steps
  let right = map2 (\xs y -> i64.bool ((dot xs weights > 0) == (y > 0.5))) samples labels
  in i64.sum right * 10 > n * 9
