-- A size that nothing produces cannot be the size of a later parameter.
-- ==
-- error: Existential size would appear

def pick (n: i64) (rows: [n]i32) : i32 = rows[n - 1]

def uncurried = uncurry pick

entry main (n: i64) (xs: []i32) = uncurried n xs
