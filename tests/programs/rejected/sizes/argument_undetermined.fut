-- Only the parameter of a function has the size, and a function does not have it as a value.
-- ==
-- error: Ambiguous size.*instantiated size parameter of "first_of"

def first_of [k] (pick: [k]f32 -> f32) (x: f32) : f32 = pick (replicate k x)

entry main (x: f32) = first_of (\xs -> xs[0]) x
