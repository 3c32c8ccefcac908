-- Values that travel with the commands.
entry twice [n] (xs: [n]i32): [n]i32 = map (* 2) xs
entry both (x: i32) (b: bool): (i32, bool) = (x, b)
