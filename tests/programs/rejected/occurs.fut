-- A function applied to itself.
-- ==
-- error: .

def f x = x x

entry main = 1i32
