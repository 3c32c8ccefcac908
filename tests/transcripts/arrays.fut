-- Arrays, and arrays of records.
entry double (xs: []i32): []i32 = map (* 2) xs
entry same (xs: *[]i32): *[]i32 = xs
entry pairs [n] (xs: [n]i32) (bs: [n]bool): [n](i32, bool) = zip xs bs
entry keys [n] (ps: [n](i32, bool)): [n]i32 = map (.0) ps
entry at (xs: []i32) (i: i64): i32 = xs[i]
