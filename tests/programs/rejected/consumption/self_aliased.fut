-- Nor do the parts of one consumed argument.
-- ==
-- error: self-aliased

def both (p: *([]i32, []i32)) : *[]i32 = p.0 with [0] = 1

entry main (xs: *[]i32) = both (xs, xs)
