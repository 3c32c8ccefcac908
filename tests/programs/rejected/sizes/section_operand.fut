-- The operator of a section is there before its operand, with all its sizes.
-- ==
-- error: Causality check: size "d" needed for type of operator section

entry main [n] (xs: []i64) (rows: [n][2]i64) = map (filter (> 1) xs ++) rows
