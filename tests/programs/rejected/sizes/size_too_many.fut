-- A function that asks for the same size twice.
-- ==
-- error: .

def f [n] (xs: [n]i32) (ys: [n]i32) : i64 = n

entry main = f [1, 2] [1, 2, 3]
