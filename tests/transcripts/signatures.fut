-- | How far a point is from the origin,
--   in the unit of its parts.
--
-- The root is rounded once.
entry distance (x: f64) (y: f64): f64 = f64.sqrt (x * x + y * y)

-- Not documented: the comment has no bar.
entry second ((_, x): (bool, i32)) (scale: i32): i32 = scale * x

-- | A constant.
entry nine: i32 = 9
