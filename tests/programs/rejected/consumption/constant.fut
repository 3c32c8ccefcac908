-- Functions return no constants, as the caller might consume them.
-- ==
-- error: aliases the free variable "table"

def table = [1, 2, 3]

entry main (b: bool) = if b then table else []
