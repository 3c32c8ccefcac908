-- Two functions of this type could take arrays of different sizes.
-- ==
-- error: anonymous

type^ test = []f64 -> bool
