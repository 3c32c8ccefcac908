-- Elementary functions.
-- ==
-- entry: f32s
-- input { 0.5f32 }
-- output { [0.70710677f32, 0.47942555f32, 0.87758255f32, 0.5463025f32, 1.6487212f32, -0.6931472f32] }

-- ==
-- entry: f64s
-- input { 0.5f64 }
-- output { [0.7071067811865476, 0.479425538604203, 0.8775825618903728, 0.5463024898437905,
--           1.6487212707001282, -0.6931471805599453, 0.5235987755982989, 0.46364760900080615] }

-- ==
-- entry: roundings
-- input { 2.5f64 }
-- output { [2.0, 3.0, 2.0, 2.0] }
-- input { -3.5f64 }
-- output { [-4.0, -3.0, -4.0, -3.0] }

-- ==
-- entry: signs
-- input { -2.5f32 }
-- output { [2.5f32, -1.0f32, 2.5f32] }

-- ==
-- entry: angles
-- input { 1.0f64 -1.0f64 }
-- output { [2.356194490192345, 0.75] }

-- ==
-- entry: fractions
-- input { 1i64 4i64 }
-- output { 0.25 }

entry f32s (x: f32) = [f32.sqrt x, f32.sin x, f32.cos x, f32.tan x, f32.exp x, f32.log x]

entry f64s (x: f64) =
  [f64.sqrt x, f64.sin x, f64.cos x, f64.tan x, f64.exp x, f64.log x, f64.asin x, f64.atan x]

entry roundings (x: f64) = [f64.floor x, f64.ceil x, f64.round x, f64.trunc x]
entry signs (x: f32) = [f32.abs x, f32.sgn x, f32.neg x]
entry angles (y: f64) (x: f64) = [f64.atan2 y x, f64.atan2pi y x]
entry fractions (a: i64) (b: i64) = f64.from_fraction a b
