-- Nor are literals infinite.
-- ==
-- error: out of bounds for inferred type f32

entry main : f32 = 1e39
