-- What a filter leaves has a size of its own, and the message says where it comes from.
-- ==
-- error: Where "d" is the unknown size returned by "filter"

entry main [n] (xs: [n]i32) = map2 (-) xs (filter (< 9) xs)
