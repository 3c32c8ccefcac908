-- Consumed arguments share no memory with others.
-- ==
-- error: Argument is consumed, but aliases.*"xs"

def move (xs: *[]i32) (ys: []i32) : *[]i32 = xs with [0] = ys[1]

entry main (xs: *[]i32) = move xs xs
