-- As section_operand.fut, with the operand on the other side.
-- ==
-- error: Causality check: size "d" needed for type of operator section

entry main [n] (xs: []i64) (rows: [n][2]i64) = map (++ filter (> 1) xs) rows
