-- What hostile_test.py serves.
entry twice (xs: []i32): []i32 = map (* 2) xs
entry both (x: i32) (y: bool): (i32, bool) = (x, y)
