-- Nor can a definition have a type that hides that it consumes.
-- ==
-- error: does not have expected type.*consuming

def head (xs: *[]i32) : i32 = (xs with [0] = 1)[0]

entry main : []i32 -> i32 = head
