-- Parametric modules.
-- ==
-- entry: ints
-- input { [1, 2, 3] }
-- output { 6 14 }

-- ==
-- entry: floats
-- input { [0.5f32, 1.5f32] }
-- output { 2.0f32 2.5f32 }

-- ==
-- entry: maxes
-- input { [3, 9, 2] }
-- output { 9 }

module type monoid = {
  type t
  val zero : t
  val plus : t -> t -> t
}

module folding (M: monoid) = {
  def fold [n] (xs: [n]M.t) : M.t = reduce M.plus M.zero xs
}

module vector (N: numeric) = {
  type t = N.t
  def sum [n] (xs: [n]t) : t = N.(sum xs)
  def norm2 [n] (xs: [n]t) : t = sum (map (\x -> x N.* x) xs)
}

module ivec = vector i32
module fvec = vector f32
module maximum = folding {type t = i32 def zero = i32.lowest def plus = i32.max}

entry ints (xs: []i32) = (ivec.sum xs, ivec.norm2 xs)
entry floats (xs: []f32) = (fvec.sum xs, fvec.norm2 xs)
entry maxes (xs: []i32) = maximum.fold xs
