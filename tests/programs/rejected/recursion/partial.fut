-- A recursive function applies itself to all of its arguments.
-- ==
-- error: not fully saturated

def power (n: i64) (x: i64) : i64 = if n == 0 then 1 else let f = power (n - 1) in x * f x

entry main = power 3 2
