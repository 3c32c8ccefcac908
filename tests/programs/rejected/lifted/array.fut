-- Elements of an array have the same size.
-- ==
-- error: Cannot create array.*"t"

type~ t = []i32

entry main (n: i64) = let xs : []t = [] in length xs + n
