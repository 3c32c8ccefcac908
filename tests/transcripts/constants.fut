-- A constant that fails, entry points that need it, and one that needs none.
def table = [1i32, 2, 3]
entry fourth : i32 = table[3]
entry above (x: i32) : i32 = fourth + x
entry twice (x: i32) : i32 = 2 * x
