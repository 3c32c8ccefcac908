-- A size that stays the same in every iteration is the initial value's, too.
-- ==
-- error: Initial loop values do not have expected type

entry main [n] (xs: [n]i32) (k: i64) =
  loop (acc: [k]i32) = xs for _i < 5i32 do replicate k (i32.i64 (length acc))
