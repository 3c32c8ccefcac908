-- ! is not an infix operator.
-- ==
-- error: cannot be used as infix

def x ! y = x + y
