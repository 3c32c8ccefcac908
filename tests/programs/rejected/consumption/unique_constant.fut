-- Nobody may consume a constant.
-- ==
-- error: constant

def table : *[]i32 = [1, 2, 3]

entry main (x: i32) = table[x]
