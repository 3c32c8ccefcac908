-- Functions evaluate all of their arguments.
-- ==
-- error: && may not be redefined

def (&&) (x: bool) (y: bool) = x

entry main (x: bool) = x && x
