-- A value for every n, and one that has a size of its own: then it is a function.
-- ==
-- error: size-polymorphic value binding

def both [n] = (replicate n true, filter (> 2) (iota n))
