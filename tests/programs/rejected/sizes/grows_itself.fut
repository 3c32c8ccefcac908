-- A function that has to keep the size cannot double it.
-- ==
-- error: Occurs check

def twice 'a (f: a -> a) (x: a) : a = f (f x)

entry main [n] (xs: [n]i32) = twice (\ys -> ys ++ ys) xs
