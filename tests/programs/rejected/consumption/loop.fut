-- What is consumed in a loop must be a parameter of the loop.
-- ==
-- error: consum

def change (xs: *[]i32) : i32 = (xs with [0] = 1)[0]

entry main (xs: *[]i32) (n: i32) = loop acc = 0 for _i < n do acc + change xs
