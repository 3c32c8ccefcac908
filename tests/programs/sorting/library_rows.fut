-- The library's sorts of the rows of matrices, which are one sort of all elements.
-- ==
-- entry: library library_by
-- random input { [7][50]u64 } auto output
-- random input { [33][40]u64 } auto output
-- input { empty([3][0]u64) } auto output

import "kenaz/sort"

entry library [n] [m] (xss: [n][m]u64) : [n][m]u64 = map sort_u64.sort xss
entry library_by [n] [m] (xss: [n][m]u64) : [n][m]u64 = map (sort_u16.by u16.u64) xss
